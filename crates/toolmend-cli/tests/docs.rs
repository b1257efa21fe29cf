//! Generated pages are up to date, and the commands of the README work.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Generates the page of a table and compares it with the file.
#[track_caller]
fn check_page(table: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_toolmend")).args([table, "--format", "markdown"]).output().unwrap();
    let generated = String::from_utf8(output.stdout).unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(table).with_extension("md");
    let page = fs::read_to_string(page).unwrap_or_default();
    assert!(page == generated, "docs/{table}.md is out of date: run `cargo xtask docs`");
    generated
}

#[test]
fn the_page_of_repairs_is_up_to_date() {
    let page = check_page("repairs");
    for row in toolmend::REPAIRS {
        assert!(page.contains(&format!("| `{}`", row.name)), "{} is missing", row.name);
    }
}

#[test]
fn the_page_of_dialects_is_up_to_date() {
    let page = check_page("dialects");
    for dialect in toolmend::dialects() {
        assert!(page.contains(&format!("\n## {}\n", dialect.name())), "{} is missing", dialect.name());
    }
}

/// Every command of the README does what the README shows.
#[cfg(unix)]
#[test]
fn the_commands_of_the_readme_work() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let blocks: Vec<_> =
        readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 2, "the commands were not found");
    for block in blocks {
        let (command, expected) = block.strip_prefix("$ ").and_then(|block| block.split_once('\n')).unwrap();
        let command = command.replace("cargo run --release --", env!("CARGO_BIN_EXE_toolmend"));
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(matches(&found, expected), "{command}\n   shows: {found}\nexpected: {expected}");
    }
}

/// Whether the text is as expected; `[..]` matches anything.
fn matches(mut found: &str, expected: &str) -> bool {
    let mut parts = expected.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(rest) = found.strip_prefix(first) else { return false };
    found = rest;
    let mut open = false;
    for part in parts {
        let Some(at) = found.find(part) else { return false };
        found = &found[at + part.len()..];
        open = part.is_empty();
    }
    found.is_empty() || open
}
