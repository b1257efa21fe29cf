//! Where and why a type refused a document, as data instead of words.

use std::fmt;

use serde::de;

use crate::json::tree::Kind;

/// What a type asked for at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// The type did not get here.
    Unseen,
    /// Whatever stands here: the type decides later, from a copy.
    Anything,
    Boolean,
    Integer,
    Float,
    Text,
    /// A sequence, with its length where that is fixed.
    List(Option<usize>),
    Map,
    /// An object with these fields.
    Struct(&'static [&'static str]),
    /// One of these variants.
    Variant(&'static [&'static str]),
    /// Something that no repair is known for.
    Other,
}

impl Want {
    /// Whether a value of this kind is what was asked for.
    pub(super) fn takes(self, kind: Kind) -> bool {
        match self {
            Want::Boolean => kind == Kind::Bool,
            Want::Integer | Want::Float => kind == Kind::Number,
            Want::Text => kind == Kind::String,
            Want::List(_) => kind == Kind::Array,
            Want::Map => kind == Kind::Object,
            // Structs are also read from their fields in order.
            Want::Struct(_) => matches!(kind, Kind::Object | Kind::Array),
            Want::Unseen | Want::Anything | Want::Variant(_) | Want::Other => true,
        }
    }
}

/// Why a place was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    MissingField(&'static str),
    UnknownField(String),
    UnknownVariant(String, &'static [&'static str]),
    /// The wrong type, or a value that the type does not take.
    Unfit,
}

/// One refusal. The node is set by the innermost place that sees it pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) node: Option<usize>,
    pub(super) cause: Cause,
}

impl Fault {
    pub(super) fn new(cause: Cause) -> Self {
        Fault { node: None, cause }
    }

    pub(super) fn at(mut self, node: usize) -> Self {
        self.node.get_or_insert(node);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.cause)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Fault::new(Cause::Unfit)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Fault::new(Cause::UnknownVariant(variant.to_owned(), known))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Fault::new(Cause::UnknownField(field.to_owned()))
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::new(Cause::MissingField(field))
    }
}
