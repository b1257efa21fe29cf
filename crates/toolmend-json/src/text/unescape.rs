//! From the spelling of a JSON string to its meaning.
//!
//! Decodes a block of bytes at a time. Escapes are checked on the way, raw control characters are not: text that a
//! `Document` passes on may have them.

use std::borrow::Cow;

use crate::scan::{BLOCK, Block, VECTOR, copy_run, find_special};
use crate::strict;

/// Returns the meaning of a strict JSON string literal, which includes its quotes. Borrows if there is no escape.
///
/// A literal that is not strict comes back as it is spelled, without its first and last byte. Text that is too short for
/// quotes, or has a longer character in their place, comes back unchanged.
///
/// ```
/// use toolmend_json::text::unquote;
///
/// assert_eq!(unquote(r#""caf\u00e9\n""#), "café\n");
/// assert_eq!(unquote("“no literal”"), "“no literal”");
/// ```
pub fn unquote(literal: &str) -> Cow<'_, str> {
    let Some(inner) = literal.get(1..literal.len().saturating_sub(1)) else { return Cow::Borrowed(literal) };
    // The only special byte in a strict literal is a backslash.
    if find_special(inner.as_bytes(), 0) == inner.len() {
        return Cow::Borrowed(inner);
    }
    unescape_to_string(inner.as_bytes()).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// Returns the meaning of the inside of a string. `None` if an escape is not one of JSON, or half of a surrogate pair.
pub(crate) fn unescape_to_string(inner: &[u8]) -> Option<String> {
    // Short text is decoded on the stack, so that no memory is allocated beyond its length.
    const SHORT: usize = 2 * BLOCK;
    if inner.len() <= SHORT {
        let mut bytes = [0; SHORT + STEP];
        let (_, length) = unescape_slice::<false>(inner, &mut bytes, 0)?;
        return std::str::from_utf8(&bytes[..length]).ok().map(str::to_owned);
    }
    let mut bytes = vec![0; inner.len() + STEP];
    let (_, length) = unescape_slice::<false>(inner, &mut bytes, 0)?;
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}

/// Memory for the meaning of one string after the other.
///
/// ```
/// use toolmend_json::TextBuffer;
///
/// let mut buffer = TextBuffer::default();
/// assert_eq!(buffer.unescape(br"a\tb"), Some("a\tb"));
/// assert_eq!(buffer.unescape(br"\ud83d"), None);
/// ```
#[derive(Debug, Default)]
pub struct TextBuffer {
    /// Never gets shorter: the bytes after the text are left over from earlier strings.
    bytes: Vec<u8>,
}

/// Longer buffers are not kept: one long string must not hold memory for the rest of a run.
pub(crate) const MAX_KEPT_BYTES: usize = 1 << 20;

impl TextBuffer {
    /// Returns the meaning of the inside of a string, without its quotes. `None` if an escape is not one of JSON, or half of
    /// a surrogate pair.
    pub fn unescape(&mut self, inner: &[u8]) -> Option<&str> {
        if self.bytes.len() > MAX_KEPT_BYTES && inner.len() < MAX_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        let (_, length) = unescape::<false>(inner, &mut self.bytes, 0)?;
        simdutf8::basic::from_utf8(&self.bytes[..length]).ok()
    }
}

/// A block, and a vector after it that is copied without being needed. A copy of a run may then write more than the run:
/// whatever comes next overwrites the rest, and no branch depends on the length.
const STEP: usize = BLOCK + VECTOR;

/// Writes the meaning of `text` to `out` from `to` on, over whatever is there. Returns how much was read, and where in `out`
/// the meaning ends.
///
/// If `TO_QUOTE`, reading stops before the first quote that is not escaped. Otherwise the text must not have such a quote, and
/// no time is spent on looking for one.
pub(crate) fn unescape<const TO_QUOTE: bool>(
    text: &[u8],
    out: &mut Vec<u8>,
    to: usize,
) -> Option<(usize, usize)> {
    // No escape is shorter than its meaning.
    let needed = to + text.len() + STEP;
    if out.len() < needed {
        out.resize(needed, 0);
    }
    unescape_slice::<TO_QUOTE>(text, out, to)
}

/// Does the same for a slice that is long enough: a step longer than what is read.
fn unescape_slice<const TO_QUOTE: bool>(
    text: &[u8],
    out: &mut [u8],
    mut to: usize,
) -> Option<(usize, usize)> {
    let mut at = 0;
    while let Some(step) = text[at..].first_chunk() {
        let (read, written) = unescape_block::<TO_QUOTE>(step, 0, out[to..].first_chunk_mut()?);
        (at, to) = (at + read, to + written);
        // If only the last byte of the block is left, it is the first of the next one.
        if read < BLOCK - 1 {
            if TO_QUOTE && text[at] == b'"' {
                return Some((at, to));
            }
            (at, to) = unescape_one(text, at, out, to)?;
        }
    }
    let (read, to) = unescape_rest::<TO_QUOTE>(&text[at..], out, to)?;
    Some((at + read, to))
}

