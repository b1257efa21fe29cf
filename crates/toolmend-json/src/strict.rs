//! The strict pass: is this text JSON as RFC 8259 defines it?
//!
//! One pass, no allocation, no recursion. Beyond the grammar two things are asked: no lone surrogates, and
//! nesting within the limit. Numbers are never turned into floats, so `1e999` is valid here.

use std::ops::ControlFlow;

use crate::scan::{BLOCK, Block, find_special, find_special_in_vector};

/// The deepest nesting that can be asked for; the stack of open brackets is a fixed array of bits.
pub const MAX_DEPTH: usize = 1024;

/// Why a text is not strict JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The grammar is broken at this byte.
    Syntax(usize),
    /// Brackets are nested deeper than the limit at this byte.
    Depth(usize),
}

/// Checks the whole text.
pub fn check(text: &str, depth_limit: usize) -> Result<(), Fault> {
    let end = check_value(text, 0, depth_limit)?;
    let rest = skip_white(text.as_bytes(), end);
    if rest == text.len() { Ok(()) } else { Err(Fault::Syntax(rest)) }
}

/// Checks one value that starts at `from` (white space before it is skipped) and returns where it ends.
pub fn check_value(text: &str, from: usize, depth_limit: usize) -> Result<usize, Fault> {
    walk(text, from, depth_limit, &mut ())
}

/// Who is told what the strict pass meets, and may let some of it pass. The empty one costs nothing.
pub trait Visitor {
    /// A bracket opens at this byte.
    fn open(&mut self, _object: bool, _at: usize) {}
    /// The last open bracket closes before this byte.
    fn close(&mut self, _behind: usize) {}
    /// A member's key, with its quotes.
    fn key(&mut self, _start: usize, _end: usize) {}
    /// A string, number or literal.
    fn scalar(&mut self, _start: usize, _end: usize) {}
    /// A closing bracket follows the comma at this byte; whether that is let pass.
    fn accept_trailing_comma(&mut self, _at: usize) -> bool {
        false
    }
    /// Something that is no JSON starts at this byte; where it ends, if it is let pass as a string.
    fn accept_string(&mut self, _at: usize) -> Option<usize> {
        None
    }
}

impl Visitor for () {}

/// The strict pass over one value, told to a visitor.
pub fn walk(text: &str, from: usize, depth_limit: usize, visitor: &mut impl Visitor) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let mut open = OpenBrackets::new(depth_limit);
    let mut at = skip_white(bytes, from);
    loop {
        // A value is expected at `at`.
        match bytes.get(at) {
            Some(b'{') => {
                if !open.push(true) {
                    return Err(Fault::Depth(at));
                }
                visitor.open(true, at);
                at = skip_white(bytes, at + 1);
                if bytes.get(at) == Some(&b'}') {
                    open.pop();
                    at += 1;
                    visitor.close(at);
                } else {
                    at = check_key(bytes, at, visitor)?;
                    continue;
                }
            }
            Some(b'[') => {
                if !open.push(false) {
                    return Err(Fault::Depth(at));
                }
                visitor.open(false, at);
                at = skip_white(bytes, at + 1);
                if bytes.get(at) == Some(&b']') {
                    open.pop();
                    at += 1;
                    visitor.close(at);
                } else {
                    continue;
                }
            }
            Some(&first) => {
                let end = match first {
                    b'"' => check_string(bytes, at)?,
                    b'-' | b'0'..=b'9' => check_number(bytes, at)?,
                    b't' => check_word(bytes, at, b"true")?,
                    b'f' => check_word(bytes, at, b"false")?,
                    b'n' => check_word(bytes, at, b"null")?,
                    _ => visitor.accept_string(at).ok_or(Fault::Syntax(at))?,
                };
                visitor.scalar(at, end);
                at = end;
            }
            None => return Err(Fault::Syntax(at)),
        }
        // A value ended at `at`: close brackets until another value is expected.
        loop {
            let Some(in_object) = open.top() else { return Ok(at) };
            at = skip_white(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    let comma = at;
                    at = skip_white(bytes, at + 1);
                    let closer = if in_object { b'}' } else { b']' };
                    if bytes.get(at) == Some(&closer) && visitor.accept_trailing_comma(comma) {
                        at += 1;
                    } else {
                        if in_object {
                            at = check_key(bytes, at, visitor)?;
                        }
                        break;
                    }
                }
                Some(b'}') if in_object => at += 1,
                Some(b']') if !in_object => at += 1,
                _ => return Err(Fault::Syntax(at)),
            }
            visitor.close(at);
            open.pop();
        }
    }
}

