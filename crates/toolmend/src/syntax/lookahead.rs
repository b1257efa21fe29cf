//! Looking ahead: could a value end here, judging by what follows?
//!
//! This is the evidence that decides whether a quote ends a string. Best is a declared key that is still missing, with its
//! colon, or the closers of every open bracket and the end of the text ([`EndEvidence::Strong`]). Next is a possible key
//! where nothing is declared ([`EndEvidence::Fair`]), then a key that the schema does not know ([`EndEvidence::Weak`]).
//!
//! An undeclared key is still believed if it and its value are written as JSON should be, up to a declared key or the
//! end. A model that adds a parameter of its own writes it like the others, and swallowing it into the string before
//! would change a value that was right.
//!
//! Nothing here edits the text or moves the reader.

use super::reader::Reader;
use super::reading::Frame;
use super::surrounding_text;
use super::token::{self, Punctuation};
use crate::schema::guide::{KeyFit, SchemaPosition};

/// How much speaks for the end of a value, judging by what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EndEvidence {
    /// What follows cannot follow a value.
    No,
    /// Possible, but against the schema: a key that is not declared, or declared and already used.
    Weak,
    /// Possible by structure alone.
    Fair,
    /// A declared key that is still missing follows, or all closers and the end of the text.
    Strong,
}

/// A key found by looking ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyAhead {
    pub(super) evidence: EndEvidence,
    /// Whether at least one of its quotes is there.
    pub(super) quoted: bool,
    /// Whether its opening quote is there. Then a quote before it is not its own.
    pub(super) opened: bool,
    /// Where its value starts, trivia included.
    pub(super) after: usize,
}

/// Strict values that follow one another.
#[derive(Debug, Default)]
pub(super) struct StrictRow {
    /// Where each of them starts.
    starts: Vec<usize>,
    /// The position after the last one.
    end: usize,
}

/// Longer keys are not looked for ahead: what is longer is text.
const MAX_AHEAD: usize = 128;
/// What a look ahead costs, besides the bytes that it reads.
const LOOK: usize = 16;
/// How many members are read ahead to believe an undeclared key after a dirty string.
const MAX_CHAIN: usize = 6;
/// The same after a string without raw quotes.
const MAX_CLEAN_CHAIN: usize = 32;
/// Closers of the wrong kind that are forgiven after a value's end.
const MAX_MISMATCHES: usize = 2;

