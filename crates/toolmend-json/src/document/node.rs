//! The nodes of a document and the visitor that makes them. Never looks into strings, apart from those to be decoded.

use super::decoded::DecodedTexts;
use crate::kind::Kind;
use crate::strict::{Scalar, ScalarCheck, Visitor};

/// One value. Positions have 32 bits: a document has many nodes and is never longer than 4 GiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Whether the value is a string with an escape.
    pub(super) escaped: bool,
    /// Whether the member's key has an escape.
    pub(super) key_escaped: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The member's key with its quotes; empty if the value is not a member.
    pub(super) key: (u32, u32),
    /// The index after the last node of this subtree. While an array or object is open, the index of the one around it.
    pub(super) after: u32,
}

/// Memory for one document after the other.
///
/// ```
/// use toolmend_json::{Document, DocumentMemory, TextBuffer};
///
/// let mut memory = DocumentMemory::decoding("arguments");
/// let row = r#"{"arguments": "{\"a\": 1}"}"#;
/// let document = Document::parse_in(&row, &mut memory).unwrap();
/// let mut buffer = TextBuffer::default();
/// assert_eq!(document.root().get("arguments").unwrap().text_in(&mut buffer), Some(r#"{"a": 1}"#));
/// document.recycle(&mut memory);
/// ```
#[derive(Debug, Default)]
pub struct DocumentMemory {
    nodes: Vec<Node>,
    /// The key of members whose strings are decoded while they are read.
    decoded_key: Option<Box<str>>,
    decoded: DecodedTexts,
}

impl DocumentMemory {
    /// Makes memory for documents whose members of this name will be read as text. Their strings are decoded while the
    /// document is read, which saves a second pass.
    pub fn decoding(key: &str) -> DocumentMemory {
        DocumentMemory { decoded_key: Some(key.into()), ..DocumentMemory::default() }
    }

    /// Makes memory that most documents of this many bytes fit in. Long ones are long because of their texts, so more memory
    /// than this would often be for nothing.
    pub(super) fn for_length(bytes: usize) -> DocumentMemory {
        let nodes = (bytes / 64).clamp(32, 1024);
        DocumentMemory { nodes: Vec::with_capacity(nodes), ..DocumentMemory::default() }
    }

    pub(super) fn take(&mut self) -> (Vec<Node>, DecodedTexts) {
        (std::mem::take(&mut self.nodes), std::mem::take(&mut self.decoded))
    }

    pub(super) fn put_back(&mut self, nodes: Vec<Node>, decoded: DecodedTexts) {
        (self.nodes, self.decoded) = (nodes, decoded);
    }
}

/// Makes the nodes of a document while it is read.
pub(super) struct Builder<'t> {
    bytes: &'t [u8],
    memory: &'t mut DocumentMemory,
    /// The key of the next value.
    key: (u32, u32),
    key_escaped: bool,
    /// The innermost open array or object.
    innermost: u32,
}

impl<'t> Builder<'t> {
    pub(super) fn new(bytes: &'t [u8], memory: &'t mut DocumentMemory) -> Self {
        memory.nodes.clear();
        memory.decoded.clear();
        Builder { bytes, memory, key: (0, 0), key_escaped: false, innermost: 0 }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no document is longer than 4 GiB")]
impl Visitor for Builder<'_> {
    const SCALAR_CHECK: ScalarCheck = ScalarCheck::EndOnly;

    #[inline]
    fn open(&mut self, kind: Kind, at: usize) {
        let id = self.memory.nodes.len() as u32;
        let (key, key_escaped) = (std::mem::take(&mut self.key), std::mem::take(&mut self.key_escaped));
        let start = at as u32;
        let after = std::mem::replace(&mut self.innermost, id);
        self.memory.nodes.push(Node { kind, escaped: false, key_escaped, start, end: start, key, after });
    }

    #[inline]
    fn close(&mut self, end: usize) {
        let after = self.memory.nodes.len() as u32;
        if let Some(node) = self.memory.nodes.get_mut(self.innermost as usize) {
            node.end = end as u32;
            self.innermost = std::mem::replace(&mut node.after, after);
        }
    }

    #[inline]
    fn key(&mut self, key: Scalar) {
        self.key = (key.start as u32, key.end as u32);
        self.key_escaped = key.escaped;
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) {
        let Scalar { kind, start, end, escaped } = scalar;
        let (key, key_escaped) = (std::mem::take(&mut self.key), std::mem::take(&mut self.key_escaped));
        let after = self.memory.nodes.len() as u32 + 1;
        let (start, end) = (start as u32, end as u32);
        self.memory.nodes.push(Node { kind, escaped, key_escaped, start, end, key, after });
    }

    /// Decodes the strings of members whose text will be asked for. A string with a broken escape is left to the reader,
    /// which only finds its end.
    #[inline]
    fn decode_string(&mut self, open: usize) -> Option<usize> {
        let name = self.memory.decoded_key.as_deref()?.as_bytes();
        let (start, end) = (self.key.0 as usize, self.key.1 as usize);
        if end != start + name.len() + 2 || self.bytes[start + 1..end - 1] != *name {
            return None;
        }
        let inner = &self.bytes[open + 1..];
        let length = self.memory.decoded.decode(self.memory.nodes.len(), inner)?;
        Some(open + 1 + length + 1)
    }
}
