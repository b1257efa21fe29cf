//! `cargo xtask docs`: pages that are generated from the code, so that they cannot be out of date.

use std::fs;

use crate::step::{Failed, cargo, root, say};

/// Writes the table of repairs. A test of the command checks that the page is up to date.
pub(crate) fn run() -> Result<(), Failed> {
    let output =
        cargo(&["run", "--quiet", "--package", "toolmend-cli", "--", "repairs", "--format", "markdown"])
            .output()
            .map_err(|error| Failed(format!("`toolmend repairs` could not be started: {error}")))?;
    if !output.status.success() {
        return Err(Failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let page = root().join("docs/repairs.md");
    fs::create_dir_all(root().join("docs"))
        .and_then(|()| fs::write(&page, output.stdout))
        .map_err(|error| Failed(format!("cannot write {}: {error}", page.display())))?;
    say("docs/repairs.md is up to date");
    Ok(())
}
