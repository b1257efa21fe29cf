//! `cargo xtask wasm`: builds the package for browsers, and tests it in Node and in a real browser.

mod package;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use self::package::build_package;
pub(crate) use self::toolchain::{install, is_installable, is_there};
use crate::builds::build_toolmend;
use crate::command::{TaskError, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, list_files};
use crate::installs::install_node_packages;
use crate::packages::link;
use crate::page::find_browser;
use crate::site;

const TESTS: &str = "crates/toolmend-wasm/tests";
const TEST_FILES: &[&str] = &["answers.test.mjs", "docs.test.mjs", "fallback.test.mjs", "package.test.mjs"];
/// What the tests need of other folders.
const SHARED: [&str; 2] = ["crates/toolmend-node/tests/answers.mjs", "docs/wasm.md"];
const NODE_SCRIPTS: &str = "crates/toolmend-node/js";
const PACKAGES: &[&str] = &["axe-core@4", "playwright-core@1", "typescript@5.9.3"];

/// Builds the package and tests it.
pub(crate) fn run() -> Result<(), TaskError> {
    let browser = find_browser()?;
    let package = build_package()?;
    let binary = build_toolmend(false)?;
    let folder = install_tests(&package)?;
    let records = write_records(&folder, &binary)?;
    let mut check = Command::new("node");
    run_command(
        check.args(["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]).current_dir(&folder),
    )?;
    let mut test = Command::new("node");
    test.arg("--test").args(TEST_FILES).current_dir(&folder);
    run_command(test.env("TOOLMEND_RECORDS", &records).env("TOOLMEND_BINARY", &binary))?;
    let site = site::build(Some(&package))?;
    let pictures = cache_folder("wasm/screenshots")?;
    let mut test = Command::new("node");
    test.arg("browser.mjs").args([&package, &records, &site, &browser, &pictures]).current_dir(&folder);
    run_command(&mut test)
}

/// Copies the tests beside the packages that they import.
pub(crate) fn install_tests(package: &Path) -> Result<PathBuf, TaskError> {
    let folder = cache_folder("wasm/tests")?;
    install_node_packages(&folder, PACKAGES)?;
    let shared = SHARED.map(|path| workspace_root().join(path));
    for file in list_files(&workspace_root().join(TESTS))?.into_iter().chain(shared) {
        let copy = folder.join(file.file_name().unwrap_or_default());
        fs::copy(&file, copy).map_err(|error| file_error("copy", &file, &error))?;
    }
    create_folder(&folder.join("node_modules/@toolmend"))?;
    let linked = folder.join("node_modules/@toolmend/wasm");
    if !linked.exists() {
        link(package, &linked)?;
    }
    copy_node_package(&folder)?;
    Ok(folder)
}

/// Copies the Node package without its native module.
fn copy_node_package(folder: &Path) -> Result<(), TaskError> {
    let (from, to) = (workspace_root().join(NODE_SCRIPTS), folder.join("node_package/js"));
    create_folder(&to)?;
    for file in list_files(&from)? {
        let copy = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, copy).map_err(|error| file_error("copy", &file, &error))?;
    }
    Ok(())
}

/// Writes the corpus and further cases as records, with the answers of the command.
pub(crate) fn write_records(folder: &Path, binary: &Path) -> Result<PathBuf, TaskError> {
    let records = folder.join("records");
    let _ = fs::remove_dir_all(&records);
    create_folder(&records)?;
    let corpus = workspace_root().join("corpus/records.py");
    run_command(Command::new("python3").arg(corpus).arg(&records).arg(binary))?;
    // Further cases are not a part of the project.
    let cases = std::env::var_os("TOOLMEND_CASES")
        .map_or_else(|| workspace_root().join("../shared/cases"), PathBuf::from);
    if cases.is_dir() {
        run_command(
            Command::new("node").arg("records.mjs").arg(cases).arg(&records).arg(binary).current_dir(folder),
        )?;
    }
    Ok(records)
}
