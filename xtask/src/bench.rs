//! `cargo xtask bench`: builds the measuring programs and runs the one that measures.

use crate::step::{self, Failed, cargo, root};

/// The other readers of streams: a program of its own, because they bring several hundred crates.
const STREAM_PEERS: &str = "bench/stream-peers";

/// Prints the tables. Only with `gate` a missed target is a failure.
pub(crate) fn run(gate: bool) -> Result<(), Failed> {
    let folder = root().join(STREAM_PEERS);
    let (manifest, target) = (folder.join("Cargo.toml"), folder.join("target"));
    step::run(
        cargo(&["build", "--release", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(&target),
    )?;
    let program =
        target.join("release/toolmend-stream-peers").with_extension(std::env::consts::EXE_EXTENSION);
    let mut bench = cargo(&["run", "--release", "--package", "toolmend-bench", "--"]);
    bench.env("TOOLMEND_STREAM_PEERS", program);
    step::run(if gate { bench.arg("--gate") } else { &mut bench })
}
