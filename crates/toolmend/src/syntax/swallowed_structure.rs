//! Structure that ended up inside a string.
//!
//! When quotes are taken for text, what is between them may have been the end of one value and the start of the next.
//! Text of a string has brackets and quotes of its own, and these pair up. A quote before a bracket that the string never
//! opened, or a string with a second pair of quotes directly inside its own, is no text that people write.

use std::ops::Range;

use super::number;
use super::reader::Reader;
use super::reading::Frame;
use super::token::Quote;
use crate::json::strict;
use crate::schema::guide::KeyFit;

/// A piece that was written twice has few quotes. With more of them, the quotes of the string are just not escaped.
const MAX_REPEATED_QUOTES: usize = 3;

impl Reader<'_> {
    /// Contests a string with quotes taken for text if they look like the quotes of other strings.
    // Case: syntax/closer-after-inner-quote
    // Case: syntax/doubled-delimiters
    // Case: syntax/doubled-inner-quotes
    pub(super) fn contest_swallowed_structure(
        &mut self,
        quote: Quote,
        body: Range<usize>,
        raw_quotes: usize,
    ) {
        if !self.spend_fuel(body.len()) {
            return;
        }
        let content = self.text.bytes(body.clone());
        let doubled = match quote {
            Quote::Double => is_doubled(content, b'"', raw_quotes),
            // `'it''s'` is an apostrophe in YAML and SQL.
            // Case: syntax/apostrophe-written-twice
            Quote::Single => is_doubled(content, b'\'', raw_quotes) || holds_doubled_apostrophe(content),
            _ => false,
        };
        // The last bracket may belong to the string, which was cut off then.
        // Case: syntax/cut-after-own-bracket
        let rest = self.text.rest(body.end).trim_start_matches(['"', '\'', '}', ']', ' ', '\n', '\r', '\t']);
        let is_cut = rest.is_empty() && self.closes_own_bracket(body.clone());
        // Case: syntax/stutter-across-a-quote
        let stutters = quote == Quote::Double
            && raw_quotes % 2 == 1
            && raw_quotes <= MAX_REPEATED_QUOTES
            && (is_stutter(content) || self.repeats_element(body.clone()))
            || quote == Quote::Double && raw_quotes <= MAX_REPEATED_QUOTES && is_written_twice(content);
        let quote_mark = if quote == Quote::Single { b'\'' } else { b'"' };
        let restarts = quote == Quote::Double && self.restarts_member(body.clone());
        let is_expression = matches!(quote, Quote::Double | Quote::Single)
            && raw_quotes.is_multiple_of(2)
            && joins_two_strings(content, quote_mark);
        if is_cut
            || doubled
            || stutters
            || restarts
            || is_expression
            || self.closes_outside(quote, body.clone())
        {
            self.contest(body.start);
        }
    }

    /// Contests a string with faults that is an element or a member with a free key, if a comma outside its own brackets is beside a
    /// quote or a line break: what follows may be the next element, or another member.
    // Case: syntax/elements-in-a-string
    pub(super) fn contest_siblings_in_text(&mut self, body: Range<usize>) {
        let is_free = self.stack.last().is_some_and(|frame| {
            let declared = |frame: &Frame| self.guide.declares(frame.position);
            !frame.kind.is_object() || !declared(frame) && self.stack.iter().any(declared)
        });
        if is_free && has_siblings(self.text.bytes(body.clone())) {
            self.contest(body.start);
        }
    }

    /// Whether the text after the last quote in a string is an earlier element of the same array, as it is after a restart:
    /// `["ls", "-l:["ls", "-l"]`.
    fn repeats_element(&self, body: Range<usize>) -> bool {
        let Some(frame) = self.stack.last().filter(|frame| !frame.kind.is_object()) else { return false };
        let content = self.text.bytes(body.clone());
        let Some(last) = memchr::memrchr(b'"', content).filter(|&last| content.len() - last > 2) else {
            return false;
        };
        let before = body.start.saturating_sub(1);
        let near = frame.open.max(before.saturating_sub(256)).min(before);
        memchr::memmem::find(self.text.bytes(near..before), &content[last..]).is_some()
    }

    /// Whether a string goes on with an object that has the string's own key, and in it the text that the string starts with:
    /// `{"path": "src/ma{"path": "src/main.rs"}`.
    // Case: syntax/restart-inside-a-string
    fn restarts_member(&self, body: Range<usize>) -> bool {
        const START: usize = 8;
        let Some(frame) = self.stack.last().filter(|frame| frame.kind.is_object()) else { return false };
        let key = self.text.bytes(frame.key.0..frame.key.1);
        let content = self.text.bytes(body);
        if key.is_empty() {
            return false;
        }
        memchr::memmem::find_iter(content, key).any(|at| {
            let before = content[..at].trim_ascii_end();
            let Some(first) = before.strip_suffix(b"\"").map(<[u8]>::trim_ascii_end) else { return false };
            let Some(first) = first.strip_suffix(b"{") else { return false };
            let after = content[at + key.len()..].strip_prefix(b"\"").unwrap_or_default().trim_ascii_start();
            let value = after.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
            let value = value.strip_prefix(b"\"").unwrap_or_default();
            let start = &first[..first.len().min(START)];
            !start.is_empty() && value.starts_with(start)
        })
    }

    /// Whether the bracket after the string is of a kind that the string has open.
    fn closes_own_bracket(&self, body: Range<usize>) -> bool {
        let after = self.text.rest(body.end).as_bytes().iter().find(|byte| matches!(byte, b'}' | b']'));
        let (open, close) = match after {
            Some(b'}') => (b'{', b'}'),
            Some(_) => (b'[', b']'),
            None => return false,
        };
        let count = |mark| memchr::memchr_iter(mark, self.text.bytes(body.clone())).count();
        count(open) > count(close)
    }

    /// Whether a quote in the string is followed by a bracket that the string did not open, or by a comma and another quote
    /// on the next line, outside its own brackets.
    fn closes_outside(&self, quote: Quote, body: Range<usize>) -> bool {
        let start = body.start;
        let bytes = self.text.bytes(body);
        let mut counted = (0, 0u32);
        let mut at = 0;
        while let Some(found) = next_quote(bytes, at, quote) {
            at = found + quote.closes_at(bytes, found).max(1);
            if found > 0 && bytes[found - 1] == b'\\' {
                continue;
            }
            let next = strict::skip_whitespace(bytes, at);
            let opens_line = |comma: usize| {
                let line = strict::skip_whitespace(bytes, comma + 1);
                bytes[comma..line].contains(&b'\n') && quote.closes_at(bytes, line) > 0
            };
            let opens_bracket = |comma: usize| {
                matches!(bytes.get(strict::skip_whitespace(bytes, comma + 1)), Some(b'{' | b'['))
            };
            let is_junction = match bytes.get(next) {
                Some(b']' | b'}') => true,
                Some(b',') => opens_line(next) || opens_bracket(next),
                Some(b':') => {
                    self.is_free_key(start..start + found, quote) || self.is_key_in_array(start + next + 1)
                }
                _ => self.only_scalars_follow(start + at..start + bytes.len(), quote),
            };
            if is_junction {
                counted = (found, depth_after(&bytes[counted.0..found], counted.1));
                if counted.1 == 0 {
                    return true;
                }
            }
        }
        false
    }
}

