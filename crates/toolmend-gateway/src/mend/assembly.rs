//! Native calls, assembled from the pieces in which servers send them.
//!
//! By the specification a call has an index, an id and a name in its first piece, and its arguments are concatenated. In
//! practice each of these is missing, repeated, split, shifted or sent as a growing snapshot.

use serde::de::IgnoredAny;

use toolmend_protocol::{Arguments, CallExtras, CallPiece};

/// One call while it is assembled.
#[derive(Debug, Default)]
pub(crate) struct PartialCall {
    index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pieces: Vec<String>,
    whole: Option<String>,
    balance: BracketBalance,
    /// What the call carries beside its id, its name and its arguments, as far as it was not sent.
    pub(crate) extras: CallExtras,
    /// Whether every piece was written in the form that every client reads.
    pub(crate) exact: bool,
    /// Whether it was judged.
    pub(crate) judged: bool,
    /// The arguments that it was judged by, if it may have been sent before the end of the turn.
    pub(crate) judged_arguments: Option<String>,
}

/// The calls of one turn, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct CallAssembly {
    pub(crate) calls: Vec<PartialCall>,
    bytes: usize,
}

/// How many restarts of the arguments are tried.
const MAX_RESTARTS: usize = 8;

impl CallAssembly {
    /// Adds a piece and returns the position of its call. `is_declared` knows the names of tools.
    pub(crate) fn add_piece(&mut self, piece: CallPiece, is_declared: impl Fn(&str) -> bool) -> usize {
        // Some servers write a missing name as the word `null`.
        let name = piece.name.filter(|name| !name.is_empty() && name != "null");
        let id = piece.key.id.filter(|id| !id.is_empty());
        let text = match &piece.arguments {
            Some(Arguments::Piece(text) | Arguments::Whole(text)) => text.as_str(),
            None => "",
        };
        let at = match self.find_call(piece.key.index, id.as_deref(), name.as_deref(), text) {
            Some(at) => at,
            None => self.begin_call(piece.key.index),
        };
        // Only some clients read calls whose pieces alternate.
        if at + 1 < self.calls.len() {
            self.calls[at..].iter_mut().for_each(|call| call.exact = false);
        }
        let call = &mut self.calls[at];
        call.extras.merge(piece.extras);
        let first =
            call.id.is_none() && call.name.is_empty() && call.pieces.is_empty() && call.whole.is_none();
        if call.index != piece.key.index || !piece.exact || (first && (id.is_none() || name.is_none())) {
            call.exact = false;
        }
        if let Some(id) = id {
            if call.id.as_ref().is_some_and(|known| *known != id) {
                call.exact = false;
            }
            call.id.get_or_insert(id);
        }
        if let Some(name) = name {
            call.exact &= first;
            call.add_name(name, is_declared);
        }
        self.bytes += text.len();
        match piece.arguments {
            Some(Arguments::Piece(text)) if !text.is_empty() => {
                call.balance.add(&text);
                call.pieces.push(text);
            }
            Some(Arguments::Whole(text)) => call.whole = Some(text),
            _ => {}
        }
        at
    }

    /// Returns the number of bytes of arguments that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn begin_call(&mut self, index: Option<u64>) -> usize {
        let at = self.calls.len();
        let exact = index == Some(at as u64);
        self.calls.push(PartialCall { index, exact, ..PartialCall::default() });
        at
    }

    /// Returns the call that a piece continues. `None` if it begins one.
    fn find_call(
        &self,
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        text: &str,
    ) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        if let Some(id) = id {
            let known = self.calls.iter().rposition(|call| call.id.as_deref() == Some(id));
            if let Some(at) = known.filter(|&at| index.is_none() || self.calls[at].index == index) {
                return Some(at);
            }
        }
        let Some(index) = index else {
            let call = &self.calls[last];
            let continues = match (id, name) {
                (None, None) => true,
                // A name after the arguments, or the same name again before they are complete.
                (None, Some(name)) => call.name.is_empty() || (call.name == name && !call.is_complete()),
                (Some(_), _) => call.id.is_none() && call.name.is_empty(),
            };
            return continues.then_some(last);
        };
        match self.calls.iter().rposition(|call| call.index == Some(index)) {
            Some(at) => {
                let call = &self.calls[at];
                let other_id = id.is_some_and(|id| call.id.as_deref().is_some_and(|known| known != id));
                let other_call = name.is_some()
                    && id.is_none()
                    && call.is_complete()
                    && text.trim_start().starts_with('{')
                    && !text.starts_with(call.pieces.concat().as_str());
                (!other_id && !other_call).then_some(at)
            }
            // Arguments alone under another index belong to a call that has none yet.
            None if id.is_none() && name.is_none() => {
                let call = &self.calls[last];
                (call.is_empty() || call.index.is_none_or(|known| known + 1 == index) && !call.is_complete())
                    .then_some(last)
            }
            None => None,
        }
    }
}

