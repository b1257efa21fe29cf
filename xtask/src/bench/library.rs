//! `cargo xtask bench`: measures the library against its targets and against other repairers.

use crate::builds::DIST;
use crate::command::{TaskError, cargo_command, run_command, workspace_root};

/// Other parsers of streams. They are a program of their own because they depend on several hundred crates.
const STREAM_PEERS: &str = "bench/stream-peers";

/// Prints the tables. A missed target is an error only with `gate`.
pub(crate) fn run(gate: bool) -> Result<(), TaskError> {
    let folder = workspace_root().join(STREAM_PEERS);
    let (manifest, target) = (folder.join("Cargo.toml"), folder.join("target"));
    run_command(
        cargo_command(&["build", "--release", "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(&target),
    )?;
    let program =
        target.join("release/toolmend-stream-peers").with_extension(std::env::consts::EXE_EXTENSION);
    let mut bench = cargo_command(&["run", "--profile", DIST, "--package", "toolmend-bench", "--"]);
    bench.env("TOOLMEND_STREAM_PEERS", program);
    run_command(if gate { bench.arg("--gate") } else { &mut bench })
}
