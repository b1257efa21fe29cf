//! `cargo xtask bench`: measurements against targets. Each prints its tables and reports the targets that were missed.

pub(crate) mod gateway;
pub(crate) mod journal;
pub(crate) mod library;
pub(crate) mod packages;
pub(crate) mod wasm;
