//! `cargo xtask docs`: writes the pages that are generated from the code.

use crate::command::{TaskError, capture_output, cargo_command, print_line, workspace_root};
use crate::files::{create_folder, write_file};

/// The commands that generate a page. A test of the command checks that the pages are up to date.
const TABLES: [&str; 2] = ["repairs", "dialects"];

/// Writes every page.
pub(crate) fn run() -> Result<(), TaskError> {
    TABLES.iter().try_for_each(|table| write_page(table))
}

fn write_page(table: &str) -> Result<(), TaskError> {
    let arguments = ["run", "--quiet", "--package", "toolmend-cli", "--", table, "--format", "markdown"];
    let output = capture_output(&format!("`toolmend {table}`"), &mut cargo_command(&arguments))?;
    if !output.status.success() {
        return Err(TaskError(format!("`toolmend {table}` failed ({})", output.status)));
    }
    let docs = workspace_root().join("docs");
    create_folder(&docs)?;
    write_file(&docs.join(table).with_extension("md"), output.stdout)?;
    print_line(&format!("docs/{table}.md is up to date"));
    Ok(())
}
