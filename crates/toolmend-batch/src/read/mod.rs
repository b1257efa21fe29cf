//! Files as a sequence of pieces.

mod arrow;
mod lines;
mod parquet;
mod piece;

pub(crate) use self::arrow::{
    FileBatches, StreamBatches, schema_of_file as arrow_schema, schema_of_stream as stream_schema,
};
pub(crate) use self::lines::{Lines, Sizes, first_row};
pub(crate) use self::parquet::{GroupRows, Groups, Parquet, rows_of};
pub(crate) use self::piece::{Cut, Mark, Piece};

use crate::failure::Failure;

/// A file that is being cut.
pub(crate) trait Source: Send {
    /// The next piece; nothing at the end.
    fn next(&mut self) -> Result<Option<Cut>, Failure>;
}
