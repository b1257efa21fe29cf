//! `cargo xtask matrix`: replays outputs of many model families over HTTP on every API surface.

use crate::command::{TaskError, cargo_command, run_command};

/// Prints the table of the gateway's tests for model families.
pub(crate) fn run() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&[
        "test",
        "--package",
        "toolmend-gateway",
        "--all-features",
        "--test",
        "matrix",
        "--",
        "--nocapture",
    ]))
}
