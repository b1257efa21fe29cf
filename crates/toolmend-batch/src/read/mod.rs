//! Reads files in pieces.
//!
//! A piece can be cleaned on its own: whole lines, part of a row group, a record batch. Where it ends depends on where it begins and on
//! nothing else, so a resumed run divides the rest of a file as the first run would have done.
//!
//! This module only divides files into pieces. It does not know what is in a row.

mod arrow;
mod lines;
mod parquet;
mod piece;

pub(crate) use self::arrow::{ArrowFileReader, ArrowStreamReader, read_file_schema, read_stream_schema};
pub(crate) use self::lines::{LineLimits, LineReader, read_first_row};
pub(crate) use self::parquet::{ParquetFile, RowGroupReader, RowGroupSlice};
pub(crate) use self::piece::{Piece, PieceContent, ReadPosition};

use crate::failure::Failure;

/// A file that is read in pieces.
pub(crate) trait PieceReader: Send {
    /// Reads the next piece. Returns `None` at the end.
    fn next_piece(&mut self) -> Result<Option<Piece>, Failure>;
}
