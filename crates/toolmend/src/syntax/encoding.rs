//! Encodings over a whole document: escaped once too often, written inside a string, HTML entities.
//!
//! One layer is removed at a time, and only if the first structural quote of the document shows it. The content of
//! strings in a plain document is never decoded.

use crate::json::strict;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::report::MAX_LISTED_PER_KIND;

use super::token;

/// The encoding that a document shows at its first structural quote, as a patch that removes it.
pub(super) fn peel_layer(text: &str) -> Option<Patch> {
    string_around(text).or_else(|| over_escaped(text)).or_else(|| entities(text))
}

/// The position after the first brackets and the white space after them, literal `\n` included.
fn inside_first_bracket(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let open = memchr::memchr2(b'{', b'[', bytes)?;
    // A bracket after a quote is inside a string.
    if bytes[..open].contains(&b'"') {
        return None;
    }
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b'{' | b'[' => at += 1,
            b'\\' => {
                // `\n`, or `\\n` if the backslash was escaped as well.
                let letter = at + bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
                if !matches!(bytes.get(letter), Some(b'n' | b'r' | b't')) {
                    break;
                }
                at = letter + 1;
            }
            _ => break,
        }
    }
    Some(at)
}

/// `{\"a\": …}`: one level of escaping over everything.
// Case: syntax/over-escaped
fn over_escaped(text: &str) -> Option<Patch> {
    let bytes = text.as_bytes();
    let at = inside_first_bracket(text)?;
    // Either the first key's quote is escaped, or a bare key comes first and a later structural quote is.
    if bytes.get(at..at + 2) != Some(b"\\\"") {
        let word = token::word_end(bytes, at);
        let colon = strict::skip_whitespace(bytes, word);
        let value = strict::skip_whitespace(bytes, colon + 1);
        let (first, second) = (bytes.get(word..word + 2), bytes.get(value..value + 2));
        let half = word > at && first == Some(b"\\\"");
        let bare = word > at && bytes.get(colon) == Some(&b':') && second == Some(b"\\\"");
        if !half && !bare {
            return None;
        }
    }
    let open = memchr::memchr2(b'{', b'[', bytes)?;
    let edits = unescape_edits(text, open, text.len(), RepairKind::OverEscapingRemoved)?;
    Some(Patch::new(edits))
}

/// `"{\"a\": …}"`: the document inside a JSON string, properly escaped or not at all.
// Case: syntax/double-encoded
// Case: syntax/double-encoded-raw
fn string_around(text: &str) -> Option<Patch> {
    let bytes = text.as_bytes();
    let open = strict::skip_whitespace(bytes, 0);
    if !matches!(bytes.get(open), Some(b'"' | b'\'')) {
        return None;
    }
    let quote = bytes[open];
    let mut inside = strict::skip_whitespace(bytes, open + 1);
    while bytes.get(inside) == Some(&b'\\') && matches!(bytes.get(inside + 1), Some(b'n' | b'r' | b't')) {
        inside = strict::skip_whitespace(bytes, inside + 2);
    }
    if !matches!(bytes.get(inside), Some(b'{' | b'[')) {
        return quoted_prose(text, open);
    }
    let end = text.trim_end().len();
    let close = end.checked_sub(1).filter(|&close| close > inside && bytes[close] == quote)?;
    if !matches!(bytes[..close].trim_ascii_end().last(), Some(b'}' | b']' | b'n')) {
        return None;
    }
    let kind = RepairKind::DoubleEncodingRemoved;
    let mut edits = vec![Edit::new(open..open + 1, "", kind)];
    let escaped = quote == b'"' && strict::check_string(bytes, open) == Ok(close + 1);
    // With its quotes escaped but something else wrong, the string is still one level deep.
    let first_quote = memchr::memchr(b'"', &bytes[open + 1..close]).map(|offset| open + 1 + offset);
    let one_level = first_quote.is_some_and(|at| bytes[at - 1] == b'\\');
    if escaped || one_level {
        edits.extend(unescape_edits(text, open + 1, close, kind)?);
    }
    edits.push(Edit::new(close..close + 1, "", kind));
    Some(Patch::new(edits))
}

/// `"Here it is: {\"a\": …}"`: a JSON string that holds more than the document.
// Case: syntax/prose-in-a-string
fn quoted_prose(text: &str, open: usize) -> Option<Patch> {
    let bytes = text.as_bytes();
    let end = text.trim_end().len();
    let object = inside_first_bracket(text.get(open + 1..)?)? + open + 1;
    if strict::check_string(bytes, open) != Ok(end) || bytes.get(object..object + 2) != Some(b"\\\"") {
        return None;
    }
    let kind = RepairKind::DoubleEncodingRemoved;
    let mut edits = vec![Edit::new(open..open + 1, "", kind)];
    edits.extend(unescape_edits(text, open + 1, end - 1, kind)?);
    edits.push(Edit::new(end - 1..end, "", kind));
    Some(Patch::new(edits))
}

