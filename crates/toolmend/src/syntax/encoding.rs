//! Encodings over a whole document: escaped once too often, written inside a string, HTML entities.
//!
//! One layer is removed at a time, and only if the first structural quote of the document shows it. The content of
//! strings in a plain document is never decoded.

use std::borrow::Cow;

use super::literal::{self, escapes};
use super::{line_prefix, token};
use crate::json::strict;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::report::MAX_LISTED_PER_KIND;

/// What was found around a document.
#[derive(Debug)]
pub(super) enum Peeled {
    None,
    /// An encoding, as a patch that removes it.
    Layer(Patch),
    /// An encoding that explains only a part of the document, or a document at two depths.
    Refused(&'static str),
}

impl Peeled {
    fn or_else(self, other: impl FnOnce() -> Peeled) -> Peeled {
        match self {
            Peeled::None => other(),
            found => found,
        }
    }
}

impl From<Option<Patch>> for Peeled {
    fn from(patch: Option<Patch>) -> Self {
        patch.map_or(Peeled::None, Peeled::Layer)
    }
}

/// What is said of a document of which only a part is escaped.
const MIXED_DEPTHS: &str = "a part of the document is escaped once more than the rest";
/// What is said of a document in which only some characters are entities.
const MIXED_ENTITIES: &str = "some characters of the document are HTML entities, and some are not";

/// What is said of a document in pieces.
const SPLIT_EVENTS: &str = "the document is split over several events of a stream";
/// What is said of a document whose braces are all written twice, also in strings.
const DOUBLED_BRACES: &str = "all braces are written twice, and those in strings may be text";
/// What is said of a document whose quotes are written twice, but not all of them.
const DOUBLED_QUOTES: &str = "the quotes of keys are written twice, and those of other strings are not";

/// The encoding that a document shows at its first structural quote.
pub(super) fn peel_layer(text: &str) -> Peeled {
    line_prefix::prefixed_lines(text)
        .or_else(|| split_events(text))
        .or_else(|| doubled_braces(text))
        .or_else(|| doubled_quotes(text))
        .or_else(|| literal::document::literal_around(text))
        .or_else(|| string_around(text))
        .or_else(|| over_escaped(text))
        .or_else(|| escaped_delimiters(text))
        .or_else(|| entities(text))
}

/// `data: {"a⏎⏎data: ": 1}`: the pieces of a stream, which nobody put together.
// Case: syntax/document-in-stream-events
fn split_events(text: &str) -> Peeled {
    let Some(first) = text.trim_start().strip_prefix("data:") else { return Peeled::None };
    let Some(next) = first.find("\n\ndata:") else { return Peeled::None };
    match strict::check(first[..next].trim(), strict::MAX_DEPTH) {
        Ok(()) => Peeled::None,
        Err(_) => Peeled::Refused(SPLIT_EVENTS),
    }
}

/// `{{"a": "x {{y}}"}}`: the text of a format string. Braces outside of strings have one reading.
// Case: syntax/braces-of-a-format-string
fn doubled_braces(text: &str) -> Peeled {
    let bytes = text.trim().as_bytes();
    if !bytes.starts_with(b"{{") || !bytes.ends_with(b"}}") {
        return Peeled::None;
    }
    let (mut in_string, mut in_text) = (false, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'{' | b'}' => {
                let run = bytes[at..].iter().take_while(|other| **other == byte).count();
                if run % 2 == 1 {
                    return Peeled::None;
                }
                in_text |= in_string;
                at += run;
            }
            _ => at += 1,
        }
    }
    if in_text { Peeled::Refused(DOUBLED_BRACES) } else { Peeled::None }
}

