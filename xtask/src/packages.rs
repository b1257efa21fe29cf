//! `cargo xtask packages`: builds the Python and the Node package from the tree, and runs their tests against the real
//! frameworks.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab;
use crate::step::{self, Failed, root};

const PYTHON_TESTS: &str = "crates/toolmend-python/tests";
const NODE_TESTS: &str = "crates/toolmend-node/tests";

/// Both packages, installed beside everything that their tests need.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) python: PathBuf,
    /// The folder that the scripts for Node are in, with their packages.
    pub(crate) node: PathBuf,
    /// The command, which the packages are compared with.
    pub(crate) binary: PathBuf,
}

/// Builds, installs and tests both packages.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("packages")?;
    let installed = install("dev")?;
    let corpus = lab::cache("packages/corpus")?;
    let mut records = Command::new(&installed.python);
    step::run(records.arg(root().join("corpus/records.py")).arg(&corpus).arg(&installed.binary))?;

    let python = |args: &[&str]| {
        let mut command = Command::new(&installed.python);
        command.args(args).current_dir(root());
        command.env("TOOLMEND_PACKAGES", &folder).env("TOOLMEND_CORPUS", &corpus);
        command
    };
    step::run(&mut python(&["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", PYTHON_TESTS]))?;
    step::run(&mut python(&[
        "-m",
        "mypy",
        "--cache-dir",
        "target/packages/mypy",
        "crates/toolmend-python/python/toolmend/__init__.py",
        "crates/toolmend-python/tests/test_loads.py",
        "crates/toolmend-python/tests/test_mender.py",
    ]))?;

    let mut compile = node(&installed, &["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]);
    step::run(&mut compile)?;
    let mut test = node(&installed, &["--test"]);
    for file in files(&installed.node)? {
        if file.extension() == Some(OsStr::new("mjs")) && file.to_string_lossy().ends_with(".test.mjs") {
            test.arg(file.file_name().unwrap_or_default());
        }
    }
    step::run(test.env("TOOLMEND_CORPUS", &corpus).env("TOOLMEND_BINARY", &installed.binary))
}

/// Node in the folder with the packages.
pub(crate) fn node(installed: &Installed, args: &[&str]) -> Command {
    let mut command = Command::new("node");
    command.args(args).current_dir(&installed.node);
    command
}

/// Builds both packages in this profile and installs them. What is fetched is kept between runs.
pub(crate) fn install(profile: &str) -> Result<Installed, Failed> {
    let folder = lab::cache("packages")?;
    let binary = lab::toolmend(profile == "release")?;
    let list = read(&root().join(PYTHON_TESTS).join("requirements.txt"))?;
    let packages: Vec<&str> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let python = lab::python(&folder, "python", &packages)?;
    install_wheel(&folder, &python, profile)?;
    let node = install_node(&folder, profile)?;
    Ok(Installed { python, node, binary })
}

pub(crate) fn install_wheel(folder: &Path, python: &Path, profile: &str) -> Result<(), Failed> {
    let wheels = folder.join("wheels");
    // What an earlier version left behind must not be installed.
    let _ = fs::remove_dir_all(&wheels);
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--out"]).arg(&wheels);
    step::run(build.current_dir(root()))?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]).args(files(&wheels)?);
    step::run(&mut install)
}

/// The tests stand beside their packages, because that is where Node looks for them.
fn install_node(folder: &Path, profile: &str) -> Result<PathBuf, Failed> {
    let place = lab::cache("packages/node")?;
    let mut build = Command::new("node");
    build.arg("crates/toolmend-node/build.mjs").env("TOOLMEND_PROFILE", profile).current_dir(root());
    step::run(&mut build)?;
    for file in files(&root().join(NODE_TESTS))? {
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, place.join(name)).map_err(|error| failed("copy", &file, &error))?;
    }
    let lock = read(&place.join("package-lock.json"))?;
    let note = folder.join("node-packages.txt");
    let linked = place.join("node_modules/toolmend");
    if fs::read_to_string(&note).is_ok_and(|known| known == lock) && linked.exists() {
        return Ok(place);
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&place);
    step::run(&mut install)?;
    link(&root(), &linked)?;
    fs::write(&note, lock).map_err(|error| failed("write", &note, &error))?;
    Ok(place)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<(), Failed> {
    std::os::unix::fs::symlink(from, to).map_err(|error| failed("link", to, &error))
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result<(), Failed> {
    std::os::windows::fs::symlink_dir(from, to).map_err(|error| failed("link", to, &error))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, &error))?;
    let mut files: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, Failed> {
    fs::read_to_string(path).map_err(|error| failed("read", path, &error))
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Failed {
    Failed(format!("cannot {what} {}: {error}", path.display()))
}