/// Does the same for fewer bytes than a step. They are filled up with zeros, which are not part of any escape.
fn unescape_rest<const TO_QUOTE: bool>(rest: &[u8], out: &mut [u8], mut to: usize) -> Option<(usize, usize)> {
    let mut filled = [0; 2 * STEP];
    filled[..rest.len()].copy_from_slice(rest);
    let mut at = 0;
    while at < rest.len() {
        let end = 1_u64.checked_shl(u32::try_from(rest.len() - at).ok()?).unwrap_or(0);
        let step = filled[at..].first_chunk()?;
        let (read, written) = unescape_block::<TO_QUOTE>(step, end, out[to..].first_chunk_mut()?);
        (at, to) = (at + read, to + written);
        if read < BLOCK - 1 && at < rest.len() {
            if TO_QUOTE && rest[at] == b'"' {
                break;
            }
            (at, to) = unescape_one(rest, at, out, to)?;
        }
    }
    Some((at, to))
}

/// Copies a block with the meaning of its escapes of two bytes. Stops before another escape, before an escape that goes
/// beyond the block, at the bit of the mask `end` or, if `TO_QUOTE`, before a quote that is not escaped. Returns how much was
/// read and written.
///
/// Other escapes are left to [`unescape_one`], because decoding them here would take registers from the loop.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the body of two loops")]
fn unescape_block<const TO_QUOTE: bool>(step: &[u8; STEP], end: u64, out: &mut [u8; STEP]) -> (usize, usize) {
    let Some((_, found)) = Block::at(step, 0) else { return (0, 0) };
    let mut beyond = false;
    let escaped = found.escaped(&mut beyond);
    let stops = if TO_QUOTE { found.quotes & !escaped | end } else { end };
    // All bits below the lowest stop.
    let inside = (stops & stops.wrapping_neg()).wrapping_sub(1);
    let end = (stops.trailing_zeros() as usize).min(BLOCK - usize::from(beyond));
    // Backslashes whose letter is in the block.
    let mut backslashes = escaped >> 1 & inside;
    let (mut from, mut to) = (0, 0);
    while backslashes != 0 {
        let place = backslashes.trailing_zeros() as usize;
        backslashes &= backslashes - 1;
        copy_run(step, from, out, to, place - from);
        to += place - from;
        let meaning = MEANINGS[usize::from(step[place + 1])];
        if meaning == 0 {
            return (place, to);
        }
        // No more was written than read, and that is less than a block.
        out[to & (BLOCK - 1)] = meaning;
        to += 1;
        from = place + 2;
    }
    let run = end.saturating_sub(from);
    copy_run(step, from, out, to, run);
    (from + run, to + run)
}

/// Writes the meaning of the escape at `at` and, if it is a `\u` escape, of all that follow it directly: text that is not
/// Latin consists of them. Returns the positions after both. `None` if an escape is not one of JSON, or half of a surrogate
/// pair.
fn unescape_one(text: &[u8], mut at: usize, out: &mut [u8], mut to: usize) -> Option<(usize, usize)> {
    let letter = *text.get(at + 1)?;
    if letter != b'u' {
        out[to] = MEANINGS[usize::from(letter)];
        return (out[to] != 0).then_some((at + 2, to + 1));
    }
    while text[at..].starts_with(br"\u") {
        let (character, length) = strict::decode_unicode_escape(text, at)?;
        at += length;
        to += character.encode_utf8(&mut out[to..]).len();
    }
    Some((at, to))
}

/// The meaning of the letter after a backslash. Zero for `u` and for letters that make no escape.
static MEANINGS: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = [
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'n', b'\n'),
        (b't', b'\t'),
        (b'r', b'\r'),
        (b'b', 8),
        (b'f', 12),
    ];
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at].0 as usize] = pairs[at].1;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_parser_reads() {
        let mut buffer = TextBuffer::default();
        for inner in [
            "",
            "plain",
            "longer than eight bytes, and then some",
            r#"\"\\\/\b\f\n\r\t"#,
            r"12345678\n",
            r"1234567\n12345678\n",
            r"\u00e9\u20AC\ud83d\ude00é€😀",
            r"\ud83d",
            r"\ude00",
            r"\ud83d\n",
            r"\ud83dx",
            r"\ud83d\ud83d",
            r"\u12",
            r"\u12g4",
            r"\x",
            r"a\",
        ] {
            let expected = serde_json::from_str::<String>(&format!("\"{inner}\"")).ok();
            assert_eq!(unescape_to_string(inner.as_bytes()), expected, "{inner}");
            // At every position in a block, and whatever was in the buffer before.
            for before in 0..6 * BLOCK {
                let longer = format!("{}{inner}{}", "x".repeat(before), "y".repeat(before % 5 * 60));
                let expected = serde_json::from_str::<String>(&format!("\"{longer}\"")).ok();
                assert_eq!(buffer.unescape(longer.as_bytes()), expected.as_deref(), "{longer}");
            }
        }
    }

    #[test]
    fn text_after_an_unescaped_quote_is_not_read() {
        for before in 0..3 * BLOCK {
            for escapes in ["", r"\n", r"\\", r#"\""#, r"\u00e9", r"\ud83d\ude00"] {
                let inner = format!("{}{escapes}", "x".repeat(before));
                for after in ["", r"\", r"\x", "after, and more of it", &"y".repeat(2 * STEP)] {
                    let (mut out, text) = (Vec::new(), format!("{inner}\"{after}"));
                    let (read, end) = unescape::<true>(text.as_bytes(), &mut out, 0).unwrap();
                    assert_eq!(read, inner.len(), "{text}");
                    assert_eq!(&out[..end], unescape_to_string(inner.as_bytes()).unwrap().as_bytes());
                }
            }
        }
    }
}
