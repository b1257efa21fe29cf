//! Programs that a task needs beside it: free ports, servers that go away with the task, packages in a cache folder.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::step::{self, Failed, cargo, root, works};

/// Where packages and measurements are kept between runs.
pub(crate) fn cache(name: &str) -> Result<PathBuf, Failed> {
    let folder = root().join("target").join(name);
    fs::create_dir_all(&folder)
        .map_err(|error| Failed(format!("cannot make {}: {error}", folder.display())))?;
    Ok(folder)
}

/// A port of this machine that nobody uses at the moment.
pub(crate) fn free_port() -> Result<u16, Failed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Failed(format!("no port is free: {error}")))
}

/// A program that runs as long as the task looks at it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts a program and waits until it listens.
    pub(crate) fn start(
        name: &str,
        command: &mut Command,
        port: u16,
        patience: Duration,
    ) -> Result<Server, Failed> {
        let child = command.stdin(Stdio::null()).spawn();
        let mut server =
            Server { child: child.map_err(|error| Failed(format!("{name} cannot be started: {error}")))? };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(Failed(format!("{name} ended before it listened ({status})")));
            }
            if started.elapsed() > patience {
                return Err(Failed(format!("{name} does not listen after {} s", patience.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command, built; in which profile is for the task to say.
pub(crate) fn toolmend(release: bool) -> Result<PathBuf, Failed> {
    let mut build = cargo(&["build", "--package", "toolmend-cli"]);
    if release {
        build.arg("--release");
    }
    step::run(&mut build)?;
    let profile = if release { "release" } else { "debug" };
    Ok(target().join(profile).join(format!("toolmend{}", std::env::consts::EXE_SUFFIX)))
}

/// The command and the programs of `bench/lab` that stand around it while it is measured.
///
/// One call builds them all: each choice of packages has features of its own for the crates that they share, and Cargo
/// would compile most of them once more.
pub(crate) fn measured<const N: usize>(programs: [&str; N]) -> Result<(PathBuf, [PathBuf; N]), Failed> {
    step::run(&mut cargo(&["build", "--release", "--package", "toolmend-cli", "--package", "toolmend-lab"]))?;
    let built = |name: &str| target().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok((built("toolmend"), programs.map(built)))
}

pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The gateway in front of a server.
pub(crate) fn gateway(binary: &Path, upstream: u16, port: u16) -> Result<Server, Failed> {
    // The journal of whoever runs this is theirs.
    gateway_with(binary, upstream, port, &["--journal", "off"])
}

/// The same with other flags.
pub(crate) fn gateway_with(
    binary: &Path,
    upstream: u16,
    port: u16,
    flags: &[&str],
) -> Result<Server, Failed> {
    let mut command = Command::new(binary);
    command.args(["serve", "--upstream", &format!("http://127.0.0.1:{upstream}")]).args(flags);
    command.args(["--listen", &format!("127.0.0.1:{port}")]).env("RUST_LOG", "error").stderr(Stdio::null());
    Server::start("the gateway", &mut command, port, Duration::from_secs(20))
}

/// Python with these packages, in a folder of its own.
pub(crate) fn python(folder: &Path, name: &str, packages: &[&str]) -> Result<PathBuf, Failed> {
    let venv = folder.join(name);
    let python = venv.join("bin/python");
    let note = venv.join("packages.txt");
    if fs::read_to_string(&note).is_ok_and(|known| known == packages.join("\n")) {
        return Ok(python);
    }
    if !works(Command::new("python3").arg("--version")) {
        return Err(Failed("`python3` is missing: the clients of this task run in it".to_owned()));
    }
    step::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    step::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    fs::write(&note, packages.join("\n"))
        .map_err(|error| Failed(format!("cannot write {}: {error}", note.display())))?;
    Ok(python)
}

/// Packages for Node in this folder.
pub(crate) fn node(folder: &Path, packages: &[&str]) -> Result<(), Failed> {
    let note = folder.join("packages.txt");
    if fs::read_to_string(&note).is_ok_and(|known| known == packages.join("\n")) {
        return Ok(());
    }
    if !works(Command::new("npm").arg("--version")) {
        return Err(Failed("`npm` is missing: the clients of this task run in Node".to_owned()));
    }
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|error| Failed(format!("cannot write {}: {error}", path.display())))
    };
    write(&folder.join("package.json"), "{\"private\": true}\n")?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund"]).args(packages).current_dir(folder);
    step::run(&mut install)?;
    write(&note, &packages.join("\n"))
}

/// Installs a package of Debian where that is possible.
pub(crate) fn install(package: &str) -> Result<(), Failed> {
    if !is_root() || !works(Command::new("apt-get").arg("--version")) {
        return Err(Failed(format!(
            "`{package}` is missing and cannot be installed from here: sudo apt-get install {package}"
        )));
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", package]);
    install.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    if step::run(&mut install).is_ok() {
        return Ok(());
    }
    // The list of packages may be older than the packages.
    step::run(Command::new("apt-get").arg("update").stdout(Stdio::null()))?;
    step::run(&mut install)
}

pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
