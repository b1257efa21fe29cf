//! Escaping that stops in the middle of a literal.
//!
//! If a quote inside a string has no backslash, the escapes after it are what JSON means by them, or they are text like
//! the quote. A literal has one depth, so both cannot be true at once, and often the rest of the literal shows which it is: a
//! `\n` proves that escaping goes on, a raw line break that it does not.

/// Whether the escapes after the first quote without a backslash may be text.
// Case: syntax/escaping-stops-midway
// Case: syntax/escaped-backslash-after-raw-quote
pub(in crate::syntax) fn escaping_may_stop(body: &[u8]) -> bool {
    let Some(rest) = after_raw_quote(body) else { return false };
    let Some(first) = memchr::memchr(b'\\', rest) else { return false };
    let mut seen = Seen::default();
    let mut at = first;
    while let Some(letter) = rest.get(at + 1) {
        match letter {
            b'n' => seen.line_breaks += 1,
            b'"' => seen.quotes += 1,
            b'\\' => seen.backslashes += 1,
            b't' | b'r' | b'b' | b'f' | b'/' | b'u' | b'\'' => {}
            _ => seen.unknown += 1,
        }
        match memchr::memchr(b'\\', rest.get(at + 2..).unwrap_or_default()) {
            Some(offset) => at += 2 + offset,
            None => break,
        }
    }
    if memchr::memchr(b'\n', rest).is_some() {
        return seen.line_breaks + seen.quotes + seen.backslashes > 0;
    }
    // A backslash that starts no escape was not escaped, so that two of them may be two.
    if seen.unknown > 0 && seen.backslashes > 0 {
        return true;
    }
    seen.backslashes > 0 && seen.line_breaks + seen.quotes == 0
}

/// How often each kind of escape was seen in a text.
#[derive(Default)]
struct Seen {
    line_breaks: usize,
    quotes: usize,
    backslashes: usize,
    unknown: usize,
}

/// The text after its first quote that has no backslash.
fn after_raw_quote(body: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', body.get(at..)?)?;
        if body[at] == b'"' {
            return Some(&body[at + 1..]);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_shows_whether_escaping_goes_on() {
        let stops = |body: &str| escaping_may_stop(body.as_bytes());
        assert!(!stops(r#"say "hi" now"#), "nothing to doubt");
        assert!(!stops(r#"print("a\\b")\n"#), "a line break is escaped");
        assert!(!stops(r#"a "b" \"c\""#), "quotes are escaped here and there");
        assert!(stops("a \\\"b\\\" \"c\n\\n\""), "a line break is not escaped");
        assert!(stops(r#"[^"\\]*"#), "one backslash or two");
        assert!(stops(r#"copy "D:\data" "\\nas\x\""#), "some are not escaped");
        assert!(!stops(r#"a \"b\" c"#), "no raw quote");
    }
}
