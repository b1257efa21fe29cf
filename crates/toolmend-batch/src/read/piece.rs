//! The pieces that a file is worked on in. Where one ends depends on where it began and on nothing else, so that a run
//! that goes on later cuts the rest of the file as the first would have done.

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use super::GroupRows;

/// Where reading goes on behind a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Bytes of text for lines, units for tables.
    pub(crate) at: u64,
    /// Rows before it.
    pub(crate) rows: u64,
    /// Whether it is inside a line that is too long.
    pub(crate) inside: bool,
    /// How much of the file was read, for those who watch.
    pub(crate) read: u64,
}

/// What is in a unit.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Whole lines; the last may lack its end.
    Lines(Vec<u8>),
    /// Part of a line that is too long; whether it is the first part.
    Long(Vec<u8>, bool),
    /// Rows of a row group of a Parquet file, which the worker reads itself.
    Group(GroupRows),
    /// Rows that were read.
    Batch(RecordBatch),
}

/// A piece with its place.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) piece: Piece,
    /// Rows of the file before it.
    pub(crate) rows_before: u64,
    /// How much memory it is worth.
    pub(crate) weight: usize,
    pub(crate) end: Mark,
}