/// A key and its colon; returns where the value starts.
#[inline]
fn check_key(bytes: &[u8], at: usize, visitor: &mut impl Visitor) -> Result<usize, Fault> {
    let end = match bytes.get(at) {
        Some(b'"') => check_string(bytes, at)?,
        _ => visitor.accept_string(at).ok_or(Fault::Syntax(at))?,
    };
    visitor.key(at, end);
    let at = skip_white(bytes, end);
    if bytes.get(at) == Some(&b':') { Ok(skip_white(bytes, at + 1)) } else { Err(Fault::Syntax(at)) }
}

/// A string whose opening quote is at `open`; returns the place behind its closing quote.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most strings are short, and a call takes longer than they do")]
pub fn check_string(bytes: &[u8], open: usize) -> Result<usize, Fault> {
    match find_special_in_vector(bytes, open + 1) {
        Some(place) if bytes[place] == b'"' => Ok(place + 1),
        _ => check_long_string(bytes, open),
    }
}

fn check_long_string(bytes: &[u8], open: usize) -> Result<usize, Fault> {
    // Keys and most values have no escape at all; where there is one, there are more.
    let mut at = find_special(bytes, open + 1);
    while bytes.get(at) != Some(&b'"') {
        at = match escaped_blocks(bytes, at) {
            ControlFlow::Break(end) => return Ok(end),
            ControlFlow::Continue(at) => find_special(bytes, check_special(bytes, at)?),
        };
    }
    Ok(at + 1)
}

/// The inside of a string with escapes, a block at a time: its end, or the place to go on from byte by byte.
///
/// No branch depends on where the escapes stand, only on how many there are.
fn escaped_blocks(bytes: &[u8], mut at: usize) -> ControlFlow<usize, usize> {
    let mut carry = false;
    loop {
        let first = at - usize::from(carry);
        let Some((block, found)) = Block::at(bytes, at) else { return ControlFlow::Continue(first) };
        let escaped = found.escaped(&mut carry);
        let quotes = found.quotes & !escaped;
        let inside = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
        let mut letters = escaped & inside;
        let mut short = true;
        while letters != 0 {
            short &= SHORT_ESCAPES[usize::from(block[letters.trailing_zeros() as usize])];
            letters &= letters - 1;
        }
        if !short || found.controls & inside != 0 {
            return ControlFlow::Continue(first);
        }
        if quotes != 0 {
            return ControlFlow::Break(at + quotes.trailing_zeros() as usize + 1);
        }
        at += BLOCK;
    }
}

/// What stands in a block that is not only text and short escapes, byte by byte: where plain text goes on, the string's
/// own quote at the latest.
fn check_special(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    let end = at + BLOCK;
    while at < end {
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => at = check_escape(bytes, at)?,
            Some(0x20..) => at += 1,
            _ => return Err(Fault::Syntax(at)),
        }
    }
    Ok(at)
}

/// Letters that make an escape of two bytes.
static SHORT_ESCAPES: [bool; 256] = {
    let mut table = [false; 256];
    let letters = b"\"\\/bfnrt";
    let mut index = 0;
    while index < letters.len() {
        table[letters[index] as usize] = true;
        index += 1;
    }
    table
};

/// An escape whose backslash is at `at`; returns the place behind it.
#[inline]
pub fn check_escape(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        Some(&letter) if SHORT_ESCAPES[usize::from(letter)] => Ok(at + 2),
        Some(b'u') => {
            let unit = hex4(bytes, at + 2).ok_or(Fault::Syntax(at))?;
            match unit {
                0xDC00..=0xDFFF => Err(Fault::Syntax(at)),
                0xD800..=0xDBFF => {
                    let low = bytes.get(at + 6..at + 8) == Some(b"\\u");
                    match hex4(bytes, at + 8) {
                        Some(0xDC00..=0xDFFF) if low => Ok(at + 12),
                        _ => Err(Fault::Syntax(at)),
                    }
                }
                _ => Ok(at + 6),
            }
        }
        _ => Err(Fault::Syntax(at)),
    }
}

