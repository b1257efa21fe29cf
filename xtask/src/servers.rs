//! Servers that run for as long as a task needs them.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::TaskError;

/// Returns a port of this machine that is free at the moment.
pub(crate) fn free_port() -> Result<u16, TaskError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| TaskError(format!("no port is free: {error}")))
}

/// A process that is killed when this value is dropped.
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
    ) -> Result<Server, TaskError> {
        let child = command.stdin(Stdio::null()).spawn();
        let mut server = Server { child: child.map_err(|error| TaskError::cannot_start(name, &error))? };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(TaskError(format!("{name} ended before it listened ({status})")));
            }
            if started.elapsed() > patience {
                return Err(TaskError(format!("{name} does not listen after {} s", patience.as_secs())));
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

/// Starts the gateway in front of a server, without a journal.
pub(crate) fn start_gateway(binary: &Path, upstream: u16, port: u16) -> Result<Server, TaskError> {
    // The default journal belongs to the person who runs this.
    start_gateway_with(binary, upstream, port, &["--journal", "off"])
}

/// Starts the gateway with these flags.
pub(crate) fn start_gateway_with(
    binary: &Path,
    upstream: u16,
    port: u16,
    flags: &[&str],
) -> Result<Server, TaskError> {
    let mut command = Command::new(binary);
    command.args(["serve", "--upstream", &format!("http://127.0.0.1:{upstream}")]).args(flags);
    command.args(["--listen", &format!("127.0.0.1:{port}")]).env("RUST_LOG", "error").stderr(Stdio::null());
    Server::start("the gateway", &mut command, port, Duration::from_secs(20))
}

/// Reads a field of a process's status in KiB: `VmRSS` is its memory now, `VmHWM` the most that it has held.
pub(crate) fn process_memory(process: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    value.trim().trim_end_matches("kB").trim().parse().ok()
}