impl PartialCall {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.whole.is_none()
    }

    /// Whether its brackets are closed.
    pub(crate) fn is_complete(&self) -> bool {
        self.whole.is_some() || self.balance.closed
    }

    /// Adds a name that may be a piece, a repetition or a growing snapshot. The declared tools decide which.
    fn add_name(&mut self, name: String, is_declared: impl Fn(&str) -> bool) {
        if self.name.is_empty() {
            self.name = name;
            return;
        }
        let joined = format!("{}{name}", self.name);
        if self.name == name || (is_declared(&self.name) && !is_declared(&joined)) {
            return;
        }
        let snapshot = name.starts_with(&self.name) || is_declared(&name);
        self.name = if snapshot && !is_declared(&joined) { name } else { joined };
    }

    /// Returns the arguments as the model wrote them.
    pub(crate) fn arguments(&self) -> String {
        let joined = self.pieces.concat();
        if let Some(whole) = &self.whole {
            return if whole.trim().is_empty() && !joined.is_empty() { joined } else { whole.clone() };
        }
        if self.pieces.len() < 2 || is_object(&joined) {
            return joined;
        }
        self.last_snapshot().or_else(|| self.after_restart()).unwrap_or(joined)
    }

    /// Whether the arguments are all pieces concatenated, which is how clients assemble them.
    pub(crate) fn is_concatenation(&self) -> bool {
        self.whole.is_none() && self.arguments() == self.pieces.concat()
    }

    /// Returns the last piece if each piece begins with the one before it.
    fn last_snapshot(&self) -> Option<String> {
        let growing = self
            .pieces
            .windows(2)
            .all(|pair| pair[0].trim_start().starts_with('{') && pair[1].starts_with(&pair[0]));
        growing.then(|| self.pieces.last().cloned()).flatten()
    }

    /// Returns the arguments from a restart on, if everything before it is the beginning of what follows.
    fn after_restart(&self) -> Option<String> {
        let begins = |piece: &String| piece.trim_start().starts_with('{');
        let starts = (1..self.pieces.len()).rev().filter(|&at| begins(&self.pieces[at])).take(MAX_RESTARTS);
        for at in starts {
            let again = self.pieces[at..].concat();
            let before = self.pieces[..at].concat();
            if again.starts_with(&before) && is_object(&again) {
                return Some(again);
            }
        }
        None
    }
}

/// Whether the brackets of a text are closed. The text arrives in pieces, and no byte is read twice.
#[derive(Debug, Default)]
struct BracketBalance {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl BracketBalance {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                    continue;
                }
                _ => {}
            }
            self.closed &= byte.is_ascii_whitespace();
        }
    }
}

