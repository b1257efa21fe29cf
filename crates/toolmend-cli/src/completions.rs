//! `toolmend completions` and `toolmend manpages`: what shells and `man` need to know about the command.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CommandError;

/// Write the completions of a shell to standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "For example: toolmend completions bash > ~/.local/share/bash-completion/completions/toolmend"
)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

/// Write the manual pages into a folder, one for each command.
#[derive(Debug, Args)]
#[command(after_help = "For example: toolmend manpages ~/.local/share/man/man1")]
pub(crate) struct ManpagesArgs {
    folder: PathBuf,
}

/// Writes the completions.
pub(crate) fn write_completions(
    mut command: Command,
    args: &CompletionsArgs,
) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolmend", &mut script);
    io::stdout().write_all(&script).map_err(CommandError::Write)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages.
pub(crate) fn write_pages(command: Command, args: &ManpagesArgs) -> Result<ExitCode, CommandError> {
    fs::create_dir_all(&args.folder).map_err(CommandError::Write)?;
    clap_mangen::generate_to(command, &args.folder).map_err(CommandError::Write)?;
    Ok(ExitCode::SUCCESS)
}
