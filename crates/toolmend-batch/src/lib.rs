//! Cleans files full of tool calls: logs and training data, as JSON lines, Parquet or Arrow.
//!
//! A run reads files in pieces, mends the calls in them on all cores and writes the pieces in order. What needs nothing
//! stays as it is, byte for byte; a call that cannot be mended stays, too, and is told in a file of rejects. A run that
//! was stopped goes on where it was, and what comes out is the same.
//!
//! [`Job`] is the front door, [`protocol`] the answers to single lines.

#![forbid(unsafe_code)]

pub mod protocol;

mod buffers;
mod counts;
mod failure;
mod format;
mod job;
mod judge;
mod layout;
mod plan;
mod read;
mod report;
mod run;
mod table;
mod write;

pub use crate::{
    counts::{Counts, OUTCOMES, Tally},
    failure::Failure,
    format::{FORMATS, Format, Packing},
    job::{Job, Progress, Summary},
    layout::{Fields, LAYOUTS, Layout},
};
