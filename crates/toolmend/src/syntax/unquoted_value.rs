//! Values without quotes: literals, numbers, and words that were meant as strings.
//!
//! A word becomes a string only if nothing else can be meant, and never a number with leading zeros or a placeholder.

use std::ops::Range;

use super::literal::prefixed;
use super::lookahead::EndEvidence;
use super::number::{self, Literal, NumberReading, Wanted};
use super::reader::Reader;
use super::reading::{FrameKind, Step};
use super::token::{self, Punctuation};
use crate::json::text::escape_into;
use crate::repair::RepairKind;
use crate::schema::guide::{SchemaPosition, Types};
use crate::syntax::Finish;

/// What it costs to judge a value without quotes: many rules ask what it is.
const BARE_VALUE: usize = 64;

/// What was expected if the schema takes no value that is not a number.
// Case: syntax/nan-where-null-does-not-fit
pub(super) const NUMBER: &str = "a number instead of NaN";
/// What was expected if a number can be read in several ways, or a literal was cut short.
pub(super) const CLEAR_VALUE: &str = "a value with one meaning";
/// What was expected if the model left something out: an ellipsis says that content is missing.
// Case: syntax/ellipsis-in-array
pub(super) const PLACEHOLDER: &str = "a value instead of a placeholder";

/// The longest number whose groups of digits are told from members.
const MAX_GROUPED: usize = 64;

/// Where an unquoted value ends.
#[derive(Debug, Clone, Copy)]
struct UnquotedEnd {
    /// The position after its last character, white space trimmed.
    end: usize,
    /// Whether the text ends here.
    at_end_of_text: bool,
    /// The length of a closing quote after the value.
    closing_quote: usize,
}

/// Bare words that stand for a value that a log or a console left out.
const LEFT_OUT: &[&str] = &[
    "redacted",
    "masked",
    "hidden",
    "omitted",
    "truncated",
    "snip",
    "array",
    "object",
    "circular",
    "object object",
];

/// Whether a bare value says what should be there, or that something was left out: `<path to the file>`, `[REDACTED]`, `****`.
// Case: syntax/placeholder-value
// Case: syntax/left-out-value
fn is_placeholder(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let is_left_out = text.len() <= 16 && LEFT_OUT.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_masked = text.len() > 1 && text.bytes().all(|byte| byte == b'*');
    inside.is_some_and(|inside| !inside.contains(['<', '>'])) || is_left_out || is_masked
}

/// Marks that other notations put around text.
const MARKS: &[(&str, &str)] = &[
    ("**", "**"),
    ("__", "__"),
    ("~~", "~~"),
    ("<<", ">>"),
    ("|", "|"),
    ("q{", "}"),
    ("@{", "}"),
    ("%{", "}"),
    ("$(", ")"),
];

/// Whether a bare value is between marks of another notation: they would end up in the string.
// Case: syntax/marks-around-a-value
fn is_marked(text: &str) -> bool {
    let encoded = text.strip_prefix('%').and_then(|rest| rest.get(..2));
    let is_encoded = encoded.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_encoded
        || is_tagged(text)
        || MARKS.iter().any(|(open, close)| {
            let rest = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            rest.is_some_and(|rest| !rest.is_empty())
        })
}

/// Whether a bare value is between two tags of one name: `<string>Oslo</string>`.
fn is_tagged(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return false;
    };
    let name = name.split_whitespace().next().unwrap_or_default();
    let closer = rest.rfind("</").map(|at| rest[at + 2..].trim_end_matches('>'));
    !name.is_empty() && closer == Some(name)
}