/// `{""a"": ""x""}`: a field of a CSV file without the quotes around it.
// Case: syntax/quotes-of-a-csv-field
fn doubled_quotes(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let open = strict::skip_whitespace(bytes, 0);
    let key = strict::skip_whitespace(bytes, open + 1);
    let end = token::word_end(bytes, (key + 2).min(bytes.len()));
    let is_doubled = bytes.get(open) == Some(&b'{')
        && bytes[key.min(bytes.len())..].starts_with(b"\"\"")
        && end > key + 2
        && bytes[end..].starts_with(b"\"\"")
        && bytes.get(strict::skip_whitespace(bytes, end + 2)) == Some(&b':');
    if !is_doubled {
        return Peeled::None;
    }
    let pairs = memchr::memmem::find_iter(bytes, b"\"\"");
    let edits = pairs.map(|at| Edit::new(at..at + 1, "", RepairKind::DoubledQuoteRemoved)).collect();
    let patch = Patch::new(edits);
    match strict::check(&patch.apply(text), strict::MAX_DEPTH) {
        Ok(()) => Peeled::Layer(patch),
        Err(_) => Peeled::Refused(DOUBLED_QUOTES),
    }
}

/// Whether a drive is before an escaped backslash and a letter, as in `C:\\new`: one level less, the name is a line break.
// Case: syntax/drive-in-escaped-document
fn holds_drive(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, b":\\\\").any(|at| {
        let is_drive =
            at > 1 && bytes[at - 1].is_ascii_alphabetic() && !bytes[at - 2].is_ascii_alphanumeric();
        is_drive && matches!(bytes.get(at + 3), Some(b'n' | b'r' | b't' | b'b' | b'f'))
    })
}

/// Tags that a page puts around a document.
const PAGE_TAGS: &[&str] = &["p", "pre", "code", "div", "span", "td", "li", "samp", "textarea"];

/// `<p>{"a": "x &amp; y"}</p>`: the text of a page with the quotes as they are.
// Case: syntax/entities-in-a-page
fn is_page_text(text: &str) -> bool {
    let Some(tag) = text.trim_start().strip_prefix('<') else { return false };
    let end = tag.find(|ch: char| !ch.is_ascii_alphanumeric()).unwrap_or(tag.len());
    PAGE_TAGS.contains(&&tag[..end]) && ["&amp;", "&lt;", "&gt;"].iter().any(|name| text.contains(name))
}

/// Whether only a part of `from..to` is escaped once more: quotes with and without a backslash, and other escapes that
/// mean something else at each depth.
// Case: syntax/escaped-in-part
fn has_mixed_depths(bytes: &[u8], from: usize, to: usize) -> bool {
    let (mut plain, mut escaped, mut other) = (false, false, false);
    let mut at = from;
    let mut after_pair = usize::MAX;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', &bytes[at..to]) {
        at += offset;
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                plain |= at != after_pair;
                at += 1;
            }
            (_, Some(b'"')) => {
                escaped = true;
                at += 2;
            }
            _ => {
                other = true;
                at += 2;
                after_pair = at;
            }
        }
        if at > to {
            break;
        }
        if plain && escaped && other {
            return true;
        }
    }
    false
}

