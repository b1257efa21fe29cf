//! A tree of spans over a strict text. Numbers and strings stay text; members keep their order.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::strict::{self, Fault, Visitor};
use super::value::{self, SERDE_DEPTH};
use super::{pointer, text};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// One value: its span, its key where it is a member, and where its subtree ends in the arena.
#[derive(Debug, Clone)]
pub struct Node {
    pub kind: Kind,
    /// Bytes of the value, brackets and quotes included.
    pub span: Range<usize>,
    /// Bytes of the member's key with its quotes.
    pub key: Option<Range<usize>>,
    pub parent: Option<usize>,
    /// How many siblings stand before it.
    pub index: usize,
    /// The index behind the last node of this subtree.
    pub after: usize,
}

impl Node {
    fn start(&self) -> usize {
        self.key.as_ref().map_or(self.span.start, |key| key.start)
    }
}

/// All values of a document in the order of the text. The root is node 0.
#[derive(Debug, Clone)]
pub struct Tree<'t> {
    pub text: &'t str,
    pub nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// The tree of a text, where it is strict.
    pub fn parse(text: &'t str, depth_limit: usize) -> Result<Self, Fault> {
        let mut builder = Builder::new(text);
        let end = strict::walk(text, 0, depth_limit, &mut builder)?;
        let rest = strict::skip_white(text.as_bytes(), end);
        if rest < text.len() { Err(Fault::Syntax(rest)) } else { Ok(Tree { text, nodes: builder.nodes }) }
    }

    /// The tree of a text that is known to be strict; of other text the part before its fault.
    pub fn of(text: &'t str) -> Self {
        let mut builder = Builder::new(text);
        let _ = strict::walk(text, 0, strict::MAX_DEPTH, &mut builder);
        Tree { text, nodes: builder.nodes }
    }

    /// Nothing but the root of a strict text: enough where nothing was changed in it.
    pub fn root_only(text: &'t str) -> Self {
        let kind = match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            _ => return Tree::of(text),
        };
        let root = Node { kind, span: 0..text.len(), key: None, parent: None, index: 0, after: 1 };
        Tree { text, nodes: vec![root] }
    }

    /// Where a node starts, its key included.
    pub fn start(&self, id: usize) -> usize {
        self.nodes[id].start()
    }

    /// The value's bytes.
    pub fn source(&self, id: usize) -> &'t str {
        &self.text[self.nodes[id].span.clone()]
    }

    /// The meaning of the member's key.
    pub fn key(&self, id: usize) -> Option<Cow<'t, str>> {
        self.nodes[id].key.as_ref().map(|span| text::unquote(&self.text[span.clone()]))
    }

    /// Whether the member's key means this name.
    fn is_called(&self, id: usize, name: &str) -> bool {
        let Some(span) = &self.nodes[id].key else { return false };
        let raw = &self.text[span.start + 1..span.end - 1];
        // An escape is longer than what it means.
        if raw.len() == name.len() {
            raw == name && !raw.contains('\\')
        } else {
            raw.len() > name.len() && text::unquote(&self.text[span.clone()]) == name
        }
    }

    /// The meaning of a string node.
    pub fn string(&self, id: usize) -> Option<Cow<'t, str>> {
        (self.nodes[id].kind == Kind::String).then(|| text::unquote(self.source(id)))
    }

    /// The direct children in order.
    pub fn children(&self, id: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[id].after;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.nodes[child].after;
                child
            })
        })
    }

    /// The member of that name; the last one where a key stands twice, as parsers read it.
    pub fn member(&self, id: usize, name: &str) -> Option<usize> {
        self.children(id).filter(|&child| self.is_called(child, name)).last()
    }

    /// The node that a JSON pointer names.
    pub fn find(&self, path: &str) -> Option<usize> {
        let mut id = 0;
        for token in pointer::steps(path) {
            id = match self.nodes.get(id)?.kind {
                Kind::Object => self.member(id, &token)?,
                Kind::Array => self.children(id).nth(token.parse().ok()?)?,
                _ => return None,
            };
        }
        (id < self.nodes.len()).then_some(id)
    }

    /// The value that the text means, as `serde_json` reads it; nothing where it would not.
    pub fn value(&self) -> Option<Value> {
        let mut open: Vec<(usize, Value)> = Vec::new();
        let mut done = None;
        for (id, node) in self.nodes.iter().enumerate() {
            let value = match node.kind {
                Kind::Array => Value::Array(Vec::with_capacity((node.after - id - 1).min(SMALL))),
                Kind::Object => Value::Object(serde_json::Map::new()),
                _ => value::scalar(self.source(id))?,
            };
            open.push((id, value));
            if open.len() > SERDE_DEPTH && matches!(node.kind, Kind::Array | Kind::Object) {
                return None;
            }
            // What ends with this node goes into what holds it.
            while let Some((top, value)) = open.pop_if(|(top, _)| self.nodes[*top].after == id + 1) {
                match open.last_mut() {
                    Some((_, Value::Array(elements))) => elements.push(value),
                    Some((_, Value::Object(members))) => {
                        members.insert(self.key(top)?.into_owned(), value);
                    }
                    _ => done = Some(value),
                }
            }
        }
        done
    }

    /// Whether the text means this value. No recursion: the nodes are walked in their order, beside the values that
    /// they should mean. Where a key stands twice the answer is no.
    pub fn means(&self, value: &Value) -> bool {
        let mut open: Vec<(usize, &Value)> = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|&(top, _)| id >= self.nodes[top].after) {
                open.pop();
            }
            let value = match open.last() {
                None => Some(value),
                Some((_, Value::Object(members))) => self.key(id).and_then(|key| members.get(key.as_ref())),
                Some((_, Value::Array(elements))) => elements.get(node.index),
                Some(_) => None,
            };
            let same = match (node.kind, value) {
                (Kind::Null, Some(Value::Null)) => true,
                (Kind::Bool, Some(Value::Bool(value))) => {
                    self.source(id) == if *value { "true" } else { "false" }
                }
                (Kind::Number, Some(Value::Number(value))) => {
                    value::number(self.source(id)).is_some_and(|number| number == *value)
                }
                (Kind::String, Some(Value::String(value))) => {
                    self.string(id).is_some_and(|text| text == value.as_str())
                }
                (Kind::Array, Some(whole @ Value::Array(elements))) => {
                    open.push((id, whole));
                    self.children(id).count() == elements.len()
                }
                (Kind::Object, Some(whole @ Value::Object(members))) => {
                    open.push((id, whole));
                    self.children(id).count() == members.len()
                }
                _ => false,
            };
            if !same {
                return false;
            }
        }
        !self.nodes.is_empty()
    }

    /// Appends the reference token of a node to its parent's pointer.
    pub fn push_token(&self, id: usize, pointer: &mut String) {
        match self.key(id) {
            Some(key) => pointer::push(pointer, &key),
            None => pointer::push(pointer, &self.nodes[id].index.to_string()),
        }
    }

    /// The JSON pointer of a node, made from nothing.
    pub fn pointer(&self, id: usize) -> String {
        let mut chain = vec![id];
        while let Some(parent) = self.nodes[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        let mut out = String::new();
        for pair in chain.windows(2).rev() {
            self.push_token(pair[0], &mut out);
        }
        out
    }

    /// The deepest node that holds this byte, its key included; the root for bytes outside.
    ///
    /// `cursor` is where the last search ended: places are mostly asked for in their order.
    pub fn at(&self, offset: usize, cursor: &mut usize) -> usize {
        let start = Node::start;
        // Nodes stand in the order of their starts: the last that starts before is the deepest or behind it.
        if self.nodes.get(*cursor).is_none_or(|node| start(node) > offset) {
            *cursor = self.nodes.partition_point(|node| start(node) <= offset).saturating_sub(1);
        }
        while self.nodes.get(*cursor + 1).is_some_and(|node| start(node) <= offset) {
            *cursor += 1;
        }
        let mut id = *cursor;
        while offset >= self.nodes[id].span.end {
            match self.nodes[id].parent {
                Some(parent) => id = parent,
                None => return id,
            }
        }
        id
    }
}

