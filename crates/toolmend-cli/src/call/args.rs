//! The arguments of `toolmend call`.

use std::path::PathBuf;

use clap::Args;
use toolmend::TurnOptions;

use crate::options::{CallsArgs, CustomDialectArgs, FinishArgs, OutputFormat, PolicyArgs};

/// Find the calls in a model's output, from a file or standard input.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CallArgs {
    /// The file with the output; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The declared tools, in the format of any supported API.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dialects: CustomDialectArgs,
    /// The dialect to try first; `toolmend dialects` lists them.
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// The id of the model; it decides how calls without markers are read.
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// The prompt has already opened the reasoning.
    #[arg(long)]
    reasoning_open: bool,
    #[command(flatten)]
    pub(crate) finish: FinishArgs,
    /// Show on standard error how each part of the output was read.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Indent the arguments of calls. Only white space changes.
    #[arg(long, conflicts_with = "format")]
    pub(crate) pretty: bool,
    /// `json` writes one line, with the fields of a batch answer.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    calls: CallsArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every call runs, or there is none
  2  a call was refused or truncated, a file could not be read, or the usage was wrong";

impl CallArgs {
    pub(crate) fn turn_options(&self) -> TurnOptions {
        let mut options = TurnOptions::new().calls(self.calls.calls);
        if self.reasoning_open {
            options = options.reasoning_open(true);
        }
        if let Some(name) = &self.dialect {
            options = options.dialect(name);
        }
        if let Some(id) = &self.model {
            options = options.model(id);
        }
        options
    }
}
