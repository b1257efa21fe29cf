//! `cargo xtask packages`: builds the Python and Node packages from the tree and tests them with real frameworks.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::builds::{DIST, build_toolmend};
use crate::command::{TaskError, run_command, workspace_root};
use crate::files::{cache_folder, file_error, list_files, read_file};
use crate::installs::{InstalledList, install_python_packages};

const PYTHON_TESTS: &str = "crates/toolmend-python/tests";
const NODE_TESTS: &str = "crates/toolmend-node/tests";

/// Both packages, installed together with everything that their tests need.
#[derive(Debug)]
pub(crate) struct InstalledPackages {
    pub(crate) python: PathBuf,
    /// The folder with the scripts for Node and their packages.
    pub(crate) node: PathBuf,
    /// The command, for comparison.
    pub(crate) binary: PathBuf,
}

/// Builds, installs and tests both packages.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("packages")?;
    let installed = install_packages("dev")?;
    let corpus = cache_folder("packages/corpus")?;
    let mut records = Command::new(&installed.python);
    run_command(records.arg(workspace_root().join("corpus/records.py")).arg(&corpus).arg(&installed.binary))?;

    let python = |args: &[&str]| {
        let mut command = Command::new(&installed.python);
        command.args(args).current_dir(workspace_root());
        command.env("TOOLMEND_PACKAGES", &folder).env("TOOLMEND_CORPUS", &corpus);
        command
    };
    run_command(&mut python(&[
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        PYTHON_TESTS,
    ]))?;
    run_command(&mut python(&[
        "-m",
        "mypy",
        "--cache-dir",
        "target/packages/mypy",
        "crates/toolmend-python/python/toolmend/__init__.py",
        "crates/toolmend-python/python/toolmend/__main__.py",
        "crates/toolmend-python/python/toolmend/_json_repair_cli.py",
        "crates/toolmend-python/python/toolmend/json_repair.py",
        "crates/toolmend-python/tests/test_loads.py",
        "crates/toolmend-python/tests/test_mender.py",
        "crates/toolmend-python/tests/test_preview.py",
        "crates/toolmend-python/tests/test_typed.py",
    ]))?;

    let mut compile =
        node_command(&installed, &["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]);
    run_command(&mut compile)?;
    let mut test = node_command(&installed, &["--test"]);
    for file in list_files(&installed.node)? {
        if file.extension() == Some(OsStr::new("mjs")) && file.to_string_lossy().ends_with(".test.mjs") {
            test.arg(file.file_name().unwrap_or_default());
        }
    }
    run_command(test.env("TOOLMEND_CORPUS", &corpus).env("TOOLMEND_BINARY", &installed.binary))
}

/// Returns a command that runs Node in the folder with the packages.
pub(crate) fn node_command(installed: &InstalledPackages, args: &[&str]) -> Command {
    let mut command = Command::new("node");
    command.args(args).current_dir(&installed.node);
    command
}

/// Builds both packages in this profile and installs them. Downloads are kept between runs.
pub(crate) fn install_packages(profile: &str) -> Result<InstalledPackages, TaskError> {
    let folder = cache_folder("packages")?;
    let binary = build_toolmend(profile == DIST)?;
    let list = read_file(&workspace_root().join(PYTHON_TESTS).join("requirements.txt"))?;
    let packages: Vec<&str> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let python = install_python_packages(&folder, "python", &packages)?;
    install_wheel(&folder, &python, profile)?;
    let node = install_node(&folder, profile)?;
    Ok(InstalledPackages { python, node, binary })
}

/// Builds the Python package and installs it.
pub(crate) fn install_wheel(folder: &Path, python: &Path, profile: &str) -> Result<(), TaskError> {
    let wheels = folder.join("wheels");
    // A wheel of an earlier version must not be installed.
    let _ = fs::remove_dir_all(&wheels);
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--out"]).arg(&wheels);
    run_command(build.current_dir(workspace_root()))?;
    let mut install = Command::new(python);
    install
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"])
        .args(list_files(&wheels)?);
    run_command(&mut install)
}

/// Builds the Node package and links it. The tests are copied next to their packages, where Node looks for them.
fn install_node(folder: &Path, profile: &str) -> Result<PathBuf, TaskError> {
    let tests = cache_folder("packages/node")?;
    let mut build = Command::new("node");
    build
        .arg("crates/toolmend-node/build.mjs")
        .env("TOOLMEND_PROFILE", profile)
        .current_dir(workspace_root());
    run_command(&mut build)?;
    for file in list_files(&workspace_root().join(NODE_TESTS))? {
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, tests.join(name)).map_err(|error| file_error("copy", &file, &error))?;
    }
    let lock = read_file(&tests.join("package-lock.json"))?;
    let list = InstalledList::from_lock(folder.join("node-packages.txt"), lock);
    let linked = tests.join("node_modules/toolmend");
    if list.is_current() && linked.exists() {
        return Ok(tests);
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&tests);
    run_command(&mut install)?;
    link(&workspace_root(), &linked)?;
    list.write()?;
    Ok(tests)
}

#[cfg(unix)]
pub(crate) fn link(from: &Path, to: &Path) -> Result<(), TaskError> {
    std::os::unix::fs::symlink(from, to).map_err(|error| file_error("link", to, &error))
}

#[cfg(not(unix))]
pub(crate) fn link(from: &Path, to: &Path) -> Result<(), TaskError> {
    std::os::windows::fs::symlink_dir(from, to).map_err(|error| file_error("link", to, &error))
}
