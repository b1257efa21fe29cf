//! Commands that tasks are made of.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a task did not succeed.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Cargo of the toolchain that runs this, in the root of the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    // Cargo tells what it runs about its package. Some build scripts watch these names, and would build TLS and all that stands on
    // it once more whenever a task follows a build by hand.
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Cargo of the nightly toolchain, which only rustup can find.
pub(crate) fn nightly_cargo(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(args).current_dir(root());
    // Cargo sets these for what it runs; they would lead back to its own toolchain.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Runs a step in front of everybody.
pub(crate) fn run(command: &mut Command) -> Result<(), Failed> {
    let line = shown(command);
    say(&format!("$ {line}"));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("`{line}` failed ({status})"))),
        Err(error) => Err(Failed(format!("`{line}` could not be started: {error}"))),
    }
}

/// Whether a command is there and works.
pub(crate) fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy();
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    Some(program).into_iter().chain(args).collect::<Vec<_>>().join(" ")
}

/// A line for the person who watches.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
