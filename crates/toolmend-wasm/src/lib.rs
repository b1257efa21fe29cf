//! The library for browsers, Deno, Workers and Node: text goes in and JSON text comes out.
//!
//! The classes have the interface of those in the Node package's native module, so that the JavaScript of that package
//! (`crates/toolmend-node/js`) runs on top of either. Nothing is decided here that the library does not decide.
//!
//! Without the feature `full`, only [`Fixer`] and the table of repairs are built, and no schema can be compiled.

mod answers;
mod first_error;
mod fixer;
#[cfg(feature = "full")]
mod mender;
mod options;
#[cfg(feature = "full")]
mod preview;
#[cfg(feature = "full")]
mod stream;
mod tables;

pub use crate::first_error::find_first_error;
pub use crate::fixer::Fixer;
#[cfg(feature = "full")]
pub use crate::mender::Mender;
#[cfg(feature = "full")]
pub use crate::preview::Preview;
#[cfg(feature = "full")]
pub use crate::stream::Stream;
#[cfg(feature = "full")]
pub use crate::tables::dialect_table;
pub use crate::tables::repair_table;
