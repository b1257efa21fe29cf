//! `cargo xtask postgres`: the tests of the journal on a real `PostgreSQL`, from Debian's packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{self, Server};
use crate::step::{self, Failed, cargo};

/// Where Debian puts the programs of each version.
const PROGRAMS: &str = "/usr/lib/postgresql";

/// Starts a server on a free port, runs the tests, stops the server.
pub(crate) fn run() -> Result<(), Failed> {
    let database = start()?;
    step::run(
        cargo(&["test", "--package", "toolmend-journal", "--test", "journal", "--", "--include-ignored"])
            .env("TOOLMEND_TEST_POSTGRES", &database.url),
    )
}

/// A server with an empty database, as long as somebody looks at it.
pub(crate) struct Database {
    pub(crate) url: String,
    _server: Server,
    folder: PathBuf,
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server on a free port, with a folder of its own.
pub(crate) fn start() -> Result<Database, Failed> {
    let programs = programs()?;
    let port = lab::free_port()?;
    // Not below the project: the user that it runs as may have no way there.
    let folder = std::env::temp_dir().join(format!("toolmend-postgres-{port}"));
    fs::create_dir_all(&folder)
        .map_err(|error| Failed(format!("cannot make {}: {error}", folder.display())))?;
    let data = folder.join("data");
    if lab::is_root() {
        step::run(Command::new("chown").arg("postgres").arg(&folder))?;
    }
    let mut init = as_user(&programs.join("initdb"));
    init.args(["--auth=trust", "--username=toolmend", "--encoding=UTF8", "--no-sync", "--pgdata"]).arg(&data);
    step::run(init.stdout(Stdio::null()).current_dir(&folder))?;
    let mut serve = as_user(&programs.join("postgres"));
    serve.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
    serve.args(["-c", "fsync=off", "-c", "max_connections=200", "-k"]).arg(&folder).current_dir(&folder);
    serve.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server::start("PostgreSQL", &mut serve, port, Duration::from_mins(1))?;
    let url = format!("postgres://toolmend@127.0.0.1:{port}/postgres");
    Ok(Database { url, _server: server, folder })
}

/// The programs of the newest version, installed where they are missing and can be.
fn programs() -> Result<PathBuf, Failed> {
    if let Some(found) = newest() {
        return Ok(found);
    }
    lab::install("postgresql")?;
    newest().ok_or_else(|| Failed(format!("PostgreSQL is installed, and not under {PROGRAMS}")))
}

fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir(PROGRAMS).ok()?.flatten().map(|entry| entry.path().join("bin"));
    versions.filter(|bin| bin.join("initdb").exists() && bin.join("postgres").exists()).max()
}

/// The server refuses to run as root.
fn as_user(program: &Path) -> Command {
    if !lab::is_root() {
        return Command::new(program);
    }
    // It takes the place of the command, so that stopping the command stops the server.
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}
