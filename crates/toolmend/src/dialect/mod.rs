//! Model output to calls: the forms that calls are written in, and one table of the families that write them.

mod alone;
mod block;
mod channel;
mod envelope;
mod extent;
mod flowing;
mod gemma;
mod inferred;
mod judge;
mod lines;
mod literal;
mod models;
mod own;
mod partial;
mod python;
mod raw;
mod render;
mod stream;
mod table;
mod tag;
mod tagged;
mod token;
mod typed;
mod words;
mod xtml;

pub(crate) use self::alone::in_tags;
pub use self::models::dialect_of;
pub use self::own::{CustomDialects, DialectError};
pub use self::render::Written;
pub use self::stream::Stream;
pub use self::table::{Dialect, dialects};