impl Reader<'_> {
    /// Whether what is between the last two quotes of this range could be a key that the object takes, whatever its name.
    // Case: syntax/free-key-after-words
    fn is_free_key(&self, range: Range<usize>, quote: Quote) -> bool {
        let Some(frame) = self.stack.last().filter(|frame| frame.kind.is_object()) else { return false };
        let near = range.start.max(range.end.saturating_sub(64));
        let open = memchr::memrchr(b'"', self.text.bytes(near..range.end)).filter(|_| quote == Quote::Double);
        let Some(open) = open else { return false };
        let name = self.text.str(near + open + 1..range.end);
        !name.is_empty() && self.guide.match_key(frame.position, name) == KeyFit::Unknown
    }

    /// Whether a value follows a colon in an array, which has no keys: `["bash": ["bash", "-lc"]`.
    // Case: syntax/key-inside-an-array
    fn is_key_in_array(&self, after: usize) -> bool {
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        in_array && matches!(self.text.byte(self.text.skip_whitespace(after)), Some(b'[' | b'{' | b'"'))
    }

    /// Whether an array goes on with numbers and literals up to the next quote: `"a" 1 null "b"`.
    // Case: syntax/scalars-between-strings
    fn only_scalars_follow(&self, range: Range<usize>, quote: Quote) -> bool {
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        if !in_array {
            return false;
        }
        let near = self.text.bytes(range.start..range.end.min(range.start + 64));
        let Some(len) = next_quote(near, 0, quote) else { return false };
        let mut words = self.text.str(range.start..range.start + len).split_whitespace().peekable();
        words.peek().is_some() && words.all(number::is_scalar)
    }
}

