//! The kinds of JSON values. Knows nothing about text.

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number in any spelling
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}
