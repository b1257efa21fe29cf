//! `cargo xtask postgres`: runs the tests of the journal on a real `PostgreSQL` from Debian's packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command::{TaskError, cargo_command, run_command};
use crate::files::create_folder;
use crate::installs::is_root;
use crate::needs;
use crate::servers::{Server, free_port};

/// Starts a server, runs the tests and stops the server.
pub(crate) fn run() -> Result<(), TaskError> {
    let database = start_postgres()?;
    run_command(
        cargo_command(&[
            "test",
            "--package",
            "toolmend-journal",
            "--all-features",
            "--test",
            "journal",
            "--",
            "--include-ignored",
        ])
        .env("TOOLMEND_TEST_POSTGRES", &database.url),
    )
}

/// A server with an empty database. Both are gone when this value is dropped.
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
pub(crate) fn start_postgres() -> Result<Database, TaskError> {
    let programs = find_programs()?;
    let port = free_port()?;
    // Not below the project, which the user of the server may not be able to access.
    let folder = std::env::temp_dir().join(format!("toolmend-postgres-{port}"));
    create_folder(&folder)?;
    let data = folder.join("data");
    if is_root() {
        run_command(Command::new("chown").arg("postgres").arg(&folder))?;
    }
    let mut init = command_as_user(&programs.join("initdb"));
    init.args(["--auth=trust", "--username=toolmend", "--encoding=UTF8", "--no-sync", "--pgdata"]).arg(&data);
    run_command(init.stdout(Stdio::null()).current_dir(&folder))?;
    let mut serve = command_as_user(&programs.join("postgres"));
    serve.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
    serve.args(["-c", "fsync=off", "-c", "max_connections=200", "-k"]).arg(&folder).current_dir(&folder);
    serve.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server::start("PostgreSQL", &mut serve, port, Duration::from_mins(1))?;
    let url = format!("postgres://toolmend@127.0.0.1:{port}/postgres");
    Ok(Database { url, _server: server, folder })
}

/// Returns the folder with the programs of the newest version, and installs them if they are missing.
fn find_programs() -> Result<PathBuf, TaskError> {
    needs::POSTGRES.ensure()?;
    needs::find_postgres().ok_or_else(|| TaskError("PostgreSQL is missing".to_owned()))
}

/// Returns a command that runs as another user if this process is root, because the server refuses to run as root.
fn command_as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    // `setpriv` replaces itself with the server, so killing the command stops the server.
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}
