//! The `toolmend` command. It reads arguments, calls the libraries and writes answers; it repairs nothing itself.

#![deny(unsafe_code)]

mod allocator;
mod batch;
mod call;
mod dialects;
mod diff;
mod error;
mod fix;
mod input;
mod journal;
mod mcp;
mod options;
mod repairs;
mod run;
mod serve;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{CommandError, EXIT_FAILURE};

/// A small request is mostly allocations, about a hundred of them. The system allocator takes a sixth more time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Mend the tool calls that language models get nearly right, or refuse them with a reason.
#[derive(Debug, Parser)]
#[command(name = "toolmend", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Fix(fix::FixArgs),
    Call(call::CallArgs),
    Batch(batch::BatchArgs),
    Repairs(repairs::RepairsArgs),
    Dialects(dialects::DialectsArgs),
    Serve(Box<serve::ServeArgs>),
    Run(Box<run::RunArgs>),
    Journal(journal::JournalArgs),
    Mcp(mcp::McpArgs),
}

fn main() -> ExitCode {
    match run_command(&Cli::parse().command) {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            terminal::print_message(&error.to_string());
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

fn run_command(command: &Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Fix(args) => fix::run(args),
        Command::Call(args) => call::run(args),
        Command::Batch(args) => batch::run(args),
        Command::Repairs(args) => repairs::run(args),
        Command::Dialects(args) => dialects::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Run(args) => run::run(args),
        Command::Journal(args) => journal::run(args),
        Command::Mcp(args) => mcp::run(args),
    }
}
