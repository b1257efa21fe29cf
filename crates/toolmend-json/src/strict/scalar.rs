//! Strings, numbers and literals: where they end, and whether they follow RFC 8259. Never looks beyond the one token.

use std::ops::ControlFlow;

use super::Fault;
use crate::scan::{self, BLOCK, Block, find_special, find_special_in_vector};

/// How a string was read. One word and a tag, so that it is returned in registers.
#[derive(Debug, Clone, Copy)]
pub(super) enum StringRead {
    /// It has no escape and ends before this byte.
    Plain(usize),
    /// It has an escape and ends before this byte.
    Escaped(usize),
    /// It breaks the grammar at this byte.
    Broken(usize),
}

/// Checks the string whose opening quote is at `open` and returns the position after its closing quote.
///
/// # Errors
///
/// [`Fault::Syntax`] if the string has no end, a raw control character or an escape that RFC 8259 does not define.
///
/// ```
/// use toolmend_json::strict::{Fault, check_string};
///
/// assert_eq!(check_string(br#""a\n", 1"#, 0), Ok(5));
/// assert_eq!(check_string(br#""a\x""#, 0), Err(Fault::Syntax(2)));
/// ```
#[inline(always)]
#[expect(clippy::inline_always, reason = "most strings are short, and a call takes longer than they do")]
pub fn check_string(bytes: &[u8], open: usize) -> Result<usize, Fault> {
    match short_string_end(bytes, open) {
        Some(end) => Ok(end),
        None => match check_long_string(bytes, open) {
            StringRead::Plain(end) | StringRead::Escaped(end) => Ok(end),
            StringRead::Broken(at) => Err(Fault::Syntax(at)),
        },
    }
}

/// Finds the end of a string that fits in one vector and has no escape.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions for each string")]
pub(super) fn short_string_end(bytes: &[u8], open: usize) -> Option<usize> {
    find_special_in_vector(bytes, open + 1).filter(|&at| bytes[at] == b'"').map(|quote| quote + 1)
}

/// Checks a string of any length.
pub(super) fn check_long_string(bytes: &[u8], open: usize) -> StringRead {
    // Keys and most values have no escape at all; a string with one escape usually has more.
    let mut at = find_special(bytes, open + 1);
    if bytes.get(at) == Some(&b'"') {
        return StringRead::Plain(at + 1);
    }
    while bytes.get(at) != Some(&b'"') {
        at = match check_blocks(bytes, at) {
            ControlFlow::Break(end) => return StringRead::Escaped(end),
            ControlFlow::Continue(at) => match check_bytes(bytes, at) {
                Ok(at) => find_special(bytes, at),
                Err(at) => return StringRead::Broken(at),
            },
        };
    }
    StringRead::Escaped(at + 1)
}

/// Checks the inside of a string with escapes, a block at a time. Breaks with the end of the string, or continues with the
/// position to go on from byte by byte.
///
/// No branch depends on where the escapes are, only on how many there are.
fn check_blocks(bytes: &[u8], mut at: usize) -> ControlFlow<usize, usize> {
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

/// Checks one block byte by byte and returns where plain text goes on, which is the closing quote at the latest. Fails with
/// the position of the fault.
fn check_bytes(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let end = at + BLOCK;
    while at < end {
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => at = escape_end(bytes, at).ok_or(at)?,
            Some(0x20..) => at += 1,
            _ => return Err(at),
        }
    }
    Ok(at)
}

