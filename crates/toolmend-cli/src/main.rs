//! The `toolmend` command.

#![deny(unsafe_code)]

mod args;
mod batch;
mod call;
mod dialects;
mod failure;
mod fix;
mod journal;
mod mcp;
mod memory;
mod repairs;
mod run;
mod serve;
mod source;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::{FAILED, Failure};

/// A small request is a hundred allocations and little else: the system's allocator takes a sixth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(code) => code,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // With nowhere left to complain to, the exit code has to do.
            let _ = writeln!(anstream::stderr(), "toolmend: {failure}");
            ExitCode::from(FAILED)
        }
    }
}

fn run(command: &Command) -> Result<ExitCode, Failure> {
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
