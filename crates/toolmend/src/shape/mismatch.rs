//! A value that does not fit, as the rules see it, and the change that a rule proposes.
//!
//! A schema and a Rust type refuse values in different terms. What both can say about a value is a [`Mismatch`];
//! [`SchemaMismatch`] and [`TypeMismatch`] add what only one of them knows. Nothing here decides what is changed.

use std::borrow::Cow;
use std::ops::Deref;

use super::rules::OptionIndexes;
use crate::json::pointer;
use crate::json::tree::{Kind, Node, Tree};
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::schema::fault::{Fault, Wants};
use crate::schema::guide::{Guide, SchemaPosition, Types};

/// A value and what is wanted in its position, in the terms that schemas and Rust types share.
#[derive(Clone, Copy)]
pub(crate) struct Mismatch<'a> {
    pub(crate) tree: &'a Tree<'a>,
    /// The node of the value.
    pub(crate) id: usize,
    /// The types that would be right, if the type is what is wrong.
    wanted: Types,
    /// Whether a number may have a fraction.
    fraction: bool,
    /// The length of the wanted array, if it is fixed.
    length: Option<usize>,
    spelling: Spelling,
}

/// Who spelled the numbers of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// The model: the text is what it wrote.
    Written,
    /// A serialiser: the text was written from a parsed value, and the model may have spelled numbers differently.
    Parsed,
}

impl<'a> Mismatch<'a> {
    pub(crate) fn node(&self) -> &'a Node {
        &self.tree.nodes[self.id]
    }

    pub(crate) fn kind(&self) -> Kind {
        self.node().kind
    }

    /// The value's own text.
    pub(crate) fn source(&self) -> &'a str {
        self.tree.source(self.id)
    }

    /// The content of the value, if it is a string.
    pub(crate) fn string(&self) -> Option<Cow<'a, str>> {
        self.tree.string(self.id)
    }

    /// The only member or element, if there is exactly one.
    pub(crate) fn only_child(&self) -> Option<usize> {
        let mut children = self.tree.children(self.id);
        children.next().filter(|_| children.next().is_none())
    }

    /// Whether it is a container of this kind without members or elements.
    pub(crate) fn is_empty(&self, kind: Kind) -> bool {
        self.kind() == kind && self.tree.children(self.id).next().is_none()
    }

    /// Whether one of these types is wanted.
    pub(crate) fn wants(&self, types: Types) -> bool {
        self.wanted.has(types)
    }

    /// The types that would be right; none if the type is not what is wrong.
    pub(crate) fn wanted(&self) -> Types {
        self.wanted
    }

    /// Whether a number may have a fraction.
    pub(crate) fn takes_fraction(&self) -> bool {
        self.fraction
    }

    /// The length of the wanted array, if it is fixed.
    pub(crate) fn wanted_length(&self) -> Option<usize> {
        self.length
    }

    /// Whether the wanted array may have so many elements, as far as is known.
    pub(crate) fn takes_elements(&self, count: usize) -> bool {
        self.length.is_none_or(|length| length == count)
    }

    /// Whether the value is spelled as the model spelled it.
    pub(crate) fn is_as_written(&self) -> bool {
        self.spelling == Spelling::Written
    }

    /// The whole value replaced by `with`.
    pub(crate) fn replace(&self, with: impl Into<Cow<'static, str>>, kind: RepairKind) -> Change {
        Change::new(vec![Edit::new(self.node().span.clone(), with, kind)])
    }
}

/// What stays the same over all repairs of a document.
#[derive(Clone, Copy)]
pub(super) struct RepairContext<'a> {
    pub(super) schema: &'a Schema,
    pub(super) policy: &'a Policy,
    pub(super) tool: Option<&'a str>,
    pub(super) options: &'a OptionIndexes,
}

/// A value that violates the schema.
#[derive(Clone, Copy)]
pub(super) struct SchemaMismatch<'a> {
    value: Mismatch<'a>,
    pub(super) fault: &'a Fault,
    pub(super) context: RepairContext<'a>,
}

impl<'a> Deref for SchemaMismatch<'a> {
    type Target = Mismatch<'a>;

    fn deref(&self) -> &Mismatch<'a> {
        &self.value
    }
}

impl<'a> SchemaMismatch<'a> {
    pub(super) fn new(tree: &'a Tree<'a>, id: usize, fault: &'a Fault, context: RepairContext<'a>) -> Self {
        let (wanted, fraction) = match fault.wants {
            Wants::Type { types, fraction } => (types, fraction),
            _ => (Types::NONE, false),
        };
        let value = Mismatch { tree, id, wanted, fraction, length: None, spelling: Spelling::Written };
        SchemaMismatch { value, fault, context }
    }