/// The longest text between two strings that is looked at.
const MAX_JOINT: usize = 24;

/// Whether the first quote of a text ends something, and the next one starts something: `a" or "b`, `old" /* no: */ "new`. Quotes
/// of text open first.
// Case: syntax/one-string-or-another
fn joins_two_strings(content: &[u8], quote: u8) -> bool {
    let is_joint = |byte: u8| byte.is_ascii_whitespace() || b"|/-&+<>*,;?".contains(&byte);
    let is_escaped = |at: usize| content[..at].ends_with(b"\\");
    let first = memchr::memchr_iter(quote, content).find(|&at| !is_escaped(at));
    let Some(first) = first.filter(|&first| first > 0) else { return false };
    // After one escaped quote, the first plain one may close it.
    if memchr::memchr_iter(quote, &content[..first]).count() % 2 == 1 {
        return false;
    }
    let before = content[first - 1];
    // `f" {x} "` opens with a letter.
    let is_prefix = matches!(before.to_ascii_lowercase(), b'r' | b'b' | b'f' | b'u')
        && first.checked_sub(2).is_none_or(|at| !content[at].is_ascii_alphanumeric());
    if is_prefix || before.is_ascii_whitespace() || b"([{=,:<>`\\|/&;+-*'".contains(&before) {
        return false;
    }
    let rest = &content[first + 1..];
    let near = &rest[..rest.len().min(MAX_JOINT)];
    let Some(next) = memchr::memchr(quote, near).filter(|&next| next > 0) else { return false };
    let opens =
        rest.get(next + 1).is_some_and(|byte| !byte.is_ascii_whitespace() && !b",.;:)]}".contains(byte));
    opens && is_joint(near[0]) && is_joint(near[next - 1])
}

/// The next closing quote from `at` on.
fn next_quote(bytes: &[u8], at: usize, quote: Quote) -> Option<usize> {
    match quote {
        Quote::Double => memchr::memchr(b'"', bytes.get(at..)?).map(|offset| at + offset),
        _ => (at..bytes.len()).find(|&at| quote.closes_at(bytes, at) > 0),
    }
}

/// Whether a comma outside the brackets of a text is beside a quote without a backslash, or before a line break.
fn has_siblings(text: &[u8]) -> bool {
    let mut depth = 0u32;
    let mut last = 0;
    let mut follows_break = false;
    for (at, &byte) in text.iter().enumerate() {
        let is_quote = byte == b'"' && (at == 0 || text[at - 1] != b'\\');
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'\n' => follows_break = last == b',' || follows_break,
            b' ' | b'\t' | b'\r' => continue,
            _ if depth > 0 => {}
            b'"' if is_quote && last == b',' => return true,
            b',' if last == b'"' => return true,
            _ if follows_break => return true,
            _ => {}
        }
        if byte != b'\n' {
            // An escaped quote is text.
            last = if byte == b'"' && !is_quote { b'x' } else { byte };
            follows_break = false;
        }
    }
    false
}

