//! The arguments of `toolmend fix`.

use std::path::PathBuf;

use clap::Args;

use crate::options::{FinishArgs, OutputFormat, PolicyArgs};

/// Mend JSON text from files or standard input.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct FixArgs {
    /// The files to mend; `-` or no file is standard input.
    pub(crate) files: Vec<PathBuf>,
    /// A JSON Schema that the values must match; it also helps to read broken text.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Show each repair on standard error: its kind, its location and the source.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Indent the JSON that is written. Only white space changes.
    #[arg(long, conflicts_with_all = ["check", "diff", "format", "in_place"])]
    pub(crate) pretty: bool,
    /// Write a unified diff instead of the JSON.
    #[arg(long, conflicts_with = "format")]
    pub(crate) diff: bool,
    /// Write no JSON; the exit code says whether a repair is needed.
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) check: bool,
    /// Write the mended JSON back to the files. Files that are refused stay unchanged.
    #[arg(long, requires = "files")]
    pub(crate) in_place: bool,
    /// `json` writes one line per file, with the fields of a batch answer.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) finish: FinishArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every text is valid or was mended
  1  with --check: a text needs a repair
  2  a text was refused or truncated, a file could not be read, or the usage was wrong";
