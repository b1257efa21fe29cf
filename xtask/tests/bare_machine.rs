//! `cargo xtask test` on a machine that has nothing but a Rust toolchain.

#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A part that needs nothing, and parts whose programs are looked up in `PATH`.
const PARTS: [&str; 4] = ["tidy", "clients", "page", "packages"];

/// Runs the test command with a `PATH` on which nothing is.
fn run_bare(args: &[&str], ci: &str) -> Output {
    let empty = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty-path");
    fs::create_dir_all(&empty).expect("a folder for the test");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("test").args(args).env("PATH", &empty).env("CI", ci);
    command.output().expect("xtask starts")
}

/// Returns what was printed, and whether the command succeeded.
fn read(output: &Output) -> (String, bool) {
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success())
}

#[test]
fn what_needs_nothing_runs_and_the_rest_is_listed() {
    let (printed, has_passed) = read(&run_bare(&PARTS, ""));
    assert!(has_passed, "{printed}");
    assert!(printed.contains("=== tidy"), "{printed}");
    let summary = printed.split_once("Part            Time").expect("a summary").1;
    for (part, expected) in [
        ("tidy", "0:0"),
        ("clients", "did not run"),
        ("page", "did not run"),
        ("packages", "did not run"),
        ("clients", "sudo apt-get install python3 python3-venv"),
        ("page", "Node 20 or newer with npm is missing; install `node` and `npm`"),
        ("page", "Chromium is missing; install `chromium`"),
    ] {
        let is_there = summary.lines().any(|line| line.starts_with(part) && line.contains(expected));
        assert!(is_there, "{part}: {expected}\n{printed}");
    }
}

#[test]
fn in_ci_a_part_that_cannot_run_is_a_failure() {
    let (printed, has_passed) = read(&run_bare(&PARTS, "true"));
    assert!(!has_passed, "{printed}");
    assert!(!printed.contains("=== tidy"), "it must say so before anything runs\n{printed}");
    assert!(printed.contains("CI is true, and 3 of the parts cannot run here"), "{printed}");
}

#[test]
fn the_list_names_every_part_and_what_it_lacks() {
    let (printed, has_passed) = read(&run_bare(&["--list"], ""));
    assert!(has_passed, "{printed}");
    for line in [
        "tidy         rules about the tree",
        "page         the dashboard in a browser",
        "Chromium is missing",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert!(!printed.contains("will be installed"), "{printed}");
}

#[test]
fn an_unknown_part_is_an_error_that_lists_the_parts() {
    let (printed, has_passed) = read(&run_bare(&["tests"], ""));
    assert!(!has_passed);
    assert!(
        printed.contains("`tests` is not a part of the tests; the parts are format, tidy, lints, rust"),
        "{printed}"
    );
}
