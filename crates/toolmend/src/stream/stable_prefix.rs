//! The part of a JSON object that no further text can change: its first members, as long as they are strings.

use crate::json::{strict, text};

/// The stable beginning of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StablePrefix {
    pub(crate) length: usize,
    /// The text stops inside a string, which may continue.
    pub(crate) open: bool,
}

/// Reads the object that a text begins with. `wanted`: the key is declared for strings alone.
///
/// A quote ends a string if another declared key follows. Any other quote may be an unescaped one, so what follows it
/// waits for the whole call.
pub(crate) fn of_object(written: &str, wanted: impl Fn(&str) -> bool) -> Option<StablePrefix> {
    let bytes = written.as_bytes();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let mut keys: Vec<String> = Vec::new();
    let mut found = None;
    let mut at = 1;
    while let Some((key, value)) = member(written, at) {
        if !wanted(&key) || keys.contains(&key) {
            break;
        }
        keys.push(key);
        let length = value + string_length(&written[value..]);
        found =
            Some(StablePrefix { length, open: length == bytes.len() || is_half_escape(&bytes[length..]) });
        if bytes.get(length) != Some(&b'"') {
            break;
        }
        let comma = strict::skip_whitespace(bytes, length + 1);
        if bytes.get(comma) != Some(&b',') {
            break;
        }
        at = comma + 1;
    }
    found
}

/// The key of the member at `at`, and the position after the quote that opens its value.
fn member(written: &str, at: usize) -> Option<(String, usize)> {
    let bytes = written.as_bytes();
    let key_at = strict::skip_whitespace(bytes, at);
    if bytes.get(key_at) != Some(&b'"') {
        return None;
    }
    let key_end = strict::check_string(bytes, key_at).ok()?;
    let colon = strict::skip_whitespace(bytes, key_end);
    let value = strict::skip_whitespace(bytes, colon + 1);
    let opens = bytes.get(colon) == Some(&b':') && bytes.get(value) == Some(&b'"');
    opens.then(|| (text::unquote(&written[key_at..key_end]).into_owned(), value + 1))
}

/// How much of the inside of a string is strict: up to its quote, to an unescaped character, or to half an escape.
pub(crate) fn string_length(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        at = toolmend_json::scan::find_special(bytes, at);
        if bytes.get(at) != Some(&b'\\') {
            return at;
        }
        match strict::check_escape(bytes, at) {
            Ok(after) => at = after,
            Err(_) => return at,
        }
    }
}

/// Whether the text stops inside an escape.
fn is_half_escape(bytes: &[u8]) -> bool {
    match bytes {
        [b'\\'] => true,
        [b'\\', b'u', rest @ ..] => {
            rest.len() < 10
                && rest.iter().enumerate().all(|(index, byte)| match index {
                    4 => *byte == b'\\',
                    5 => *byte == b'u',
                    _ => byte.is_ascii_hexdigit(),
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: &str, open: bool) {
        let flow = of_object(written, |key| matches!(key, "a" | "b"));
        let found = flow.map(|flow| (&written[..flow.length], flow.open));
        assert_eq!(found.unwrap_or_default(), (expected, open), "{written}");
    }

    #[test]
    fn strings_are_stable_up_to_what_may_change() {
        check(r#"{"a": "x"#, r#"{"a": "x"#, true);
        check(r#"{"a": "x\n"#, r#"{"a": "x\n"#, true);
        check(r#"{"a": "x\"#, r#"{"a": "x"#, true);
        check(r#"{"a": "x\u00"#, r#"{"a": "x"#, true);
        check(r#"{"a": "x\d"#, r#"{"a": "x"#, false);
        check(r#"{"a": "x""#, r#"{"a": "x"#, false);
        check(r#"{"a": "x", "b"#, r#"{"a": "x"#, false);
        check(r#"{"a": "x", "b": "#, r#"{"a": "x"#, false);
        check(r#"{"a": "x", "b": "y"#, r#"{"a": "x", "b": "y"#, true);
        check(r#"{"a": "x", "c": "y"#, r#"{"a": "x"#, false);
        check(r#"{"a": "x", "a": "y"#, r#"{"a": "x"#, false);
        check(r#"{"a": "say "hi" now"#, r#"{"a": "say "#, false);
        check(r#"{"n": 1, "a": "x"#, "", false);
        check("{'a': 'x", "", false);
        check("{\"a\": \"x\ny", "{\"a\": \"x", false);
    }
}