/// `{"a": \"x\"}`: keys as JSON writes them, and every string value between escaped quotes.
// Case: syntax/escaped-delimiters
fn escaped_delimiters(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let Some(open) = memchr::memchr2(b'{', b'[', bytes) else { return Peeled::None };
    let mut delimits = false;
    // Escaped backslashes mean something else if all of the text is escaped once more. A single escape, or an escaped quote
    // that is text, shows that it is not.
    let (mut pairs, mut plain_depth, mut doubled) = (false, false, false);
    let mut edits = Vec::new();
    let mut at = open;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        // Up to the first of them there are only keys, brackets and scalars.
        let is_structure = |byte: &u8| {
            byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"{}[],:'_-.+".contains(byte)
        };
        if !delimits && !bytes[at..at + offset].iter().all(is_structure) {
            return Peeled::None;
        }
        at += offset;
        let opens_value = matches!(bytes[open..at].trim_ascii_end().last(), Some(b':' | b'['));
        match (bytes[at], bytes.get(at + 1)) {
            // A value between plain quotes: the escaped ones are not how this text delimits.
            (b'"', _) if opens_value => return Peeled::None,
            // Any other is that of a key, or nothing explains it.
            (b'"', _) => match strict::check_string(bytes, at) {
                Ok(end) if bytes.get(strict::skip_whitespace(bytes, end)) == Some(&b':') => at = end,
                _ => return Peeled::None,
            },
            (_, Some(b'"')) => {
                // The first escaped quote shows it, before any other text has had one.
                if !delimits && !opens_value {
                    return Peeled::None;
                }
                delimits = true;
                let next = bytes.get(strict::skip_whitespace(bytes, at + 2));
                plain_depth |= !opens_value && !matches!(next, Some(b',' | b'}' | b']' | b':') | None);
                doubled |= bytes.get(at + 2..at + 4) == Some(b"\\\"");
                edits.push(Edit::new(at..at + 1, "", RepairKind::OverEscapingRemoved));
                at += 2;
            }
            (_, Some(b'\\')) if delimits && bytes.get(at + 2..at + 4) == Some(b"\\\"") => {
                return Peeled::Refused(MIXED_DEPTHS);
            }
            (_, next) => {
                pairs |= next == Some(&b'\\');
                plain_depth |= matches!(next, Some(b'n' | b't' | b'r' | b'u' | b'b' | b'f'));
                at = (at + 2).min(bytes.len());
            }
        }
    }
    match delimits {
        true if pairs && !plain_depth => Peeled::Refused(MIXED_DEPTHS),
        // A single quote more may be text, or a delimiter written twice.
        true if edits.len() % 2 == 1 && doubled => Peeled::Refused(MIXED_DEPTHS),
        true => Peeled::Layer(Patch::new(edits)),
        false => Peeled::None,
    }
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
fn over_escaped(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let Some(at) = inside_first_bracket(text) else { return Peeled::None };
    // Either the first key's quote is escaped, or its opening quote is missing and the other one is. Beside bare keys
    // escaped quotes may be those of the values alone.
    if bytes.get(at..at + 2) != Some(b"\\\"") {
        let word = token::word_end(bytes, at);
        let colon = strict::skip_whitespace(bytes, word);
        let value = strict::skip_whitespace(bytes, colon + 1);
        let (first, second) = (bytes.get(word..word + 2), bytes.get(value..value + 2));
        let half = word > at && first == Some(b"\\\"");
        let bare = word > at && bytes.get(colon) == Some(&b':') && second == Some(b"\\\"");
        // White space that is escaped as well shows that all of the text is.
        let everywhere = bytes[..at].trim_ascii_end().ends_with(b"\\n");
        if bare && !everywhere {
            return escaped_delimiters(text);
        }
        if !half && !bare {
            return Peeled::None;
        }
    }
    let Some(open) = memchr::memchr2(b'{', b'[', bytes) else { return Peeled::None };
    let end = memchr::memrchr2(b'}', b']', bytes).map_or(bytes.len(), |close| close.max(open));
    if has_mixed_depths(bytes, open, end) || holds_drive(bytes) {
        return Peeled::Refused(MIXED_DEPTHS);
    }
    unescape_edits(text, open, text.len(), RepairKind::OverEscapingRemoved).map(Patch::new).into()
}

