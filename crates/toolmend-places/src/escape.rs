//! Escapes of JSON strings.

/// A byte in each place of a word.
const EVERY: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = EVERY << 7;

/// The text of the inside of a string. None where an escape is none, or half a surrogate pair, which is no text.
pub(crate) fn unescaped(inner: &str) -> Option<String> {
    let bytes = inner.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    loop {
        let run = plain(&bytes[at..]);
        out.extend_from_slice(&bytes[at..at + run]);
        at += run;
        if at == bytes.len() {
            return String::from_utf8(out).ok();
        }
        let escape = *bytes.get(at + 1)?;
        at += 2;
        out.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                let (letter, length) = letter(&bytes[at..])?;
                at += length;
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        });
    }
}

/// A JSON string. Eight bytes at a time are copied as they are, where all of them can be.
pub(crate) fn quoted(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16 + 2);
    out.push(b'"');
    let mut at = 0;
    loop {
        let run = unmarked(&bytes[at..]);
        out.extend_from_slice(&bytes[at..at + run]);
        at += run;
        let Some(&byte) = bytes.get(at) else { break };
        at += 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.push(b'"');
    // Whole characters were copied, and what was added is ASCII.
    String::from_utf8(out).unwrap_or_default()
}

/// How many bytes there are before the next one that needs an escape.
fn unmarked(bytes: &[u8]) -> usize {
    let zeros = |word: u64| word.wrapping_sub(EVERY) & !word & HIGH;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let low = word.wrapping_sub(EVERY * 0x20) & !word & HIGH;
        let found = low | zeros(word ^ (EVERY * 0x22)) | zeros(word ^ (EVERY * 0x5c));
        if found != 0 {
            return 8 * index + found.trailing_zeros() as usize / 8;
        }
    }
    let start = 8 * words.len();
    let marked = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    start + bytes[start..].iter().position(marked).unwrap_or(bytes.len() - start)
}

/// How many bytes there are before the next backslash. Runs are short, so that a call to look for it would cost more than
/// eight bytes at a time do.
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ (EVERY * 0x5c);
        let zero = other.wrapping_sub(EVERY) & !other & HIGH;
        if zero != 0 {
            return 8 * index + zero.trailing_zeros() as usize / 8;
        }
    }
    let start = 8 * words.len();
    start + bytes[start..].iter().position(|byte| *byte == b'\\').unwrap_or(bytes.len() - start)
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
            assert_eq!(unescaped(inner), expected, "{inner}");
        }
    }

    #[test]
    fn writes_what_a_writer_writes() {
        let every: String = (0..0x180).filter_map(char::from_u32).collect();
        for start in 0..9 {
            for text in [&every, "", "plain", "12345678\"1234567\n", "é€😀 and \\ more", "a\u{7f}\u{0}b"]
            {
                let text = format!("{}{text}", "x".repeat(start));
                assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}
