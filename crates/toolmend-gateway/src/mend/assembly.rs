//! Native calls put together from the pieces in which servers send them.
//!
//! On paper a call has an index, an id and a name in its first piece, and arguments that are concatenated. In the
//! field each of these is missing, repeated, split, shifted or sent as a growing snapshot.

use serde::de::IgnoredAny;

use crate::turn::{Arguments, CallPiece};

/// One call while it is put together.
#[derive(Debug, Default)]
pub(crate) struct Assembling {
    index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pieces: Vec<String>,
    whole: Option<String>,
    balance: Balance,
    /// Whether every piece was written as every client reads it.
    pub(crate) exact: bool,
    /// Whether it was judged already.
    pub(crate) done: bool,
}

/// The calls of one turn, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) calls: Vec<Assembling>,
    bytes: usize,
}

/// How many restarts of the arguments are looked for.
const MOST_RESTARTS: usize = 8;

impl Assembly {
    /// Takes a piece and tells which call it belongs to. `declared` knows the names of tools.
    pub(crate) fn take(&mut self, piece: CallPiece, declared: impl Fn(&str) -> bool) -> usize {
        // Some servers write the absence of a name as a word.
        let name = piece.name.filter(|name| !name.is_empty() && name != "null");
        let id = piece.slot.id.filter(|id| !id.is_empty());
        let text = match &piece.arguments {
            Some(Arguments::Piece(text) | Arguments::Whole(text)) => text.as_str(),
            None => "",
        };
        let at = match self.target(piece.slot.index, id.as_deref(), name.as_deref(), text) {
            Some(at) => at,
            None => self.begin(piece.slot.index),
        };
        // Calls that are told by turns are read by some clients only.
        if at + 1 < self.calls.len() {
            self.calls[at..].iter_mut().for_each(|call| call.exact = false);
        }
        let call = &mut self.calls[at];
        let first =
            call.id.is_none() && call.name.is_empty() && call.pieces.is_empty() && call.whole.is_none();
        if call.index != piece.slot.index || !piece.exact || (first && (id.is_none() || name.is_none())) {
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
            call.add_name(name, declared);
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

    /// How many bytes of arguments are held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn begin(&mut self, index: Option<u64>) -> usize {
        let at = self.calls.len();
        let exact = index == Some(at as u64);
        self.calls.push(Assembling { index, exact, ..Assembling::default() });
        at
    }

    /// The call that a piece continues; none where it begins one.
    fn target(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>, text: &str) -> Option<usize> {
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
                // The name after the arguments, or the same name once more while they are not complete.
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
            // Arguments alone under another index: those of a call that still has none.
            None if id.is_none() && name.is_none() => {
                let call = &self.calls[last];
                (call.is_empty() || call.index.is_none_or(|known| known + 1 == index) && !call.is_complete())
                    .then_some(last)
            }
            None => None,
        }
    }
}

impl Assembling {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.whole.is_none()
    }

    fn is_complete(&self) -> bool {
        self.whole.is_some() || self.balance.closed
    }

    /// The name in pieces, repeated, or as a growing snapshot: the declared tools tell which.
    fn add_name(&mut self, name: String, declared: impl Fn(&str) -> bool) {
        if self.name.is_empty() {
            self.name = name;
            return;
        }
        let joined = format!("{}{name}", self.name);
        if self.name == name || (declared(&self.name) && !declared(&joined)) {
            return;
        }
        let snapshot = name.starts_with(&self.name) || declared(&name);
        self.name = if snapshot && !declared(&joined) { name } else { joined };
    }

    /// The arguments as the model wrote them.
    pub(crate) fn arguments(&self) -> String {
        let joined = self.pieces.concat();
        if let Some(whole) = &self.whole {
            return if whole.trim().is_empty() && !joined.is_empty() { joined } else { whole.clone() };
        }
        if self.pieces.len() < 2 || is_object(&joined) {
            return joined;
        }
        self.last_snapshot().or_else(|| self.restarted()).unwrap_or(joined)
    }

    /// Whether the arguments are all pieces one after the other, as clients join them.
    pub(crate) fn is_plain(&self) -> bool {
        self.whole.is_none() && self.arguments() == self.pieces.concat()
    }

    /// Each piece holds the one before it: the last one holds them all.
    fn last_snapshot(&self) -> Option<String> {
        let growing = self
            .pieces
            .windows(2)
            .all(|pair| pair[0].trim_start().starts_with('{') && pair[1].starts_with(&pair[0]));
        growing.then(|| self.pieces.last().cloned()).flatten()
    }

    /// The arguments began once more: what came before is the beginning of what follows.
    fn restarted(&self) -> Option<String> {
        let begins = |piece: &String| piece.trim_start().starts_with('{');
        let starts = (1..self.pieces.len()).rev().filter(|&at| begins(&self.pieces[at])).take(MOST_RESTARTS);
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

/// Whether the brackets of a text that comes in pieces are closed, without reading any byte twice.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Balance {
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

/// Whether the text is a JSON object.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::Slot;

    type Piece<'a> = (Option<u64>, &'a str, &'a str, &'a str);

    fn assembled(pieces: &[Piece<'_>]) -> Vec<(String, String, bool)> {
        let mut assembly = Assembly::default();
        for &(index, id, name, text) in pieces {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let slot = Slot { index, id: some(id) };
            let arguments = some(text).map(Arguments::Piece);
            let piece = CallPiece { slot, name: some(name), arguments, exact: true, last: false };
            assembly.take(piece, |name| ["get_weather", "t"].contains(&name));
        }
        assembly
            .calls
            .iter()
            .map(|call| (call.name.clone(), call.arguments(), call.exact && call.is_plain()))
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
    fn calls_as_they_should_be_are_exact() {
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
    fn a_missing_or_wrong_index_is_made_good() {
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
    fn names_come_late_twice_or_in_pieces() {
        check(&[(Some(0), "a", "", r#"{"city":"#), (Some(0), "", W, r#""Rome"}"#)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", W, r#"{"city":"#), (Some(0), "a", W, r#""Rome"}"#)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", "get_", ""), (Some(0), "", "weather", ARGS)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", "get_", ""), (Some(0), "a", W, ARGS)], &[(W, ARGS)], false);
        check(&[(Some(0), "a", W, r#"{"city":"#), (Some(0), "", "null", r#""Rome"}"#)], &[(W, ARGS)], true);
    }

    #[test]
    fn arguments_that_begin_again_count_once() {
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
    fn pieces_that_look_alike_are_data() {
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