/// Whether a bare value starts or ends with a number or a literal that has something beside it, or is nearly a literal: `7 and`,
/// `$3`, `!true`, `3f`, `true|false`, `data: 1`, `flase`, `yes`. Where nothing asks for text, it is a damaged scalar or a text.
// Case: syntax/scalar-with-more
// Case: syntax/literal-of-another-notation
fn has_more_than_a_scalar(text: &str) -> bool {
    const OTHER_LITERALS: &[&str] =
        &["yes", "no", "on", "off", "t", "f", "y", "n", "n/a", "~", "l", "o", "nu", "tr"];
    if text.contains("..") && text.starts_with(|ch: char| ch.is_ascii_digit()) {
        return true;
    }
    if is_date_or_time(text) {
        return false;
    }
    let is_named = OTHER_LITERALS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let is_mark = |ch: char| !(ch.is_alphanumeric() || matches!(ch, '.' | '_'));
    let first = text.trim_start_matches(is_mark).split(is_mark).next().unwrap_or_default();
    let tail = text.trim_end_matches(is_mark);
    let last = tail.rsplit(is_mark).next().unwrap_or_default();
    // The last part of a path, of an id or of a call is no scalar.
    let is_apart = tail[..tail.len() - last.len()].ends_with([' ', '\t', '\n', ':', '|', '>', '=', '!', '$']);
    let is_scalar = |word: &str| number::is_scalar(word.trim_matches('.'));
    is_named
        || number::is_misspelt_literal(text)
        || ["true", "false", "null"].contains(&last.rsplit('.').next().unwrap_or_default())
        || text.contains(' ') && text.split_whitespace().next_back().is_some_and(number::is_scalar)
        || is_scalar(first)
        || starts_with_scalar(first)
        || is_apart && is_scalar(last)
}

/// Whether letters follow a number or a literal directly: `1u32`, `falsefoo`. A word of hexadecimal digits is an id.
fn starts_with_scalar(word: &str) -> bool {
    const LEAST_ID: usize = 6;
    let is_id = word.len() >= LEAST_ID && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number =
        word.starts_with(|ch: char| ch.is_ascii_digit()) && word.contains(|ch: char| ch.is_alphabetic());
    is_number && !is_id || ["true", "false", "null"].iter().any(|literal| word.starts_with(literal))
}

/// Whether a bare value has the digits and marks of a date or a time: `2024-01-05`, `10:30`.
fn is_date_or_time(text: &str) -> bool {
    let is_mark = |ch: char| "-:./TZ+ ".contains(ch);
    let count = |mark: char| text.matches(mark).count();
    text.starts_with(|ch: char| ch.is_ascii_digit())
        && text.chars().all(|ch| ch.is_ascii_digit() || is_mark(ch))
        && (count('-') > 1 || count('/') > 1 || count('.') > 1 || count(':') > 0 && !text.contains(' '))
}

/// Whether a bare value is a number or a literal, and what a template, a log or a transport wrote after it: `true<|eot_id|>`,
/// `3 <!-- note -->`. Such a text is nobody's, whatever is wanted.
// Case: syntax/token-after-a-literal
fn has_residue(text: &str) -> bool {
    const RESIDUES: &[&str] = &["<|", "<!--", "\u{feff}", "\0", "[EOT]", "</s>", "--", "..."];
    RESIDUES
        .iter()
        .filter_map(|residue| text.find(residue))
        .any(|at| number::is_scalar(text[..at].trim_end()))
        || ["<|", "<!--", "-- "].iter().any(|residue| text.starts_with(residue))
}

/// Whether a bare value has digits that JSON has not, such as full-width ones.
// Case: syntax/digits-of-another-script
fn has_foreign_digits(text: &str) -> bool {
    text.chars().any(|ch| !ch.is_ascii() && ch.is_numeric() || ('\u{ff01}'..='\u{ff5e}').contains(&ch))
}

/// The first word of an unquoted value.
#[derive(Debug, Clone, Copy, Default)]
struct LeadingWord {
    /// Where the blank after it is.
    end: Option<usize>,
    /// Whether it is no scalar, or more text came after its blanks.
    is_over: bool,
    /// Whether it is known that nothing follows its blanks that would end it.
    is_asked: bool,
}

