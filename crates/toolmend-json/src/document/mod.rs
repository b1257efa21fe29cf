//! JSON text with the position of every value, so that one part can be replaced while the rest keeps its bytes.
//!
//! A [`Document`] is what whoever passes JSON on works with. It keeps to the structure: what is in strings and numbers is
//! not judged ([`ScalarCheck::EndOnly`](crate::strict::ScalarCheck::EndOnly)), it never changes the text, and it never builds
//! values that no caller asks for.

mod decoded;
mod node;
mod value_ref;

use crate::strict;
use decoded::DecodedTexts;
pub use node::DocumentMemory;
use node::{Builder, Node};
pub use value_ref::ValueRef;

/// The UTF-8 byte order mark, which some writers put before JSON. [`Document::parse`] skips it.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The deepest nesting that is read. Documents with deeper nesting are not.
const DEPTH_LIMIT: usize = 512;

/// All values of a JSON text in the order of the text.
///
/// Unlike a [`Tree`](crate::tree::Tree) it is compact, reuses its memory and owns its text, because a row of a file or an HTTP
/// body has thousands of values of which only a few are looked at.
///
/// The text is whatever holds bytes and is cheap to clone: a slice, or bytes that are shared.
///
/// ```
/// use toolmend_json::Document;
///
/// let document = Document::parse(&r#"{"id": 1.50, "tags": ["a", "b"]}"#).unwrap();
/// assert_eq!(document.root().get("id").unwrap().raw(), "1.50");
/// assert_eq!(document.root().get("tags").unwrap().items().count(), 2);
/// assert!(Document::parse(&r#"{"id": }"#).is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Document<T> {
    text: T,
    nodes: Vec<Node>,
    decoded: DecodedTexts,
}

impl<T: AsRef<[u8]> + Clone> Document<T> {
    /// Reads the document. `None` if the bytes are not one JSON value, not UTF-8, nested deeper than 512 brackets, or more
    /// than 4 GiB. What is in strings and numbers is not judged.
    pub fn parse(text: &T) -> Option<Document<T>> {
        Document::parse_in(text, &mut DocumentMemory::for_length(text.as_ref().len()))
    }

    /// Reads the document into memory that is reused, once [`recycle`](Document::recycle) has given it back.
    ///
    /// ```
    /// use toolmend_json::{Document, DocumentMemory};
    ///
    /// let mut memory = DocumentMemory::default();
    /// for row in [r#"{"id": 1}"#, r#"{"id": 2}"#] {
    ///     let document = Document::parse_in(&row, &mut memory).unwrap();
    ///     assert!(document.root().get("id").is_some());
    ///     document.recycle(&mut memory);
    /// }
    /// ```
    pub fn parse_in(text: &T, memory: &mut DocumentMemory) -> Option<Document<T>> {
        let bytes = text.as_ref();
        let json = simdutf8::basic::from_utf8(bytes).ok()?;
        u32::try_from(bytes.len()).ok()?;
        let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        strict::walk_all(json, start, DEPTH_LIMIT, &mut Builder::new(bytes, memory)).ok()?;
        let (nodes, decoded) = memory.take();
        Some(Document { text: text.clone(), nodes, decoded })
    }

    /// Gives the memory back for the next document.
    pub fn recycle(self, memory: &mut DocumentMemory) {
        memory.put_back(self.nodes, self.decoded);
    }

