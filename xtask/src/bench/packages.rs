//! `cargo xtask bench packages`: measures the packages for Python and Node, as ratios in one run.

use std::process::Command;

use crate::builds::DIST;
use crate::command::{TaskError, run_command, workspace_root};
use crate::packages::{install_packages, node_command};

/// Prints the tables. A missed target is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let installed = install_packages(DIST)?;
    let mut python = Command::new(&installed.python);
    let measured = [
        run_command(python.arg("crates/toolmend-python/tests/bench.py").current_dir(workspace_root())),
        run_command(&mut node_command(&installed, &["bench.mjs"])),
    ];
    measured.into_iter().collect()
}
