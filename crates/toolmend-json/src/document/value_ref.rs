//! One value of a document: what it is, where it is and what it means. Reads the text and never changes it.

use std::borrow::Cow;
use std::ops::Range;

use super::decoded::DecodedTexts;
use super::node::Node;
use crate::kind::Kind;
use crate::text::{TextBuffer, quote, unescape_to_string, unescape_tolerantly};

/// One value of a [`Document`](crate::Document).
///
/// ```
/// use toolmend_json::{Document, Kind};
///
/// let document = Document::parse(&r#"{"name": "a\u0062", "size": 12}"#).unwrap();
/// let root = document.root();
/// assert_eq!(root.kind(), Kind::Object);
/// assert_eq!(root.get_text("name").unwrap(), "ab");
/// assert_eq!(root.get("size").unwrap().span(), 28..30);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ValueRef<'d> {
    text: &'d [u8],
    nodes: &'d [Node],
    decoded: &'d DecodedTexts,
    id: usize,
}

impl<'d> ValueRef<'d> {
    pub(super) fn new(text: &'d [u8], nodes: &'d [Node], decoded: &'d DecodedTexts) -> Self {
        ValueRef { text, nodes, decoded, id: 0 }
    }

    fn node(self) -> Node {
        self.nodes[self.id]
    }