/// Edits that remove one level of escapes from `from..to`.
fn unescape_edits(text: &str, from: usize, to: usize, kind: RepairKind) -> Option<Vec<Edit>> {
    let bytes = text.as_bytes();
    let mut edits = Vec::new();
    let mut at = from;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..to]) {
        at += offset;
        let (len, with) = match bytes.get(at + 1).filter(|_| at + 1 < to) {
            Some(b'"') => (2, "\"".into()),
            Some(b'\\') => (2, "\\".into()),
            Some(b'/') => (2, "/".into()),
            Some(b'n') => (2, "\n".into()),
            Some(b'r') => (2, "\r".into()),
            Some(b't') => (2, "\t".into()),
            Some(b'b') => (2, "\u{8}".into()),
            Some(b'f') => (2, "\u{c}".into()),
            Some(b'u') => match strict::parse_hex4(bytes, at + 2)? {
                // A pair of surrogates is one character.
                high @ 0xD800..0xDC00 => {
                    let low =
                        strict::parse_hex4(bytes, at + 8).filter(|low| (0xDC00..0xE000).contains(low))?;
                    let ch = char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?;
                    (12, std::borrow::Cow::Owned(ch.to_string()))
                }
                unit => (6, std::borrow::Cow::Owned(char::from_u32(unit)?.to_string())),
            },
            // Not an escape: it is left to the reader.
            _ => {
                at += 1;
                continue;
            }
        };
        edits.push(Edit { start: at, end: at + len, with, kind });
        at += len;
    }
    Some(edits)
}

/// More entities than this are decoded in one edit: they are more than are listed one by one.
const MANY: usize = 4 * (MAX_LISTED_PER_KIND + 1);

const ENTITIES: &[(&str, &str)] = &[
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#x22;", "\""),
    ("&apos;", "'"),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
    ("&nbsp;", " "),
];

/// `{&quot;a&quot;: …}`: entities instead of quotes. All are decoded, once.
// Case: syntax/html-entities
fn entities(text: &str) -> Option<Patch> {
    let bytes = text.as_bytes();
    let at = inside_first_bracket(text)?;
    let quoted = |at: usize| ENTITIES[..6].iter().any(|(name, _)| bytes[at..].starts_with(name.as_bytes()));
    let word = token::word_end(bytes, at);
    let after_key = strict::skip_whitespace(bytes, (word + 1).min(bytes.len()));
    if !quoted(at) && !(word > at && (quoted(word) || quoted(after_key))) {
        return None;
    }
    let mut edits: Vec<Edit> = Vec::new();
    // The text from the first entity on, decoded, and where the last one ended.
    let mut decoded = (String::new(), at);
    let mut from = at;
    while let Some(offset) = memchr::memchr(b'&', &bytes[from..]) {
        from += offset;
        let found = ENTITIES.iter().find(|(name, _)| bytes[from..].starts_with(name.as_bytes()));
        let Some((name, meaning)) = found else {
            from += 1;
            continue;
        };
        if edits.is_empty() {
            decoded.1 = from;
        }
        decoded.0.push_str(&text[decoded.1..from]);
        decoded.0.push_str(meaning);
        if edits.len() <= MANY {
            edits.push(Edit::new(from..from + name.len(), *meaning, RepairKind::HtmlEntitiesDecoded));
        }
        from += name.len();
        decoded.1 = from;
    }
    if let Some(first) = edits.first().map(|edit| edit.start).filter(|_| edits.len() > MANY) {
        edits = vec![Edit::new(first..decoded.1, decoded.0, RepairKind::HtmlEntitiesDecoded)];
    }
    Some(Patch::new(edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn peeled(text: &str, expected: Option<&str>) {
        assert_eq!(peel_layer(text).map(|patch| patch.apply(text)).as_deref(), expected, "{text}");
    }

    #[test]
    fn one_level_comes_off() {
        peeled(r#"{\"a\":\"x\\ny\"}"#, Some(r#"{"a":"x\ny"}"#));
        peeled("{\\n  \\\"a\\\": 1\\n}", Some("{\n  \"a\": 1\n}"));
        peeled(r#"{\\n  \"a\": 1\\n}"#, Some(r#"{\n  "a": 1\n}"#));
        peeled(r#""Here: {\"a\": 1}.""#, Some(r#"Here: {"a": 1}."#));
        peeled(r#""{\"a\":\"\\\"q\\\"\"}""#, Some(r#"{"a":"\"q\""}"#));
        peeled(r#""{"a": 1}""#, Some(r#"{"a": 1}"#));
        peeled("{&quot;a&quot;:&quot;x &amp;amp; y&quot;}", Some("{\"a\":\"x &amp; y\"}"));
    }

    #[test]
    fn many_entities_are_one_edit() {
        for count in [1, MANY - 1, MANY, MANY + 1, 1000] {
            let (key, lamp) = ("{&quot;a&quot;:&quot;", "x &amp; y ");
            let text = format!("{key}{}&quot;}} & so on", lamp.repeat(count));
            let wanted = format!("{{\"a\":\"{}\"}} & so on", "x & y ".repeat(count));
            peeled(&text, Some(&wanted));
            assert_eq!(peel_layer(&text).is_some_and(|patch| patch.edits().len() == 1), count + 4 > MANY);
        }
    }

    #[test]
    fn plain_documents_have_none() {
        peeled(r#"{"a":"\"x\""}"#, None);
        peeled("{\\n  \"a\": 1\\n}", None);
        peeled("\"text\"", None);
        peeled(r#""in {braces}""#, None);
        peeled("{\"a\":\"&quot;\"}", None);
    }
}
