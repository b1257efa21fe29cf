//! `cargo xtask test`: everything that must pass before a commit.

use crate::command::{TaskError, cargo_command, run_command, succeeds};
use crate::{clients, packages, page, postgres, release, siege, tidy};

/// The benchmarks depend on other repairers, which enable features of shared crates. Cargo would enable them for our tests too, so
/// the benchmarks are linted but not tested together with the rest.
///
/// The packages for Python and Node are not test programs; the task `packages` builds and tests them.
const TESTED_TOGETHER: &[&str] = &[
    "--workspace",
    "--exclude",
    "toolmend-bench",
    "--exclude",
    "toolmend-node",
    "--exclude",
    "toolmend-python",
];

/// Runs every step, the quick ones first, and stops at the first error.
pub(crate) fn run() -> Result<(), TaskError> {
    for component in ["fmt", "clippy"] {
        if !succeeds(&mut cargo_command(&[component, "--version"])) {
            let message = format!("`cargo {component}` is missing; run: rustup component add rustfmt clippy");
            return Err(TaskError(message));
        }
    }
    run_command(&mut cargo_command(&["fmt", "--all", "--check"]))?;
    tidy::run()?;
    run_command(&mut cargo_command(&[
        "clippy",
        "--workspace",
        "--all-features",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    // Lints and tests enable every feature, but most people build with none, or with the gateway alone.
    for features in [&[][..], &["--features", "toolmend-cli/serve"]] {
        let lint = ["clippy", "--package", "toolmend-cli", "--", "-D", "warnings"];
        let (command, rest) = lint.split_at(3);
        run_command(cargo_command(command).args(features).args(rest))?;
    }
    run_command(&mut cargo_command(&["test", "--package", "toolmend-cli", "--test", "missing"]))?;
    run_command(cargo_command(&["test", "--all-features", "--no-fail-fast"]).args(TESTED_TOGETHER))?;
    // Real clients find what our own tests do not cover.
    clients::run()?;
    siege::run_short()?;
    // The journal on PostgreSQL, and the page in a browser.
    postgres::run()?;
    page::run()?;
    packages::run()?;
    release::check()?;
    // Frameworks enable features of shared crates too, so their examples are a workspace of their own.
    run_command(&mut cargo_command(&["test", "--manifest-path", "examples/frameworks/Cargo.toml"]))?;
    let mut doc = cargo_command(&["doc", "--all-features", "--no-deps"]);
    run_command(doc.args(TESTED_TOGETHER).env("RUSTDOCFLAGS", "-D warnings"))
}
