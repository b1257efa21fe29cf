//! `cargo xtask docs`: pages that are generated from the code, so that they cannot be out of date.

use std::fs;

use crate::step::{Failed, cargo, root, say};

/// The commands that have a page. A test of the command checks that the pages are up to date.
const TABLES: [&str; 2] = ["repairs", "dialects"];

/// Writes the tables of the engine.
pub(crate) fn run() -> Result<(), Failed> {
    TABLES.iter().try_for_each(|table| write(table))
}

fn write(table: &str) -> Result<(), Failed> {
    let output = cargo(&["run", "--quiet", "--package", "toolmend-cli", "--", table, "--format", "markdown"])
        .output()
        .map_err(|error| Failed(format!("`toolmend {table}` could not be started: {error}")))?;
    if !output.status.success() {
        return Err(Failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let page = root().join("docs").join(table).with_extension("md");
    fs::create_dir_all(root().join("docs"))
        .and_then(|()| fs::write(&page, output.stdout))
        .map_err(|error| Failed(format!("cannot write {}: {error}", page.display())))?;
    say(&format!("docs/{table}.md is up to date"));
    Ok(())
}
