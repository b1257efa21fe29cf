//! Where a JSON value ends, judged by its brackets and quotes alone.
//!
//! This is a quick look before anything is parsed. It never says that the value is valid.

/// How far the value at the start of a text reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All brackets are closed before this byte.
    Whole(usize),
    /// The text ends first.
    Open,
    /// From this byte on the quotes make no sense: one is not escaped, or missing.
    Broken(usize),
}

/// Measures the JSON value that starts with the bracket at `from`.
///
/// A quote ends a string only before something that can follow a string. Otherwise the text inside is not escaped, and
/// no later bracket can be trusted.
pub(crate) fn measure(text: &str, from: usize) -> Extent {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Extent::Whole(at + 1);
                }
            }
            // Single quotes count if a key or a value begins with them, as in Python.
            b'"' | b'\'' if bytes[at] == b'"' || begins(bytes, from, at) => {
                let Some(end) = string_end(bytes, at + 1, bytes[at]) else { return Extent::Open };
                let next = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace());
                match next {
                    None => return Extent::Open,
                    Some(b',' | b':' | b'}' | b']') => at = end - 1,
                    Some(_) => return Extent::Broken(end - 1),
                }
            }
            b'<' | b'\'' | b'`' => return Extent::Broken(at),
            _ => {}
        }
        at += 1;
    }
    Extent::Open
}

/// Whether a key or a value can begin here: the last character before is a bracket, a comma or a colon.
fn begins(bytes: &[u8], from: usize, at: usize) -> bool {
    let before = bytes[from..at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
    matches!(before, Some(b'{' | b'[' | b',' | b':'))
}

/// The position after the quote that ends the string.
fn string_end(bytes: &[u8], mut at: usize, mark: u8) -> Option<usize> {
    loop {
        at += memchr::memchr2(mark, b'\\', &bytes[at..])?;
        if bytes[at] == mark {
            return Some(at + 1);
        }
        at += 2;
        if at >= bytes.len() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(measure(r#"{"a": "}", "b": ["]"]} x"#, 0), Extent::Whole(22));
        assert_eq!(measure(r#"{"a": "\"}"}"#, 0), Extent::Whole(12));
        assert_eq!(measure(r#"{"a": "x"#, 0), Extent::Open);
        assert_eq!(measure(r#"{"a": "x" "#, 0), Extent::Open);
        assert_eq!(measure(r#"{"a": "<b class="c">"}"#, 0), Extent::Broken(16));
        assert_eq!(measure(r"{'a': '}'}, {", 0), Extent::Whole(10));
        assert_eq!(measure(r"{'a': 'it's'}", 0), Extent::Broken(9));
        assert_eq!(measure("{\"a\": {\"b\": 1}</tool_call>", 0), Extent::Broken(14));
    }
}
