//! Backslash escapes of Python and JavaScript literals.
//!
//! Both languages share most escapes. Where they differ, the one that has the escape is followed: no model means
//! anything else by `\u{1F600}` or `\U0001F600`. What neither has is text, as Python reads it.

use std::ops::Range;

use crate::json::strict;
use crate::json::text::escape_into;
use crate::patch::Edit;
use crate::repair::RepairKind;

/// What a backslash starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Escape {
    /// An escape that JSON has as well.
    Json,
    /// This character.
    Char(char),
    /// Nothing: the line goes on after the line break.
    Continuation,
    /// No escape: the backslash is text.
    Text,
    /// One or two octal digits, or a letter that nobody means as a control character: `\1` in a pattern, `\a`.
    Control(char),
    /// A character by its name, which is not read.
    Named,
}

/// What the backslash at `at` starts, and how long it is. The literal ends at `end`.
// Case: syntax/python-escapes
pub(in crate::syntax) fn escape_at(bytes: &[u8], at: usize, end: usize) -> (Escape, usize) {
    let bytes = &bytes[..end];
    let hex = |from: usize, len: usize| {
        let digits = bytes.get(from..from + len)?;
        let value = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
        char::from_u32(u32::from_str_radix(value, 16).ok()?)
    };
    let found = |ch: Option<char>, len: usize| ch.map_or((Escape::Text, 1), |ch| (Escape::Char(ch), len));
    let next = bytes.get(at + 2).copied();
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'n' | b'r' | b't' | b'b' | b'f') => (Escape::Json, 2),
        Some(b'\'') => (Escape::Char('\''), 2),
        Some(b'`') => (Escape::Char('`'), 2),
        Some(b'$') if next == Some(b'{') => (Escape::Char('$'), 2),
        Some(b'\n') => (Escape::Continuation, 2),
        Some(b'\r') if next == Some(b'\n') => (Escape::Continuation, 3),
        Some(b'x') => found(hex(at + 2, 2), 4),
        Some(b'u') if next == Some(b'{') => {
            let digits = bytes[at + 3..].iter().take(7).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let closed = bytes.get(at + 3 + digits) == Some(&b'}') && (1..7).contains(&digits);
            found(hex(at + 3, digits).filter(|_| closed), digits + 4)
        }
        Some(b'u') if strict::parse_hex4(bytes, at + 2).is_some() => (Escape::Json, 6),
        Some(b'U') => found(hex(at + 2, 8), 10),
        Some(b'N') if next == Some(b'{') => (Escape::Named, 3),
        Some(b'0'..=b'7') => octal_at(bytes, at),
        Some(b'a') if !next.is_some_and(|next| next.is_ascii_alphanumeric()) => (Escape::Control('\u{7}'), 2),
        Some(b'v') if !next.is_some_and(|next| next.is_ascii_alphanumeric()) => (Escape::Control('\u{b}'), 2),
        _ => (Escape::Text, 1),
    }
}

fn octal_at(bytes: &[u8], at: usize) -> (Escape, usize) {
    let digits = bytes[at + 1..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let value = bytes[at + 1..at + 1 + digits].iter().fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    match char::from_u32(value) {
        Some(ch) if digits == 3 || value == 0 && digits == 1 => (Escape::Char(ch), digits + 1),
        Some(ch) => (Escape::Control(ch), digits + 1),
        None => (Escape::Text, 1),
    }
}

/// Edits that decode a literal of Python or JavaScript in `range`, once and completely. `None` if it has something that
/// is not read. `bytes_literal`: `\x` and octal escapes are bytes of UTF-8. `in_json`: the result is the content of a
/// JSON string, otherwise it is plain text.
pub(super) fn decode_edits(
    text: &str,
    range: Range<usize>,
    bytes_literal: bool,
    in_json: bool,
    kind: RepairKind,
) -> Option<Vec<Edit>> {
    let bytes = text.as_bytes();
    let mut edits = Vec::new();
    let mut at = range.start;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..range.end]) {
        at += offset;
        let (escape, len) = escape_at(bytes, at, range.end);
        let (len, decoded) = match escape {
            Escape::Char(ch) if bytes_literal && ch >= '\u{80}' => bytes_at(bytes, at, range.end)?,
            Escape::Char(ch) | Escape::Control(ch) => (len, ch.to_string()),
            Escape::Continuation => (len, String::new()),
            // A backslash that starts nothing has no place in what a program wrote.
            Escape::Text | Escape::Named => return None,
            Escape::Json => json_escape_at(bytes, at, range.end)?,
        };
        if in_json {
            let mut escaped = String::new();
            escape_into(&mut escaped, &decoded);
            edits.push(Edit::new(at..at + len, escaped, kind));
        } else {
            edits.push(Edit::new(at..at + len, decoded, kind));
        }
        at += len;
    }
    Some(edits)
}

