//! `cargo xtask bench journal`: measures queries on a large journal, and what writing it costs the gateway.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::builds::build_measured;
use crate::command::{TaskError, print_line, run_command};
use crate::files::cache_folder;
use crate::postgres::start_postgres;
use crate::servers::{Server, free_port, start_gateway_with};

const ENTRIES: &str = "1000000";
/// How many requests each gateway gets in a round. The gateways take turns because the machine is shared.
const REQUESTS: u32 = 4000;
const ROUNDS: usize = 15;
/// The most that writing may cost, as a share of what the gateway costs without it.
const MAX_SHARE: f64 = 0.05;

/// Prints the tables. A missed target is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("journal-bench")?;
    let (binary, [large_journal, call_load]) = build_measured(["large_journal", "call_load"])?;
    let mut missed = Vec::new();
    let file = folder.join("large.db");
    remove_database(&file);
    print_line("\na journal in a file");
    let mut measure = |place: &OsStr| {
        let measured = run_command(Command::new(&large_journal).arg(place).arg(ENTRIES));
        missed.extend(measured.err().map(|error| error.0));
    };
    measure(file.as_os_str());
    remove_database(&file);
    print_line("\na journal in PostgreSQL");
    let database = start_postgres()?;
    measure(database.url.as_ref());
    drop(database);
    missed.extend(measure_writing(&folder, &binary, &call_load)?);
    TaskError::from_missed(&missed)
}

fn remove_database(file: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", file.display()));
    }
}

/// Measures the processor time of the gateway per request, with and without a journal.
fn measure_writing(folder: &Path, binary: &Path, call_load: &Path) -> Result<Vec<String>, TaskError> {
    let [model, off, on] = [free_port()?, free_port()?, free_port()?];
    let mut command = Command::new(call_load);
    command.args(["serve", &model.to_string()]);
    let _model = Server::start("the model server", &mut command, model, Duration::from_secs(10))?;
    let file = folder.join("cost.db");
    remove_database(&file);
    let without = start_gateway_with(binary, model, off, &["--journal", "off"])?;
    let with = start_gateway_with(binary, model, on, &["--journal", &file.display().to_string()])?;
    let mut missed = Vec::new();
    print_line("\nprocessor time of the gateway per request");
    for (name, model_name, is_target) in [
        ("no call is broken", "never", true),
        ("one call in ten is broken", "every-10", true),
        ("every call is broken", "every-1", false),
    ] {
        let (mut plain, mut written) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for (server, port, times) in [(&without, off, &mut plain), (&with, on, &mut written)] {
                let before = processor_time(server.id())?;
                let mut load = Command::new(call_load);
                load.args(["load", &port.to_string(), model_name, &REQUESTS.to_string()]);
                if !load.status().is_ok_and(|status| status.success()) {
                    return Err(TaskError("the gateway did not answer every request".to_owned()));
                }
                // The journal writes the last batch a moment later.
                std::thread::sleep(Duration::from_millis(600));
                times.push((processor_time(server.id())? - before) / f64::from(REQUESTS));
            }
        }
        let (plain, written) = (minimum(&plain), minimum(&written));
        let share = written / plain - 1.0;
        print_line(&format!(
            "  {name:<26} {plain:>6.1} µs without, {written:>6.1} µs with a journal: {:+.1} %",
            100.0 * share
        ));
        if is_target && share > MAX_SHARE {
            missed.push(format!(
                "{name}: writing costs {:.1} % (at most {:.0} %)",
                100.0 * share,
                100.0 * MAX_SHARE
            ));
        }
    }
    drop((without, with));
    remove_database(&file);
    Ok(missed)
}

/// Returns the smallest time. Other work of the machine only adds time: rounds differ by a third, their minima by a few percent.
fn minimum(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the processor time of a process so far, in microseconds.
fn processor_time(id: u32) -> Result<f64, TaskError> {
    let unreadable = || TaskError(format!("cannot read the processor time of process {id}"));
    let mut nanoseconds = 0.0;
    for task in fs::read_dir(format!("/proc/{id}/task")).map_err(|_| unreadable())?.flatten() {
        // A thread that has just ended did next to nothing.
        let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        let spent = text.split_whitespace().next().and_then(|spent| spent.parse::<f64>().ok());
        nanoseconds += spent.ok_or_else(unreadable)?;
    }
    Ok(nanoseconds / 1000.0)
}
