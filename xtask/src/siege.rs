//! `cargo xtask siege`: attacks the gateway in many ways at once, next to clients that behave.

use std::process::Command;

use crate::builds::{build_for_siege, build_measured};
use crate::command::{TaskError, print_line, run_command};
use crate::servers::{free_port, process_memory, start_gateway};

/// The memory of the documented pod, in MB.
const POD_MEMORY: u64 = 512;

/// How many clients behave, how many attackers make each attack, and for how long.
#[derive(Debug, Clone, Copy)]
struct Size {
    streams: u32,
    attackers: u32,
    seconds: u32,
    /// How many percent of the answers of `/healthz` have to be in time.
    percent: u32,
}

/// Part of the test command: long enough for every attack and for several reloads. The gateway is not optimised here, and the
/// machine may be busy with other tests, so a few more of its answers may be late.
pub(crate) fn run_short() -> Result<(), TaskError> {
    let (binary, siege) = build_for_siege()?;
    run_with(&binary, &siege, Size { streams: 40, attackers: 2, seconds: 20, percent: 95 })
}

/// Runs for so many minutes with 500 honest streams.
pub(crate) fn run_long(minutes: &str) -> Result<(), TaskError> {
    let minutes: u32 = minutes
        .parse()
        .map_err(|_| TaskError(format!("--minutes: expected a whole number, found `{minutes}`")))?;
    let (binary, [siege]) = build_measured(["siege"])?;
    let seconds = minutes * 60;
    run_with(&binary, &siege, Size { streams: 500, attackers: 20, seconds, percent: 99 })
}

fn run_with(binary: &std::path::Path, siege: &std::path::Path, size: Size) -> Result<(), TaskError> {
    let (upstream, port) = (free_port()?, free_port()?);
    let gateway = start_gateway(binary, upstream, port)?;
    let mut command = Command::new(siege);
    let numbers = [
        u32::from(upstream),
        u32::from(port),
        gateway.id(),
        size.streams,
        size.attackers,
        size.seconds,
        size.percent,
    ];
    command.args(numbers.map(|number| number.to_string()));
    let result = run_command(&mut command);
    let Some(peak) = process_memory(gateway.id(), "VmHWM") else {
        return Err(TaskError("the gateway did not survive".to_owned()));
    };
    let peak = peak >> 10;
    print_line(&format!("the gateway used at most {peak} MB"));
    result?;
    if peak > POD_MEMORY {
        return Err(TaskError(format!("expected at most {POD_MEMORY} MB, found {peak} MB")));
    }
    Ok(())
}
