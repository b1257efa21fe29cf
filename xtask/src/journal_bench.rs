//! `cargo xtask bench journal`: how long questions take on a large journal, and what writing it costs the gateway.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::lab::{self, Server};
use crate::postgres;
use crate::step::{self, Failed, say};

const ENTRIES: &str = "1000000";
/// How many requests each gateway gets at a time, and how often, by turns: the machine is shared.
const REQUESTS: u32 = 4000;
const ROUNDS: usize = 15;
/// The most that writing may cost, as a part of what the gateway costs without it.
const MOST: f64 = 0.05;

/// Prints the tables. What is over a target is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("journal-bench")?;
    let (binary, [million, calls]) = lab::measured(["million", "calls"])?;
    let mut missed = Vec::new();
    let file = folder.join("million.db");
    remove(&file);
    say("\na journal in a file");
    missed.extend(step::run(Command::new(&million).arg(&file).arg(ENTRIES)).err().map(|failed| failed.0));
    remove(&file);
    say("\na journal in PostgreSQL");
    let database = postgres::start()?;
    missed.extend(
        step::run(Command::new(&million).arg(&database.url).arg(ENTRIES)).err().map(|failed| failed.0),
    );
    drop(database);
    missed.extend(cost(&folder, &binary, &calls)?);
    if missed.is_empty() { Ok(()) } else { Err(Failed(missed.join("; "))) }
}

fn remove(file: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", file.display()));
    }
}

/// Processor time of the gateway for each request, with a journal and without.
fn cost(folder: &Path, binary: &Path, calls: &Path) -> Result<Vec<String>, Failed> {
    let [model, off, on] = [lab::free_port()?, lab::free_port()?, lab::free_port()?];
    let mut command = Command::new(calls);
    command.args(["serve", &model.to_string()]);
    let _model = Server::start("the model server", &mut command, model, Duration::from_secs(10))?;
    let file = folder.join("cost.db");
    remove(&file);
    let without = lab::gateway_with(binary, model, off, &["--journal", "off"])?;
    let with = lab::gateway_with(binary, model, on, &["--journal", &file.display().to_string()])?;
    let mut missed = Vec::new();
    say("\nprocessor time of the gateway for each request");
    for (name, asked, counts) in [
        ("no call is broken", "never", true),
        ("one call in ten is broken", "every-10", true),
        ("every call is broken", "every-1", false),
    ] {
        let (mut plain, mut written) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for (server, port, times) in [(&without, off, &mut plain), (&with, on, &mut written)] {
                let before = processor_time(server.id())?;
                let mut load = Command::new(calls);
                load.args(["load", &port.to_string(), asked, &REQUESTS.to_string()]);
                if !load.status().is_ok_and(|status| status.success()) {
                    return Err(Failed("the gateway did not answer every request".to_owned()));
                }
                // The last batch is written a moment later.
                std::thread::sleep(Duration::from_millis(600));
                times.push((processor_time(server.id())? - before) / f64::from(REQUESTS));
            }
        }
        let (plain, written) = (least(&plain), least(&written));
        let share = written / plain - 1.0;
        say(&format!(
            "  {name:<26} {plain:>6.1} µs without, {written:>6.1} µs with a journal: {:+.1} %",
            100.0 * share
        ));
        if counts && share > MOST {
            missed.push(format!(
                "{name}: writing costs {:.1} % (at most {:.0} %)",
                100.0 * share,
                100.0 * MOST
            ));
        }
    }
    drop((without, with));
    remove(&file);
    Ok(missed)
}

/// What the machine does beside it only adds: by turns rounds differ by a third, and the least ones by a few percent.
fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The processor time of a process so far, in microseconds.
fn processor_time(id: u32) -> Result<f64, Failed> {
    let wrong = || Failed(format!("the processor time of process {id} cannot be read"));
    let mut nanoseconds = 0.0;
    for task in fs::read_dir(format!("/proc/{id}/task")).map_err(|_| wrong())?.flatten() {
        // A thread that has ended meanwhile did next to nothing.
        let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        let spent = text.split_whitespace().next().and_then(|spent| spent.parse::<f64>().ok());
        nanoseconds += spent.ok_or_else(wrong)?;
    }
    Ok(nanoseconds / 1000.0)
}