impl Reader<'_> {
    /// Reads a value that starts at `at` with neither a quote nor a bracket.
    // Case: syntax/bare-value-words
    pub(super) fn read_unquoted_value(&mut self, at: usize) -> Step {
        let position = self.value_position();
        // The common case: a literal or number as JSON spells it, with its end in sight.
        let word = self.text.number_end(at);
        if let Some(step) = self.read_plain_scalar(at, word) {
            return step;
        }
        let Some(found) = self.find_unquoted_end(at, position) else { return Step::Dead("a value", at) };
        let text = self.text.str(at..found.end);
        if text.is_empty() || !self.spend_fuel(BARE_VALUE + 2 * text.len()) {
            return Step::Dead("a value", at);
        }
        // Case: syntax/here-document-as-value
        let is_here_document =
            text.contains('\n') && (text.starts_with("<<") || text.starts_with(['|', '>']));
        if is_here_document
            || prefixed::is_unknown_literal(self.text.str(at..found.end + found.closing_quote))
        {
            return Step::Dead(prefixed::PLAIN_LITERAL, at);
        }
        if text.starts_with("...") || text == "…" || text == "?" || is_placeholder(text) {
            return Step::Dead(PLACEHOLDER, at);
        }
        if is_marked(text) || has_foreign_digits(text) && !self.wants_only_text(position) {
            return Step::Dead(CLEAR_VALUE, at);
        }
        // `a=1, b=2` has no closer: it ends with the text. A number there may go on, whatever the finish reason says; a
        // literal is complete.
        // Case: syntax/number-at-the-end
        let unbracketed = matches!(self.stack[..], [frame] if frame.kind == FrameKind::Implicit)
            && self.finish != Finish::Length;
        let plain = !text.contains(['"', ',', '{', '[']);
        let complete = !found.at_end_of_text
            || plain
                && self.evidence.half_keys == 0
                && (self.finish == Finish::Stop && number::parse_literal(text).is_some()
                    || unbracketed && self.has_assignment());
        if let Some(step) = self.read_scalar(at, found.end, position, complete) {
            return step;
        }
        if !complete {
            return Step::Cut;
        }
        if found.closing_quote == 0 {
            self.contest_unquoted_value(at, text);
            // `[1.2.5]` without a word about strings: either point may be a comma.
            // Case: syntax/two-points-in-a-number
            let is_digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let is_unclear = is_digits && !self.is_in_object() || has_more_than_a_scalar(text);
            if has_residue(text) || is_unclear && !self.wants_only_text(position) {
                self.contest(at);
            }
        }
        self.quote_value(at, found);
        self.finish_value(found.end + found.closing_quote)
    }

    /// Whether a member was written `key=value`.
    fn has_assignment(&self) -> bool {
        self.spend_fuel(self.edits.len());
        self.edits.iter().any(|edit| edit.kind == RepairKind::KeyValueTextRead)
    }

    /// Reads a strict literal or number directly before punctuation.
    fn read_plain_scalar(&mut self, at: usize, end: usize) -> Option<Step> {
        let word = self.text.str(at..end);
        let strict = matches!(word, "true" | "false" | "null") || number::is_strict(word);
        let followed = match self.text.byte(end) {
            Some(b'}' | b']') => true,
            // A comma between digits may be part of the number, but never in an array: `[100,200]` has two.
            // Case: syntax/numbers-are-never-joined
            Some(b',') => !self.is_in_object() || !self.text.byte(end + 1).is_some_and(u8::is_ascii_digit),
            _ => false,
        };
        (strict && followed).then(|| self.finish_value(end))
    }

    /// Reads a literal or number in any spelling, as far as the schema allows it.
    // Case: syntax/python-literals
    // Case: syntax/number-spellings
    // Case: syntax/nan-where-null-fits
    // Case: syntax/leading-zeros-are-text
    fn read_scalar(
        &mut self,
        at: usize,
        end: usize,
        position: SchemaPosition,
        complete: bool,
    ) -> Option<Step> {
        let word = self.text.str(at..end);
        let types = self.guide.types(position);
        let string_only = self.wants_only_text(position);
        if let Some(literal) = number::parse_literal(word) {
            let is_number = matches!(literal, Literal::NotANumber | Literal::Infinity);
            if word == literal.json() && !is_number {
                return Some(self.finish_value(end));
            }
            // A word of another spelling than JSON's keeps it where only text is wanted. Words for nothing are no text.
            // Case: syntax/word-for-truth-as-text
            let is_text = is_number || literal.json() != "null";
            if string_only && (self.guide.lists(position, word) || is_text) {
                return None;
            }
            let kind = match literal {
                Literal::Infinity => return Some(Step::Dead(NUMBER, at)),
                Literal::NotANumber if !types.has(Types::NULL) => return Some(Step::Dead(NUMBER, at)),
                Literal::NotANumber => RepairKind::NotANumberToNull,
                _ => RepairKind::LiteralSpelled,
            };
            self.edit(at..end, literal.json(), kind);
            return Some(self.finish_value(end));
        }
        let unclear = if complete { Step::Dead(CLEAR_VALUE, at) } else { Step::Cut };
        if number::is_cut_literal(word) && !self.guide.lists(position, word) {
            return Some(unclear);
        }
        let number = match number::read_number(word, self.wanted_number(position)) {
            NumberReading::Number(number) => number.into_owned(),
            NumberReading::Unclear if string_only => return None,
            NumberReading::Unclear => return Some(unclear),
            NumberReading::NotANumber => return None,
        };
        if !complete {
            return Some(Step::Cut);
        }
        if number != word {
            if string_only {
                return None;
            }
            // `[12,.5]`: the comma may be one digit too late.
            // Case: syntax/comma-before-a-point
            let follows_digit = |comma: usize| comma > 0 && self.text.byte_at(comma - 1).is_ascii_digit();
            if word.starts_with('.') && self.text.ends_with(at, b",") && follows_digit(at - 1) {
                self.contest(at);
            }
            self.edit(at..end, number, RepairKind::NumberSpelled);
        }
        Some(self.finish_value(end))
    }

    /// Whether the schema takes text in this position and no other scalar.
    pub(super) fn wants_only_text(&self, position: SchemaPosition) -> bool {
        let types = self.guide.types(position);
        let others = Types::NUMBER.union(Types::BOOLEAN).union(Types::NULL);
        types.has(Types::STRING)
            && !types.has(others)
            && self.guide.root() != SchemaPosition::ANY
            && position != SchemaPosition::ANY
    }

    /// The number that is wanted in this position. A member that nothing is known about may hold a number with groups of
    /// digits: what follows its comma is no key, and three digits are no fraction that people write.
    // Case: syntax/grouped-number-without-schema
    fn wanted_number(&self, position: SchemaPosition) -> Wanted {
        let types = self.guide.types(position);
        let is_known = types != Types::ALL && position != SchemaPosition::ANY;
        let is_number = types.has(Types::NUMBER) && !types.has(Types::STRING);
        if is_known && is_number && types.has(Types::FRACTION) {
            Wanted::Number
        } else if is_known && is_number || !is_known && self.is_in_object() {
            Wanted::Integer
        } else {
            Wanted::Anything
        }
    }

    fn is_in_object(&self) -> bool {
        self.stack.last().is_some_and(|frame| frame.kind.is_object())
    }

    /// Puts quotes around an unquoted value and escapes what has to be escaped in it.
    fn quote_value(&mut self, at: usize, found: UnquotedEnd) {
        let text = self.text.str(at..found.end);
        self.state.guesses += 1;
        if found.closing_quote > 0 {
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

    /// Adds the opening quote of a value that has its closing one: it was written as a string.
    // Case: syntax/missing-opening-quote
    fn add_opening_quote(&mut self, at: usize, found: UnquotedEnd) {
        self.edit(at..at, "\"", RepairKind::MissingQuoteAdded);
        let close = found.end..found.end + found.closing_quote;
        let quote = match self.text.punctuation_at(found.end) {
            Some((Punctuation::Quote(quote), _)) => quote,
            _ => token::Quote::Double,
        };
        self.repair_string(token::Quote::Double, at..at, at..found.end, 0);
        if let Some(kind) = quote.repair() {
            self.edit(close, "\"", kind);
        }
    }

    /// Where the unquoted value at `at` ends: before a comma that separates, a closer that closes, a comment, or a line
    /// break or blank before the next key.
    // Case: syntax/bare-value-url
    fn find_unquoted_end(&mut self, at: usize, position: SchemaPosition) -> Option<UnquotedEnd> {
        let in_object = self.is_in_object();
        // Only in an object can a comma before digits not separate: nothing else is a key.
        let may_group = in_object && !self.wants_only_text(position);
        let least = if in_object { EndEvidence::Fair } else { EndEvidence::Weak };
        let mut inner = 0usize;
        let mut lead = LeadingWord::default();
        let mut end = at;
        while end < self.text.len() {
            if !self.spend_fuel(1) {
                return None;
            }
            let text = self.text;
            let stop = |end: usize| {
                Some(UnquotedEnd { end: text.trim_end(at..end), at_end_of_text: false, closing_quote: 0 })
            };
            match self.text.punctuation_at(end) {
                Some((Punctuation::OpenObject, _))
                    if inner == 0 && end > at && self.stack.len() == 1 && self.is_restart_at(end) =>
                {
                    return stop(end);
                }
                Some((Punctuation::OpenObject | Punctuation::OpenArray | Punctuation::OpenParen, _)) => {
                    inner += 1;
                }
                Some((Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen, _))
                    if inner > 0 =>
                {
                    inner -= 1;
                }
                Some((Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen, _)) => {
                    // A closer that closes nothing is not text either.
                    return if self.end_evidence_at(end, false) > EndEvidence::No { stop(end) } else { None };
                }
                Some((Punctuation::Comma, len)) if inner == 0 => {
                    let grouped = may_group && self.groups_digits(at, end + len);
                    if !grouped && (!in_object || self.separates_members(end, len)) {
                        return stop(end);
                    }
                }
                Some((Punctuation::Quote(_), len)) if end > at => {
                    // `word", …` lost its opening quote; `word "key": …` lost its comma.
                    let before = self.text.byte_at(end - 1);
                    // `null"key": 1` is a literal without its comma.
                    // Case: syntax/comma-and-another-quote-lost
                    if in_object
                        && inner == 0
                        && number::is_scalar(self.text.str(at..end))
                        && self.has_quoted_key_after(end)
                    {
                        return stop(end);
                    }
                    if before.is_ascii_whitespace() {
                        if in_object && self.end_evidence_at(end, false) > EndEvidence::No {
                            return stop(end);
                        }
                    } else if self.end_evidence_at(end + len, false) >= least
                        && !self.text.str(at..end).contains(['"', '\''])
                    {
                        return Some(UnquotedEnd { end, at_end_of_text: false, closing_quote: len });
                    }
                }
                _ => {}
            }
            if self.ends_leading_scalar(&mut lead, at..end, in_object) && inner == 0 {
                return stop(end);
            }
            if self.ends_before_trivia(at, end, inner) {
                return stop(end);
            }
            end += 1;
            while end < self.text.len() && !self.text.is_char_boundary(end) {
                end += 1;
            }
        }
        let end = self.text.trim_end(at..self.text.len());
        // Blanks after it close nothing.
        // Case: syntax/bare-value-cut-before-a-blank
        Some(UnquotedEnd { end, at_end_of_text: true, closing_quote: 0 })
    }

    /// Whether the comma before `after` groups the digits of the number that starts at `at`: three of them follow it.
    // Case: syntax/grouped-number
    fn groups_digits(&self, at: usize, after: usize) -> bool {
        let end = after + 3;
        let is_group = end - at <= MAX_GROUPED
            && self.text.get(after..end).is_some_and(|group| group.bytes().all(|byte| byte.is_ascii_digit()))
            && !self.text.byte(end).is_some_and(u8::is_ascii_digit);
        is_group && number::is_grouped(self.text.str(at..end))
    }

    /// Whether the comma at `end`, which is `len` long, ends a member of an object.
    fn separates_members(&mut self, end: usize, len: usize) -> bool {
        let ends = self.end_evidence_at(end, false);
        ends >= EndEvidence::Fair || (ends == EndEvidence::Weak && self.has_quoted_key_after(end + len))
    }

    /// Whether the value that starts at `at` ends before a line break, a literal `\n` or a comment at `end`. `inner` is the
    /// number of brackets that it has open.
    fn ends_before_trivia(&mut self, at: usize, end: usize, inner: usize) -> bool {
        let byte = self.text.byte_at(end);
        let blank = end > at && self.text.byte_at(end - 1).is_ascii_whitespace();
        let slashes = byte == b'/' && matches!(self.text.byte(end + 1), Some(b'/' | b'*'));
        let comment = (slashes || byte == b'#') && blank;
        let can_end = byte == b'\n' || byte == b'\\' || comment;
        if !can_end || self.end_evidence_at(end, false) == EndEvidence::No || inner > 0 {
            return false;
        }
        let line = self.after_trivia(end);
        // A comment with one quote in it may be text, and the quote its end.
        // Case: syntax/comment-or-value
        if comment && self.text.str(end..line).matches('"').count() % 2 == 1 {
            self.contest(end);
        }
        line > end || comment
    }

    /// Whether the value before the byte after `value` is a number or literal, and that byte separates it from another value:
    /// a blank in an array, a line break before a key in an object.
    // Case: syntax/missing-commas
    fn ends_leading_scalar(&mut self, lead: &mut LeadingWord, value: Range<usize>, in_object: bool) -> bool {
        let byte = self.text.byte_at(value.end);
        if !byte.is_ascii_whitespace() {
            lead.is_over |= lead.end.is_some();
            return false;
        }
        // Only the first word can be a scalar. What follows its blanks is the same for all of them.
        let first = lead.end.is_none();
        let end = *lead.end.get_or_insert(value.end);
        if lead.is_over || lead.is_asked && in_object || !first && !in_object {
            return false;
        }
        if first {
            self.spend_fuel(end - value.start);
            lead.is_over = !number::is_scalar(self.text.str(value.start..end));
        }
        if lead.is_over || in_object && byte != b'\n' {
            return false;
        }
        lead.is_asked = true;
        if in_object { self.is_key_after(value.end) } else { self.is_value_after(value.end) }
    }

    /// Whether another value starts after the blank at `end`.
    fn is_value_after(&mut self, end: usize) -> bool {
        let next = self.after_trivia(end);
        let after = self.text.number_end(next);
        let quoted = matches!(
            self.text.punctuation_at(next),
            Some((Punctuation::Quote(_) | Punctuation::OpenObject | Punctuation::OpenArray, _))
        );
        quoted || number::is_scalar(self.text.str(next..after))
    }

    /// Whether the line after the break at `end` starts with a key.
    fn is_key_after(&mut self, end: usize) -> bool {
        let next = self.after_trivia(end);
        let Some(frame) = self.stack.last().copied() else { return false };
        self.find_key_ahead(next, &frame).is_some()
    }

    fn has_quoted_key_after(&mut self, at: usize) -> bool {
        let at = self.after_trivia(at);
        let Some(frame) = self.stack.last().copied() else { return false };
        self.find_key_ahead(at, &frame).is_some_and(|key| key.quoted)
    }
}