/// Four hexadecimal digits at `at`.
pub fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
}

/// A number by the grammar of RFC 8259; returns the place behind it.
#[inline]
pub fn check_number(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    match bytes.get(at) {
        Some(b'0') => at += 1,
        Some(b'1'..=b'9') => at = digits(bytes, at),
        _ => return Err(Fault::Syntax(at)),
    }
    if bytes.get(at) == Some(&b'.') {
        let end = digits(bytes, at + 1);
        if end == at + 1 {
            return Err(Fault::Syntax(end));
        }
        at = end;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(bytes, at + 1 + sign);
        if end == at + 1 + sign {
            return Err(Fault::Syntax(end));
        }
        at = end;
    }
    Ok(at)
}

#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

#[inline]
fn check_word(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Fault> {
    if bytes[at..].starts_with(word) { Ok(at + word.len()) } else { Err(Fault::Syntax(at)) }
}

/// The place behind JSON white space.
#[inline]
pub fn skip_white(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The open brackets as bits: set for an object, clear for an array.
struct OpenBrackets {
    bits: [u64; MAX_DEPTH / 64],
    depth: usize,
    limit: usize,
}

impl OpenBrackets {
    fn new(limit: usize) -> Self {
        OpenBrackets { bits: [0; MAX_DEPTH / 64], depth: 0, limit: limit.min(MAX_DEPTH) }
    }

    #[inline]
    fn push(&mut self, object: bool) -> bool {
        if self.depth == self.limit {
            return false;
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.bits[word] = (self.bits[word] & !(1 << bit)) | (u64::from(object) << bit);
        self.depth += 1;
        true
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.bits[at / 64] >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn agrees_with_serde(text: &str) {
        let ours = check(text, 127).is_ok();
        let theirs = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => true,
            // The one deliberate difference: a number need not fit a float.
            Err(error) => error.to_string().starts_with("number out of range"),
        };
        assert_eq!(ours, theirs, "{text:?}");
    }

    #[test]
    fn agrees_with_serde_json() {
        for text in [
            "{}",
            "[]",
            "{\"a\":1}",
            "[1,2,]",
            "{\"a\":1,}",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\udc00\"",
            "\"\\ud83dx\"",
            "\"\\ud83d\\u0041\"",
            "\"\\u00zz\"",
            "01",
            "-",
            "-0",
            "1.",
            ".5",
            "1e",
            "1e+5",
            "1E-5",
            "+1",
            "1e999",
            "tru",
            "true",
            "nullx",
            "\"\u{7f}\"",
            "\"\n\"",
            "\"\\x\"",
            "{\"a\" 1}",
            "{1:2}",
            "[1 2]",
            "",
            " ",
            "\u{feff}1",
            "[[[]]]",
            "{\"a\":{\"b\":[]}}",
            "\"a",
            "[\"",
            "{\"a\":",
            "[1}",
            "\"\\\"",
            "\"\\",
            "\"\\u12",
            "123456789012345678901234567890",
            "1 ",
            " 1",
            "1,",
            "\u{a0}1",
        ] {
            agrees_with_serde(text);
        }
    }

    #[test]
    fn depth_is_a_number_not_the_stack() {
        assert_eq!(check(&"[".repeat(1_000_000), 128), Err(Fault::Depth(128)));
        let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(check(&deep, 128), Ok(()));
        assert_eq!(check(&deep, 127), Err(Fault::Depth(127)));
    }

    #[test]
    fn strings_end_at_their_quote_wherever_their_escapes_stand() {
        for escape in
            ["\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\\\\\\"", "é\\/", "\\x", "\u{1f}", "\\"]
        {
            for before in (0..20).chain(50..80).chain(120..130) {
                for behind in [0, 1, 6, 7, 8, 9, 40, 90] {
                    let text = format!("\"{}{escape}{}\"", "a".repeat(before), "é".repeat(behind));
                    agrees_with_serde(&text);
                    agrees_with_serde(&format!("{text}, \"b\""));
                }
            }
        }
    }

    #[test]
    fn long_strings_stop_at_the_first_special_byte() {
        for len in 0..100 {
            let text = format!("\"{}\n\"", "a".repeat(len));
            assert_eq!(check(&text, 8), Err(Fault::Syntax(len + 1)));
        }
    }
}
