//! Pieces of a file, and positions between them.

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use super::RowGroupSlice;

/// A position between two pieces, where reading can continue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadPosition {
    /// For lines, the offset in the uncompressed text. For tables, the number of pieces before.
    pub(crate) offset: u64,
    /// The number of rows before.
    pub(crate) rows: u64,
    /// Whether the position is inside a line that is too long.
    pub(crate) inside_long_line: bool,
    /// How many bytes of the file were read, for the progress.
    pub(crate) bytes_read: u64,
}

/// The contents of a piece.
#[derive(Debug)]
pub(crate) enum PieceContent {
    /// Whole lines. The last line of a file may have no line end.
    Lines(Vec<u8>),
    /// A part of a line that is too long.
    LongLine { bytes: Vec<u8>, is_first_part: bool },
    /// Rows of a row group of a Parquet file. The worker reads them itself.
    RowGroup(RowGroupSlice),
    /// Rows of an Arrow file or stream.
    Batch(RecordBatch),
}

/// A piece of a file.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) content: PieceContent,
    /// The number of rows before it in the file.
    pub(crate) rows_before: u64,
    /// An estimate of the memory that cleaning it takes, in bytes.
    pub(crate) weight: usize,
    /// The position after it.
    pub(crate) end: ReadPosition,
}
