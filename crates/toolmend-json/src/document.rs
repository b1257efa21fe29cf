//! A JSON text with the places of its values, so that a part can be replaced and all the rest stays as it came.

use std::borrow::Cow;
use std::ops::Range;

use crate::block::{self, Marks, SPAN};
use crate::escape::{TextBuffer, quoted, unescaped};
use crate::texts::Texts;

/// What some writers put before JSON; parsers step over it.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The deepest nesting that is looked into. Deeper documents pass unread.
const MOST_DEEP: usize = 512;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, as it is spelled
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Kind,
    /// Whether the value is a string with an escape in it.
    escaped: bool,
    /// The same of the member's key.
    key_escaped: bool,
    start: u32,
    end: u32,
    /// The member's key with its quotes; empty where the value is no member.
    key: (u32, u32),
    /// The index behind the last node of this subtree.
    after: u32,
}

/// All values of a document in the order of the text. The root is node 0.
///
/// The text is whatever holds bytes and is cheap to clone: a slice, or bytes that are shared.
#[derive(Debug, Clone)]
pub struct Document<T> {
    text: T,
    nodes: Vec<Node>,
    texts: Texts,
}

impl<T: AsRef<[u8]> + Clone> Document<T> {
    /// The document, if the bytes are one JSON value. What stands in strings and numbers is not judged.
    pub fn parse(text: &T) -> Option<Document<T>> {
        Document::parse_in(
            text,
            &mut DocumentMemory { list: Vec::with_capacity(32), ..DocumentMemory::default() },
        )
    }

    /// The same with memory that is used again and again, once [`recycle`](Document::recycle) has given it back.
    pub fn parse_in(text: &T, memory: &mut DocumentMemory) -> Option<Document<T>> {
        let bytes = text.as_ref();
        simdutf8::basic::from_utf8(bytes).ok()?;
        u32::try_from(bytes.len()).ok()?;
        let at = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        memory.list.clear();
        memory.open.clear();
        memory.texts.clear();
        Scanner { bytes, at, memory }.run()?;
        let (nodes, texts) = (std::mem::take(&mut memory.list), std::mem::take(&mut memory.texts));
        Some(Document { text: text.clone(), nodes, texts })
    }

    /// Gives memory back, for the next document.
    pub fn recycle(self, memory: &mut DocumentMemory) {
        memory.list = self.nodes;
        memory.texts = self.texts;
    }

    /// The whole value.
    pub fn root(&self) -> ValueRef<'_> {
        ValueRef { text: self.text.as_ref(), nodes: &self.nodes, texts: &self.texts, id: 0 }
    }

    /// The text that was read.
    pub fn source(&self) -> &T {
        &self.text
    }
}

/// One value of a document.
#[derive(Debug, Clone, Copy)]
pub struct ValueRef<'d> {
    text: &'d [u8],
    nodes: &'d [Node],
    texts: &'d Texts,
    id: usize,
}

impl<'d> ValueRef<'d> {
    fn node(self) -> Node {
        self.nodes[self.id]
    }

