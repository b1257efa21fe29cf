//! A whole document inside a literal of Python, JavaScript or a shell: `'{"a": "x\\n"}'`, `b'{"a": 1}'`.
//!
//! Between apostrophes the document is either escaped once more, as Python and JavaScript print it, or it is there as it is,
//! as in a shell. Each hypothesis reads all of it. The one under which it is strict JSON wins; if that is both, and they
//! differ, the text is refused.

use super::escapes;
use super::prefixed::prefix_len;
use crate::json::strict;
use crate::json::text::compact_json;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::syntax::encoding::Peeled;

/// What is said of a document that is strict JSON with and without its escapes.
const TWO_DEPTHS: &str = "the document is in a string, and can be read with one level of escapes or with two";
/// What is said of a document with an apostrophe that is written in a way that not all of them are.
const APOSTROPHES: &str =
    "the document is between apostrophes, and it is not clear which apostrophes are text";
const PARTLY_READ: &str = "the document is in a string with escapes that are not read";

/// Takes a document out of the literal around it, unless that literal is one of JSON.
// Case: syntax/document-in-python-string
// Case: syntax/document-in-bytes
// Case: syntax/document-at-two-depths
pub(in crate::syntax) fn literal_around(text: &str) -> Peeled {
    let bytes = text.as_bytes();
    let start = strict::skip_whitespace(bytes, 0);
    let prefix = prefix_len(bytes, start);
    let open = start + prefix;
    let Some(&quote @ (b'\'' | b'"' | b'`')) = bytes.get(open) else { return Peeled::None };
    let triple = quote != b'`' && bytes[open..].starts_with(&[quote; 3]);
    // A plain pair of quotes is a JSON string first.
    if quote == b'"' && prefix == 0 && !triple {
        return Peeled::None;
    }
    let len = if triple { 3 } else { 1 };
    let end = text.trim_end().len();
    let Some(close) = end.checked_sub(len).filter(|&close| close >= open + len) else { return Peeled::None };
    if !bytes[close..end].iter().all(|byte| *byte == quote) || !holds_document(text, open + len, close) {
        return Peeled::None;
    }
    let has = |letter: u8| bytes[start..open].iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    if has(b'f') {
        return Peeled::Refused(PARTLY_READ);
    }
    let kind = RepairKind::DoubleEncodingRemoved;
    let patch = |inner: Vec<Edit>| {
        let mut edits = vec![Edit::new(start..open + len, "", kind)];
        edits.extend(inner);
        edits.push(Edit::new(close..end, "", kind));
        Patch::new(edits)
    };
    if quote == b'\'' && !triple && prefix == 0 {
        match shell_apostrophes(text, open + len..close) {
            Apostrophes::None => {}
            Apostrophes::Shell(inner) => return Peeled::Layer(patch(inner)),
            Apostrophes::Unclear => return Peeled::Refused(APOSTROPHES),
        }
    }
    let escaped = memchr::memchr(b'\\', &bytes[open + len..close]).is_some();
    if !escaped || has(b'r') {
        return Peeled::Layer(patch(Vec::new()));
    }
    let decoded = escapes::decode_edits(text, open + len..close, has(b'b'), false, kind).map(&patch);
    if prefix > 0 {
        return decoded.map_or(Peeled::Refused(PARTLY_READ), Peeled::Layer);
    }
    choose_depth(text, patch(Vec::new()), decoded)
}

/// How the apostrophes of a document between apostrophes are written.
enum Apostrophes {
    /// As Python writes them, or none.
    None,
    /// All as a shell needs them, and the edits that undo it.
    Shell(Vec<Edit>),
    /// Some of them as a shell needs them, or all of them twice as in SQL.
    Unclear,
}

/// `'it'\''s'` in a shell, `'it''s'` in SQL.
// Case: syntax/document-in-shell-quotes
// Case: syntax/document-in-sql-quotes
fn shell_apostrophes(text: &str, inner: std::ops::Range<usize>) -> Apostrophes {
    const IDIOM: &[u8] = b"'\\''";
    let bytes = text.as_bytes();
    let mut edits = Vec::new();
    let (mut plain, mut doubled) = (false, false);
    let mut at = inner.start;
    while let Some(offset) = memchr::memchr(b'\'', &bytes[at..inner.end]) {
        at += offset;
        if bytes[at..inner.end].starts_with(IDIOM) {
            edits.push(Edit::new(at..at + IDIOM.len(), "'", RepairKind::DoubleEncodingRemoved));
            at += IDIOM.len();
        } else if bytes[at..inner.end].starts_with(b"''") {
            doubled = true;
            at += 2;
        } else {
            plain = true;
            at += 1;
        }
    }
    match (edits.is_empty(), plain, doubled) {
        (true, true, _) | (true, _, false) => Apostrophes::None,
        (false, false, false) => Apostrophes::Shell(edits),
        _ => Apostrophes::Unclear,
    }
}

/// Whether what is between the quotes starts and ends like a document.
fn holds_document(text: &str, from: usize, to: usize) -> bool {
    let inner = &text[from..to];
    let blank = |inner: &str| inner.trim_matches([' ', '\n', '\r', '\t']).len();
    let mut head = inner;
    let mut tail = inner;
    loop {
        let (before, after) = (head.len(), tail.len());
        for escape in ["\\n", "\\t", "\\r"] {
            head = head.trim_start().trim_start_matches(escape);
            tail = tail.trim_end().trim_end_matches(escape);
        }
        if (head.len(), tail.len()) == (before, after) {
            break;
        }
    }
    blank(inner) > 1 && head.starts_with(['{', '[']) && tail.ends_with(['}', ']'])
}

/// Chooses between the document as it is and the document with one level of escapes removed.
fn choose_depth(text: &str, plain: Patch, decoded: Option<Patch>) -> Peeled {
    let Some(decoded) = decoded else { return Peeled::Layer(plain) };
    let is_strict = |document: &str| strict::check(document, strict::MAX_DEPTH).is_ok();
    let (as_it_is, unescaped) = (plain.apply(text), decoded.apply(text));
    match (is_strict(&as_it_is), is_strict(&unescaped)) {
        (true, false) => Peeled::Layer(plain),
        (false, true) => Peeled::Layer(decoded),
        (true, true) if compact_json(&as_it_is) == compact_json(&unescaped) => Peeled::Layer(plain),
        // Neither: what only an escaped document has decides, then what only a plain one has.
        (false, false) if ["\\'", "\\\\\"", "{\\n", "[\\n"].iter().any(|sign| as_it_is.contains(sign)) => {
            Peeled::Layer(decoded)
        }
        (false, false) if as_it_is.contains("\\\"") => Peeled::Layer(plain),
        _ => Peeled::Refused(TWO_DEPTHS),
    }
}
