//! A tree of spans over a strict text. Numbers and strings stay text; members keep their order.

use std::borrow::Cow;
use std::ops::Range;

use super::{pointer, text};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// One value: its span, its key where it is a member, and where its subtree ends in the arena.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Bytes of the value, brackets and quotes included.
    pub(crate) span: Range<usize>,
    /// Bytes of the member's key with its quotes.
    pub(crate) key: Option<Range<usize>>,
    pub(crate) parent: Option<usize>,
    /// The index behind the last node of this subtree.
    pub(crate) after: usize,
}

/// All values of a document in the order of the text. The root is node 0.
#[derive(Debug, Clone)]
pub(crate) struct Tree<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// Builds the tree of a text that has passed the strict check; other text gives a tree without meaning,
    /// never a panic.
    pub(crate) fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        // Room for a small call, within the kilobyte that allocators keep at hand.
        let mut nodes: Vec<Node> = Vec::with_capacity((text.len() / 8).clamp(1, 14));
        let mut open: Vec<usize> = Vec::with_capacity(8);
        let mut key: Option<Range<usize>> = None;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            let kind = match byte {
                b'{' => Kind::Object,
                b'[' => Kind::Array,
                b'}' | b']' => {
                    at += 1;
                    if let Some(id) = open.pop() {
                        nodes[id].span.end = at;
                        nodes[id].after = nodes.len();
                    }
                    continue;
                }
                b'"' => {
                    at = skip_string(bytes, at);
                    let in_object = open.last().is_some_and(|&id| nodes[id].kind == Kind::Object);
                    if in_object && key.is_none() {
                        key = Some(start..at);
                        continue;
                    }
                    Kind::String
                }
                b't' | b'f' => Kind::Bool,
                b'n' => Kind::Null,
                b'-' | b'0'..=b'9' => Kind::Number,
                _ => {
                    at += 1;
                    continue;
                }
            };
            if !matches!(kind, Kind::String) {
                at += 1;
                while !matches!(kind, Kind::Object | Kind::Array)
                    && bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
                {
                    at += 1;
                }
            }
            let id = nodes.len();
            nodes.push(Node {
                kind,
                span: start..at,
                key: key.take(),
                parent: open.last().copied(),
                after: id + 1,
            });
            if matches!(kind, Kind::Object | Kind::Array) {
                open.push(id);
            }
        }
        Tree { text, nodes }
    }

    /// The value's bytes.
    pub(crate) fn source(&self, id: usize) -> &'t str {
        &self.text[self.nodes[id].span.clone()]
    }

    /// The meaning of the member's key.
    pub(crate) fn key(&self, id: usize) -> Option<Cow<'t, str>> {
        self.nodes[id].key.as_ref().map(|span| text::unquote(&self.text[span.clone()]))
    }

    /// The meaning of a string node.
    pub(crate) fn string(&self, id: usize) -> Option<Cow<'t, str>> {
        (self.nodes[id].kind == Kind::String).then(|| text::unquote(self.source(id)))
    }

    /// The direct children in order.
    pub(crate) fn children(&self, id: usize) -> impl Iterator<Item = usize> + '_ {
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
    pub(crate) fn member(&self, id: usize, name: &str) -> Option<usize> {
        self.children(id).filter(|&child| self.key(child).is_some_and(|key| key == name)).last()
    }

    /// The node that a JSON pointer names.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
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

    /// The JSON pointer of a node.
    pub(crate) fn pointer(&self, id: usize) -> String {
        let mut chain = vec![id];
        while let Some(parent) = self.nodes[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        let mut out = String::new();
        for pair in chain.windows(2).rev() {
            match self.key(pair[0]) {
                Some(key) => pointer::push(&mut out, &key),
                None => {
                    let index = self.children(pair[1]).take_while(|&child| child != pair[0]).count();
                    pointer::push(&mut out, &index.to_string());
                }
            }
        }
        out
    }

    /// The deepest node that holds this byte, its key included; the root for bytes outside.
    pub(crate) fn at(&self, offset: usize) -> usize {
        let holds = |node: &Node| {
            let start = node.key.as_ref().map_or(node.span.start, |key| key.start);
            start <= offset && offset < node.span.end
        };
        let mut id = 0;
        'down: loop {
            // Children are in order, so the search skips by binary steps over the arena.
            let mut candidate = None;
            for child in self.children(id) {
                if holds(&self.nodes[child]) {
                    candidate = Some(child);
                    break;
                }
            }
            match candidate {
                Some(child) => id = child,
                None => break 'down,
            }
        }
        id
    }
}

/// The place behind a string of a strict text, whose opening quote is at `open`.
///
/// The strict pass has checked every byte, so this one only looks for quotes and backslashes, eight bytes at a
/// time: in file content the next escape is rarely far, and wider steps would be taken back most of the time.
fn skip_string(bytes: &[u8], open: usize) -> usize {
    const LOW: u64 = u64::MAX / 0xFF;
    // Marks the high bit of the lowest byte that equals `byte`; above it the marks may be wrong.
    let first = |word: u64, byte: u8| {
        let differs = word ^ (LOW * u64::from(byte));
        differs.wrapping_sub(LOW) & !differs & (LOW << 7)
    };
    let mut at = open + 1;
    loop {
        if let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let found = first(word, b'"') | first(word, b'\\');
            if found == 0 {
                at += 8;
                continue;
            }
            at += (found.trailing_zeros() / 8) as usize;
        }
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_their_own_quote() {
        for length in 0..40 {
            for escape in ["", "\\\"", "\\\\", "\\u0022", "é"] {
                let text = format!("[\"{}{escape}{}\",1]", "a".repeat(length), "b".repeat(length % 9));
                let tree = Tree::of(&text);
                assert_eq!(tree.nodes.len(), 3, "{text}");
                assert_eq!(tree.nodes[1].span, 1..text.len() - 3, "{text}");
            }
        }
        assert_eq!(Tree::of("\"open \\").nodes.len(), 1, "no panic without an end");
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
        assert_eq!(tree.pointer(tree.at(text.find('x').unwrap())), "/a/1/b~1c");
    }
}
