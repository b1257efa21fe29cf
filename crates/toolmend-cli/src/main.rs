//! The `toolmend` command. It reads arguments, calls the libraries and writes answers; it repairs nothing itself.

#![deny(unsafe_code)]

#[cfg(any(feature = "files", feature = "serve"))]
mod allocator;
mod batch;
mod call;
mod completions;
mod dialects;
mod diff;
mod error;
mod fix;
mod input;
#[cfg(feature = "serve")]
mod journal;
mod mcp;
#[cfg(not(all(feature = "files", feature = "serve", feature = "template")))]
mod missing;
mod options;
mod pretty;
mod repairs;
#[cfg(feature = "serve")]
mod run;
#[cfg(feature = "serve")]
mod serve;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

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
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArgs>),
    #[cfg(feature = "serve")]
    Run(Box<run::RunArgs>),
    #[cfg(feature = "serve")]
    Journal(journal::JournalArgs),
    /// Serve the gateway (not in this build).
    #[cfg(not(feature = "serve"))]
    Serve(missing::MissingArgs),
    /// Run a program with a gateway of its own (not in this build).
    #[cfg(not(feature = "serve"))]
    Run(missing::MissingArgs),
    /// Read the journal of the gateway (not in this build).
    #[cfg(not(feature = "serve"))]
    Journal(missing::MissingArgs),
    Mcp(mcp::McpArgs),
    Completions(completions::CompletionsArgs),
    Manpages(completions::ManpagesArgs),
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
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        #[cfg(feature = "serve")]
        Command::Run(args) => run::run(args),
        #[cfg(feature = "serve")]
        Command::Journal(args) => journal::run(args),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) | Command::Run(_) | Command::Journal(_) => {
            Err(missing::error("the gateway", "serve"))
        }
        Command::Mcp(args) => mcp::run(args),
        Command::Completions(args) => completions::write_completions(Cli::command(), args),
        Command::Manpages(args) => completions::write_pages(Cli::command(), args),
    }
}
