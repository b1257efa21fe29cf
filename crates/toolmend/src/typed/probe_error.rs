//! Why a Rust type refused a document, as data instead of a message.

use std::fmt;

use serde::de;

use crate::shape::RefusalCause;

/// One refusal. The node is set by the innermost value that the error passes on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProbeError {
    pub(super) node: Option<usize>,
    pub(super) cause: RefusalCause,
}

impl ProbeError {
    pub(super) fn new(cause: RefusalCause) -> Self {
        ProbeError { node: None, cause }
    }

    /// Sets the node, unless a value further inside has set it already.
    pub(super) fn at(mut self, node: usize) -> Self {
        self.node.get_or_insert(node);
        self
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.cause)
    }
}

impl std::error::Error for ProbeError {}

impl de::Error for ProbeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        ProbeError::new(RefusalCause::Unfit)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        ProbeError::new(RefusalCause::UnknownVariant(variant.to_owned(), known))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        ProbeError::new(RefusalCause::UnknownField(field.to_owned()))
    }

    fn missing_field(field: &'static str) -> Self {
        ProbeError::new(RefusalCause::MissingField(field))
    }
}