    fn slice(self, start: u32, end: u32) -> &'d str {
        std::str::from_utf8(&self.text[start as usize..end as usize]).unwrap_or_default()
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The bytes of the value as they were written.
    pub fn raw(self) -> &'d str {
        let node = self.node();
        self.slice(node.start, node.end)
    }

    /// Where the value stands, in bytes.
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The member's key; empty where the value is no member.
    pub fn key(self) -> Cow<'d, str> {
        let node = self.node();
        unquote(self.slice(node.key.0, node.key.1), node.key_escaped).unwrap_or_default()
    }

    /// The members of an object or the elements of an array.
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

    /// The member of that name; the last one where a key stands twice, as parsers read it.
    pub fn get(self, name: &str) -> Option<ValueRef<'d>> {
        if self.kind() != Kind::Object {
            return None;
        }
        self.items().filter(|item| item.is_named(name)).last()
    }

    /// The members of these names, found in one pass.
    pub fn members<const N: usize>(self, names: [&str; N]) -> [Option<ValueRef<'d>>; N] {
        let mut found = [None; N];
        if self.kind() == Kind::Object {
            for item in self.items() {
                let node = item.node();
                if node.key_escaped {
                    let key = item.key();
                    for (_, place) in names.iter().zip(&mut found).filter(|(name, _)| **name == key) {
                        *place = Some(item);
                    }
                    continue;
                }
                // The key without its quotes; names of another length are passed over without a look.
                let key = &self.text[node.key.0 as usize + 1..node.key.1 as usize - 1];
                for (name, place) in names.iter().zip(&mut found) {
                    if name.len() == key.len() && name.as_bytes() == key {
                        *place = Some(item);
                    }
                }
            }
        }
        found
    }

    /// Whether it is the member of that name. Hardly any key has an escape, so the bytes are compared.
    fn is_named(self, name: &str) -> bool {
        let node = &self.nodes[self.id];
        if node.key_escaped {
            return self.key() == name;
        }
        // Lengths differ more often than not.
        let (start, end) = (node.key.0 as usize + 1, node.key.1 as usize);
        end == start + name.len() + 1 && self.text[start..end - 1] == *name.as_bytes()
    }

    /// The member of that name, unless it is null.
    pub fn some(self, name: &str) -> Option<ValueRef<'d>> {
        self.get(name).filter(|view| !view.is_null())
    }

    /// The text of a string.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let node = self.node();
        (node.kind == Kind::String).then(|| unquote(self.raw(), node.escaped)).flatten()
    }

    /// The same, in a room that is used again and again where the string has escapes.
    pub fn text_in<'r>(self, room: &'r mut TextBuffer) -> Option<&'r str>
    where
        'd: 'r,
    {
        let node = self.node();
        if node.kind != Kind::String {
            return None;
        }
        let inner = self.text.get(node.start as usize + 1..(node.end as usize).checked_sub(1)?)?;
        match self.texts.of(self.id) {
            Some(text) => simdutf8::basic::from_utf8(text).ok(),
            None if node.escaped => room.unescaped(inner),
            None => simdutf8::basic::from_utf8(inner).ok(),
        }
    }

    /// The text of the member of that name, where it is a string.
    pub fn get_text(self, name: &str) -> Option<Cow<'d, str>> {
        self.get(name)?.text()
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is `true`.
    pub fn is_true(self) -> bool {
        self.raw() == "true"
    }

    /// A whole number that is not negative.
    pub fn number(self) -> Option<u64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().ok()).flatten()
    }

    /// The object with some members replaced, added or, where the new value is `None`, left out. Everything else
    /// keeps its bytes and its order.
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
                push_member(&mut out, &quoted(name), value);
            }
        }
        out.push('}');
        out
    }

    /// The value as `serde_json` has it, for code that wants one.
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

/// An array of values that are JSON already.
pub fn array<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let mut out = String::from("[");
    for value in values {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(value.as_ref());
    }
    out.push(']');
    out
}

/// A JSON string.
pub fn quote(text: &str) -> String {
    quoted(text)
}

