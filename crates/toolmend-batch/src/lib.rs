//! Cleans files full of tool calls: logs and training data, as lines of JSON, Parquet or Arrow.
//!
//! [`Job`] cleans files, and [`protocol`] answers single lines. Calls that need no repair stay the same, byte for byte. A call
//! that cannot be mended is left unchanged, and the file of rejects says why. A run that was stopped can be resumed, and the output
//! is the same as without the stop.
//!
//! # The path of a Parquet row
//!
//! 1. [`Job::run`] (`run`) finds the files and plans each one (`plan`): it reads the footer, detects the [`Layout`] from the
//!    names of the columns, and decides what the output looks like.
//! 2. The reader thread divides the file into pieces (`read/parquet`). A piece is a row group, or part of a large one. It goes
//!    through a bounded queue (`run/queue`), which limits the memory of the run.
//! 3. A worker thread takes the piece (`run/clean`). It reads the columns that the layout uses, and no others if the other
//!    columns can be copied. It gets record batches.
//! 4. `table` finds the calls of the row: in a column of arguments, in JSON text, or in columns that are the members of rows. In
//!    the last case, the row is written as JSON for the layout (`table/json_rows`, `layout`).
//! 5. `judge` mends each call with the tools of the row or of the run, and counts the verdict. A refused call becomes a line of
//!    the rejects. A mended call becomes a new string, and its column is rebuilt.
//! 6. The worker encodes the columns that have changed (`write/row_group`).
//! 7. The writer thread (`run/writer`) appends the row groups in order to a file with a temporary name, and copies the other
//!    columns from the input. The manifest (`run/manifest`) gets a line for each piece that is written.
//! 8. At the end of the file, the footers of all row groups are merged (`write/parquet_footer`), and the file gets its name.
//!
//! A line of JSON takes the same path, except that it is edited in place: its layout collects edits, and the bytes between them
//! are copied once (`write/edited_bytes`).
//!
//! # The path of a record
//!
//! [`protocol::answer_line`] parses a record, mends it under its own tools or under the [`protocol::Rules`] of the run, and
//! returns the answer. The files of a job may hold records too; then each line is replaced by its answer.

#![forbid(unsafe_code)]

pub mod protocol;

#[cfg(feature = "files")]
mod buffers;
#[cfg(feature = "files")]
mod counts;
#[cfg(feature = "files")]
mod failure;
#[cfg(feature = "files")]
mod format;
#[cfg(feature = "files")]
mod job;
#[cfg(feature = "files")]
mod judge;
#[cfg(feature = "files")]
mod layout;
#[cfg(feature = "files")]
mod plan;
#[cfg(feature = "files")]
mod read;
#[cfg(feature = "files")]
mod report;
#[cfg(feature = "files")]
mod run;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
mod write;

#[cfg(feature = "files")]
pub use crate::{
    counts::{CallCounts, OUTCOMES, ToolCounts},
    failure::Failure,
    format::{Compression, FORMATS, Format},
    job::{Job, Progress, Summary},
    layout::{Fields, LAYOUTS, Layout},
};
