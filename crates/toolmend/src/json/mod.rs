//! JSON as it is defined: the strict pass, and a tree of spans over a text that passed it.

pub(crate) mod pointer;
pub(crate) mod strict;
pub(crate) mod text;
pub(crate) mod tree;