    /// Returns the whole value.
    pub fn root(&self) -> ValueRef<'_> {
        ValueRef::new(self.text.as_ref(), &self.nodes, &self.decoded)
    }

    /// Returns the text of the document.
    pub fn source(&self) -> &T {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextBuffer;

    fn doc(text: &str) -> Option<Document<&str>> {
        Document::parse(&text)
    }

    #[test]
    fn reads_what_a_parser_reads_and_nothing_else() {
        for text in [
            "{}",
            "[]",
            r#" {"a": [1, -2.5e+3, {"b": "x\"y"}], "c": null, "d": true} "#,
            r#"["", [[]], {}]"#,
            "7",
            r#"{"a":1,}"#,
            "[1,]",
            "[,1]",
            r#"{"a" 1}"#,
            r#"{"a":1"#,
            "[}",
            "{]",
            "[1 2]",
            r#"{"a":1}}"#,
            r#""open"#,
            "nul",
            "",
            "{\"a\"}",
            "{1:2}",
            "\"\\",
        ] {
            let expected = serde_json::from_str::<serde_json::Value>(text).ok();
            assert_eq!(doc(text).is_some(), expected.is_some(), "{text}");
            if let Some(doc) = doc(text) {
                assert_eq!(doc.root().raw(), text.trim());
            }
        }
        assert!(doc(&"[".repeat(100_000)).is_none());
        let deep = format!("{}{}", "[".repeat(DEPTH_LIMIT), "]".repeat(DEPTH_LIMIT));
        assert!(doc(&deep).is_some());
    }

    #[test]
    fn members_are_found_and_changed_without_touching_the_others() {
        let doc = doc(r#"{"n": 1.50, "a\u0062": {"x": [1, 2]}, "s": "t\n", "n2": 12345678901234567890123}"#)
            .unwrap();
        let root = doc.root();
        assert_eq!(root.get("n").unwrap().raw(), "1.50");
        assert_eq!(root.get("ab").unwrap().get("x").unwrap().items().nth(1).unwrap().number(), Some(2));
        assert_eq!(root.get_text("s").unwrap(), "t\n");
        assert!(root.get("missing").is_none());
        let changed =
            root.with(&[("s", Some("2".into())), ("ab", None), ("new", Some("[]".into())), ("no", None)]);
        assert_eq!(changed, r#"{"n":1.50,"s":2,"n2":12345678901234567890123,"new":[]}"#);
        assert_eq!(doc.root().get("ab").unwrap().with(&[("x", None)]), "{}");
    }

    #[test]
    fn strings_end_where_a_parser_ends_them() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let (mut nodes, mut decoding) = (DocumentMemory::default(), DocumentMemory::decoding("call"));
        let mut buffer = TextBuffer::default();
        for round in 0..20_000_usize {
            // Some strings are all escapes, and some hardly have any.
            let parts = [
                r"\\",
                r#"\""#,
                r"\n",
                r"\u00e9",
                r"\ud83d\ude00",
                "é",
                "a",
                "{",
                "bcd",
                "a longer run of text",
            ];
            let kinds = 1 + round % parts.len();
            let mut inner = String::new();
            for _ in 0..round % 90 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                inner.push_str(parts[usize::try_from(random >> 11).unwrap() % kinds]);
            }
            let text = format!(r#"{{"k{inner}":"{inner}","next":["{inner}"]}}"#);
            let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
            let doc = Document::parse_in(&text.as_str(), &mut nodes).unwrap();
            let [first, list] =
                doc.root().members([expected.as_object().unwrap().keys().next().unwrap(), "next"]);
            assert_eq!(first.unwrap().text_in(&mut buffer), expected["next"][0].as_str(), "{text}");
            assert_eq!(list.unwrap().raw(), format!(r#"["{inner}"]"#));
            doc.recycle(&mut nodes);
            // The same if the text is decoded while the string is read, and next to others.
            let twice = format!(r#"[{{"call":"{inner}"}},{text},{{"call":"{inner}"}},{{"call":7}}]"#);
            let doc = Document::parse_in(&twice.as_str(), &mut decoding).unwrap();
            for (item, expected) in doc.root().items().zip([0, 1, 0, 2]) {
                let text = item.get("call").map(|call| call.text_in(&mut buffer).map(str::to_owned));
                let meant = serde_json::from_str::<String>(&format!("\"{inner}\"")).unwrap();
                assert_eq!(text, [Some(Some(meant)), None, Some(None)][expected]);
            }
            doc.recycle(&mut decoding);
            assert!(
                Document::parse_in(&&text.as_bytes()[..text.len() - 1 - round % 3], &mut nodes).is_none()
            );
        }
    }

    #[test]
    fn a_lone_surrogate_is_accepted_but_has_no_text() {
        let doc = doc(r#"{"a": "\ud83d", "b": "\ud83d\ude00"}"#).unwrap();
        assert_eq!(doc.root().get_text("a"), None);
        assert_eq!(doc.root().get_text("b").unwrap(), "😀");
    }
}