    fn slice(self, start: u32, end: u32) -> &'d str {
        std::str::from_utf8(&self.text[start as usize..end as usize]).unwrap_or_default()
    }

    /// Returns what it is.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Returns the value as it is spelled.
    pub fn raw(self) -> &'d str {
        let node = self.node();
        self.slice(node.start, node.end)
    }

    /// Returns where the value is, in bytes.
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// Returns the member's key. It is empty if the value is not a member, or if the key is not text.
    pub fn key(self) -> Cow<'d, str> {
        let node = self.node();
        unquote(self.slice(node.key.0, node.key.1), node.key_escaped).unwrap_or_default()
    }

    /// Returns the members of an object or the elements of an array.
    pub fn items(self) -> impl Iterator<Item = ValueRef<'d>> {
        let nodes = self.nodes;
        let end = nodes[self.id].after as usize;
        let mut next = self.id + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let id = next;
                next = nodes[id].after as usize;
                ValueRef { id, ..self }
            })
        })
    }

    /// Returns the member of that name. If a key occurs twice, parsers take the last one, and so does this.
    pub fn get(self, name: &str) -> Option<ValueRef<'d>> {
        if self.kind() != Kind::Object {
            return None;
        }
        self.items().filter(|item| item.is_named(name)).last()
    }

    /// Finds the members of these names in one pass.
    ///
    /// ```
    /// use toolmend_json::Document;
    ///
    /// let document = Document::parse(&r#"{"a": 1, "b": 2}"#).unwrap();
    /// let [b, c] = document.root().members(["b", "c"]);
    /// assert_eq!(b.unwrap().number(), Some(2));
    /// assert!(c.is_none());
    /// ```
    pub fn members<const N: usize>(self, names: [&str; N]) -> [Option<ValueRef<'d>>; N] {
        let mut found = [None; N];
        if self.kind() == Kind::Object {
            for item in self.items() {
                let node = item.node();
                if node.key_escaped {
                    let key = item.key();
                    for (_, member) in names.iter().zip(&mut found).filter(|(name, _)| **name == key) {
                        *member = Some(item);
                    }
                    continue;
                }
                // The key without its quotes. Names of another length are skipped without a comparison.
                let key = &self.text[node.key.0 as usize + 1..node.key.1 as usize - 1];
                for (name, member) in names.iter().zip(&mut found) {
                    if name.len() == key.len() && name.as_bytes() == key {
                        *member = Some(item);
                    }
                }
            }
        }
        found
    }

    /// Returns whether it is the member of that name. Hardly any key has an escape, so the bytes are compared.
    fn is_named(self, name: &str) -> bool {
        let node = &self.nodes[self.id];
        if node.key_escaped {
            return self.key() == name;
        }
        // Lengths differ more often than not.
        let (start, end) = (node.key.0 as usize + 1, node.key.1 as usize);
        end == start + name.len() + 1 && self.text[start..end - 1] == *name.as_bytes()
    }

    /// Returns the member of that name, unless it is null.
    pub fn get_non_null(self, name: &str) -> Option<ValueRef<'d>> {
        self.get(name).filter(|value| !value.is_null())
    }

    /// Returns the text of a string. `None` if it is not a string, or if it has a broken escape or a lone surrogate.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let node = self.node();
        (node.kind == Kind::String).then(|| unquote(self.raw(), node.escaped)).flatten()
    }

    /// Returns the text of a string, whatever its escapes are: an escape without a meaning becomes U+FFFD. `None` if it is not
    /// a string.
    ///
    /// ```
    /// use toolmend_json::Document;
    ///
    /// let document = Document::parse(&r#""a\ud83d""#).unwrap();
    /// assert_eq!(document.root().text(), None);
    /// assert_eq!(document.root().lossy_text().as_deref(), Some("a\u{fffd}"));
    /// ```
    pub fn lossy_text(self) -> Option<Cow<'d, str>> {
        self.text_or(|_, out| out.push(char::REPLACEMENT_CHARACTER))
    }

    /// Returns the text of a string in which escapes without a meaning stay as they are written. `None` if it is not a string.
    ///
    /// This is how JSON inside a string is read: half of a surrogate pair has the same meaning as an escape of the inner
    /// text, and two halves that arrive apart are a pair again once they are joined.
    ///
    /// ```
    /// use toolmend_json::Document;
    ///
    /// let document = Document::parse(&r#""{\"a\":\"\ud83d""#).unwrap();
    /// assert_eq!(document.root().text_with_escapes().as_deref(), Some(r#"{"a":"\ud83d"#));
    /// ```
    pub fn text_with_escapes(self) -> Option<Cow<'d, str>> {
        self.text_or(|escape, out| out.push_str(escape))
    }

    /// Returns the text of a string. Escapes without a meaning are written by `unreadable`.
    fn text_or(self, unreadable: fn(&str, &mut String)) -> Option<Cow<'d, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        self.text().or_else(|| {
            let literal = self.raw();
            let inner = literal.get(1..literal.len().checked_sub(1)?)?;
            Some(Cow::Owned(unescape_tolerantly(inner, unreadable)))
        })
    }

    /// Returns the text of a string as [`text`](ValueRef::text) does. If it has escapes, it is decoded into the buffer.
    pub fn text_in<'b>(self, buffer: &'b mut TextBuffer) -> Option<&'b str>
    where
        'd: 'b,
    {
        let node = self.node();
        if node.kind != Kind::String {
            return None;
        }
        let inner = self.text.get(node.start as usize + 1..(node.end as usize).checked_sub(1)?)?;
        match self.decoded.get(self.id) {
            Some(text) => simdutf8::basic::from_utf8(text).ok(),
            None if node.escaped => buffer.unescape(inner),
            None => simdutf8::basic::from_utf8(inner).ok(),
        }
    }

    /// Returns the text of the member of that name, if it is a string.
    pub fn get_text(self, name: &str) -> Option<Cow<'d, str>> {
        self.get(name)?.text()
    }

    /// Returns the text of the member of that name as [`lossy_text`](ValueRef::lossy_text) does.
    pub fn get_lossy_text(self, name: &str) -> Option<Cow<'d, str>> {
        self.get(name)?.lossy_text()
    }

    /// Returns whether it is null.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns whether it is an array.
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// Returns whether it is an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Returns whether it is `true`.
    pub fn is_true(self) -> bool {
        self.raw() == "true"
    }

    /// Returns a whole number that is not negative. `None` if it is not one, or does not fit.
    pub fn number(self) -> Option<u64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().ok()).flatten()
    }

    /// Returns the object with some members replaced, added or, if the new value is `None`, left out. Everything else keeps
    /// its spelling and its order.
    ///
    /// ```
    /// use toolmend_json::Document;
    ///
    /// let document = Document::parse(&r#"{"a": 1.50, "b": 2}"#).unwrap();
    /// let changes = [("b", None), ("c", Some("3".to_owned()))];
    /// assert_eq!(document.root().with(&changes), r#"{"a":1.50,"c":3}"#);
    /// ```
    pub fn with(self, changes: &[(&str, Option<String>)]) -> String {
        let mut out = String::with_capacity(self.raw().len() + 64);
        let mut used = vec![false; changes.len()];
        out.push('{');
        for item in self.items() {
            let key = item.key();
            let value = match changes.iter().position(|(name, _)| *name == key) {
                Some(index) if used[index] => continue,
                Some(index) => {
                    used[index] = true;
                    match &changes[index].1 {
                        Some(value) => value.as_str(),
                        None => continue,
                    }
                }
                None => item.raw(),
            };
            let (start, end) = item.node().key;
            push_member(&mut out, self.slice(start, end), value);
        }
        for ((name, value), _) in changes.iter().zip(&used).filter(|(_, used)| !**used) {
            if let Some(value) = value {
                push_member(&mut out, &quote(name), value);
            }
        }
        out.push('}');
        out
    }

    /// Returns the value as `serde_json` reads it. `None` if it would not.
    pub fn value(self) -> Option<serde_json::Value> {
        serde_json::from_str(self.raw()).ok()
    }
}

fn push_member(out: &mut String, key: &str, value: &str) {
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str(key);
    out.push(':');
    out.push_str(value);
}

/// Returns the text of a string literal. `None` if it has a broken escape or a lone surrogate.
fn unquote(literal: &str, escaped: bool) -> Option<Cow<'_, str>> {
    let inner = literal.get(1..literal.len().checked_sub(1)?)?;
    if escaped { unescape_to_string(inner.as_bytes()).map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}
