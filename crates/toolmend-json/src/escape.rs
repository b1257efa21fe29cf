//! Escapes of JSON strings.

use crate::scan::find_special;

use crate::block::{self, Marks, SPAN};

/// TextBuffer for the text of one string after the other.
#[derive(Debug, Default)]
pub struct TextBuffer {
    /// Never shorter than it was: what stands behind the text is rubbish.
    bytes: Vec<u8>,
}

/// Longer rooms are not kept: one long text must not hold memory for the rest of a run.
pub(crate) const LONGEST_ROOM: usize = 1 << 20;

impl TextBuffer {
    /// The text of the inside of a string. None where an escape is none, or half a surrogate pair, which is no text.
    pub(crate) fn unescaped(&mut self, inner: &[u8]) -> Option<&str> {
        if self.bytes.len() > LONGEST_ROOM && inner.len() < LONGEST_ROOM {
            self.bytes = Vec::new();
        }
        let (read, length) = unescape(inner, &mut self.bytes, 0)?;
        (read == inner.len()).then(|| simdutf8::basic::from_utf8(&self.bytes[..length]).ok()).flatten()
    }
}

/// The same as a text of its own.
pub(crate) fn unescaped(inner: &[u8]) -> Option<String> {
    let mut bytes = Vec::new();
    let (read, length) = unescape(inner, &mut bytes, 0)?;
    bytes.truncate(length);
    (read == inner.len()).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// What a letter behind a backslash means; nothing where that is none, or `u`.
const MEANING: [u8; 256] = {
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

/// What a span is read from and written to. A whole span is copied for every run in it, however short the run is: what comes
/// next is written over the rest, and nothing has to be decided.
const ROOM: usize = 3 * SPAN;
type Source = [u8; ROOM];
type Target = [u8; ROOM];

/// Writes what a text means up to the first quote in it that is not escaped, or up to its end. It is written to `out` from `to`
/// on, over whatever stands there. Tells how much was read, and where in `out` the writing ended.
pub(crate) fn unescape(text: &[u8], out: &mut Vec<u8>, mut to: usize) -> Option<(usize, usize)> {
    // No escape is shorter than what it means.
    if out.len() < to + text.len() + 2 * ROOM {
        out.resize(to + text.len() + 2 * ROOM, 0);
    }
    let mut at = 0;
    while let Some(source) = text.get(at..)?.first_chunk::<ROOM>() {
        if source[0] == b'"' {
            return Some((at, to));
        }
        let (read, written) = unescape_span(source, SPAN, out[to..].first_chunk_mut()?)?;
        at += read;
        to += written;
    }
    // The last bytes have too little behind them, so they get room of their own.
    let rest = &text[at..];
    let mut last = [0; 2 * ROOM];
    last[..rest.len()].copy_from_slice(rest);
    let mut part = 0;
    while part < rest.len() && rest[part] != b'"' {
        let length = SPAN.min(rest.len() - part);
        let (read, written) =
            unescape_span(last[part..].first_chunk()?, length, out[to..].first_chunk_mut()?)?;
        part += read;
        to += written;
    }
    // An escape without its letter reaches too far.
    (part <= rest.len()).then_some((at + part, to))
}

/// The first bytes of a source up to a quote, and the rest of the escape that they end in. Tells how many were read and
/// written.
#[inline]
fn unescape_span(source: &Source, length: usize, out: &mut Target) -> Option<(usize, usize)> {
    // Numbers below this are places in a room with a span behind them, which the compiler sees, too.
    const INSIDE: usize = 2 * SPAN - 1;
    let Marks { quotes, mut escapes } = block::marks(source.first_chunk()?);
    let length = length.min(quotes.trailing_zeros() as usize);
    // Where the next run begins; behind an escape that is cut by the end this is one too far.
    let (mut from, mut to) = (0, 0);
    loop {
        let end = (escapes.trailing_zeros() as usize).min(length);
        let run: &block::Span = source[from & INSIDE..].first_chunk()?;
        let room: &mut block::Span = out[to & INSIDE..].first_chunk_mut()?;
        // Between two escapes there is hardly ever more than the first half.
        let (first, second) = run.split_at(SPAN / 2);
        room[..SPAN / 2].copy_from_slice(first);
        if end.saturating_sub(from) > SPAN / 2 {
            room[SPAN / 2..].copy_from_slice(second);
        }
        if end == length {
            return Some((from.max(end), to + end.saturating_sub(from)));
        }
        to += end - from;
        escapes &= escapes - 1;
        let escape = source[(end & INSIDE) + 1];
        let meaning = MEANING[usize::from(escape)];
        if meaning == 0 {
            if escape != b'u' {
                return None;
            }
            let (letter, length) = letter(&source[end + 2..])?;
            // The next escape may be the other half of this one, so what follows is looked at anew.
            return Some((end + 2 + length, to + letter.encode_utf8(&mut out[to..]).len()));
        }
        out[to & INSIDE] = meaning;
        to += 1;
        from = end + 2;
    }
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    quote_behind(text, &mut out);
    // Whole characters were copied, and what was added is ASCII.
    String::from_utf8(out).unwrap_or_default()
}

/// Writes a JSON string behind what `out` holds.
pub(crate) fn quote_behind(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut to = out.len();
    out.resize(to + bytes.len() + bytes.len() / 8 + MOST_OF_SPAN, 0);
    out[to] = b'"';
    to += 1;
    let mut at = 0;
    while at < bytes.len() {
        if out.len() < to + MOST_OF_SPAN {
            out.resize(to + (bytes.len() - at) * 3 / 2 + MOST_OF_SPAN, 0);
        }
        let rest = &bytes[at..];
        let length = SPAN.min(rest.len());
        // Runs are copied as above.
        let mut source = [0; 2 * SPAN];
        source[..SPAN].copy_from_slice(&block::head(rest));
        let (mut marks, mut from) = (block::unwritable(&block::head(rest)), 0);
        loop {
            let end = (marks.trailing_zeros() as usize).min(length);
            out[to..to + SPAN].copy_from_slice(&source[from..from + SPAN]);
            to += end - from;
            if end == length {
                break;
            }
            marks &= marks - 1;
            from = end + 1;
            to += escaped(source[end], &mut out[to..]);
        }
        at += length;
    }
    out[to] = b'"';
    out.truncate(to + 1);
}

/// Writes a JSON string behind a text. Names and words have nothing to escape, and are copied as they are.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    if find_special(text.as_bytes(), 0) < text.len() {
        out.push_str(&quoted(text));
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// The length of `\u0000`.
const LONGEST_ESCAPE: usize = 6;
/// How long a span can become, with the quotes around it and what is copied too much.
const MOST_OF_SPAN: usize = SPAN * (LONGEST_ESCAPE + 1) + 2;

/// Writes the escape of a byte, and tells its length.
#[inline]
fn escaped(byte: u8, out: &mut [u8]) -> usize {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        8 => b'b',
        12 => b'f',
        _ => {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            let escape = [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)];
            out[..LONGEST_ESCAPE].copy_from_slice(&escape);
            return LONGEST_ESCAPE;
        }
    };
    out[..2].copy_from_slice(&[b'\\', letter]);
    2
}

