//! Readings that one slipped character would turn into another value.
//!
//! A comma, colon, quote or bracket that was lost, doubled or mistyped often explains the text as well: a string that
//! holds `", "key":` outside its own brackets, a lone quote beside the string's own (`5""`), a comma that may have slipped
//! into the text, a bare value that ends in `;`. Such a reading is *contested*.
//!
//! A contested reading that wins is refused, never improved by guessing: a refusal costs a turn, but a swallowed member
//! runs as a wrong call. Being contested costs nothing in rank, so it never makes a worse reading win. `rival_reading`
//! looks for the other value.

use std::ops::Range;

use super::number;
use super::reader::Reader;
use super::reading::{Frame, FrameKind};
use super::string_end::{Scan, StringContent, SwallowedText};
use super::token::{self, Punctuation, Quote};
use crate::repair::RepairKind;
use crate::schema::guide::{KeyFit, SchemaPosition, Types};

/// The longest name that is looked for after a quote.
const MAX_NAME: usize = 64;

impl Reader<'_> {
    /// Takes the closing quote at `scan.at` for text and notes what speaks against that.
    pub(super) fn take_for_text(&mut self, scan: &mut Scan, len: usize) {
        let at = scan.at;
        scan.seen.faults = true;
        scan.seen.raw_quotes += 1;
        scan.at = at + len;
        if self.is_plainly_text(scan, at) {
            return;
        }
        if at > 0 && self.text.byte_at(at - 1) == b'\\' {
            scan.seen.quotes_after_backslashes += 1;
        }
        scan.seen.quote_neighbours.comma |= self.is_beside_comma(scan, at, len);
        scan.seen.quote_neighbours.escaped_quote |=
            self.text.ends_with(at, b"\\\"") || self.text.starts_with(at + len, b"\\\"");
        let first = scan.seen.raw_quotes == 1 && self.looks_like_closing_quote(scan, at, len);
        if first && scan.seen.escaped_quotes.is_multiple_of(2) {
            scan.seen.swallowed = SwallowedText::Plain;
        } else if scan.seen.swallowed < SwallowedText::Plain
            && (first || self.could_open_sibling(scan, at, len) || self.could_close_key(scan, at, len))
        {
            self.count_brackets(scan);
            let swallowed = if scan.depth == 0 { SwallowedText::Plain } else { SwallowedText::Bracketed };
            scan.seen.swallowed = scan.seen.swallowed.max(swallowed);
        }
    }

    /// Whether the bytes beside a quote rule out everything that is asked about quotes taken for text, and it is not the
    /// first one. Code and markup are full of such quotes.
    fn is_plainly_text(&self, scan: &Scan, at: usize) -> bool {
        let in_member = self.stack.last().is_some_and(|frame| frame.kind.is_object());
        let mute = |byte: u8| {
            !matches!(
                byte,
                b' ' | b'\n' | b'\r' | b'\t' | 0x0C | b',' | b';' | b':' | b'.' | b'{' | b'}' | b'['
            ) && !matches!(byte, b']' | b'"' | b'\'' | b'\\')
        };
        let ends = |byte: u8| {
            byte.is_ascii() && !byte.is_ascii_whitespace() && !matches!(byte, b':' | b'=' | b'-' | b'\\')
        };
        scan.quote == Quote::Double
            && in_member
            && scan.seen.raw_quotes > 1
            && mute(self.text.byte_at(at - 1))
            && self.text.byte(at + 1).is_some_and(|byte| ends(*byte))
    }

    /// Whether the quote at `at`, inside an element, is beside a comma.
    fn is_beside_comma(&self, scan: &Scan, at: usize, len: usize) -> bool {
        self.stack.last().is_some_and(|frame| !frame.kind.is_object())
            && (self.text.last_visible(scan.open.1..at) == Some(b',')
                || self.text.byte(self.text.skip_ascii_whitespace(at + len)) == Some(&b','))
    }

    /// Whether the first quote that is taken for text looks as if it ended the string: text before it, and after it
    /// punctuation that leads to another string, or a key. Quotes in text come in pairs, and the first one opens.
    // Case: syntax/semicolon-for-comma
    // Case: syntax/inches-in-two-values
    fn looks_like_closing_quote(&self, scan: &Scan, at: usize, len: usize) -> bool {
        let text = at > scan.open.1
            && !matches!(self.text.byte_at(at - 1), b' ' | b'\n' | b'\t' | b'(' | b'[' | b'=' | b'\\' | b'/');
        let is_mark =
            |byte: &u8| matches!(byte, b',' | b';' | b':' | b'.' | b']' | b'}') || byte.is_ascii_whitespace();
        let after = self.text.window(at + len, MAX_NAME);
        let marks = after.iter().take_while(|byte| is_mark(byte)).count();
        let next = at + len + marks;
        text && (!after[..marks].trim_ascii().is_empty() && self.text.byte(next) == Some(&b'"')
            || marks > 0 && self.is_key_at(next)
            || after[..marks].contains(&b';') && self.is_assigned_at(next))
    }

    /// Whether a word and an equals sign are at `at`, as in `url = "x"; method = "y"`.
    // Case: syntax/assignments-with-semicolons
    fn is_assigned_at(&self, at: usize) -> bool {
        let end = self.text.word_end(at);
        let sign = self.text.skip_whitespace(end);
        end > at && self.text.byte(sign) == Some(&b'=') && self.text.byte(sign + 1) != Some(&b'=')
    }

    /// Whether a key in any quotes or none, with its colon, is at `at`.
    fn is_key_at(&self, at: usize) -> bool {
        let (name, end) = match self.text.punctuation_at(at) {
            Some((Punctuation::Quote(quote), len)) => {
                let limit = self.text.len().min(at + MAX_NAME);
                match self.text.closer_on_line(quote, at + len, limit) {
                    Some((end, close)) => (at + len..end, end + close),
                    None => return false,
                }
            }
            Some(_) => return false,
            None => {
                let end = self.text.word_end(at);
                (at..end, end)
            }
        };
        let colon = self.text.skip_whitespace(end);
        let address = self.text.starts_with(colon, b"://");
        !name.is_empty() && self.text.byte(colon) == Some(&b':') && !address
    }

    /// Whether the quote at `at`, inside a string, could close a key that lost its opening quote or has another kind.
    fn could_close_key(&self, scan: &Scan, at: usize, len: usize) -> bool {
        let next = self.text.skip_whitespace(at + len);
        if self.text.colon_at(next).is_none() {
            return false;
        }
        let body = self.text.bytes(scan.open.1.max(at.saturating_sub(MAX_NAME))..at);
        let word = body.iter().rev().take_while(|byte| token::is_word(**byte)).count();
        let name = self.text.get(at - word..at).unwrap_or_default();
        word > 0
            && (self.stack.iter().any(|frame| self.still_wants_key(frame, name))
                || !self.has_declared_keys() && self.follows_string_and_comma(scan.open.1..at - word))
    }

    /// Whether this range ends in a string, a comma, and perhaps an apostrophe.
    fn follows_string_and_comma(&self, range: Range<usize>) -> bool {
        let visible = self.text.trim_ascii_end(range.clone());
        let visible = if self.text.ends_with(visible, b"'") && visible > range.start {
            self.text.trim_ascii_end(range.start..visible - 1)
        } else {
            visible
        };
        self.mark_before(range.start..visible) == Some((b',', true))
    }

    /// The last visible byte of this range, and whether a string ends before it.
    fn mark_before(&self, range: Range<usize>) -> Option<(u8, bool)> {
        let end = self.text.trim_ascii_end(range.clone());
        let mark = end.checked_sub(1).filter(|&mark| mark >= range.start)?;
        let is_between = |byte: &u8| matches!(byte, b']' | b'}') || byte.is_ascii_whitespace();
        let before = (range.start..mark).rev().find(|&at| !self.text.byte(at).is_some_and(is_between));
        let follows_quote = before.is_some_and(|at| matches!(self.text.byte_at(at), b'"' | b'\''));
        Some((self.text.byte_at(mark), follows_quote))
    }

    /// Whether a schema declares keys of an object that is open.
    fn has_declared_keys(&self) -> bool {
        self.stack.iter().any(|frame| self.guide.declares(frame.position))
    }

    /// Whether the quote at `at`, inside a string, could open a key or an element beside that string.
    // Case: syntax/undeclared-key-raw-quotes
    fn could_open_sibling(&mut self, scan: &Scan, at: usize, len: usize) -> bool {
        let Some((mark, follows_quote)) = self.mark_before(scan.open.1..at) else { return false };
        if !matches!(mark, b',' | b';' | b':' | b'.' | b'{' | b'}' | b'[' | b']' | b'"' | b'\'') {
            return false;
        }
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        if in_array && matches!(mark, b',' | b';' | b'.' | b':') && follows_quote {
            return true;
        }
        let Some((name, after)) = self.find_name_at(scan.quote, at + len) else { return false };
        let declares = |frame: &Frame| {
            frame.kind.is_object() && self.guide.declares_key(frame.position, self.text.str(name.clone()))
        };
        // A key that the object already has is its second start, or an object beside it.
        // Case: syntax/restart-inside-a-string
        if self.stack.iter().any(declares) {
            return true;
        }
        if self.has_declared_keys() {
            return false;
        }
        let next = self.text.skip_whitespace(after);
        let closed = after > name.end;
        self.text.colon_at(next).is_some()
            || closed && mark == b',' && follows_quote && self.is_value_ahead(next)
            || closed && mark == b'"' && matches!(self.text.byte(next), Some(b',' | b':'))
    }

    /// Whether the object declares this key and has not had it yet.
    fn still_wants_key(&self, frame: &Frame, name: &str) -> bool {
        match self.guide.match_key(frame.position, name) {
            KeyFit::Declared(index) => {
                frame.kind.is_object() && (index >= 128 || frame.used >> index & 1 == 0)
            }
            _ => false,
        }
    }

    /// The name that starts at `start`, and the position after it and its quote.
    fn find_name_at(&self, quote: Quote, start: usize) -> Option<(Range<usize>, usize)> {
        let limit = self.text.len().min(start + MAX_NAME);
        for at in start..limit {
            let close = self.text.closer_at(quote, at);
            if close > 0 {
                return (at > start).then_some((start..at, at + close));
            }
            if matches!(self.text.byte_at(at), b',' | b':' | b'{' | b'}' | b'[' | b']' | b'\n') {
                break;
            }
        }
        let end = self.text.word_end(start);
        // `"name:` and `"name':` lack their closing quote.
        let after = end + usize::from(self.text.byte(end) == Some(&b'\''));
        (end > start && end < limit && self.text.byte(after) == Some(&b':')).then_some((start..end, after))
    }

    /// Contests a string with quotes in it that were taken for text, if something speaks for another reading of them.
    /// `nested`: the brackets of the string pair up.
    // Case: syntax/undeclared-key-raw-quotes
    pub(super) fn contest_inner_quotes(
        &mut self,
        quote: Quote,
        body: Range<usize>,
        nested: bool,
        seen: &mut StringContent,
    ) {
        // If its own brackets do not pair up, they prove nothing.
        let swallows = match seen.swallowed {
            SwallowedText::Nothing => false,
            SwallowedText::Bracketed => !nested,
            SwallowedText::Plain => true,
        };
        if swallows {
            self.contest(body.start);
        }
        if quote != Quote::Double {
            return;
        }
        let odd = seen.raw_quotes % 2 == 1;
        let types = self.guide.types(self.value_position());
        if odd && seen.quote_neighbours.comma || !types.has(Types::STRING) {
            self.contest(body.start);
        }
        let starts_with_mark = matches!(self.text.window(body.start, 2), [b'"', b':' | b',']);
        if self.has_triple_quote_at_one_end(body.clone()) || starts_with_mark {
            self.contest(body.start);
        }
        if seen.raw_quotes > 1 {
            return;
        }
        self.contest_doubled_edge_quote(body.clone(), seen);
        // A model that escapes the other quotes of the text has slipped at this one, one way or the other.
        let slipped = seen.quotes_after_backslashes > 0
            || seen.quote_neighbours.escaped_quote && seen.doubled.is_none();
        if seen.escaped_quotes > 0 && slipped {
            self.contest(body.start);
        }
    }

    /// Whether the string has three quotes at its start or at its end: a delimiter of Python on one side only, or two quotes of
    /// text. `x = ""` ends in an empty string.
    // Case: syntax/three-quotes-on-one-side
    fn has_triple_quote_at_one_end(&self, body: Range<usize>) -> bool {
        let text = self.text.bytes(body);
        let leading = text.iter().take_while(|byte| **byte == b'"').count();
        let trailing = text.iter().rev().take_while(|byte| **byte == b'"').count();
        let before = text.len().checked_sub(trailing + 1).and_then(|at| text.get(at));
        let is_empty_string = before.is_none_or(|byte| b" =([{,:\t\n\\+".contains(byte));
        leading == 2 || trailing == 2 && !is_empty_string
    }

    /// Whether every bracket in this range is closed, and none before it was opened.
    pub(super) fn nests(&mut self, body: Range<usize>) -> bool {
        self.spend_fuel(body.len());
        nests(self.text.bytes(body))
    }

    /// A lone quote beside the string's own may be the string's own written twice.
    // Case: syntax/doubled-closing-quote
    // Case: syntax/inch-or-doubled-quote
    fn contest_doubled_edge_quote(&mut self, body: Range<usize>, seen: &mut StringContent) {
        let text = self.text.bytes(body.clone());
        let leads = text.trim_ascii_start().first() == Some(&b'"');
        let trails = text.last() == Some(&b'"') && !text.ends_with(b"\\\"");
        if !leads && !trails {
            return;
        }
        let alone = seen.escaped_quotes.is_multiple_of(2);
        // `5""` also means five inches.
        let inches = trails && text.len() > 1 && text[text.len() - 2].is_ascii_digit();
        let spaced = leads && text.first() != Some(&b'"');
        if self.stack.is_empty() {
            return;
        }
        if alone && !inches && !spaced {
            seen.doubled = Some(if leads { body.start } else { body.end - 1 });
        } else {
            self.contest(body.start);
        }
    }

    /// Contests a string without its closing quote if it is empty, or if something in it may be that quote.
    // Case: syntax/missing-quote-or-other-quote
    pub(super) fn contest_unclosed(&mut self, quote: Quote, body: Range<usize>) {
        let text = self.text.str(body.clone()).trim_end();
        let foreign = quote != Quote::Double && text.contains('"');
        // A blank before the comma may be text or not.
        let blank = text.len() < body.len() && self.text.byte(body.end) == Some(&b',');
        // `"y": "4` may be a number with a quote too many.
        // Case: syntax/number-with-one-quote
        let is_number = number::is_scalar(text) && !self.wants_only_text(self.value_position());
        if text.is_empty()
            || is_number
            || blank
            || foreign
            || !nests(text.as_bytes())
            || text.starts_with([':', ','])
            || text.ends_with(['\'', '`', '’', '”', '‘', '“', '»', ',', ':'])
            || text.ends_with("\\\"n")
            || text.ends_with("\\\"t")
        {
            self.contest(body.start);
        }
    }

    /// Contests a string that an apostrophe opens in a document with JSON's own quotes: the apostrophe that ends it may be
    /// anywhere.
    // Case: syntax/apostrophe-for-quote
    pub(super) fn contest_mixed_quotes(&mut self, body: Range<usize>) {
        if !self.has_proper_keys() {
            return;
        }
        let text = self.text.bytes(body.clone());
        // `'it'\''s'` is an apostrophe to a shell.
        // Case: syntax/shell-apostrophe-between-apostrophes
        if memchr::memmem::find(text, b"'\\''").is_some() {
            self.contest(body.start);
        }
        let Some(first) = memchr::memchr(b'"', text) else { return };
        // Case: syntax/quotes-inside-apostrophes
        if first == 0 && text.len() > 1 && text.ends_with(b"\"") {
            self.contest(body.start);
        }
        let closes = matches!(text[first + 1..].trim_ascii_start().first(), Some(b',' | b':' | b']' | b'}'));
        if closes && memchr::memchr_iter(b'"', text).count() % 2 == 1 {
            self.contest(body.start);
        }
    }

    /// Contests a string in backticks in a document with JSON's own quotes, if it is a string or a scalar itself: the backticks may
    /// be those of Markdown.
    // Case: syntax/backticks-around-a-value
    pub(super) fn contest_backticks(&mut self, body: Range<usize>) {
        let text = self.text.str(body.clone());
        let is_string = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
        let is_scalar = number::is_scalar(text) && !self.wants_only_text(self.value_position());
        if self.has_proper_keys() && (is_string || is_scalar) {
            self.contest(body.start);
        }
    }

    /// Contests a string whose only raw line break is its last character, if a closing bracket follows on the same line of
    /// an indented document: the quote and the line break may have changed places.
    // Case: syntax/line-break-inside-the-quote
    pub(super) fn contest_last_line_break(&mut self, body: Range<usize>, after: usize) {
        let text = self.text;
        if body.is_empty()
            || text.byte_at(body.end - 1) != b'\n'
            || memchr::memchr(b'\n', text.bytes(body.start..body.end - 1)).is_some()
        {
            return;
        }
        let next = text.skip_whitespace(after);
        let is_indented = self.stack.first().is_some_and(|root| text.byte(root.open) == Some(&b'\n'));
        let on_line =
            !text.bytes(after..next).contains(&b'\n') && matches!(text.byte(next), Some(b'}' | b']'));
        if on_line && (is_indented || next > after) {
            self.contest(body.end - 1);
        }
    }

    /// Whether the document starts with a key as JSON writes it.
    pub(super) fn has_proper_keys(&self) -> bool {
        self.evidence.first_key.0 > 0 && self.text.byte_at(self.evidence.first_key.0 - 1) == b'"'
    }

    /// Contests a missing comma after the value that ends at `end` if it may have slipped into the value.
    // Case: syntax/comma-inside-the-quote
    pub(super) fn contest_comma(&mut self, end: usize) {
        let slipped = match self.string_before(end) {
            Some(body) => self.text.last_visible(body) == Some(b','),
            None => self.text.ends_with(end, b"."),
        };
        if slipped {
            self.contest(end);
        }
    }

    /// Contests a missing closer after the value that ends at `end` if it may have slipped into the value.
    // Case: syntax/closer-inside-the-quote
    pub(super) fn contest_closer(&mut self, end: usize, closer: &str) {
        if let Some(body) = self.string_before(end)
            && self.text.str(body.clone()).trim_end().ends_with(closer)
            && self.is_unbalanced(body)
        {
            self.contest(end);
        }
    }

    /// Contests a value without quotes if what looks like punctuation in it may be punctuation.
    // Case: syntax/bare-value-with-semicolon
    pub(super) fn contest_unquoted_value(&mut self, at: usize, text: &str) {
        // Escaped quotes, or an unpaired one, belong to a string whose own quotes are missing.
        let quotes = text.contains("\\\"") || text.ends_with('"') || text.matches('"').count() % 2 == 1;
        // `*"Oslo"*` is a string between marks.
        // Case: syntax/marks-around-a-string
        let inside = text.trim_matches(|ch: char| !ch.is_alphanumeric() && ch != '"');
        let quotes = quotes || inside.len() > 1 && inside.starts_with('"') && inside.ends_with('"');
        // Case: syntax/condition-as-value
        let slipped = text.ends_with([':', ';', ',', '=']) || text.ends_with(" ?");
        // Case: syntax/expression-as-value
        let call = text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_alphanumeric() && pair[1] == b'(');
        let is_code = text.contains('"') || !text.contains(' ');
        let is_list = text.contains('[') && text.contains(']');
        let expression = call && is_code && text.contains(')') || text.contains("${") || is_list;
        // Case: syntax/heading-before-value
        let commented = self.edits.last().is_some_and(|edit| {
            edit.kind == RepairKind::CommentRemoved && self.text.str(edit.end..at).trim().is_empty()
        });
        // `tru,e` and `true."b":false` are pieces of other values, and a sign alone is a piece of a number.
        // Case: syntax/pieces-of-scalars
        let lead = text.split([',', '.', '"']).next().unwrap_or_default();
        let is_piece = lead.len() < text.len() && (number::is_cut_literal(lead) || number::is_scalar(lead));
        let is_sign = !text.contains(char::is_alphanumeric) && text.len() == 1;
        let member = is_piece && (text.contains("\":") || text.contains(',')) || is_sign;
        // The escapes of a string that lost both quotes.
        // Case: syntax/escapes-without-quotes
        let escapes = ["\\n", "\\t", "\\r", "\\\\"].iter().any(|escape| text.contains(escape))
            && !matches!(text.as_bytes(), [_, b':', b'\\', ..]);
        if quotes || slipped || expression || commented || member || escapes || !nests(text.as_bytes()) {
            self.contest(at);
        }
    }

    /// Contests a key that may be text of the string before it: its quotes are of another kind than those of the document, and
    /// the string has brackets that it does not close; or it closes brackets itself.
    // Case: syntax/key-of-code-in-a-string
    pub(super) fn contest_key_in_text(&mut self, quote: Quote, key: Range<usize>, last_end: usize) {
        self.spend_fuel(key.len());
        let closes = !nests(self.text.bytes(key.clone()));
        let is_foreign = quote == Quote::Single && self.has_proper_keys();
        // Case: syntax/quotation-with-a-colon
        let is_declared = || {
            self.stack.last().is_some_and(|frame| {
                let name = self.text.str(key.clone());
                matches!(self.guide.match_key(frame.position, name), KeyFit::Declared(_))
            })
        };
        if quote.is_typographic() && !is_declared() && self.has_proper_keys() {
            self.contest(key.start);
        }
        let is_text = is_foreign && self.string_before(last_end).is_some_and(|body| self.is_unbalanced(body));
        if closes || is_text {
            self.contest(key.start);
        }
    }

    /// Contests a closer that is dropped because it closes nothing: the opener before the value may be missing instead.
    // Case: syntax/closer-without-opener
    pub(super) fn contest_lost_opener(&mut self, frame: &Frame, mark: Punctuation) {
        let closed = if mark == Punctuation::CloseArray { Types::ARRAY } else { Types::OBJECT };
        if frame.kind.is_object() && self.could_hold(frame.value_position, closed) {
            self.contest(self.state.pos);
        }
    }

    /// Contests the innermost bracket, which is not closed, if it was opened twice in a row: one may be superfluous.
    // Case: syntax/opener-twice
    pub(super) fn contest_doubled_opener(&mut self) {
        let Some(frame) = self.stack.last().copied() else { return };
        let twice = matches!(self.text.byte(frame.open), Some(b'[')) && frame.kind == FrameKind::Array;
        if twice && frame.count == 1 && self.could_hold(self.guide.element(frame.position, 0), Types::ARRAY) {
            self.contest(frame.open);
        }
    }

    /// Whether the schema allows that type in this position, but not only that type.
    fn could_hold(&self, position: SchemaPosition, kind: Types) -> bool {
        let types = self.guide.types(position);
        types.has(kind) && types != kind
    }

    /// The content of the string value that ends at `end`.
    pub(super) fn string_before(&self, end: usize) -> Option<Range<usize>> {
        let (body, close) = self.state.last_string;
        (close < end && close + 3 >= end && close > body).then_some(body..close)
    }
}

/// Whether every bracket in the text is closed, and none before it was opened.
pub(super) fn nests(text: &[u8]) -> bool {
    let mut depth = 0u32;
    for byte in text {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0
}
