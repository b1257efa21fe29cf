//! The compiler for WebAssembly: the usual one, or a compiler of Debian where rustup cannot fetch the source of the standard library.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{TaskError, capture_output, cargo_command, run_command, succeeds};
use crate::files::{cache_folder, create_folder, file_error, list_files, write_file};
use crate::installs::{can_install_debian_packages, install_debian_packages};

pub(super) const TARGET: &str = "wasm32-unknown-unknown";
/// Instructions that every browser of the last years has, and panics that end the program without a message: nobody would see
/// it, and it is a tenth of the code.
const FLAGS: &str = "-C target-feature=+simd128 -Zunstable-options -Cpanic=immediate-abort";
/// The standard library is compiled too, because the one that comes with the compiler is neither small nor without messages.
const BUILD_STANDARD_LIBRARY: [&str; 2] =
    ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
/// A compiler newer than the other one of the distribution, with its sources and without a standard library for this target.
const DEBIAN_COMPILER: [&str; 3] = ["rustc-web", "libstd-rust-web-dev", "rust-web-src"];
const DEBIAN_LINKER: &str = "lld-19";
/// Written when the compiler of Debian is unpacked.
const COMPLETE: &str = "complete";

/// What compiles for WebAssembly.
#[derive(Debug)]
pub(super) enum Toolchain {
    /// The compiler of this command, with the source of its standard library.
    Usual,
    /// The packages of Debian, unpacked in this folder.
    Debian(PathBuf),
}

/// Whether this machine can compile for WebAssembly.
pub(crate) fn is_there() -> bool {
    find().is_some()
}

/// Whether something can be tried to get there.
pub(crate) fn is_installable() -> bool {
    has_rustup() || can_install_debian_packages()
}

/// Fetches the source of the standard library, or else the compiler of Debian.
pub(crate) fn install() -> Result<(), TaskError> {
    let add =
        has_rustup().then(|| run_command(Command::new("rustup").args(["component", "add", "rust-src"])));
    match add {
        Some(Ok(())) => Ok(()),
        Some(failed) if !can_install_debian_packages() => failed,
        _ => unpack_debian_compiler(),
    }
}

fn has_rustup() -> bool {
    succeeds(Command::new("rustup").arg("--version"))
}

pub(super) fn find() -> Option<Toolchain> {
    let root = ask_compiler(&["--print", "sysroot"]);
    if root.is_some_and(|root| Path::new(&root).join("lib/rustlib/src/rust/library/Cargo.lock").exists()) {
        return Some(Toolchain::Usual);
    }
    let folder = debian_folder().ok()?;
    folder.join(COMPLETE).exists().then_some(Toolchain::Debian(folder))
}

impl Toolchain {
    /// Returns a command that runs Cargo for the target.
    pub(super) fn cargo(&self, args: &[&str]) -> Result<Command, TaskError> {
        let mut cargo = cargo_command(args);
        cargo.args(["--target", TARGET]).args(BUILD_STANDARD_LIBRARY);
        // The options for the standard library are not stable. They change its size, not what it does.
        cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS);
        // These would replace the flags of the target.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        if let Toolchain::Debian(folder) = self {
            cargo.env("RUSTC", folder.join("usr/bin/rustc")).env("LD_LIBRARY_PATH", library_folder(folder)?);
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", find_linker()?);
        }
        Ok(cargo)
    }
}

/// Unpacks the compiler without installing it, because it would replace the other one.
fn unpack_debian_compiler() -> Result<(), TaskError> {
    let folder = debian_folder()?;
    let archives = folder.join("archives");
    create_folder(&archives)?;
    run_command(Command::new("apt-get").args(["update", "--quiet"]))?;
    install_debian_packages(&[&find_dependency("libllvm")?])?;
    let mut download = Command::new("apt-get");
    download.args(["download", "--quiet"]).args(DEBIAN_COMPILER).arg(find_dependency("libstd-rust-web-1")?);
    run_command(download.current_dir(&archives))?;
    for archive in list_files(&archives)? {
        run_command(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&folder))?;
    }
    fs::remove_dir_all(&archives).map_err(|error| file_error("remove", &archives, &error))?;
    find_linker()?;
    write_file(&folder.join(COMPLETE), "")
}

/// Returns the package that the compiler needs and whose name begins like this and ends with its version.
fn find_dependency(start: &str) -> Result<String, TaskError> {
    let mut ask = Command::new("apt-cache");
    ask.args(["depends", "--recurse", "--important", "libstd-rust-web-dev"]);
    let output = capture_output("apt-cache", &mut ask)?;
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = listing.lines().find(|line| line.starts_with(start) && !line.contains(':'));
    found.map(str::to_owned).ok_or_else(|| {
        TaskError(format!("expected libstd-rust-web-dev of Debian to need a package `{start}…`, found none"))
    })
}

/// Returns the linker of the usual compiler, or that of Debian.
fn find_linker() -> Result<PathBuf, TaskError> {
    let root = ask_compiler(&["--print", "sysroot"]).unwrap_or_default();
    let host = ask_compiler(&["--print", "host-tuple"]).unwrap_or_default();
    let linker = Path::new(&root).join("lib/rustlib").join(host).join("bin/rust-lld");
    if linker.exists() {
        return Ok(linker);
    }
    let linker = PathBuf::from(format!("/usr/bin/wasm-ld-{}", DEBIAN_LINKER.trim_start_matches("lld-")));
    if !linker.exists() {
        install_debian_packages(&[DEBIAN_LINKER])?;
    }
    Ok(linker)
}

/// Returns the folder with the libraries of the unpacked compiler.
fn library_folder(folder: &Path) -> Result<PathBuf, TaskError> {
    let libraries = folder.join("usr/lib");
    let entries = fs::read_dir(&libraries).map_err(|error| file_error("read", &libraries, &error))?;
    let mut folders = entries.flatten().map(|entry| entry.path());
    let found = folders.find(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    found.ok_or_else(|| TaskError(format!("no libraries are in {}", libraries.display())))
}

fn debian_folder() -> Result<PathBuf, TaskError> {
    cache_folder("wasm/debian")
}

/// Returns what the usual compiler answers.
fn ask_compiler(args: &[&str]) -> Option<String> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
