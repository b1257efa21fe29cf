//! `cargo xtask load STREAMS SECONDS`: many streams at once through the gateway, each checked to the last byte.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::lab;
use crate::step::{self, Failed, say};

/// The most memory that the gateway may use, in kilobytes.
const MOST_MEMORY: u64 = 300 << 10;

pub(crate) fn run(streams: &str, seconds: &str) -> Result<(), Failed> {
    let (binary, [load]) = lab::measured(["load"])?;
    let (upstream, port) = (lab::free_port()?, lab::free_port()?);
    // The server comes with the load; the gateway connects to it when the first request comes.
    let gateway = lab::gateway(&binary, upstream, port)?;
    let peak = Arc::new(AtomicU64::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let (peak, over, id) = (Arc::clone(&peak), Arc::clone(&over), gateway.id());
        move || {
            while !over.load(Ordering::Relaxed) {
                peak.fetch_max(memory(id).unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    });
    let mut command = Command::new(load);
    command.args([&upstream.to_string(), &port.to_string(), streams, seconds]);
    let result = step::run(&mut command);
    over.store(true, Ordering::Relaxed);
    let _ = watcher.join();
    let peak = peak.load(Ordering::Relaxed);
    say(&format!("the gateway used at most {} MB", peak >> 10));
    result?;
    if peak > MOST_MEMORY {
        return Err(Failed(format!("expected at most {} MB, found {} MB", MOST_MEMORY >> 10, peak >> 10)));
    }
    Ok(())
}

/// The resident memory of a process in kilobytes.
fn memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