/// The text of a JSON string. None where it holds half a surrogate pair, which is no text.
fn unquote(literal: &str, escaped: bool) -> Option<Cow<'_, str>> {
    let inner = literal.get(1..literal.len().checked_sub(1)?)?;
    if escaped { unescaped(inner.as_bytes()).map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// Memory for one document after the other.
#[derive(Debug, Default)]
pub struct DocumentMemory {
    list: Vec<Node>,
    /// Lists and objects that are not closed yet.
    open: Vec<usize>,
    /// The key of strings whose text will be asked for.
    wanted: Option<Box<str>>,
    texts: Texts,
}

impl DocumentMemory {
    /// The same, where the text of members of this name will be asked for: it is made while the string is read.
    pub fn decoding(key: &str) -> DocumentMemory {
        DocumentMemory { wanted: Some(key.into()), ..DocumentMemory::default() }
    }
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    memory: &'t mut DocumentMemory,
}

/// The key of a member: where it stands with its quotes, and whether it has an escape.
type Key = ((u32, u32), bool);

#[expect(clippy::cast_possible_truncation, reason = "`parse` takes no text over 4 GiB")]
impl Scanner<'_> {
    fn run(mut self) -> Option<()> {
        let (mut key, mut key_escaped) = Key::default();
        loop {
            self.skip_white();
            let start = self.at as u32;
            let id = self.memory.list.len();
            let (kind, escaped) = match self.wanted(key, id) {
                Some(()) => (Kind::String, true),
                None => self.value()?,
            };
            let (end, after) = (self.at as u32, id as u32 + 1);
            self.memory.list.push(Node { kind, escaped, key_escaped, start, end, key, after });
            (key, key_escaped) = Key::default();
            if matches!(kind, Kind::Array | Kind::Object) {
                if self.memory.open.len() >= MOST_DEEP {
                    return None;
                }
                self.skip_white();
                if self.bytes.get(self.at) != Some(&closer(kind)) {
                    self.memory.open.push(id);
                    if kind == Kind::Object {
                        (key, key_escaped) = self.key()?;
                    }
                    continue;
                }
                self.at += 1;
                self.memory.list[id].end = self.at as u32;
            }
            // Behind a value: another one, or the ends of those that it stands in.
            loop {
                self.skip_white();
                let Some(&id) = self.memory.open.last() else {
                    return (self.at == self.bytes.len()).then_some(());
                };
                let byte = *self.bytes.get(self.at)?;
                self.at += 1;
                let kind = self.memory.list[id].kind;
                if byte == b',' {
                    if kind == Kind::Object {
                        self.skip_white();
                        (key, key_escaped) = self.key()?;
                    }
                    break;
                }
                if byte != closer(kind) {
                    return None;
                }
                self.memory.open.pop();
                self.memory.list[id].end = self.at as u32;
                self.memory.list[id].after = self.memory.list.len() as u32;
            }
        }
    }

    /// Goes behind a key and its colon.
    fn key(&mut self) -> Option<Key> {
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            return None;
        }
        let escaped = self.string()?;
        let key = (start as u32, self.at as u32);
        self.skip_white();
        if self.bytes.get(self.at) != Some(&b':') {
            return None;
        }
        self.at += 1;
        Some((key, escaped))
    }

    /// Goes behind a string whose text will be asked for, and keeps that. None where the value is none, or means nothing.
    fn wanted(&mut self, (start, end): (u32, u32), id: usize) -> Option<()> {
        let name = self.memory.wanted.as_deref()?.as_bytes();
        let (start, end) = (start as usize, end as usize);
        if end != start + name.len() + 2 || self.bytes[start + 1..end - 1] != *name {
            return None;
        }
        let inner = self.bytes[self.at..].strip_prefix(b"\"")?;
        let length = self.memory.texts.take(id, inner)?;
        self.at += length + 2;
        Some(())
    }

    fn skip_white(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes behind a value, into it where it is a list or an object. Gives its kind and whether it has an escape.
    fn value(&mut self) -> Option<(Kind, bool)> {
        let kind = match self.bytes.get(self.at)? {
            b'{' => {
                self.at += 1;
                Some(Kind::Object)
            }
            b'[' => {
                self.at += 1;
                Some(Kind::Array)
            }
            b'"' => return self.string().map(|escaped| (Kind::String, escaped)),
            b't' => self.word(b"true", Kind::Bool),
            b'f' => self.word(b"false", Kind::Bool),
            b'n' => self.word(b"null", Kind::Null),
            b'-' | b'0'..=b'9' => {
                while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                {
                    self.at += 1;
                }
                Some(Kind::Number)
            }
            _ => None,
        };
        kind.map(|kind| (kind, false))
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Option<Kind> {
        self.bytes[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            kind
        })
    }

    /// Goes behind a string. Gives whether it has an escape.
    fn string(&mut self) -> Option<bool> {
        let mut at = self.at + 1;
        let mut escaped = false;
        // Most strings are keys and names, and shorter than a span takes to be looked at.
        if let Some(end) = self.bytes.get(at..)?.first_chunk().and_then(block::short_end) {
            self.at = at + end + 1;
            return Some(false);
        }
        loop {
            let rest = self.bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let Marks { quotes, escapes } = match rest.first_chunk() {
                Some(span) => block::marks(span),
                None => block::marks(&block::head(rest)),
            };
            if quotes != 0 {
                let end = quotes.trailing_zeros();
                self.at = at + end as usize + 1;
                return Some(escaped || escapes.trailing_zeros() < end);
            }
            escaped |= escapes != 0;
            // An escape may reach into the next span.
            at += SPAN + usize::from(escapes >> (SPAN - 1) != 0);
        }
    }
}

fn closer(kind: Kind) -> u8 {
    if kind == Kind::Object { b'}' } else { b']' }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let deep = format!("{}{}", "[".repeat(MOST_DEEP), "]".repeat(MOST_DEEP));
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
        let (mut nodes, mut wanting) = (DocumentMemory::default(), DocumentMemory::decoding("call"));
        let mut room = TextBuffer::default();
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
            assert_eq!(first.unwrap().text_in(&mut room), expected["next"][0].as_str(), "{text}");
            assert_eq!(list.unwrap().raw(), format!(r#"["{inner}"]"#));
            doc.recycle(&mut nodes);
            // The same where the text is made while the string is read, and next to others.
            let twice = format!(r#"[{{"call":"{inner}"}},{text},{{"call":"{inner}"}},{{"call":7}}]"#);
            let doc = Document::parse_in(&twice.as_str(), &mut wanting).unwrap();
            for (item, expected) in doc.root().items().zip([0, 1, 0, 2]) {
                let text = item.get("call").map(|call| call.text_in(&mut room).map(str::to_owned));
                let meant = serde_json::from_str::<String>(&format!("\"{inner}\"")).unwrap();
                assert_eq!(text, [Some(Some(meant)), None, Some(None)][expected]);
            }
            doc.recycle(&mut wanting);
            assert!(
                Document::parse_in(&&text.as_bytes()[..text.len() - 1 - round % 3], &mut nodes).is_none()
            );
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_no_text() {
        let doc = doc(r#"{"a": "\ud83d", "b": "\ud83d\ude00"}"#).unwrap();
        assert_eq!(doc.root().get_text("a"), None);
        assert_eq!(doc.root().get_text("b").unwrap(), "😀");
    }
}
