//! Looking ahead: could a value end here, judging by what follows?
//!
//! This is what decides whether a quote ends a string. Known keys with a colon, the brackets that are open and
//! the end of the text are the evidence.

use super::near_strict;
use super::reader::{Frame, Reader};
use super::surrounding_text;
use super::token::{self, Mark};
use crate::json::strict;
use crate::schema::guide::{KeyFit, SchemaPosition};

/// How well a value can end at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ends {
    /// What follows cannot follow a value.
    No,
    /// Possible, against the schema: a key that is not declared, or declared and already used.
    Weak,
    /// Possible by structure alone.
    Fair,
    /// A declared key that is still missing follows, or the end of everything.
    Strong,
}

/// A key found by looking ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyAhead {
    pub(super) ends: Ends,
    /// At least one of its quotes is there.
    pub(super) quoted: bool,
    /// Its opening quote is there: a quote before it is then not its own.
    pub(super) opened: bool,
    /// Where its value starts, trivia included.
    pub(super) behind: usize,
}

/// Keys looked for ahead are short; what is longer is text.
const MAX_AHEAD: usize = 128;
/// How many members of a chain are read to believe an undeclared key.
const MAX_CHAIN: usize = 6;
/// The same behind a string that has no quotes in it.
const MAX_CLEAN_CHAIN: usize = 32;
/// Closers of the wrong kind that are forgiven ahead of a value's end.
const MAX_MISMATCHES: usize = 2;

