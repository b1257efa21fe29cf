//! Model output to calls: the forms that calls are written in, and one table of the families that write them.

pub(crate) mod arrow_hash;
pub(crate) mod block;
pub(crate) mod corner_brackets;
pub(crate) mod custom;
pub(crate) mod envelope;
pub(crate) mod gemma;
pub(crate) mod inferred;
pub(crate) mod input;
pub(crate) mod json_extent;
pub(crate) mod message_header;
mod models;
mod opt_in;
pub(crate) mod python;
pub(crate) mod raw_call;
mod render;
pub(crate) mod section;
pub(crate) mod table;
pub(crate) mod tag;
pub(crate) mod tagged;
pub(crate) mod token;
pub(crate) mod untyped_values;
mod value_literals;

pub use self::custom::{CustomDialects, DialectError};
pub use self::models::dialect_of;
pub use self::render::Written;
pub use self::table::{Dialect, dialects};
