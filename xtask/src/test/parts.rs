//! The parts of `cargo xtask test`, the quick ones first.

use crate::command::{TaskError, cargo_command, run_command};
use crate::needs::{CHROMIUM, CLIPPY, CURL, LINUX, NODE, Need, POSTGRES, PYTHON, RUSTFMT, WASM};
use crate::{clients, packages, page, postgres, release, siege, site, tidy, wasm};

/// A part of the tests.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it needs besides Cargo.
    pub(super) needs: &'static [&'static Need],
    pub(super) run: fn() -> Result<(), TaskError>,
}

pub(super) const PARTS: &[Part] = &[
    Part { name: "format", about: "rustfmt has nothing to change", needs: &[&RUSTFMT], run: check_format },
    Part { name: "tidy", about: "rules about the tree that no compiler checks", needs: &[], run: tidy::run },
    Part { name: "lints", about: "clippy, with all features and with few", needs: &[&CLIPPY], run: lint },
    Part { name: "rust", about: "the tests of the crates", needs: &[], run: test_crates },
    // Real clients find what our own tests do not cover.
    Part { name: "clients", about: "real clients", needs: &[&PYTHON, &NODE], run: clients::run },
    Part { name: "siege", about: "the gateway under attack", needs: &[&LINUX], run: siege::run_short },
    Part { name: "postgres", about: "the journal on PostgreSQL", needs: &[&POSTGRES], run: postgres::run },
    Part { name: "page", about: "the dashboard in a browser", needs: &[&NODE, &CHROMIUM], run: page::run },
    Part { name: "packages", about: "Python and Node", needs: &[&PYTHON, &NODE], run: packages::run },
    Part {
        name: "wasm",
        about: "the package for browsers",
        needs: &[&PYTHON, &NODE, &CHROMIUM, &WASM],
        run: wasm::run,
    },
    Part {
        name: "crates",
        about: "every crate packs; licences and duplicates",
        needs: &[],
        run: release::check_crates,
    },
    Part {
        name: "artefacts",
        about: "what is published for Python and Node: built, checked, installed",
        needs: &[&PYTHON, &NODE],
        run: release::artefacts::check_artefacts,
    },
    Part {
        name: "deploy",
        about: "files for deployment; spelling",
        needs: &[&PYTHON, &CURL],
        run: release::check_deployment,
    },
    Part { name: "site", about: "the site builds; its links", needs: &[&PYTHON], run: site::run },
    Part { name: "frameworks", about: "examples with frameworks of Rust", needs: &[], run: test_frameworks },
    Part { name: "docs", about: "the documentation builds", needs: &[], run: build_docs },
];

/// The benchmarks depend on other repairers, which enable features of shared crates. Cargo would enable them for our tests too, so
/// the benchmarks are linted but not tested together with the rest.
///
/// The packages for Python, Node and browsers are not test programs; the tasks `packages` and `wasm` build and test them.
const TESTED_TOGETHER: &[&str] = &[
    "--workspace",
    "--exclude",
    "toolmend-bench",
    "--exclude",
    "toolmend-node",
    "--exclude",
    "toolmend-python",
    "--exclude",
    "toolmend-wasm",
];

fn check_format() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&["fmt", "--all", "--check"]))
}

fn lint() -> Result<(), TaskError> {
    let deny = ["--", "-D", "warnings"];
    let everything = ["clippy", "--workspace", "--all-features", "--all-targets"];
    run_command(cargo_command(&everything).args(deny))?;
    // Lints and tests enable every feature, but most people build with none, or with the gateway alone.
    for features in [&[][..], &["--features", "toolmend-cli/serve"]] {
        run_command(cargo_command(&["clippy", "--package", "toolmend-cli"]).args(features).args(deny))?;
    }
    let without_schemas = ["clippy", "--package", "toolmend", "--no-default-features"];
    run_command(cargo_command(&without_schemas).args(deny))
}

fn test_crates() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&["test", "--package", "toolmend-cli", "--test", "missing"]))?;
    run_command(cargo_command(&["test", "--all-features", "--no-fail-fast"]).args(TESTED_TOGETHER))
}

/// Frameworks enable features of shared crates too, so their examples are a workspace of their own.
fn test_frameworks() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&["test", "--manifest-path", "examples/frameworks/Cargo.toml"]))
}

fn build_docs() -> Result<(), TaskError> {
    let mut doc = cargo_command(&["doc", "--all-features", "--no-deps"]);
    run_command(doc.args(TESTED_TOGETHER).env("RUSTDOCFLAGS", "-D warnings"))
}

#[test]
fn contributing_lists_every_part() {
    let page = include_str!("../../../CONTRIBUTING.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| Part |")).skip(2);
    let names: Vec<_> = rows.map_while(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(names, PARTS.iter().map(|part| part.name).collect::<Vec<_>>());
}
