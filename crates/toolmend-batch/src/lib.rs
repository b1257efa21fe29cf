//! Cleans files full of tool calls: logs and training data, as JSON lines, Parquet or Arrow.
//!
//! A run reads files in pieces, mends the calls in them on all cores and writes the pieces in order. What needs nothing
//! stays as it is, byte for byte; a call that cannot be mended stays, too, and is told in a file of rejects. A run that
//! was stopped goes on where it was, and what comes out is the same.
//!
//! [`Job`] is the front door, [`protocol`] the answers to single lines.

#![forbid(unsafe_code)]

pub mod protocol;

mod counter;
mod desk;
mod failure;
mod format;
mod input;
mod job;
mod layout;
mod manifest;
mod plan;
mod pool;
mod queue;
mod recent;
mod reject;
mod report;
mod run;
mod sink;
mod source;
mod table;
mod tally;
mod unit;
mod work;

pub use crate::{
    failure::Failure,
    format::{FORMATS, Format, Packing},
    job::{Job, Progress, Summary},
    layout::{Fields, LAYOUTS, Layout},
    tally::{Counts, OUTCOMES, Tally},
};
