//! What tasks need besides the Rust toolchain: how to find it, and how to get it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{TaskError, cargo_command, succeeds};
use crate::installs::{can_install_debian_packages, install_debian_packages};
use crate::wasm;

/// Something that a machine may lack.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) name: &'static str,
    is_there: fn() -> bool,
    source: Source,
    /// What to do where this command cannot install it.
    pub(crate) enable: &'static str,
}

/// Where this command can get it.
#[derive(Debug)]
enum Source {
    Nowhere,
    /// From these packages of Debian.
    Debian(&'static [&'static str]),
    /// In steps of its own, if the first function says that they can be tried.
    Steps(fn() -> bool, fn() -> Result<(), TaskError>),
}

pub(crate) static RUSTFMT: Need = Need {
    name: "rustfmt",
    is_there: || succeeds(&mut cargo_command(&["fmt", "--version"])),
    source: Source::Nowhere,
    enable: "rustup component add rustfmt",
};

pub(crate) static CLIPPY: Need = Need {
    name: "clippy",
    is_there: || succeeds(&mut cargo_command(&["clippy", "--version"])),
    source: Source::Nowhere,
    enable: "rustup component add clippy",
};

pub(crate) static LINUX: Need = Need {
    name: "Linux",
    is_there: || cfg!(target_os = "linux"),
    source: Source::Nowhere,
    enable: "run it on Linux, because it reads /proc",
};

pub(crate) static PYTHON: Need = Need {
    name: "Python 3.11 or newer with venv and pip",
    is_there: || {
        let check = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
        succeeds(Command::new("python3").args(["-c", check]))
    },
    source: Source::Debian(&["python3", "python3-venv"]),
    enable: "install `python3` and its module `venv`; on Debian: sudo apt-get install python3 python3-venv",
};

pub(crate) static CURL: Need = Need {
    name: "curl",
    is_there: || succeeds(Command::new("curl").arg("--version")),
    source: Source::Debian(&["curl"]),
    enable: "on Debian: sudo apt-get install curl",
};

pub(crate) static NODE: Need = Need {
    name: "Node 20 or newer with npm",
    is_there: || {
        let check = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
        succeeds(Command::new("node").args(["--eval", check]))
            && succeeds(Command::new("npm").arg("--version"))
    },
    source: Source::Debian(&["nodejs", "npm"]),
    enable: "install `node` and `npm`, for example from https://nodejs.org",
};

pub(crate) static POSTGRES: Need = Need {
    name: "PostgreSQL",
    is_there: || find_postgres().is_some(),
    source: Source::Debian(&["postgresql"]),
    enable: "on Debian: sudo apt-get install postgresql",
};

pub(crate) static WASM: Need = Need {
    name: "the source of Rust's standard library",
    is_there: wasm::is_there,
    source: Source::Steps(wasm::is_installable, wasm::install),
    enable: "rustup component add rust-src",
};

pub(crate) static CHROMIUM: Need = Need {
    name: "Chromium",
    is_there: || find_browser().is_some(),
    source: Source::Debian(&["chromium"]),
    enable: "install `chromium`; on Debian: sudo apt-get install chromium",
};

impl Need {
    pub(crate) fn is_there(&self) -> bool {
        (self.is_there)()
    }

    /// Whether this process may install it.
    pub(crate) fn is_installable(&self) -> bool {
        match self.source {
            Source::Nowhere => false,
            Source::Debian(_) => can_install_debian_packages(),
            Source::Steps(can_try, _) => can_try(),
        }
    }

    /// Installs it if it is missing and this process may.
    pub(crate) fn ensure(&self) -> Result<(), TaskError> {
        if self.is_there() {
            return Ok(());
        }
        let Need { name, enable, .. } = self;
        if !self.is_installable() {
            return Err(TaskError(format!("{name} is missing; {enable}")));
        }
        let tried = match self.source {
            Source::Nowhere => String::new(),
            Source::Debian(packages) => {
                install_debian_packages(packages)?;
                format!(", and the package of Debian is not it ({})", packages.join(" "))
            }
            Source::Steps(_, install) => {
                install()?;
                ", and could not be installed".to_owned()
            }
        };
        if self.is_there() { Ok(()) } else { Err(TaskError(format!("{name} is missing{tried}; {enable}"))) }
    }
}

/// Returns the folder with the programs of the newest PostgreSQL. Debian keeps them away from `PATH`.
pub(crate) fn find_postgres() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = installed.map(|entry| entry.path().join("bin"));
    let newest = folders.filter(|folder| has_postgres(folder)).max();
    let on_path = || Some(find_program("initdb")?.parent()?.to_owned());
    newest.or_else(|| on_path().filter(|folder| has_postgres(folder)))
}

fn has_postgres(folder: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|name| folder.join(name).exists())
}

/// Returns the browser that runs the dashboard.
pub(crate) fn find_browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find_map(find_program)
}

/// Returns the program with this name from `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(&file)).find(|path| path.is_file())
}