/// Whether a text is JSON.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text is a JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_json(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend_protocol::CallKey;

    type Piece<'a> = (Option<u64>, &'a str, &'a str, &'a str);

    fn assembled(pieces: &[Piece<'_>]) -> Vec<(String, String, bool)> {
        let mut assembly = CallAssembly::default();
        for &(index, id, name, text) in pieces {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let key = CallKey { index, id: some(id) };
            let arguments = some(text).map(Arguments::Piece);
            let piece = CallPiece { key, name: some(name), arguments, exact: true, ..CallPiece::default() };
            assembly.add_piece(piece, |name| ["get_weather", "t"].contains(&name));
        }
        assembly
            .calls
            .iter()
            .map(|call| (call.name.clone(), call.arguments(), call.exact && call.is_concatenation()))
            .collect()
    }

    #[track_caller]
    fn check(pieces: &[Piece<'_>], expected: &[(&str, &str)], exact: bool) {
        let seen = assembled(pieces);
        let calls: Vec<_> = seen.iter().map(|(name, text, _)| (name.as_str(), text.as_str())).collect();
        assert_eq!(calls, expected);
        assert_eq!(seen.iter().all(|call| call.2), exact, "exact");
    }

    const W: &str = "get_weather";
    const ARGS: &str = r#"{"city":"Rome"}"#;

    #[test]
    fn standard_calls_are_exact() {
        check(
            &[(Some(0), "a", W, ""), (Some(0), "", "", r#"{"city":"#), (Some(0), "", "", r#""Rome"}"#)],
            &[(W, ARGS)],
            true,
        );
        check(&[(Some(0), "a", W, ARGS), (Some(1), "b", "t", "{}")], &[(W, ARGS), ("t", "{}")], true);
        let (a, b) = (r#"{"city":"#, r#""Rome"}"#);
        let interleaved =
            [(Some(0), "a", W, ""), (Some(1), "b", W, ""), (Some(0), "", "", a), (Some(1), "", "", a)];
        let rest = [(Some(0), "", "", b), (Some(1), "", "", b)];
        check(&[&interleaved[..], &rest].concat(), &[(W, ARGS), (W, ARGS)], false);
    }

    #[test]
    fn a_missing_or_wrong_index_is_corrected() {
        check(&[(None, "a", W, ""), (None, "", "", ARGS)], &[(W, ARGS)], false);
        check(&[(None, "", W, ARGS), (None, "", "t", "{}")], &[(W, ARGS), ("t", "{}")], false);
        check(&[(Some(1), "a", W, ARGS)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", W, ARGS), (Some(0), "b", "t", "{}")], &[(W, ARGS), ("t", "{}")], false);
        check(
            &[(Some(0), "", W, ARGS), (Some(0), "", W, r#"{"city":"Oslo"}"#)],
            &[(W, ARGS), (W, r#"{"city":"Oslo"}"#)],
            false,
        );
        check(
            &[(Some(0), "a", W, ""), (Some(1), "", "", r#"{"city":"#), (Some(1), "", "", r#""Rome"}"#)],
            &[(W, ARGS)],
            false,
        );
    }

    #[test]
    fn names_may_be_late_repeated_or_in_pieces() {
        check(&[(Some(0), "a", "", r#"{"city":"#), (Some(0), "", W, r#""Rome"}"#)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", W, r#"{"city":"#), (Some(0), "a", W, r#""Rome"}"#)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", "get_", ""), (Some(0), "", "weather", ARGS)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", "get_", ""), (Some(0), "a", W, ARGS)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", W, r#"{"city":"#), (Some(0), "", "null", r#""Rome"}"#)], &[(W, ARGS)], true);
    }

    #[test]
    fn restarted_arguments_count_once() {
        let snapshots = [r#"{"ci"#, r#"{"city":"R"#, ARGS, ARGS].map(|text| (Some(0), "a", W, text));
        check(&snapshots, &[(W, ARGS)], false);
        check(
            &[(Some(0), "a", W, r#"{"city":"#), (Some(0), "", "", r#""Rome"}"#), (Some(0), "", "", ARGS)],
            &[(W, ARGS)],
            false,
        );
        check(
            &[(Some(0), "a", W, "{\""), (Some(0), "", "", "{\""), (Some(0), "", "", "city\":\"Rome\"}")],
            &[(W, ARGS)],
            false,
        );
        check(
            &[(Some(0), "a", W, r#"{"city":"Rome""#), (Some(0), "", "", r#"{"city":"Rome","d":1}"#)],
            &[(W, r#"{"city":"Rome","d":1}"#)],
            false,
        );
    }

    #[test]
    fn equal_pieces_are_data() {
        check(
            &[
                (Some(0), "a", "t", "{\"a\":\""),
                (Some(0), "", "", "x"),
                (Some(0), "", "", "x"),
                (Some(0), "", "", "\"}"),
            ],
            &[("t", r#"{"a":"xx"}"#)],
            true,
        );
        check(
            &[(Some(0), "a", "t", "{\"cmd\":\"l"), (Some(0), "", "", "l -l\"}")],
            &[("t", r#"{"cmd":"ll -l"}"#)],
            true,
        );
    }
}
