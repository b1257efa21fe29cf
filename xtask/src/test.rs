//! `cargo xtask test`: everything that must be green.

use crate::step::{self, Failed, cargo, works};
use crate::{clients, packages, page, postgres, tidy};

/// The measuring program brings other repairers, and with them whatever features of shared crates they turn on:
/// Cargo would turn those on for our own tests too. It is linted, so that it cannot rot, but never tested with us.
///
/// The packages for other languages are no test programs: `packages` builds and tests them.
const TESTED_TOGETHER: &[&str] = &[
    "--workspace",
    "--exclude",
    "toolmend-bench",
    "--exclude",
    "toolmend-node",
    "--exclude",
    "toolmend-python",
];

/// Runs every step, the quick ones first, and stops at the first that fails.
pub(crate) fn run() -> Result<(), Failed> {
    for component in ["fmt", "clippy"] {
        if !works(&mut cargo(&[component, "--version"])) {
            let message = format!("`cargo {component}` is missing: rustup component add rustfmt clippy");
            return Err(Failed(message));
        }
    }
    step::run(&mut cargo(&["fmt", "--all", "--check"]))?;
    tidy::run()?;
    step::run(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-features",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    // What is linted and tested has every feature; what most people build has none.
    step::run(&mut cargo(&["check", "--package", "toolmend"]))?;
    step::run(cargo(&["test", "--all-features", "--no-fail-fast"]).args(TESTED_TOGETHER))?;
    // Real clients find what no test of ours would think of.
    clients::run()?;
    // The journal on the other database, and the page in a browser.
    postgres::run()?;
    page::run()?;
    packages::run()?;
    // Frameworks turn on features of shared crates too, so their examples are a workspace of their own.
    step::run(&mut cargo(&["test", "--manifest-path", "examples/frameworks/Cargo.toml"]))?;
    let mut doc = cargo(&["doc", "--all-features", "--no-deps"]);
    step::run(doc.args(TESTED_TOGETHER).env("RUSTDOCFLAGS", "-D warnings"))
}
