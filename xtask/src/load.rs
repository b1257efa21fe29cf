//! `cargo xtask load STREAMS SECONDS`: sends many concurrent streams through the gateway and checks every byte.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::builds::build_measured;
use crate::command::{TaskError, print_line, run_command};
use crate::servers::{free_port, process_memory, start_gateway};

/// The most memory that the gateway may use, in KiB.
const MAX_MEMORY: u64 = 300 << 10;

/// Runs the streams and watches the memory of the gateway.
pub(crate) fn run(streams: &str, seconds: &str) -> Result<(), TaskError> {
    let (binary, [stream_load]) = build_measured(["stream_load"])?;
    let (upstream, port) = (free_port()?, free_port()?);
    // `stream_load` is also the server; the gateway connects to it with the first request.
    let gateway = start_gateway(&binary, upstream, port)?;
    let peak = Arc::new(AtomicU64::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let (peak, is_over, id) = (Arc::clone(&peak), Arc::clone(&is_over), gateway.id());
        move || {
            while !is_over.load(Ordering::Relaxed) {
                peak.fetch_max(process_memory(id, "VmRSS").unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    });
    let mut command = Command::new(stream_load);
    command.args([&upstream.to_string(), &port.to_string(), streams, seconds]);
    let result = run_command(&mut command);
    is_over.store(true, Ordering::Relaxed);
    let _ = watcher.join();
    let peak = peak.load(Ordering::Relaxed);
    print_line(&format!("the gateway used at most {} MB", peak >> 10));
    result?;
    if peak > MAX_MEMORY {
        return Err(TaskError(format!("expected at most {} MB, found {} MB", MAX_MEMORY >> 10, peak >> 10)));
    }
    Ok(())
}
