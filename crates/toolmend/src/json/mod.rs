//! JSON as it is defined: the strict pass, a tree of spans over a text that passed it, and the value that it means.

pub(crate) mod pointer;
pub(crate) mod strict;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod value;
