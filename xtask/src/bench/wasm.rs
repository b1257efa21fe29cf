//! `cargo xtask bench wasm`: measures the package for browsers against the native module of the Node package, in one process.

use std::process::Command;

use crate::builds::{DIST, build_toolmend};
use crate::command::{TaskError, run_command, workspace_root};
use crate::wasm;

/// Prints the table. A missed target is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let package = wasm::build_package()?;
    let binary = build_toolmend(false)?;
    let folder = wasm::install_tests(&package)?;
    let records = wasm::write_records(&folder, &binary)?;
    let mut build = Command::new("node");
    build.arg("crates/toolmend-node/build.mjs").env("TOOLMEND_PROFILE", DIST).current_dir(workspace_root());
    run_command(&mut build)?;
    let mut bench = Command::new("node");
    run_command(bench.arg("bench.mjs").arg(workspace_root()).arg(&records).current_dir(&folder))
}
