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
    if seen.unknown > 0 && (seen.backslashes > 0 || seen.quotes > 0 && seen.line_breaks == 0) {
        return true;
    }
    seen.backslashes > 0 && seen.line_breaks + seen.quotes == 0
}

/// Whether escaped quotes are a pair inside a pair without backslashes: `git commit -m "the \"x\" case"`. All of it may be text as
/// it is, or the outer quotes lost their backslashes. A quotation in a quotation needs its backslashes, so neither is likelier.
// Case: syntax/escaped-quotes-inside-raw-ones
pub(in crate::syntax) fn nests_escaped_quotes(body: &[u8]) -> bool {
    let opens = |at: usize, after: usize| {
        let led = at == 0 || body[at - 1].is_ascii_whitespace() || b"=([{,:>|&;".contains(&body[at - 1]);
        led && body.get(after).is_some_and(|byte| !byte.is_ascii_whitespace())
    };
    let closes = |at: usize, after: usize| {
        let ends = body
            .get(after)
            .is_none_or(|byte| byte.is_ascii_whitespace() || b")]},;:.|&<\"\\!?".contains(byte));
        ends && at > 0 && !body[at - 1].is_ascii_whitespace()
    };
    // Whether a plain pair is open, an escaped one inside it, and whether that one was closed.
    let (mut outer, mut inner, mut nested) = (false, false, false);
    let mut found = false;
    let mut at = 0;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', body.get(at..).unwrap_or_default()) {
        at += offset;
        if body[at] == b'"' {
            found |= outer && nested && !inner && closes(at, at + 1);
            outer = !outer && opens(at, at + 1);
            (inner, nested) = (false, false);
            at += 1;
            continue;
        }
        if body.get(at + 1) != Some(&b'"') {
            at += 2;
            continue;
        }
        // An escaped quote elsewhere shows that the quotes of this text were escaped.
        if !outer {
            return false;
        }
        // `"a\"b"` has one quote in the middle of a word.
        let in_word = !inner && !opens(at, at + 2) && !closes(at, at + 2);
        if inner {
            nested |= closes(at, at + 2);
        }
        nested |= in_word;
        inner = !inner && opens(at, at + 2);
        at += 2;
    }
    found
}

/// Whether line breaks in a text are written with two backslashes, and none with one.
pub(in crate::syntax) fn escapes_only_twice(body: &[u8]) -> bool {
    let mut twice = false;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', body.get(at..).unwrap_or_default()) {
        at += offset;
        match body.get(at + 1..at + 3) {
            Some([b'n', ..]) => return false,
            Some(b"\\n") => twice = true,
            _ => {}
        }
        at += 2;
    }
    twice
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

    #[test]
    fn a_quotation_in_a_quotation_has_two_readings() {
        let nests = |body: &str| nests_escaped_quotes(body.as_bytes());
        assert!(nests(r#"git commit -m "Rename \"x\" to y""#));
        assert!(nests(r#"{"a": "say \"hi\"", "b": 1}"#));
        assert!(nests(r#"echo "a\"b""#));
        assert!(!nests(r#"say "hi" and \"bye\""#));
        assert!(!nests(r#"["a\", \"b\", \"c"]"#), "escaped in part");
        assert!(!nests(r#"print(\"a\", "b")"#));
        assert!(nests(r#"say "the \"x\" case"\n"#), "the line break may be the text's, too");
    }
}
