//! The commands that tasks run, and the error that ends a task.

use std::env;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Why a task failed.
#[derive(Debug)]
pub(crate) struct TaskError(pub(crate) String);

impl TaskError {
    /// A program could not be started.
    pub(crate) fn cannot_start(program: impl fmt::Display, error: &std::io::Error) -> Self {
        TaskError(format!("cannot start {program}: {error}"))
    }

    /// Ends a task with an error if anything was missed.
    pub(crate) fn from_missed(missed: &[String]) -> Result<(), TaskError> {
        if missed.is_empty() { Ok(()) } else { Err(TaskError(missed.join("; "))) }
    }
}

/// Returns the root of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns a command that runs Cargo of this toolchain in the root of the workspace.
pub(crate) fn cargo_command(args: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(workspace_root());
    // Cargo sets these variables for the programs that it runs. Some build scripts watch them and would rebuild TLS and everything
    // that depends on it each time a task follows a build by hand.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Returns a command that runs Cargo of the nightly toolchain, which only rustup can find.
pub(crate) fn nightly_cargo_command(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(args).current_dir(workspace_root());
    // Cargo sets these variables for the programs that it runs; they would select its own toolchain again.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Prints a command and runs it. Fails if the command does.
pub(crate) fn run_command(command: &mut Command) -> Result<(), TaskError> {
    let line = describe_command(command);
    print_line(&format!("$ {line}"));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(TaskError(format!("`{line}` failed ({status})"))),
        Err(error) => Err(TaskError::cannot_start(format!("`{line}`"), &error)),
    }
}

/// Runs a command and captures its standard output. `name` is for the error.
pub(crate) fn capture_output(name: &str, command: &mut Command) -> Result<Output, TaskError> {
    let output = command.stderr(Stdio::inherit()).output();
    output.map_err(|error| TaskError::cannot_start(name, &error))
}

/// Whether a command exists and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn describe_command(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy();
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    Some(program).into_iter().chain(args).collect::<Vec<_>>().join(" ")
}

/// Prints a line to standard error.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
