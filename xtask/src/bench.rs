//! `cargo xtask bench`: builds the measuring program and runs it.

use crate::step::{self, Failed, cargo};

/// Prints the tables. Only with `gate` a missed target is a failure.
pub(crate) fn run(gate: bool) -> Result<(), Failed> {
    let mut bench = cargo(&["run", "--release", "--package", "toolmend-bench", "--"]);
    step::run(if gate { bench.arg("--gate") } else { &mut bench })
}