    pub(super) fn guide(&self) -> &'a Guide {
        self.context.schema.guide()
    }

    /// The position of the value in the schema.
    pub(super) fn position(&self) -> SchemaPosition {
        let mut containers = Vec::new();
        let mut up = self.node().parent;
        while let Some(id) = up {
            containers.push(self.tree.nodes[id].kind);
            up = self.tree.nodes[id].parent;
        }
        let guide = self.guide();
        let steps = containers.iter().rev().zip(pointer::borrowed_tokens(&self.fault.path));
        steps.fold(guide.root(), |position, (kind, token)| match kind {
            Kind::Array => token.parse().map_or(SchemaPosition::ANY, |index| guide.element(position, index)),
            _ => guide.member(position, &token),
        })
    }

    /// The least number of elements that the wanted array has. Found only if the path in the schema follows no reference.
    pub(super) fn least_elements(&self) -> u64 {
        let keyword = self.fault.schema_path.rfind('/').unwrap_or(0);
        let subschema = self.context.schema.source().pointer(&self.fault.schema_path[..keyword]);
        subschema.and_then(|schema| schema.get("minItems")?.as_u64()).unwrap_or(0)
    }

    /// Whether the object in this position declares a key of exactly this name.
    pub(super) fn declares(&self, position: SchemaPosition, key: &str) -> bool {
        self.guide().properties(position).any(|(name, ..)| name == key)
    }
}

/// What a Rust type expected in one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// The type did not get here.
    Unseen,
    /// Any value: the type decides later, from a copy.
    Anything,
    Boolean,
    Integer,
    Float,
    Text,
    /// A sequence, with its length if that is fixed.
    List(Option<usize>),
    Map,
    /// An object with these fields.
    Struct(&'static [&'static str]),
    /// One of these variants.
    Variant(&'static [&'static str]),
    /// Something that no rule knows how to give.
    Other,
}

impl Expectation {
    /// Whether a value of this kind is what was expected.
    pub(crate) fn takes(self, kind: Kind) -> bool {
        match self {
            Expectation::Boolean => kind == Kind::Bool,
            Expectation::Integer | Expectation::Float => kind == Kind::Number,
            Expectation::Text => kind == Kind::String,
            Expectation::List(_) => kind == Kind::Array,
            Expectation::Map => kind == Kind::Object,
            // Structs are also read from their fields in order.
            Expectation::Struct(_) => matches!(kind, Kind::Object | Kind::Array),
            Expectation::Unseen | Expectation::Anything | Expectation::Variant(_) | Expectation::Other => {
                true
            }
        }
    }

    /// The JSON types that would be right; none if the type of the value is not what it depends on.
    fn types(self) -> Types {
        match self {
            Expectation::Boolean => Types::BOOLEAN,
            Expectation::Integer | Expectation::Float => Types::NUMBER,
            Expectation::Text => Types::STRING,
            Expectation::List(_) => Types::ARRAY,
            Expectation::Map | Expectation::Struct(_) => Types::OBJECT,
            Expectation::Unseen | Expectation::Anything | Expectation::Variant(_) | Expectation::Other => {
                Types::NONE
            }
        }
    }
}

/// Why a Rust type refused a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RefusalCause {
    MissingField(&'static str),
    UnknownField(String),
    UnknownVariant(String, &'static [&'static str]),
    /// The wrong type, or a value that the type does not take.
    Unfit,
}

/// A value that a Rust type refused.
#[derive(Clone, Copy)]
pub(crate) struct TypeMismatch<'a> {
    value: Mismatch<'a>,
    pub(super) expected: Expectation,
    pub(super) cause: &'a RefusalCause,
    /// Whether the value is a field of a struct.
    pub(super) is_field: bool,
}

impl<'a> Deref for TypeMismatch<'a> {
    type Target = Mismatch<'a>;

    fn deref(&self) -> &Mismatch<'a> {
        &self.value
    }
}

impl<'a> TypeMismatch<'a> {
    pub(crate) fn new(
        tree: &'a Tree<'a>,
        id: usize,
        expected: Expectation,
        cause: &'a RefusalCause,
        is_field: bool,
        spelling: Spelling,
    ) -> Self {
        let length = match expected {
            Expectation::List(length) => length,
            _ => None,
        };
        let (wanted, fraction) = (expected.types(), expected == Expectation::Float);
        let value = Mismatch { tree, id, wanted, fraction, length, spelling };
        TypeMismatch { value, expected, cause, is_field }
    }
}

/// What a rule proposes to do to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) edits: Vec<Edit>,
    /// Patches on what the first edit put in, as the syntax layer made them.
    pub(super) within: Vec<Patch>,
    /// Whether the value leaves its object. Then the object is what changes.
    pub(crate) drops: bool,
    /// Whether the container of the value changes as well.
    pub(super) in_parent: bool,
    /// The value that the change is about, if that is not the one at the fault.
    pub(super) node: Option<usize>,
    /// A line for the tool result.
    pub(super) note: Option<String>,
}

impl Change {
    pub(super) fn new(edits: Vec<Edit>) -> Self {
        Change { edits, within: Vec::new(), drops: false, in_parent: false, node: None, note: None }
    }
}