/// What stands behind `\u`, and how long that is.
fn letter(bytes: &[u8]) -> Option<(char, usize)> {
    let first = hex(bytes)?;
    if let Some(letter) = char::from_u32(first) {
        return Some((letter, 4));
    }
    let second = bytes.get(4..6).filter(|escape| *escape == b"\\u").and_then(|_| hex(&bytes[6..]))?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    char::from_u32(code).map(|letter| (letter, 10))
}

fn hex(bytes: &[u8]) -> Option<u32> {
    bytes.get(..4)?.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_parser_reads() {
        let mut room = TextBuffer::default();
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
            assert_eq!(unescaped(inner.as_bytes()), expected, "{inner}");
            // Wherever it stands in a block, and whatever was in the room before.
            for before in 0..2 * ROOM {
                let longer = format!("{}{inner}{}", "x".repeat(before), "y".repeat(before % 5 * 60));
                let expected = serde_json::from_str::<String>(&format!("\"{longer}\"")).ok();
                assert_eq!(room.unescaped(longer.as_bytes()), expected.as_deref(), "{longer}");
            }
        }
    }

    #[test]
    fn writes_what_a_writer_writes() {
        let every: String = (0..0x180).filter_map(char::from_u32).collect();
        for start in 0..2 * SPAN {
            for text in [&every, "", "plain", "12345678\"1234567\n", "é€😀 and \\ more", "a\u{7f}\u{0}b"]
            {
                let text = format!("{}{text}", "x".repeat(start));
                let expected = serde_json::to_string(&text).unwrap();
                assert_eq!(quoted(&text), expected);
                let mut behind = "é".to_owned();
                push_quoted(&mut behind, &text);
                assert_eq!(behind, format!("é{expected}"));
                let mut behind = behind.into_bytes();
                quote_behind(&text, &mut behind);
                assert_eq!(behind, format!("é{expected}{expected}").into_bytes());
            }
        }
    }
}
