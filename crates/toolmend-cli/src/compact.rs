//! JSON on one line, token for token.

/// Appends a strict JSON text without the white space between its tokens. Every token stays as it is spelled.
pub(crate) fn compact_into(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                at += 1;
                continue;
            }
            b'"' => string_end(bytes, at),
            _ => at + 1,
        };
        out.extend_from_slice(bytes.get(at..end).unwrap_or_default());
        at = end;
    }
}

/// The place behind the string that opens at `open`.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(offset) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += offset;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_goes() {
        for (text, expected) in [
            ("{ \"a b\" :\n[1 , 2.50]\t}\r\n", r#"{"a b":[1,2.50]}"#),
            (r#"{"a":"x \" y","b\\":" "}"#, r#"{"a":"x \" y","b\\":" "}"#),
            (" 1e400 ", "1e400"),
        ] {
            let mut out = Vec::new();
            compact_into(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