/// How many brackets are open after this text, if so many were before it.
fn depth_after(text: &[u8], before: u32) -> u32 {
    text.iter().fold(before, |depth, byte| match byte {
        b'{' | b'[' | b'(' => depth + 1,
        b'}' | b']' | b')' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Whether what follows a quote in a string repeats what comes before it: `a.txt".txt`, `DE8 "DE89`. Then a piece of the output
/// was written twice, and the quote is the string's own.
fn is_stutter(content: &[u8]) -> bool {
    let is_escaped = |at: usize| at > 0 && content[at - 1] == b'\\';
    let quotes = memchr::memchr_iter(b'"', content).filter(|&at| !is_escaped(at));
    let ends: Vec<usize> = quotes.chain([content.len()]).collect();
    let first = trim_marks(&content[..ends[0]]);
    let mut start = 0;
    for pair in ends.windows(2) {
        let before = &content[start..pair[0]];
        let (before, next) = (trim_marks(before), trim_marks(&content[pair[0] + 1..pair[1]]));
        let has_word = |text: &[u8]| {
            let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
            text.iter().any(is_letter) && !text.contains(&b'\\')
        };
        let repeats_end = has_word(next) && before.ends_with(next);
        let repeats_start = before.len() > 1 && has_word(before) && next.starts_with(before);
        let starts_over = first.len() > 1 && has_word(first) && next == first;
        // `"key":": "value"`: the colon was written twice.
        let repeats_colon = start < 2 && content[start..pair[0]].trim_ascii() == b":";
        if repeats_end || repeats_start || starts_over || repeats_colon {
            return true;
        }
        start = pair[0] + 1;
    }
    false
}

/// Whether the text before the first quote is the text after the last one, with nothing but marks between them: `x", "x`.
// Case: syntax/string-written-twice
fn is_written_twice(content: &[u8]) -> bool {
    let is_plain = |at: &usize| !content[..*at].ends_with(b"\\");
    let first = memchr::memchr_iter(b'"', content).find(is_plain);
    let last = memchr::memrchr_iter(b'"', content).find(is_plain);
    let (Some(first), Some(last)) = (first, last) else { return false };
    let between = content.get(first + 1..last).unwrap_or_default();
    first > 0
        && content[..first] == content[last + 1..]
        && between.iter().all(|byte| byte.is_ascii_whitespace() || b",:\"".contains(byte))
}

/// Whether two apostrophes are between letters.
fn holds_doubled_apostrophe(content: &[u8]) -> bool {
    memchr::memmem::find_iter(content, b"''").any(|at| {
        let is_letter =
            |at: Option<usize>| at.and_then(|at| content.get(at)).is_some_and(u8::is_ascii_alphabetic);
        is_letter(at.checked_sub(1)) && is_letter(at.checked_add(2))
    })
}

/// The text without blanks and marks of JSON at its ends.
fn trim_marks(text: &[u8]) -> &[u8] {
    let is_mark = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}".contains(byte);
    let start = text.iter().position(|byte| !is_mark(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_mark(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Whether every quote in a string is written twice, or the string has exactly one pair of them, directly inside its own.
fn is_doubled(content: &[u8], quote: u8, raw_quotes: usize) -> bool {
    let edges = content.len() > 1 && content.first() == Some(&quote) && content.last() == Some(&quote);
    if edges && raw_quotes == 2 {
        return true;
    }
    let mut pairs = 0;
    let mut unnatural = false;
    let mut at = 0;
    while let Some(offset) = content.get(at..).and_then(|rest| memchr::memchr(quote, rest)) {
        at += offset;
        let run = content[at..].iter().take_while(|byte| **byte == quote).count();
        let is_escaped = at > 0 && content[at - 1] == b'\\';
        if !is_escaped {
            if run % 2 == 1 {
                return false;
            }
            pairs += run / 2;
        }
        unnatural |=
            !is_escaped && at > 0 && (content[at - 1].is_ascii_alphanumeric() || content[at - 1] == b')');
        at += run;
    }
    // `x = ""` is an empty string. In `no""tes` nothing is empty.
    // Case: syntax/two-quotes-in-a-word
    pairs > 1 || pairs == 1 && unnatural
}
