//! The arguments of `toolmend batch`.

use std::path::PathBuf;

use clap::Args;

#[cfg(feature = "files")]
use super::clean_args::CleanArgs;
use crate::options::{CallsArgs, CustomDialectArgs, PolicyArgs};

/// Mend many records, or whole files of logs and training data, on all cores.
#[derive(Debug, Args)]
#[command(after_help = PROTOCOL)]
pub(crate) struct BatchArgs {
    /// Without `--out`: the file with the records; `-` is standard input. With `--out`: files, folders and patterns.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// Tools for every line that has none of its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dialects: CustomDialectArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) calls: CallsArgs,
    /// The longest line to hold in memory. A longer one gets an error record, or is copied unread.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_line_bytes: usize,
    #[command(flatten)]
    pub(crate) clean: CleanArgs,
}

/// Flags for cleaning files, which this build does not do.
#[cfg(not(feature = "files"))]
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Where to write cleaned files (not in this build).
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
}

const PROTOCOL: &str = "\
A record is one of:
  {\"id\":…, \"json\":\"<text>\", \"schema\":{…}}
  {\"id\":…, \"tool\":\"<name>\", \"arguments\":\"<text>\" or a value, \"tools\":[…] or \"schema\":{…},
   \"finish_reason\":\"…\"}
  {\"id\":…, \"text\":\"<model output>\", \"tools\":[…], \"dialect\":\"auto\" or a name, \"model\":\"…\",
   \"finish_reason\":\"…\", \"reasoning_open\":true, \"tool_choice\":…, \"response_format\":{…},
   \"parallel_tool_calls\":false}
  {\"id\":…, \"chunks\":[\"<piece>\", …], …}, which is the same in pieces
A line that is not a record is answered with {\"id\":…, \"error\":\"…\"}, and the run continues.

Layouts of files:
  records    each line is a record, and its answer replaces it
  openai     messages with tool_calls, answers with choices, items of the Responses API
  anthropic  messages with tool_use blocks
  chat       both of these, row by row
  sharegpt   conversations whose turns contain calls as text, in any dialect
  column     one column or field holds arguments; other columns are read as fields of a record
Formats: jsonl, jsonl.gz, jsonl.zst, parquet, arrow, arrows; detected from a file's first bytes.

Exit codes:
  0  every line was answered, or every file was cleaned, whatever the outcomes
  2  the input or the tools could not be read, or the usage was wrong";
