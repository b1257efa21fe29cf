//! Packages for Python, Node and Debian that tasks need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{TaskError, run_command, succeeds};
use crate::files::write_file;
use crate::needs;

/// Installs these packages into a virtual environment and returns its interpreter.
pub(crate) fn install_python_packages(
    folder: &Path,
    name: &str,
    packages: &[&str],
) -> Result<PathBuf, TaskError> {
    let environment = folder.join(name);
    let python = environment.join("bin/python");
    let list = InstalledList::new(environment.join("packages.txt"), packages);
    if list.is_current() {
        return Ok(python);
    }
    needs::PYTHON.ensure()?;
    run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run_command(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    list.write()?;
    Ok(python)
}

/// Installs these packages for Node into a folder.
pub(crate) fn install_node_packages(folder: &Path, packages: &[&str]) -> Result<(), TaskError> {
    let list = InstalledList::new(folder.join("packages.txt"), packages);
    if list.is_current() {
        return Ok(());
    }
    needs::NODE.ensure()?;
    write_file(&folder.join("package.json"), "{\"private\": true}\n")?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund"]).args(packages).current_dir(folder);
    run_command(&mut install)?;
    list.write()
}

/// A file that lists what was installed, so that the next run can skip it.
#[derive(Debug)]
pub(crate) struct InstalledList {
    file: PathBuf,
    wanted: String,
}

impl InstalledList {
    fn new(file: PathBuf, packages: &[&str]) -> Self {
        InstalledList { file, wanted: packages.join("\n") }
    }

    /// Uses a lock file instead of a list of packages.
    pub(crate) fn from_lock(file: PathBuf, lock: String) -> Self {
        InstalledList { file, wanted: lock }
    }

    /// Whether everything is installed already.
    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|installed| installed == self.wanted)
    }

    pub(crate) fn write(&self) -> Result<(), TaskError> {
        write_file(&self.file, &self.wanted)
    }
}

/// Whether this process may install packages of Debian.
pub(crate) fn can_install_debian_packages() -> bool {
    is_root() && succeeds(Command::new("apt-get").arg("--version"))
}

/// Installs these packages of Debian.
pub(crate) fn install_debian_packages(packages: &[&str]) -> Result<(), TaskError> {
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    install.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    if run_command(&mut install).is_ok() {
        return Ok(());
    }
    // The list of packages may be out of date.
    run_command(Command::new("apt-get").arg("update").stdout(Stdio::null()))?;
    run_command(&mut install)
}

pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
