//! `toolmend dialects learn`: learns a dialect from the chat template of a model.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use toolmend::LearnedDialect;
use toolmend_dialect_files::{learn_template, name_of_template};

use crate::error::CommandError;

/// Learn how a model writes calls from its chat template, and print it as a TOML file for `--dialects`.
#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// A template in Jinja, a `tokenizer_config.json`, or the folder of a model.
    file: PathBuf,
    /// The name of the dialect, if no built-in one fits [default: the name of the file or its folder].
    #[arg(long)]
    name: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &LearnArgs) -> Result<ExitCode, CommandError> {
    let name = args.name.clone().unwrap_or_else(|| name_of_template(&args.file));
    let learned = learn_template(&args.file, &name).map_err(CommandError::dialects)?;
    write(&learned).map_err(CommandError::Write)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the file, with what was found out as comments.
fn write(learned: &LearnedDialect) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if learned.is_built_in() {
        writeln!(out, "# The built-in dialect {} reads what this template writes.", learned.dialect())?;
    } else {
        writeln!(out, "# Learned from a chat template.")?;
    }
    writeln!(out, "# Proved with {} probes: {}.", learned.probes().len(), learned.probes().join(", "))?;
    for note in learned.notes() {
        writeln!(out, "# {}", note.replace('\n', " "))?;
    }
    if !learned.stop().is_empty() {
        writeln!(out, "# A turn ends with {:?}.", learned.stop())?;
    }
    if learned.opens_reasoning() {
        writeln!(out, "# The prompt opens the reasoning.")?;
    }
    write!(out, "\n{}", learned.toml())?;
    out.flush()
}
