//! From the meaning of a JSON string to its spelling.
//!
//! Escapes what a JSON string cannot simply contain and nothing else, byte for byte as `serde_json` does.

use crate::scan::{self, BLOCK, Block, find_special};

/// Returns `text` as a JSON string literal.
///
/// ```
/// assert_eq!(toolmend_json::quote("say \"hi\"\n"), r#""say \"hi\"\n""#);
/// ```
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    out
}

/// Appends `text` as a JSON string literal.
///
/// ```
/// let mut out = String::from("path: ");
/// toolmend_json::text::quote_into(&mut out, "a\\b");
/// assert_eq!(out, r#"path: "a\\b""#);
/// ```
pub fn quote_into(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    escape_into(out, text);
    out.push('"');
}

/// Appends `text` as a JSON string literal to bytes.
///
/// ```
/// let mut out = Vec::new();
/// toolmend_json::text::quote_into_bytes(&mut out, "tab\t");
/// assert_eq!(out, br#""tab\t""#);
/// ```
pub fn quote_into_bytes(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let plain = find_special(bytes, 0);
    out.extend_from_slice(&bytes[..plain]);
    if plain < bytes.len() {
        escape_blocks(out, &bytes[plain..]);
    }
    out.push(b'"');
}

/// Appends `text` with everything escaped that a JSON string cannot simply contain, without quotes around it.
///
/// ```
/// let mut out = String::new();
/// toolmend_json::text::escape_into(&mut out, "a\nb");
/// assert_eq!(out, r"a\nb");
/// ```
#[inline]
pub fn escape_into(out: &mut String, text: &str) {
    let plain = find_special(text.as_bytes(), 0);
    out.push_str(&text[..plain]);
    if plain < text.len() {
        escape_rest(out, &text.as_bytes()[plain..]);
    }
}

/// Appends text that has to be escaped. Whole characters are copied and what is added is ASCII, so it stays UTF-8.
fn escape_rest(out: &mut String, rest: &[u8]) {
    if rest.len() <= BLOCK {
        let mut block = [0; MAX_ESCAPED];
        let (_, written) = escape_block(rest, &mut block);
        out.push_str(std::str::from_utf8(&block[..written]).unwrap_or_default());
        return;
    }
    let mut escaped = Vec::new();
    escape_blocks(&mut escaped, rest);
    out.push_str(std::str::from_utf8(&escaped).unwrap_or_default());
}

/// Appends bytes with their escapes, a block at a time.
fn escape_blocks(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut to = out.len();
    out.resize(to + bytes.len() + bytes.len() / 8 + MAX_ESCAPED, 0);
    let mut at = 0;
    while at < bytes.len() {
        if out.len() < to + MAX_ESCAPED {
            out.resize(to + (bytes.len() - at) * 3 / 2 + MAX_ESCAPED, 0);
        }
        let Some(block) = out[to..].first_chunk_mut() else { break };
        let (read, written) = escape_block(&bytes[at..], block);
        (at, to) = (at + read, to + written);
    }
    out.truncate(to);
}

/// What a block can become if every byte is written as `\u0000`, and another block that is copied without being needed.
const MAX_ESCAPED: usize = 7 * BLOCK;

/// Writes the first block of `rest` with its escapes. Returns how much was read and written.
///
/// A whole block is copied for every run between two escapes, however short the run is: whatever comes next overwrites the
/// rest, and no branch depends on the length.
#[inline]
fn escape_block(rest: &[u8], out: &mut [u8; MAX_ESCAPED]) -> (usize, usize) {
    let length = BLOCK.min(rest.len());
    let block = scan::load_padded(rest);
    let mut source = [0; 2 * BLOCK];
    source[..BLOCK].copy_from_slice(&block);
    let mut specials = Block::of(&block).specials();
    let (mut from, mut to) = (0, 0);
    loop {
        let end = (specials.trailing_zeros() as usize).min(length);
        out[to..to + BLOCK].copy_from_slice(&source[from..from + BLOCK]);
        to += end - from;
        if end == length {
            return (length, to);
        }
        specials &= specials - 1;
        from = end + 1;
        let escape = ESCAPES[usize::from(source[end])];
        out[to..to + escape.len()].copy_from_slice(&escape);
        to += usize::from(escape[7]);
    }
}

/// The escape of every byte that needs one, and its length in the last byte. All have the same size, so that they are copied
/// without a branch.
static ESCAPES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let digits = b"0123456789abcdef";
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = [b'\\', b'u', b'0', b'0', digits[byte >> 4], digits[byte & 15], 0, 6];
        byte += 1;
    }
    let short =
        [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\t', b't'), (b'\r', b'r'), (8, b'b'), (12, b'f')];
    let mut index = 0;
    while index < short.len() {
        table[short[index].0 as usize] = [b'\\', short[index].1, 0, 0, 0, 0, 0, 2];
        index += 1;
    }
    table
};

/// Returns the escape of a byte that a JSON string cannot simply contain. Other bytes have none.
///
/// ```
/// assert_eq!(toolmend_json::text::escape_byte(b'\n'), r"\n");
/// assert_eq!(toolmend_json::text::escape_byte(1), r"\u0001");
/// ```
pub fn escape_byte(byte: u8) -> &'static str {
    let escape = &ESCAPES[usize::from(byte)];
    std::str::from_utf8(&escape[..usize::from(escape[7])]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_a_writer_writes() {
        let every: String = (0..0x180).filter_map(char::from_u32).collect();
        for start in 0..2 * BLOCK {
            for text in [&every, "", "plain", "12345678\"1234567\n", "é€😀 and \\ more", "a\u{7f}\u{0}b"]
            {
                let text = format!("{}{text}", "x".repeat(start));
                let expected = serde_json::to_string(&text).unwrap();
                assert_eq!(quote(&text), expected);
                let mut appended = "é".to_owned();
                quote_into(&mut appended, &text);
                assert_eq!(appended, format!("é{expected}"));
                let mut appended = appended.into_bytes();
                quote_into_bytes(&mut appended, &text);
                assert_eq!(appended, format!("é{expected}{expected}").into_bytes());
            }
        }
    }

    #[test]
    fn every_byte_has_the_same_escape_on_its_own() {
        for byte in (0..0x20).chain([b'"', b'\\']) {
            assert_eq!(format!("\"{}\"", escape_byte(byte)), quote(&char::from(byte).to_string()));
        }
    }
}
