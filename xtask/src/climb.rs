//! `cargo xtask climb`: looks for inputs that take too long.

use crate::command::{TaskError, cargo_command, run_command};

/// Runs the search in `crates/toolmend/examples/climb.rs` for this time.
pub(crate) fn run(seconds: &str) -> Result<(), TaskError> {
    run_command(&mut cargo_command(&[
        "run",
        "--release",
        "--quiet",
        "-p",
        "toolmend",
        "--example",
        "climb",
        "--",
        seconds,
    ]))
}