/// The run of byte escapes at `at`, decoded as UTF-8.
fn bytes_at(bytes: &[u8], at: usize, end: usize) -> Option<(usize, String)> {
    let mut found = Vec::new();
    let mut next = at;
    while let (Escape::Char(ch @ '\u{80}'..='\u{ff}'), len) = escape_at(bytes, next, end) {
        found.push(u8::try_from(u32::from(ch)).ok()?);
        next += len;
    }
    Some((next - at, String::from_utf8(found).ok()?))
}

/// The escape at `at`, which JSON has as well: its length and what it stands for.
pub(in crate::syntax) fn json_escape_at(bytes: &[u8], at: usize, end: usize) -> Option<(usize, String)> {
    let plain = match bytes.get(at + 1).filter(|_| at + 1 < end)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            return match strict::parse_hex4(bytes, at + 2)? {
                // A pair of surrogates is one character.
                high @ 0xD800..0xDC00 => {
                    let low =
                        strict::parse_hex4(bytes, at + 8).filter(|low| (0xDC00..0xE000).contains(low))?;
                    let ch = char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?;
                    (bytes.get(at + 6..at + 8) == Some(b"\\u")).then(|| (12, ch.to_string()))
                }
                unit => Some((6, char::from_u32(unit)?.to_string())),
            };
        }
        _ => return None,
    };
    Some((2, plain.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_both_languages() {
        for (text, expected) in [
            (r"\x41", (Escape::Char('A'), 4)),
            (r"\xampp", (Escape::Text, 1)),
            (r"\u{1F600}", (Escape::Char('😀'), 9)),
            (r"\u{}", (Escape::Text, 1)),
            (r"\u{1234567}", (Escape::Text, 1)),
            (r"\u00e9", (Escape::Json, 6)),
            (r"\U0001F600", (Escape::Char('😀'), 10)),
            (r"\Users", (Escape::Text, 1)),
            (r"\033[0m", (Escape::Char('\u{1b}'), 4)),
            (r"\0", (Escape::Char('\0'), 2)),
            (r"\1", (Escape::Control('\u{1}'), 2)),
            (r"\N{BULLET}", (Escape::Named, 3)),
            (r"\alpha", (Escape::Text, 1)),
            ("\\\n", (Escape::Continuation, 2)),
            ("\\", (Escape::Text, 1)),
        ] {
            assert_eq!(escape_at(text.as_bytes(), 0, text.len()), expected, "{text}");
        }
    }

    #[test]
    fn a_literal_is_decoded_completely_or_not_at_all() {
        let decode = |text: &str, bytes: bool| {
            let edits = decode_edits(text, 0..text.len(), bytes, false, RepairKind::DoubleEncodingRemoved)?;
            Some(crate::patch::Patch::new(edits).apply(text))
        };
        assert_eq!(decode(r"caf\xc3\xa9 \\n", true).as_deref(), Some("café \\n"));
        assert_eq!(decode(r"caf\xe9", false).as_deref(), Some("café"));
        assert_eq!(decode(r"\xff", true), None);
        assert_eq!(decode(r"\d", false), None);
        assert_eq!(decode(r"\N{DASH}", false), None);
        assert_eq!(decode(r"\ud83d\ude00", false).as_deref(), Some("😀"));
    }
}
