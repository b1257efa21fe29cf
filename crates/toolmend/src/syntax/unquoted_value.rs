//! Values without quotes: literals, numbers, and words that were meant as strings.

use super::lookahead::EndEvidence;
use super::number::{self, Literal};
use super::reader::Reader;
use super::reading::{FrameKind, Step};
use super::token::{self, Punctuation};
use crate::json::text::escape_into;
use crate::repair::RepairKind;
use crate::schema::guide::{SchemaPosition, Types};
use crate::syntax::Finish;

/// What is expected where the schema has no place for a value that is not a number.
pub(super) const NUMBER: &str = "a number instead of NaN";
/// What is expected where the model left something out.
pub(super) const PLACEHOLDER: &str = "a value instead of a placeholder";

/// Where a bare value ends.
#[derive(Debug, Clone, Copy)]
struct BareEnd {
    /// The place behind its last character, white space trimmed.
    end: usize,
    /// The text ends here.
    eof: bool,
    /// A stray quote behind the value, to be dropped.
    stray: usize,
}

impl Reader<'_> {
    /// A value that starts at `at` with neither a quote nor a bracket.
    pub(super) fn read_unquoted_value(&mut self, at: usize) -> Step {
        let position = self.value_position();
        // The common case: a literal or number as JSON spells it, with its end in sight.
        let word = token::word_end(self.bytes, at + usize::from(self.bytes[at] == b'+'));
        if let Some(step) = self.read_plain_scalar(at, word) {
            return step;
        }
        let Some(found) = self.find_unquoted_end(at, position) else { return Step::Dead("a value", at) };
        let text = &self.text[at..found.end];
        if text.is_empty() || !self.spend_fuel(text.len()) {
            return Step::Dead("a value", at);
        }
        if text.starts_with("...") || text == "…" || text == "?" {
            return Step::Dead(PLACEHOLDER, at);
        }
        // `a=1, b=2` has no closer: its end is the end of the text.
        let unbracketed = matches!(self.stack[..], [frame] if frame.kind == FrameKind::Implicit)
            && self.finish != Finish::Length;
        let plain = !text.contains(['"', ',', '{', '[']);
        let complete = !found.eof
            || plain
                && self.evidence.half_keys == 0
                && (self.finish == Finish::Stop || unbracketed && self.has_assignment());
        if let Some(step) = self.read_scalar(at, found.end, position, complete) {
            return step;
        }
        if !complete {
            return Step::Cut;
        }
        if found.stray == 0 {
            self.contest_unquoted_value(at, text);
        }
        self.quote_value(at, found);
        self.finish_value(found.end + found.stray)
    }

    /// Whether the current member was written `key=value`.
    fn has_assignment(&self) -> bool {
        self.edits.iter().any(|edit| edit.kind == RepairKind::KeyValueTextRead)
    }

    /// A strict literal or number directly before punctuation.
    fn read_plain_scalar(&mut self, at: usize, end: usize) -> Option<Step> {
        let word = &self.text[at..end];
        let strict = matches!(word, "true" | "false" | "null") || number::is_strict(word);
        let followed = match self.bytes.get(end) {
            Some(b'}' | b']') => true,
            // A comma between digits may belong to the number.
            Some(b',') => !self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            _ => false,
        };
        (strict && followed).then(|| self.finish_value(end))
    }

    /// A literal or number in any spelling, as far as the guide allows it.
    fn read_scalar(
        &mut self,
        at: usize,
        end: usize,
        position: SchemaPosition,
        complete: bool,
    ) -> Option<Step> {
        let word = &self.text[at..end];
        let types = self.guide.types(position);
        let string_only = types.has(Types::STRING)
            && !types.has(Types::NUMBER)
            && !types.has(Types::BOOLEAN)
            && !types.has(Types::NULL)
            && self.guide.root() != SchemaPosition::ANY
            && position != SchemaPosition::ANY;
        if let Some(literal) = number::literal(word) {
            if word == literal.json() && literal != Literal::NotANumber {
                return Some(self.finish_value(end));
            }
            if string_only && (self.guide.lists(position, word) || literal == Literal::NotANumber) {
                return None;
            }
            let kind = match literal {
                Literal::NotANumber if !types.has(Types::NULL) => {
                    return Some(Step::Dead(NUMBER, at));
                }
                Literal::NotANumber => RepairKind::NotANumberToNull,
                _ => RepairKind::LiteralSpelled,
            };
            self.edit(at..end, literal.json(), kind);
            return Some(self.finish_value(end));
        }
        let number = number::spell(word).map(std::borrow::Cow::into_owned).or_else(|| {
            number::without_groups(word).filter(|_| types.has(Types::NUMBER) && !types.has(Types::STRING))
        })?;
        if !complete {
            return Some(Step::Cut);
        }
        if number != word {
            if string_only {
                return None;
            }
            self.edit(at..end, number, RepairKind::NumberSpelled);
        }
        Some(self.finish_value(end))
    }

    fn quote_value(&mut self, at: usize, found: BareEnd) {
        let text = &self.text[at..found.end];
        self.state.guesses += 1;
        if found.stray > 0 {
            return self.add_opening_quote(at, found);
        }
        self.edit(at..at, "\"", RepairKind::ValueQuoted);
        for (offset, ch) in text.char_indices().filter(|&(_, ch)| ch == '"' || ch == '\\' || ch < ' ') {
            let mut escaped = String::new();
            escape_into(&mut escaped, ch.encode_utf8(&mut [0; 4]));
            self.edit(at + offset..at + offset + 1, escaped, RepairKind::ValueQuoted);
        }
        self.edit(found.end..found.end, "\"", RepairKind::ValueQuoted);
    }

    /// The value has its closing quote, so it was written as a string: only the opening one is missing.
    fn add_opening_quote(&mut self, at: usize, found: BareEnd) {
        self.edit(at..at, "\"", RepairKind::MissingQuoteAdded);
        let close = found.end..found.end + found.stray;
        let quote = match token::punctuation_at(self.bytes, found.end) {
            Some((Punctuation::Quote(quote), _)) => quote,
            _ => token::Quote::Double,
        };
        self.repair_string(token::Quote::Double, at..at, at..found.end, 0);
        if let Some(kind) = quote.repair() {
            self.edit(close, "\"", kind);
        }
    }

    /// Where the bare value at `at` ends: before a comma that separates, a closer that closes, a comment, or a
    /// line break or blank behind which the next key stands.
    fn find_unquoted_end(&mut self, at: usize, position: SchemaPosition) -> Option<BareEnd> {
        let in_object = self.stack.last().is_some_and(|frame| frame.kind.is_object());
        let numeric =
            self.guide.types(position).has(Types::NUMBER) && !self.guide.types(position).has(Types::STRING);
        let least = if in_object { EndEvidence::Fair } else { EndEvidence::Weak };
        let mut inner = 0usize;
        let mut end = at;
        while end < self.bytes.len() {
            if !self.spend_fuel(1) {
                return None;
            }
            let byte = self.bytes[end];
            let stop = |end: usize| {
                Some(BareEnd { end: at + self.text[at..end].trim_end().len(), eof: false, stray: 0 })
            };
            match token::punctuation_at(self.bytes, end) {
                Some((Punctuation::OpenObject, _))
                    if inner == 0 && end > at && self.stack.len() == 1 && self.is_restart_at(end) =>
                {
                    return stop(end);
                }
                Some((Punctuation::OpenObject | Punctuation::OpenArray | Punctuation::OpenParen, _)) => {
                    inner += 1
                }
                Some((Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen, _))
                    if inner > 0 =>
                {
                    inner -= 1
                }
                Some((Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen, _)) => {
                    // A closer that closes nothing is not text either.
                    return if self.end_evidence_at(end, false) > EndEvidence::No { stop(end) } else { None };
                }
                Some((Punctuation::Comma, len)) if inner == 0 => {
                    let grouped = numeric
                        && number::without_groups(
                            self.text[at..self.digits_end(end + len)].trim_end_matches([',', '.']),
                        )
                        .is_some();
                    let separates = match (in_object, self.stack.last()) {
                        _ if grouped => false,
                        (true, Some(_)) => {
                            let ends = self.end_evidence_at(end, false);
                            ends >= EndEvidence::Fair
                                || (ends == EndEvidence::Weak && self.has_quoted_key_after(end + len))
                        }
                        _ => true,
                    };
                    if separates {
                        return stop(end);
                    }
                }
                Some((Punctuation::Quote(_), len)) if end > at => {
                    // `word", …` lost its opening quote; `word "key": …` its comma.
                    let before = self.bytes[end - 1];
                    if before.is_ascii_whitespace() {
                        if in_object && self.end_evidence_at(end, false) > EndEvidence::No {
                            return stop(end);
                        }
                    } else if self.end_evidence_at(end + len, false) >= least
                        && !self.text[at..end].contains(['"', '\''])
                    {
                        return Some(BareEnd { end, eof: false, stray: len });
                    }
                }
                _ => {}
            }
            // `[1 2]`: complete scalars need no quotes to be told apart.
            if byte.is_ascii_whitespace()
                && !in_object
                && inner == 0
                && self.is_scalar_before_another(at, end)
            {
                return stop(end);
            }
            if byte == b'\n' && in_object && inner == 0 && self.has_member_on_next_line(at, end) {
                return stop(end);
            }
            let blank = end > at && self.bytes[end - 1].is_ascii_whitespace();
            let comment = (byte == b'/' && matches!(self.bytes.get(end + 1), Some(b'/' | b'*'))
                || byte == b'#')
                && blank;
            if (byte == b'\n' || byte == b'\\' || comment)
                && self.end_evidence_at(end, false) > EndEvidence::No
                && inner == 0
            {
                let line = self.after_trivia(end);
                if line > end || comment {
                    // A comment with one quote in it may be text, and the quote its end.
                    if comment && self.text[end..line].matches('"').count() % 2 == 1 {
                        self.contest(end);
                    }
                    return Some(BareEnd {
                        end: at + self.text[at..end].trim_end().len(),
                        eof: false,
                        stray: 0,
                    });
                }
            }
            end += 1;
            while end < self.bytes.len() && !self.text.is_char_boundary(end) {
                end += 1;
            }
        }
        let end = at + self.text[at..].trim_end().len();
        Some(BareEnd { end, eof: end == self.bytes.len(), stray: 0 })
    }

    /// Whether `at..end` is a number or literal and another value starts behind the blank at `end`.
    fn is_scalar_before_another(&mut self, at: usize, end: usize) -> bool {
        let next = self.after_trivia(end);
        let behind = token::word_end(self.bytes, next);
        let quoted = matches!(
            token::punctuation_at(self.bytes, next),
            Some((Punctuation::Quote(_) | Punctuation::OpenObject | Punctuation::OpenArray, _))
        );
        number::is_scalar(&self.text[at..end]) && (quoted || number::is_scalar(&self.text[next..behind]))
    }

    /// Whether `at..end` is a number or literal and the next line starts with a key.
    fn has_member_on_next_line(&mut self, at: usize, end: usize) -> bool {
        let word = self.text[at..end].trim_end();
        let scalar = number::is_scalar(word);
        let next = self.after_trivia(end);
        let Some(frame) = self.stack.last().copied() else { return false };
        scalar && self.find_key_ahead(next, &frame).is_some()
    }

    fn digits_end(&self, at: usize) -> usize {
        at + self.bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b',' || **byte == b'.')
            .count()
    }

    fn has_quoted_key_after(&mut self, at: usize) -> bool {
        let at = self.after_trivia(at);
        let Some(frame) = self.stack.last().copied() else { return false };
        self.find_key_ahead(at, &frame).is_some_and(|key| key.quoted)
    }
}