impl Reader<'_> {
    /// Whether what follows the quote before `at` is plainly the text of a member's string: a shortcut through
    /// [`Reader::ends_at`] for code and markup full of quotes, and never a different answer.
    pub(super) fn goes_on_as_text(&self, at: usize) -> bool {
        let bytes = self.bytes;
        let blank = |at: usize| at + bytes[at..].iter().take_while(|byte| **byte == b' ').count();
        let mut next = blank(at.min(bytes.len()));
        let comma = bytes.get(next) == Some(&b',');
        if comma {
            next = blank(next + 1);
        }
        match bytes.get(next) {
            Some(b'(' | b')' | b';' | b'<' | b'>' | b'&' | b'|' | b'+' | b'*' | b'%' | b'!' | b'?') => true,
            Some(letter) if letter.is_ascii_alphabetic() || *letter == b'_' => {
                // A bare key would need a colon, or half its quotes.
                let word = next + bytes[next..].iter().take_while(|byte| token::is_word(**byte)).count();
                let behind = blank(word);
                matches!(bytes.get(behind), Some(byte) if !matches!(byte, b':' | b'=' | b'"' | b'\'' | b'\\' | b'\n' | b'\r' | b'\t' | b'/' | b'#' | b'-' | 0x80..))
            }
            _ => false,
        }
    }

    /// Whether a value can end at `at` with the brackets that are open now. `dirty`: the value is a string
    /// in which quotes were taken for text, so that it may not be ended by guesswork.
    pub(super) fn ends_at(&mut self, at: usize, dirty: bool) -> Ends {
        let depth = self.stack.len();
        self.ends_from(at, depth, dirty)
    }

    /// The same with only the outer `depth` brackets open.
    pub(super) fn ends_from(&mut self, at: usize, depth: usize, dirty: bool) -> Ends {
        self.ends_within(at, depth, dirty, MAX_MISMATCHES)
    }

    /// The same, with at most so many closers of the wrong kind ahead.
    fn ends_within(&mut self, at: usize, depth: usize, dirty: bool, mismatches: usize) -> Ends {
        let mut depth = depth;
        let mut at = self.look_behind_quote(at, dirty);
        let most = Ends::Strong;
        loop {
            let frame = depth.checked_sub(1).map(|top| self.stack[top]);
            if at >= self.bytes.len() {
                return match (depth, dirty) {
                    (0, _) => most,
                    // Missing closers are completed only after values that are certain.
                    (_, true) => Ends::No,
                    (_, false) => most.min(Ends::Fair),
                };
            }
            let Some(frame) = frame else { return most.min(self.trailing(at, dirty)) };
            match token::mark(self.bytes, at) {
                Some((Mark::Comma, len)) => {
                    let mut next = self.look_behind_quote(at + len, dirty);
                    while let Some((Mark::Comma, more)) = token::mark(self.bytes, next) {
                        next = self.look_behind_quote(next + more, dirty);
                    }
                    match token::mark(self.bytes, next) {
                        _ if next >= self.bytes.len() => {
                            return most.min(if dirty { Ends::No } else { Ends::Fair });
                        }
                        Some((Mark::CloseObject | Mark::CloseArray | Mark::CloseParen, _)) => at = next,
                        _ => return most.min(self.member_ahead(next, &frame, depth, dirty)),
                    }
                }
                Some((mark @ (Mark::CloseObject | Mark::CloseArray | Mark::CloseParen), len)) => {
                    if frame.kind.closer() != mark {
                        if dirty {
                            return Ends::No;
                        }
                        let Some(left) = mismatches.checked_sub(1) else { return Ends::No };
                        // Closers are missing before it, it stands for the right one, or it is one too many.
                        let outer = self.stack[..depth].iter().rposition(|frame| frame.kind.closer() == mark);
                        let closes =
                            outer.map_or(Ends::No, |outer| self.ends_within(at + len, outer, dirty, left));
                        let stands = self.ends_within(at + len, depth - 1, dirty, left);
                        let extra = self.ends_within(at + len, depth, dirty, left).min(Ends::Weak);
                        return most.min(Ends::Fair).min(closes.max(stands).max(extra));
                    }
                    depth -= 1;
                    at = self.look_behind_quote(at + len, dirty);
                }
                Some((Mark::Colon, _)) => return Ends::No,
                // The object was begun anew; what is read now is dropped for it.
                Some((Mark::OpenObject, _)) if depth == 1 && !dirty && self.starts_anew(at) => {
                    return most.min(Ends::Fair);
                }
                // A member without its comma.
                _ if frame.kind.is_object() => {
                    let apart = self.bytes[at - 1].is_ascii_whitespace();
                    return match self.key_ahead(at, &frame).filter(|key| key.opened || apart) {
                        Some(key) if key.ends == Ends::Strong || (key.quoted && !dirty) => most.min(key.ends),
                        _ => Ends::No,
                    };
                }
                Some((Mark::Quote(_) | Mark::OpenObject | Mark::OpenArray, _)) if !dirty => {
                    return most.min(Ends::Fair);
                }
                _ => return Ends::No,
            }
        }
    }

    /// What follows a comma in this frame: the next key, or the next element.
    fn member_ahead(&mut self, at: usize, frame: &Frame, depth: usize, dirty: bool) -> Ends {
        if frame.kind.is_object() {
            return match self.key_ahead(at, frame) {
                Some(key) => key.ends,
                None if !dirty && self.key_is_cut(at) => Ends::Fair,
                None => Ends::No,
            };
        }
        // An array that was not closed: the next member of the object around it.
        if let Some(object) = depth.checked_sub(2).map(|top| self.stack[top])
            && object.kind.is_object()
            && let Some(key) = self.key_ahead(at, &object)
            && key.quoted
        {
            return key.ends;
        }
        match token::mark(self.bytes, at) {
            Some((Mark::OpenObject, len)) => {
                let place = frame.value_after(self);
                let inside = self.look(at + len);
                let inner = Frame { place, used: 0, ..*frame };
                match self.key_ahead(inside, &inner) {
                    Some(key) => key.ends,
                    None if self.bytes.get(inside) == Some(&b'}') => Ends::Fair,
                    None => Ends::No,
                }
            }
            Some((Mark::Quote(_) | Mark::OpenArray | Mark::OpenParen, _)) => Ends::Fair,
            Some(_) => Ends::No,
            None => {
                let end = token::word_end(self.bytes, at);
                let word = &self.text[at..end];
                let plain = super::number::is_scalar(word);
                let behind = self.look(end);
                let alone =
                    matches!(token::mark(self.bytes, behind), Some((Mark::Comma | Mark::CloseArray, _)));
                if plain || (alone && !dirty) { Ends::Fair } else { Ends::Weak }
            }
        }
    }

    /// Whether the text ends inside a key, or directly behind one.
    fn key_is_cut(&mut self, at: usize) -> bool {
        let rest = self.bytes.len() - at;
        if rest > MAX_AHEAD || !self.burn(rest) {
            return false;
        }
        match token::mark(self.bytes, at) {
            Some((Mark::Quote(quote), len)) => {
                let close = (at + len..self.bytes.len()).find(|&end| quote.closes_at(self.bytes, end) > 0);
                close.is_none_or(|close| {
                    self.look(close + quote.closes_at(self.bytes, close)) == self.bytes.len()
                })
            }
            Some(_) => false,
            None => token::word_end(self.bytes, at) == self.bytes.len(),
        }
    }

    /// The key at `at`, with its colon, and how well it fits the object.
    pub(super) fn key_ahead(&mut self, at: usize, frame: &Frame) -> Option<KeyAhead> {
        match token::mark(self.bytes, at) {
            Some((Mark::Quote(quote), len)) => {
                let mut body = at + len;
                // `""key":` has one quote too many.
                let doubled = quote.closes_at(self.bytes, body);
                if doubled > 0 && self.bytes.get(body + doubled).is_some_and(|&byte| token::is_word(byte)) {
                    body += doubled;
                }
                let limit = self.bytes.len().min(body + MAX_AHEAD);
                let Some((end, close)) = quote.closer_on_line(&self.bytes[..limit], body) else {
                    return self.unclosed_key(body, frame);
                };
                self.burn(end - at);
                let behind = self.look(end + close);
                let name = &self.text[body..end];
                if let Some((colon, _)) = token::colon(self.bytes, behind) {
                    return Some(self.judge(name, frame, (true, true), behind + colon));
                }
                // Half a key (`"key: "value"`), or a key without its colon: only where it is declared, and code never is.
                if !self.guide.declares(frame.place)
                    || memchr::memchr3(b'(', b')', b'\\', name.as_bytes()).is_some()
                {
                    return None;
                }
                let half = name.split(':').next().unwrap_or_default();
                let fits = |name: &str| self.guide.declares_key(frame.place, name);
                if half.len() < name.len() && fits(half) {
                    return Some(self.judge(half, frame, (true, true), body + half.len() + 1));
                }
                (fits(name) && self.value_ahead(behind))
                    .then(|| self.judge(name, frame, (true, true), behind))
            }
            Some(_) => None,
            None => {
                let end = token::word_end(self.bytes, at);
                if end == at || end - at > MAX_AHEAD {
                    return None;
                }
                let name = &self.text[at..end];
                // `key": …`: the opening quote is missing.
                if let Some((Mark::Quote(_), len)) = token::mark(self.bytes, end) {
                    let behind = self.look(end + len);
                    let (colon, _) = token::colon(self.bytes, behind)?;
                    return Some(self.judge(name, frame, (true, false), behind + colon));
                }
                let behind = self.look(end);
                let (colon, _) = token::colon(self.bytes, behind)?;
                // `https://…` and `10:30` are no keys.
                let number = name.as_bytes()[0].is_ascii_digit();
                let scheme = self.bytes.get(behind + colon..behind + colon + 2) == Some(b"//");
                let key = self.judge(name, frame, (false, false), behind + colon);
                (key.ends == Ends::Strong || !(number || scheme)).then_some(key)
            }
        }
    }

    /// `"key: 5}`: a declared key that has its opening quote and its colon only.
    fn unclosed_key(&self, body: usize, frame: &Frame) -> Option<KeyAhead> {
        let end = token::word_end(self.bytes, body);
        let name = &self.text[body..end];
        let declared = self.guide.declares_key(frame.place, name);
        (declared && self.bytes.get(end) == Some(&b':'))
            .then(|| self.judge(name, frame, (true, true), end + 1))
    }

    fn judge(&self, name: &str, frame: &Frame, (quoted, opened): (bool, bool), behind: usize) -> KeyAhead {
        let ends = match self.guide.key(frame.place, name) {
            KeyFit::Declared(index) if index < 128 && frame.used >> index & 1 == 1 => Ends::Weak,
            KeyFit::Declared(_) => Ends::Strong,
            KeyFit::Undeclared => Ends::Weak,
            KeyFit::Unknown => Ends::Fair,
        };
        KeyAhead { ends, quoted, opened, behind }
    }

    /// An undeclared key is believed where it and its value are written as JSON should be, and so on up to a
    /// declared key that is missing, or the end. Behind a string without any doubt in it, other quotes, bare keys
    /// and a comma too many or too few are believed as well.
    pub(super) fn chain_holds(&mut self, at: usize, dirty: bool) -> bool {
        let Some(frame) = self.stack.last().copied().filter(|frame| frame.kind.is_object()) else {
            return false;
        };
        let mut at = self.look(at);
        for _ in 0..if dirty { MAX_CHAIN } else { MAX_CLEAN_CHAIN } {
            match token::mark(self.bytes, at) {
                Some((Mark::Comma, len)) => at = self.look(at + len),
                Some((Mark::CloseObject, _)) => {}
                _ if dirty => return false,
                _ => {}
            }
            if let Some((Mark::CloseObject, _)) = token::mark(self.bytes, at) {
                return self.ends_at(at, true) == Ends::Strong;
            }
            let Some(key) = self.key_ahead(at, &frame).filter(|key| key.quoted || !dirty) else {
                return false;
            };
            if key.ends == Ends::Strong {
                return true;
            }
            let end = if dirty {
                strict::check_value(self.text, key.behind, self.depth_limit).ok()
            } else {
                near_strict::value_end(self.text, key.behind, self.depth_limit)
            };
            let Some(end) = end.filter(|&end| self.burn(end - at)) else { return false };
            at = self.look(end);
        }
        false
    }

    /// Whether the text may go on like this behind the root value: nothing, closers, a fence, residue of a
    /// template, prose, or another value.
    pub(super) fn trailing(&mut self, at: usize, dirty: bool) -> Ends {
        let at = self.look(at);
        self.burn(1);
        // Nothing can be closed behind a lone string.
        let closes = matches!(
            token::mark(self.bytes, at),
            Some((Mark::CloseObject | Mark::CloseArray | Mark::CloseParen, _))
        );
        if closes && self.root_is_string() {
            return Ends::No;
        }
        // Whole values directly behind it are no text, whatever brackets their strings hold.
        let mut at = at;
        while !dirty
            && matches!(self.bytes.get(at), Some(b'{' | b'['))
            && let Ok(end) = strict::check_value(self.text, at, self.depth_limit)
            && self.burn(end - at)
        {
            at = self.look(end);
        }
        let at = surrounding_text::skip_residue(self.text, at);
        if at >= self.bytes.len() {
            return Ends::Strong;
        }
        if dirty || !self.burn(self.bytes.len() - at) || !surrounding_text::is_prose(&self.text[at..]) {
            return Ends::No;
        }
        // A quote without a partner closes a string that was opened before.
        let rest = &self.bytes[at..];
        let quotes = memchr::memchr_iter(b'"', rest).filter(|&quote| quote == 0 || rest[quote - 1] != b'\\');
        if quotes.count() % 2 == 1 {
            return Ends::No;
        }
        Ends::Fair
    }
}

impl Frame {
    /// The place of the element behind the one that is read now.
    fn value_after(&self, reader: &Reader<'_>) -> SchemaPosition {
        reader.guide.element(self.place, self.count + 1)
    }
}