impl Reader<'_> {
    /// Whether what follows the quote before `at` is plainly text of a member's string. A shortcut through
    /// [`Reader::end_evidence_at`] for code and markup full of quotes; it never gives a different answer.
    pub(super) fn goes_on_as_text(&self, at: usize) -> bool {
        let text = self.text;
        let blank =
            |at: usize| (at..text.len()).find(|&at| text.byte(at) != Some(&b' ')).unwrap_or(text.len());
        let mut next = blank(at);
        let comma = text.byte(next) == Some(&b',');
        if comma {
            next = blank(next + 1);
        }
        match text.byte(next) {
            Some(b'(' | b')' | b';' | b'<' | b'>' | b'&' | b'|' | b'+' | b'*' | b'%' | b'!' | b'?') => true,
            Some(letter) if letter.is_ascii_alphabetic() || *letter == b'_' => {
                // A bare key would need a colon, or half its quotes.
                let is_word = |at: usize| text.byte(at).is_some_and(|byte| token::is_word(*byte));
                let word = (next..text.len()).find(|&at| !is_word(at)).unwrap_or(text.len());
                matches!(text.byte(blank(word)), Some(byte) if !matches!(byte, b':' | b'=' | b'"' | b'\'' | b'\\' | b'\n' | b'\r' | b'\t' | b'/' | b'#' | b'-' | 0x80..))
            }
            _ => false,
        }
    }

    /// How much speaks for a value that ends at `at`, with the brackets that are open now. `dirty`: the value is a string
    /// in which quotes were taken for text, so it may not be ended by guesswork.
    pub(super) fn end_evidence_at(&mut self, at: usize, dirty: bool) -> EndEvidence {
        let depth = self.stack.len();
        self.end_evidence_within(at, depth, dirty)
    }

    /// The same with only the outer `depth` brackets open.
    pub(super) fn end_evidence_within(&mut self, at: usize, depth: usize, dirty: bool) -> EndEvidence {
        self.end_evidence_with_mismatches(at, depth, dirty, MAX_MISMATCHES)
    }

    /// The same, with at most so many closers of the wrong kind ahead.
    fn end_evidence_with_mismatches(
        &mut self,
        at: usize,
        depth: usize,
        dirty: bool,
        mismatches: usize,
    ) -> EndEvidence {
        self.spend_fuel(LOOK);
        let mut depth = depth;
        let mut at = self.after_trivia_following_quote(at, dirty);
        let most = EndEvidence::Strong;
        loop {
            let frame = depth.checked_sub(1).map(|top| self.stack[top]);
            if at >= self.text.len() {
                return match (depth, dirty) {
                    (0, _) => most,
                    // Missing closers are completed only after values that are certain.
                    (_, true) => EndEvidence::No,
                    (_, false) => most.min(EndEvidence::Fair),
                };
            }
            let Some(frame) = frame else { return most.min(self.rate_trailing_text(at, dirty)) };
            match self.text.punctuation_at(at) {
                Some((Punctuation::Comma, len)) => {
                    let mut next = self.after_trivia_following_quote(at + len, dirty);
                    while let Some((Punctuation::Comma, more)) = self.text.punctuation_at(next) {
                        self.spend_fuel(LOOK);
                        next = self.after_trivia_following_quote(next + more, dirty);
                    }
                    match self.text.punctuation_at(next) {
                        _ if next >= self.text.len() => {
                            return most.min(if dirty { EndEvidence::No } else { EndEvidence::Fair });
                        }
                        Some((
                            Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen,
                            _,
                        )) => at = next,
                        _ => return most.min(self.rate_member_ahead(next, &frame, depth, dirty)),
                    }
                }
                Some((
                    mark @ (Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen),
                    len,
                )) => {
                    if frame.kind.closer() != mark {
                        if dirty {
                            return EndEvidence::No;
                        }
                        let Some(left) = mismatches.checked_sub(1) else { return EndEvidence::No };
                        // Closers are missing before it, it was written for the right one, or it is superfluous.
                        let outer = self.stack[..depth].iter().rposition(|frame| frame.kind.closer() == mark);
                        let closes = outer.map_or(EndEvidence::No, |outer| {
                            self.end_evidence_with_mismatches(at + len, outer, dirty, left)
                        });
                        let stands = self.end_evidence_with_mismatches(at + len, depth - 1, dirty, left);
                        let extra = self
                            .end_evidence_with_mismatches(at + len, depth, dirty, left)
                            .min(EndEvidence::Weak);
                        return most.min(EndEvidence::Fair).min(closes.max(stands).max(extra));
                    }
                    depth -= 1;
                    at = self.after_trivia_following_quote(at + len, dirty);
                }
                Some((Punctuation::Colon, _)) => return EndEvidence::No,
                // The model started the object over; what is read now will be dropped.
                // Case: syntax/restart
                Some((Punctuation::OpenObject, _)) if depth == 1 && !dirty && self.is_restart_at(at) => {
                    return most.min(EndEvidence::Fair);
                }
                // A member without its comma.
                _ if frame.kind.is_object() => {
                    let apart = self.text.byte_at(at - 1).is_ascii_whitespace();
                    return match self.find_key_ahead(at, &frame).filter(|key| key.opened || apart) {
                        Some(key) if key.evidence == EndEvidence::Strong || (key.quoted && !dirty) => {
                            most.min(key.evidence)
                        }
                        _ => EndEvidence::No,
                    };
                }
                Some((Punctuation::Quote(_) | Punctuation::OpenObject | Punctuation::OpenArray, _))
                    if !dirty =>
                {
                    return most.min(EndEvidence::Fair);
                }
                _ => return EndEvidence::No,
            }
        }
    }

    /// What follows a comma in this frame: the next key, or the next element.
    fn rate_member_ahead(&mut self, at: usize, frame: &Frame, depth: usize, dirty: bool) -> EndEvidence {
        if frame.kind.is_object() {
            return match self.find_key_ahead(at, frame) {
                Some(key) => key.evidence,
                None if !dirty && self.is_key_cut_off(at) => EndEvidence::Fair,
                None => EndEvidence::No,
            };
        }
        // An array that was not closed: the next member of the object around it.
        if let Some(object) = depth.checked_sub(2).map(|top| self.stack[top])
            && object.kind.is_object()
            && let Some(key) = self.find_key_ahead(at, &object)
            && key.quoted
        {
            return key.evidence;
        }
        match self.text.punctuation_at(at) {
            Some((Punctuation::OpenObject, len)) => {
                let position = frame.next_element_position(self);
                let inside = self.after_trivia(at + len);
                let inner = Frame { position, used: 0, ..*frame };
                match self.find_key_ahead(inside, &inner) {
                    Some(key) => key.evidence,
                    None if self.text.byte(inside) == Some(&b'}') => EndEvidence::Fair,
                    None => EndEvidence::No,
                }
            }
            Some((Punctuation::Quote(_) | Punctuation::OpenArray | Punctuation::OpenParen, _)) => {
                EndEvidence::Fair
            }
            Some(_) => EndEvidence::No,
            None => {
                let end = self.text.number_end(at);
                let word = self.text.str(at..end);
                let plain = super::number::is_scalar(word);
                let after = self.after_trivia(end);
                let alone = matches!(
                    self.text.punctuation_at(after),
                    Some((Punctuation::Comma | Punctuation::CloseArray, _))
                );
                if plain || (alone && !dirty) { EndEvidence::Fair } else { EndEvidence::Weak }
            }
        }
    }

    /// Whether the text ends inside a key, or directly after one.
    fn is_key_cut_off(&mut self, at: usize) -> bool {
        let rest = self.text.len() - at;
        if rest > MAX_AHEAD || !self.spend_fuel(rest) {
            return false;
        }
        match self.text.punctuation_at(at) {
            Some((Punctuation::Quote(quote), len)) => {
                let close = (at + len..self.text.len()).find(|&end| self.text.closer_at(quote, end) > 0);
                close.is_none_or(|close| {
                    self.after_trivia(close + self.text.closer_at(quote, close)) == self.text.len()
                })
            }
            Some(_) => false,
            None => self.text.word_end(at) == self.text.len(),
        }
    }

    /// The key at `at`, with its colon, and how well it fits the object.
    pub(super) fn find_key_ahead(&mut self, at: usize, frame: &Frame) -> Option<KeyAhead> {
        let at = at + self.text.prefix_len(at);
        match self.text.punctuation_at(at) {
            Some((Punctuation::Quote(quote), len)) => {
                let mut body = at + len;
                // `""key":` has a superfluous quote.
                let doubled = self.text.closer_at(quote, body);
                if doubled > 0 && self.text.byte(body + doubled).is_some_and(|&byte| token::is_word(byte)) {
                    body += doubled;
                }
                let limit = self.text.len().min(body + MAX_AHEAD);
                let Some((end, close)) = self.text.closer_on_line(quote, body, limit) else {
                    return self.find_unclosed_key(body, frame);
                };
                let after = self.after_trivia(end + close);
                let name = self.text.str(body..end);
                if let Some((colon, _)) = self.text.colon_at(after) {
                    return Some(self.rate_key(name, frame, (true, true), after + colon));
                }
                // Half a key (`"key: "value"`), or a key without its colon: only if it is declared. Code never is.
                if !self.guide.declares(frame.position)
                    || memchr::memchr3(b'(', b')', b'\\', name.as_bytes()).is_some()
                {
                    return None;
                }
                let half = name.split(':').next().unwrap_or_default();
                let fits = |name: &str| self.guide.declares_key(frame.position, name);
                if half.len() < name.len() && fits(half) {
                    return Some(self.rate_key(half, frame, (true, true), body + half.len() + 1));
                }
                (fits(name) && self.is_value_ahead(after))
                    .then(|| self.rate_key(name, frame, (true, true), after))
            }
            Some(_) => None,
            None => {
                let end = self.text.word_end_within(at, MAX_AHEAD).filter(|&end| end > at)?;
                let name = self.text.str(at..end);
                // `key": …`: the opening quote is missing.
                if let Some((Punctuation::Quote(_), len)) = self.text.punctuation_at(end) {
                    let after = self.after_trivia(end + len);
                    let (colon, _) = self.text.colon_at(after)?;
                    return Some(self.rate_key(name, frame, (true, false), after + colon));
                }
                let after = self.after_trivia(end);
                let (colon, _) = self.text.colon_at(after)?;
                // `https://…` and `10:30` are not keys.
                // Case: syntax/bare-value-url
                let number = name.as_bytes()[0].is_ascii_digit();
                let scheme = self.text.starts_with(after + colon, b"//");
                let key = self.rate_key(name, frame, (false, false), after + colon);
                (key.evidence == EndEvidence::Strong || !(number || scheme)).then_some(key)
            }
        }
    }

    /// `"key: 5}`: a declared key that has its opening quote and its colon only.
    fn find_unclosed_key(&self, body: usize, frame: &Frame) -> Option<KeyAhead> {
        let end = self.text.word_end(body);
        let name = self.text.str(body..end);
        let declared = self.guide.declares_key(frame.position, name);
        (declared && self.text.byte(end) == Some(&b':'))
            .then(|| self.rate_key(name, frame, (true, true), end + 1))
    }

    /// How well a key of this name fits the object.
    fn rate_key(&self, name: &str, frame: &Frame, (quoted, opened): (bool, bool), after: usize) -> KeyAhead {
        // Letters beyond ASCII take longer to compare.
        self.spend_fuel(name.len() * if name.is_ascii() { 2 } else { 8 });
        let ends = match self.guide.match_key(frame.position, name) {
            KeyFit::Declared(index) if index < 128 && frame.used >> index & 1 == 1 => EndEvidence::Weak,
            KeyFit::Declared(_) => EndEvidence::Strong,
            KeyFit::Undeclared => EndEvidence::Weak,
            KeyFit::Unknown => EndEvidence::Fair,
        };
        KeyAhead { evidence: ends, quoted, opened, after }
    }

    /// Whether an undeclared key can be believed: it and its value are written as JSON should be, and so on up to a declared
    /// key that is missing, or the end. After a string without raw quotes, other quotes, bare keys and a superfluous or
    /// missing comma are believed as well.
    // Case: syntax/undeclared-key-in-apostrophes
    // Case: syntax/undeclared-key-missing-comma
    // Case: syntax/undeclared-key-trailing-comma
    pub(super) fn is_chain_of_members(&mut self, at: usize, dirty: bool) -> bool {
        let Some(frame) = self.stack.last().copied().filter(|frame| frame.kind.is_object()) else {
            return false;
        };
        let mut at = self.after_trivia(at);
        for _ in 0..if dirty { MAX_CHAIN } else { MAX_CLEAN_CHAIN } {
            match self.text.punctuation_at(at) {
                Some((Punctuation::Comma, len)) => at = self.after_trivia(at + len),
                Some((Punctuation::CloseObject, _)) => {}
                _ if dirty => return false,
                _ => {}
            }
            if let Some((Punctuation::CloseObject, _)) = self.text.punctuation_at(at) {
                return self.end_evidence_at(at, true) == EndEvidence::Strong;
            }
            let Some(key) = self.find_key_ahead(at, &frame).filter(|key| key.quoted || !dirty) else {
                return false;
            };
            if key.evidence == EndEvidence::Strong {
                return true;
            }
            let end = if dirty {
                self.text.strict_value_end(key.after, self.depth_limit)
            } else {
                self.text.near_strict_value_end(key.after, self.depth_limit)
            };
            let Some(end) = end.filter(|_| !self.fuel.is_empty()) else { return false };
            at = self.after_trivia(end);
        }
        false
    }

    /// The position after the strict values that follow one another from `at` on. They are not prose, whatever brackets their
    /// strings hold. Asked after each of them, so the last row of values is remembered.
    fn after_strict_values(&mut self, at: usize) -> usize {
        self.spend_fuel(4);
        if self.strict_row.starts.binary_search(&at).is_ok() {
            return self.strict_row.end;
        }
        let mut row = StrictRow { starts: Vec::new(), end: at };
        while matches!(self.text.byte(row.end), Some(b'{' | b'['))
            && let Some(end) = self.text.strict_value_end(row.end, self.depth_limit)
            && !self.fuel.is_empty()
        {
            row.starts.push(row.end);
            row.end = self.after_trivia(end);
        }
        let end = row.end;
        if !row.starts.is_empty() {
            self.strict_row = row;
        }
        end
    }

    /// Whether the text may go on like this after the root value: nothing, closers, a fence, residue of a template, prose,
    /// or another value.
    // Case: syntax/prose-both-sides
    pub(super) fn rate_trailing_text(&mut self, at: usize, dirty: bool) -> EndEvidence {
        let at = self.after_trivia(at);
        self.spend_fuel(1);
        // After a lone string there is nothing to close.
        let closes = matches!(
            self.text.punctuation_at(at),
            Some((Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen, _))
        );
        if closes && self.root_is_string() {
            return EndEvidence::No;
        }
        // After text with raw quotes a comma promises more: the brackets before it may be the text's own.
        // Case: syntax/cut-inside-raw-json
        if dirty && matches!(self.text.punctuation_at(at), Some((Punctuation::Comma, _))) {
            return EndEvidence::No;
        }
        let at = if dirty { at } else { self.after_strict_values(at) };
        let at = self.text.skip_residue(at);
        if at >= self.text.len() {
            return EndEvidence::Strong;
        }
        if dirty || !self.spend_fuel(self.text.len() - at) || !surrounding_text::is_prose(self.text.rest(at))
        {
            return EndEvidence::No;
        }
        // Case: syntax/digit-after-the-last-bracket
        if self.text.is_glued(at) && self.text.byte_at(at).is_ascii_digit() {
            return EndEvidence::No;
        }
        // An unpaired quote closes a string that was opened before.
        let rest = self.text.rest(at).as_bytes();
        let quotes = memchr::memchr_iter(b'"', rest).filter(|&quote| quote == 0 || rest[quote - 1] != b'\\');
        if quotes.count() % 2 == 1 {
            return EndEvidence::No;
        }
        EndEvidence::Fair
    }
}

impl Frame {
    /// The schema position of the element after the one that is read now.
    fn next_element_position(&self, reader: &Reader<'_>) -> SchemaPosition {
        reader.guide.element(self.position, self.count + 1)
    }
}