/// Finds the end of a string without judging what is in it: the first quote that is not escaped.
pub(super) fn find_string_end(bytes: &[u8], open: usize) -> StringRead {
    let mut at = open + 1;
    let mut escaped = false;
    loop {
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else {
            return StringRead::Broken(bytes.len());
        };
        let Block { quotes, backslashes, .. } = match rest.first_chunk() {
            Some(block) => Block::of(block),
            None => Block::of(&scan::load_padded(rest)),
        }
        .without_escaped();
        if quotes != 0 {
            let quote = quotes.trailing_zeros();
            let end = at + quote as usize + 1;
            return if escaped || backslashes.trailing_zeros() < quote {
                StringRead::Escaped(end)
            } else {
                StringRead::Plain(end)
            };
        }
        escaped |= backslashes != 0;
        // An escape may reach into the next block.
        at += BLOCK + usize::from(backslashes >> (BLOCK - 1) != 0);
        if backslashes == 0 && at > open + 2 * BLOCK {
            // Long prose hardly has escapes, and a search for the next one takes more bytes together than a block has.
            let rest = bytes.get(at..).unwrap_or_default();
            at += memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        }
    }
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

/// Checks the escape whose backslash is at `at` and returns the position after it.
///
/// # Errors
///
/// [`Fault::Syntax`] if RFC 8259 does not define the escape, or if it is half of a surrogate pair.
///
/// ```
/// use toolmend_json::strict::check_escape;
///
/// assert_eq!(check_escape(br"\ud83d\ude00", 0), Ok(12));
/// assert!(check_escape(br"\ud83d", 0).is_err());
/// ```
#[inline]
pub fn check_escape(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    escape_end(bytes, at).ok_or(Fault::Syntax(at))
}

#[inline]
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1) {
        Some(&letter) if SHORT_ESCAPES[usize::from(letter)] => Some(at + 2),
        Some(b'u') => decode_unicode_escape(bytes, at).map(|(_, length)| at + length),
        _ => None,
    }
}

/// Decodes the `\u` escape at `at`, both halves of a surrogate pair together. Returns the character and the length of the
/// escape.
#[inline]
pub(crate) fn decode_unicode_escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = parse_hex4(bytes, at + 2)?;
    if !(0xD800..0xDC00).contains(&unit) {
        // The second half of a pair is not a character on its own.
        return Some((char::from_u32(unit)?, 6));
    }
    let low = bytes
        .get(at + 6..at + 8)
        .filter(|escape| *escape == b"\\u")
        .and_then(|_| parse_hex4(bytes, at + 8))?;
    let low = low.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + low)?, 12))
}

/// Reads the four hexadecimal digits at `at`.
///
/// ```
/// assert_eq!(toolmend_json::strict::parse_hex4(br"\u00e9", 2), Some(0xE9));
/// assert_eq!(toolmend_json::strict::parse_hex4(b"12", 0), None);
/// ```
#[inline]
pub fn parse_hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits: &[u8; 4] = bytes.get(at..)?.first_chunk()?;
    let sum = digits.iter().fold(0, |sum, &digit| sum << 4 | HEX_DIGITS[usize::from(digit)]);
    (sum <= 0xFFFF).then_some(sum)
}

/// The values of the hexadecimal digits. Of other bytes it is more than four digits can be.
static HEX_DIGITS: [u32; 256] = {
    let mut table = [0x1_0000; 256];
    let mut value: u8 = 0;
    while value < 16 {
        let digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
        table[digit as usize] = value as u32;
        table[digit.to_ascii_uppercase() as usize] = value as u32;
        value += 1;
    }
    table
};

/// Checks the number at `start` by the grammar of RFC 8259 and returns the position after it.
///
/// # Errors
///
/// [`Fault::Syntax`] at the byte where a digit is missing.
///
/// ```
/// use toolmend_json::strict::{Fault, check_number};
///
/// assert_eq!(check_number(b"-1.5e3,", 0), Ok(6));
/// assert_eq!(check_number(b"1.", 0), Err(Fault::Syntax(2)));
/// ```
#[inline]
pub fn check_number(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    match bytes.get(at) {
        Some(b'0') => at += 1,
        Some(b'1'..=b'9') => at = skip_digits(bytes, at),
        _ => return Err(Fault::Syntax(at)),
    }
    if bytes.get(at) == Some(&b'.') {
        let end = skip_digits(bytes, at + 1);
        if end == at + 1 {
            return Err(Fault::Syntax(end));
        }
        at = end;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = skip_digits(bytes, at + 1 + sign);
        if end == at + 1 + sign {
            return Err(Fault::Syntax(end));
        }
        at = end;
    }
    Ok(at)
}

#[inline]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Finds the end of a number without judging it: the first byte that no number contains.
#[inline]
pub(super) fn find_number_end(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
        at += 1;
    }
    at
}

#[inline]
pub(super) fn check_literal(bytes: &[u8], at: usize, literal: &[u8]) -> Result<usize, Fault> {
    if bytes[at..].starts_with(literal) { Ok(at + literal.len()) } else { Err(Fault::Syntax(at)) }
}