/// `"{\"a\": …}"`: the document inside a JSON string, properly escaped or not at all.
// Case: syntax/double-encoded
// Case: syntax/double-encoded-raw
fn string_around(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let open = strict::skip_whitespace(bytes, 0);
    if bytes.get(open) != Some(&b'"') {
        return Peeled::None;
    }
    let mut inside = strict::skip_whitespace(bytes, open + 1);
    while bytes.get(inside) == Some(&b'\\') && matches!(bytes.get(inside + 1), Some(b'n' | b'r' | b't')) {
        inside = strict::skip_whitespace(bytes, inside + 2);
    }
    if !matches!(bytes.get(inside), Some(b'{' | b'[')) {
        return quoted_prose(text, open).into();
    }
    let end = text.trim_end().len();
    let close = end.checked_sub(1).filter(|&close| close > inside && bytes[close] == b'"');
    let Some(close) = close else { return Peeled::None };
    if !matches!(bytes[..close].trim_ascii_end().last(), Some(b'}' | b']' | b'n')) {
        return Peeled::None;
    }
    let kind = RepairKind::DoubleEncodingRemoved;
    let mut edits = vec![Edit::new(open..open + 1, "", kind)];
    let escaped = strict::check_string(bytes, open) == Ok(close + 1);
    // With its quotes escaped but something else wrong, the string is still one level deep.
    let first_quote = memchr::memchr(b'"', &bytes[open + 1..close]).map(|offset| open + 1 + offset);
    let one_level = first_quote.is_some_and(|at| bytes[at - 1] == b'\\');
    if escaped || one_level {
        if !escaped && has_mixed_depths(bytes, open + 1, close) || holds_drive(bytes) {
            return Peeled::Refused(MIXED_DEPTHS);
        }
        let Some(inner) = unescape_edits(text, open + 1, close, kind) else { return Peeled::None };
        edits.extend(inner);
    }
    edits.push(Edit::new(close..close + 1, "", kind));
    Peeled::Layer(Patch::new(edits))
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
        let Some((len, with)) = escapes::json_escape_at(bytes, at, to) else {
            // Half a pair of surrogates is no character. Other letters make no escape: they are left to the reader.
            if bytes.get(at + 1) == Some(&b'u') {
                return None;
            }
            at += 1;
            continue;
        };
        edits.push(Edit::new(at..at + len, with, kind));
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

/// The entity at the start of this text: its length and what it stands for.
fn entity_at(text: &str) -> Option<(usize, Cow<'static, str>)> {
    if let Some((name, meaning)) = ENTITIES.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((name.len(), Cow::Borrowed(meaning)));
    }
    let number = text.strip_prefix("&#")?;
    let end = number.bytes().take(9).position(|byte| byte == b';')?;
    let code = match number[..end].strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number[..end].parse(),
    };
    let ch = char::from_u32(code.ok()?)?;
    Some((end + 3, Cow::Owned(ch.to_string())))
}

/// `{&quot;a&quot;: …}`: entities instead of quotes. All are decoded, once.
// Case: syntax/html-entities
// Case: syntax/html-entities-in-part
fn entities(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let Some(at) = inside_first_bracket(text) else { return Peeled::None };
    let quoted = |at: usize| ENTITIES[..6].iter().any(|(name, _)| bytes[at..].starts_with(name.as_bytes()));
    let word = token::word_end(bytes, at);
    let after_key = strict::skip_whitespace(bytes, (word + 1).min(bytes.len()));
    if !quoted(at) && !(word > at && (quoted(word) || quoted(after_key))) {
        return if is_page_text(text) { Peeled::Refused(MIXED_ENTITIES) } else { Peeled::None };
    }
    let mut edits: Vec<Edit> = Vec::new();
    // The text from the first entity on, decoded, and where the last one ended.
    let mut decoded = (String::new(), at);
    let mut from = at;
    let document = memchr::memrchr2(b'}', b']', bytes).unwrap_or(bytes.len());
    // An ampersand as it is beside one that is an entity: then the entity may be text.
    let (mut plain, mut encoded) = (false, false);
    while let Some(offset) = memchr::memchr(b'&', &bytes[from..]) {
        from += offset;
        let Some((len, meaning)) = entity_at(&text[from..]) else {
            plain |= from < document;
            from += 1;
            continue;
        };
        encoded |= meaning == "&";
        if edits.is_empty() {
            decoded.1 = from;
        }
        decoded.0.push_str(&text[decoded.1..from]);
        decoded.0.push_str(&meaning);
        if edits.len() <= MANY {
            edits.push(Edit::new(from..from + len, meaning, RepairKind::HtmlEntitiesDecoded));
        }
        from += len;
        decoded.1 = from;
    }
    if plain && encoded {
        return Peeled::Refused(MIXED_ENTITIES);
    }
    if let Some(first) = edits.first().map(|edit| edit.start).filter(|_| edits.len() > MANY) {
        edits = vec![Edit::new(first..decoded.1, decoded.0, RepairKind::HtmlEntitiesDecoded)];
    }
    Peeled::Layer(Patch::new(edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn peeled(text: &str, expected: Option<&str>) {
        let peeled = match peel_layer(text) {
            Peeled::Layer(patch) => Some(patch.apply(text)),
            _ => None,
        };
        assert_eq!(peeled.as_deref(), expected, "{text}");
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
            let Peeled::Layer(patch) = peel_layer(&text) else { panic!("{text}") };
            assert_eq!(patch.edits().len() == 1, count + 4 > MANY);
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
