//! `cargo xtask bench packages`: what the packages cost, as ratios in one run.

use std::process::Command;

use crate::packages::{self, install};
use crate::step::{self, Failed, root};

/// Prints the tables. A missed target is said, and is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let installed = install("release")?;
    let mut python = Command::new(&installed.python);
    let measured = [
        step::run(python.arg("crates/toolmend-python/tests/bench.py").current_dir(root())),
        step::run(&mut packages::node(&installed, &["bench.mjs"])),
    ];
    measured.into_iter().collect()
}