/// Makes the nodes while the strict pass runs.
struct Builder<'t> {
    bytes: &'t [u8],
    nodes: Vec<Node>,
    /// The open brackets: the node, and how many children it has so far.
    open: Vec<(usize, usize)>,
    key: Option<Range<usize>>,
}

/// The nodes that there is room for from the start: those of a small call, in less than the kilobyte that
/// allocators keep at hand.
const SMALL: usize = 12;

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        let room = (text.len() / 8 + 1).min(SMALL);
        Builder { bytes: text.as_bytes(), nodes: Vec::with_capacity(room), open: Vec::new(), key: None }
    }

    fn push(&mut self, kind: Kind, span: Range<usize>) -> usize {
        let id = self.nodes.len();
        let (parent, index) = match self.open.last_mut() {
            Some((parent, count)) => {
                *count += 1;
                (Some(*parent), *count - 1)
            }
            None => (None, 0),
        };
        self.nodes.push(Node { kind, span, key: self.key.take(), parent, index, after: id + 1 });
        id
    }
}

impl Visitor for Builder<'_> {
    fn open(&mut self, object: bool, at: usize) {
        let id = self.push(if object { Kind::Object } else { Kind::Array }, at..at + 1);
        self.open.push((id, 0));
    }

    fn close(&mut self, behind: usize) {
        if let Some((id, _)) = self.open.pop() {
            self.nodes[id].span.end = behind;
            self.nodes[id].after = self.nodes.len();
        }
    }

    fn key(&mut self, start: usize, end: usize) {
        self.key = Some(start..end);
    }

    fn scalar(&mut self, start: usize, end: usize) {
        let kind = match self.bytes[start] {
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        };
        self.push(kind, start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_means_what_a_parser_reads() {
        let texts = [
            r#"{"a": [1, {"b/c": "x\u00e9"}], "d": true, "e": null, "f": 1.50, "g": {}, "h": []}"#,
            r#"{"a": [1, {"b/c": "y"}], "d": false}"#,
            r"[1, 2]",
            r"[1, 2, 3]",
            r#""[1, 2]""#,
            "1",
            "1.0",
        ];
        let values: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        for (text, own) in texts.iter().zip(&values) {
            assert_eq!(Tree::of(text).value().as_ref(), Some(own), "{text}");
            for value in &values {
                assert_eq!(Tree::of(text).means(value), value == own, "{text} and {value}");
            }
        }
        for deep in 120..135 {
            let text = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
            assert_eq!(Tree::of(&text).value(), serde_json::from_str(&text).ok(), "{deep}");
        }
        assert_eq!(Tree::of("[1e999]").value(), None);
        let twice = r#"{"a": 1, "a": 2}"#;
        assert_eq!(Tree::of(twice).value(), serde_json::from_str(twice).ok());
        assert!(!Tree::of(twice).means(&serde_json::from_str(twice).unwrap()), "a key that stands twice");
    }

    #[test]
    fn nodes_know_their_places() {
        let text = r#"{"a": [1, {"b/c": "x"}], "d": true}"#;
        let tree = Tree::of(text);
        let find = |path| tree.find(path).map(|id| tree.source(id));
        assert_eq!(find(""), Some(text));
        assert_eq!(find("/a/0"), Some("1"));
        assert_eq!(find("/a/1/b~1c"), Some("\"x\""));
        assert_eq!(find("/d"), Some("true"));
        assert_eq!(find("/a/2"), None);
        for id in 0..tree.nodes.len() {
            assert_eq!(tree.find(&tree.pointer(id)), Some(id));
        }
        assert_eq!(tree.pointer(tree.at(text.find('x').unwrap(), &mut 0)), "/a/1/b~1c");
    }
}
