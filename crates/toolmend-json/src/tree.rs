//! Strict text as a tree of spans. Numbers and strings stay text, and members keep their order.
//!
//! Every node knows its parent and its position among its siblings, so that a repair can go from a byte to a node, from there
//! to its JSON pointer, and back. The tree never owns or changes its text.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

pub use crate::kind::Kind;
use crate::strict::{self, Fault, Scalar, Visitor};
use crate::value::{self, SERDE_DEPTH};
use crate::{pointer, text};

/// One value of a [`Tree`].
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The bytes of the value, brackets and quotes included.
    pub span: Range<usize>,
    /// The bytes of the member's key with its quotes. `None` if the value is not a member.
    pub key: Option<Range<usize>>,
    /// The array or object that it is in. `None` for the root.
    pub parent: Option<usize>,
    /// How many siblings are before it.
    pub index: usize,
    /// The index after the last node of this subtree.
    pub after: usize,
}

impl Node {
    fn start(&self) -> usize {
        self.key.as_ref().map_or(self.span.start, |key| key.start)
    }
}

/// All values of a strict text in the order of the text. The root is node 0.
///
/// Unlike a `Document` it refuses text that is not strict and links every node to its parent, because repairs go back and
/// forth between positions, nodes and pointers of one small value.
///
/// ```
/// use toolmend_json::tree::Tree;
///
/// let tree = Tree::parse(r#"{"a": [1, "x"]}"#, 128)?;
/// let id = tree.find("/a/1").unwrap();
/// assert_eq!(tree.source(id), r#""x""#);
/// assert_eq!(tree.pointer(tree.at(11, &mut 0)), "/a/1");
/// # Ok::<(), toolmend_json::strict::Fault>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tree<'t> {
    /// The text.
    pub text: &'t str,
    /// The nodes, each before its children.
    pub nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// Reads the tree of a strict text.
    ///
    /// # Errors
    ///
    /// The first [`Fault`].
    pub fn parse(text: &'t str, depth_limit: usize) -> Result<Self, Fault> {
        let mut builder = Builder::new(text);
        strict::walk_all(text, 0, depth_limit, &mut builder)?;
        Ok(Tree { text, nodes: builder.nodes })
    }

    /// Reads the tree of text that is known to be strict. Of other text it has the part before the fault.
    pub fn of_strict(text: &'t str) -> Self {
        let mut builder = Builder::new(text);
        let _ = strict::walk(text, 0, strict::MAX_DEPTH, &mut builder);
        builder.abandon_open();
        Tree { text, nodes: builder.nodes }
    }

    /// Makes a tree of nothing but the root of strict text. That is enough for text in which nothing was changed.
    pub fn root_only(text: &'t str) -> Self {
        let kind = match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            _ => return Tree::of_strict(text),
        };
        let root = Node { kind, span: 0..text.len(), key: None, parent: None, index: 0, after: 1 };
        Tree { text, nodes: vec![root] }
    }

    /// Returns where a node starts, its key included.
    pub fn start(&self, id: usize) -> usize {
        self.nodes[id].start()
    }

    /// Returns the value as it is spelled.
    pub fn source(&self, id: usize) -> &'t str {
        &self.text[self.nodes[id].span.clone()]
    }

    /// Returns the meaning of the member's key.
    pub fn key(&self, id: usize) -> Option<Cow<'t, str>> {
        self.nodes[id].key.as_ref().map(|span| text::unquote(&self.text[span.clone()]))
    }

    /// Returns whether the member's key means this name.
    fn is_named(&self, id: usize, name: &str) -> bool {
        let Some(span) = &self.nodes[id].key else { return false };
        let raw = &self.text[span.start + 1..span.end - 1];
        // An escape is longer than its meaning.
        if raw.len() == name.len() {
            raw == name && !raw.contains('\\')
        } else {
            raw.len() > name.len() && text::unquote(&self.text[span.clone()]) == name
        }
    }

    /// Returns the meaning of a string node.
    pub fn string(&self, id: usize) -> Option<Cow<'t, str>> {
        (self.nodes[id].kind == Kind::String).then(|| text::unquote(self.source(id)))
    }

    /// Returns the direct children in order.
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

    /// Returns the member of that name. If a key occurs twice, parsers take the last one, and so does this.
    pub fn member(&self, id: usize, name: &str) -> Option<usize> {
        self.children(id).filter(|&child| self.is_named(child, name)).last()
    }

    /// Returns the node that a JSON pointer names.
    pub fn find(&self, path: &str) -> Option<usize> {
        let mut id = 0;
        for token in pointer::borrowed_tokens(path) {
            id = match self.nodes.get(id)?.kind {
                Kind::Object => self.member(id, &token)?,
                Kind::Array => self.children(id).nth(token.parse().ok()?)?,
                _ => return None,
            };
        }
        (id < self.nodes.len()).then_some(id)
    }

    /// Returns the value of the text as `serde_json` reads it. `None` if it would not.
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
            // Values that end with this node go into the ones around them.
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

    /// Returns whether the text means this value. If a key occurs twice, it does not.
    ///
    /// There is no recursion: the nodes are visited in their order, next to the values that they should mean.
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

    /// Returns the JSON pointer of a node.
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

    /// Returns the deepest node that holds this byte in its value or its key, and the root for bytes outside.
    ///
    /// `cursor` is where the last search ended, because positions are mostly asked for in their order.
    pub fn at(&self, offset: usize, cursor: &mut usize) -> usize {
        let start = Node::start;
        // Nodes are in the order of their starts. The last one that starts before the byte is the deepest, or comes after it.
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

/// Makes the nodes while the text is read.
struct Builder {
    nodes: Vec<Node>,
    /// The innermost open array or object. While it is open, its `after` counts its children.
    innermost: Option<usize>,
    /// The key of the next value.
    key: Option<Range<usize>>,
}

/// The number of nodes that are allocated from the start: those of a small call, in less than the kilobyte that allocators
/// keep at hand.
const SMALL: usize = 12;

impl Builder {
    fn new(text: &str) -> Self {
        let capacity = (text.len() / 8 + 1).min(SMALL);
        Builder { nodes: Vec::with_capacity(capacity), innermost: None, key: None }
    }

    #[inline]
    fn push(&mut self, kind: Kind, span: Range<usize>, after: usize) {
        let parent = self.innermost;
        let index = match parent.and_then(|parent| self.nodes.get_mut(parent)) {
            Some(parent) => {
                parent.after += 1;
                parent.after - 1
            }
            None => 0,
        };
        self.nodes.push(Node { kind, span, key: self.key.take(), parent, index, after });
    }

    /// Leaves arrays and objects that never close without children.
    fn abandon_open(&mut self) {
        while let Some(id) = self.innermost {
            self.nodes[id].after = id + 1;
            self.innermost = self.nodes[id].parent;
        }
    }
}

impl Visitor for Builder {
    #[inline]
    fn open(&mut self, kind: Kind, at: usize) {
        let id = self.nodes.len();
        self.push(kind, at..at + 1, 0);
        self.innermost = Some(id);
    }

    #[inline]
    fn close(&mut self, end: usize) {
        let after = self.nodes.len();
        if let Some(node) = self.innermost.and_then(|id| self.nodes.get_mut(id)) {
            node.span.end = end;
            node.after = after;
            self.innermost = node.parent;
        }
    }

    #[inline]
    fn key(&mut self, key: Scalar) {
        self.key = Some(key.start..key.end);
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) {
        let after = self.nodes.len() + 1;
        self.push(scalar.kind, scalar.start..scalar.end, after);
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
            assert_eq!(Tree::of_strict(text).value().as_ref(), Some(own), "{text}");
            for value in &values {
                assert_eq!(Tree::of_strict(text).means(value), value == own, "{text} and {value}");
            }
        }
        for deep in 120..135 {
            let text = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
            assert_eq!(Tree::of_strict(&text).value(), serde_json::from_str(&text).ok(), "{deep}");
        }
        assert_eq!(Tree::of_strict("[1e999]").value(), None);
        let twice = r#"{"a": 1, "a": 2}"#;
        assert_eq!(Tree::of_strict(twice).value(), serde_json::from_str(twice).ok());
        assert!(
            !Tree::of_strict(twice).means(&serde_json::from_str(twice).unwrap()),
            "a key that occurs twice"
        );
    }

    #[test]
    fn nodes_know_their_positions() {
        let text = r#"{"a": [1, {"b/c": "x"}], "d": true}"#;
        let tree = Tree::of_strict(text);
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
