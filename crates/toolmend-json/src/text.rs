//! Strings between their JSON spelling and their meaning, and a value on one line.

use std::borrow::Cow;

use super::strict;
use crate::scan::{BLOCK, Block, VECTOR, copy_run, find_special};

/// The meaning of a strict JSON string literal, quotes included. Borrows where there is no escape.
pub fn unquote(literal: &str) -> Cow<'_, str> {
    let inner = &literal[1..literal.len() - 1];
    // The literal is strict: what is not plain in it is a backslash.
    if find_special(inner.as_bytes(), 0) == inner.len() {
        return Cow::Borrowed(inner);
    }
    let bytes = inner.as_bytes();
    // No escape is shorter than what it means.
    let mut out = vec![0; inner.len() + VECTOR];
    let (mut at, mut to) = (0, 0);
    // A block at a time, with a lane behind it that is copied without being meant.
    while let (Some(step), Some(room)) = (bytes[at..].first_chunk(), out[to..].first_chunk_mut()) {
        let (read, written) = unescape_block(step, room);
        (at, to) = (at + read, to + written);
        if read < BLOCK - 1 {
            (at, to) = unescape_one(bytes, at, &mut out, to);
        }
    }
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        out[to..to + offset].copy_from_slice(&bytes[at..at + offset]);
        (at, to) = unescape_one(bytes, at + offset, &mut out, to + offset);
    }
    let rest = &bytes[at..];
    out[to..to + rest.len()].copy_from_slice(rest);
    to += rest.len();
    out.truncate(to);
    Cow::Owned(string_from_bytes(out))
}

/// Copies a block, with what its escapes mean, up to an escape by number or one that goes beyond the block. Returns how much
/// was read and written.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the body of one loop")]
fn unescape_block(step: &[u8; BLOCK + VECTOR], room: &mut [u8; BLOCK + VECTOR]) -> (usize, usize) {
    let Some((_, found)) = Block::at(step, 0) else { return (0, 0) };
    let mut beyond = false;
    let mut backslashes = found.escaped(&mut beyond) >> 1;
    let (mut from, mut to) = (0, 0);
    while backslashes != 0 {
        let place = backslashes.trailing_zeros() as usize;
        backslashes &= backslashes - 1;
        copy_run(step, from, room, to, place - from);
        to += place - from;
        let letter = step[place + 1];
        if letter == b'u' {
            return (place, to);
        }
        // It is not behind what was read.
        room[to & (BLOCK - 1)] = MEANT[usize::from(letter)];
        to += 1;
        from = place + 2;
    }
    let length = BLOCK - usize::from(beyond) - from;
    copy_run(step, from, room, to, length);
    (from + length, to + length)
}

/// One escape, whose backslash is at `at`.
fn unescape_one(bytes: &[u8], at: usize, out: &mut [u8], to: usize) -> (usize, usize) {
    match bytes.get(at + 1) {
        Some(b'u') => {
            let (ch, length) = unescape(bytes, at);
            ((at + length).min(bytes.len()), to + ch.encode_utf8(&mut out[to..]).len())
        }
        letter => {
            out[to] = MEANT[usize::from(letter.copied().unwrap_or(b'\\'))];
            ((at + 2).min(bytes.len()), to + 1)
        }
    }
}

/// Text that was put together from whole characters.
pub fn string_from_bytes(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What the letter of an escape stands for.
static MEANT: [u8; 256] = {
    let mut table = [0; 256];
    let mut letter = 0u8;
    while letter < u8::MAX {
        table[letter as usize] = match letter {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            other => other,
        };
        letter += 1;
    }
    table
};

/// The character that the `\u` escape at `at` stands for, and the escape's length. The escape is strict.
fn unescape(bytes: &[u8], at: usize) -> (char, usize) {
    let high = strict::hex4(bytes, at + 2).unwrap_or(0xFFFD);
    if !(0xD800..0xDC00).contains(&high) {
        return (char::from_u32(high).unwrap_or('\u{FFFD}'), 6);
    }
    let low = strict::hex4(bytes, at + 8).unwrap_or(0xDC00);
    let code = 0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
    (char::from_u32(code).unwrap_or('\u{FFFD}'), 12)
}

/// Appends `text` as a JSON string literal.
pub fn quote_into(out: &mut String, text: &str) {
    out.push('"');
    escape_into(out, text);
    out.push('"');
}

/// `text` as a JSON string literal.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    out
}

/// Appends `text` with everything escaped that a JSON string cannot simply contain.
pub fn escape_into(out: &mut String, text: &str) {
    out.reserve(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let run = find_special(bytes, at);
        out.push_str(&text[at..run]);
        match bytes.get(run) {
            None => return,
            Some(&byte) => out.push_str(&escape_byte(byte)),
        }
        at = run + 1;
    }
}

/// The escape of a byte that a JSON string cannot simply contain.
pub fn escape_byte(byte: u8) -> Cow<'static, str> {
    Cow::Borrowed(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0C => "\\f",
        other => return Cow::Owned(format!("\\u{other:04x}")),
    })
}

/// Strict JSON on one line: without the white space between its tokens, and every token as it is spelled.
///
/// ```
/// assert_eq!(toolmend_json::text::compact_json("{ \"a b\": [1.50,\n 2] }"), r#"{"a b":[1.50,2]}"#);
/// ```
pub fn compact_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    compact_into(&mut out, json);
    out
}

/// A strict value without the white space between its tokens, appended to `out`.
pub fn compact_into(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b'\n' | b'\r' | b'\t' => {
                at = strict::skip_white(bytes, at);
                continue;
            }
            b'"' => at = strict::check_string(bytes, at).unwrap_or(bytes.len()),
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b' ' | b'\n' | b'\r' | b'\t' | b'"') {
                    at += 1;
                }
            }
        }
        out.push_str(&text[start..at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        for text in ["", "plain", "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}😀é"] {
            assert_eq!(unquote(&quote(text)), text);
            assert_eq!(serde_json::from_str::<String>(&quote(text)).unwrap(), text);
        }
        assert_eq!(unquote("\"\\ud83d\\ude00\\u00e9\\/\""), "😀é/");
    }

    #[test]
    fn compact_keeps_strings() {
        let mut out = String::new();
        compact_into(&mut out, "{ \"a b\" : [ 1 ,\n\"x\\\" y\" ] }");
        assert_eq!(out, "{\"a b\":[1,\"x\\\" y\"]}");
    }
}
