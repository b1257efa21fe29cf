//! Pages that are generated are up to date.

use std::fs;
use std::process::Command;

#[test]
fn the_page_of_repairs_is_what_the_engine_says() {
    let output = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["repairs", "--format", "markdown"])
        .output()
        .unwrap();
    let generated = String::from_utf8(output.stdout).unwrap();
    for row in toolmend::REPAIRS {
        assert!(generated.contains(&format!("| `{}` |", row.name)), "{} is missing", row.name);
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/repairs.md");
    let page = fs::read_to_string(page).unwrap_or_default();
    assert!(page == generated, "docs/repairs.md is out of date: run `cargo xtask docs`");
}
