//! `cargo xtask timings`: how much processor time it takes to build what people build, from nothing.
//!
//! Downloads are not counted. Processor time says more than a clock on a machine that does other things too, but both are printed.

use std::fs;
use std::time::Instant;

use crate::command::{TaskError, cargo_command, print_line, run_command};
use crate::files::{cache_folder, read_file};

/// How many units of processor time the kernel counts in a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// A build, and the most processor time that it may take.
struct Build {
    name: &'static str,
    args: &'static [&'static str],
    max_minutes: f64,
}

const BUILDS: &[Build] = &[
    Build {
        name: "the first command of README.md: `fix`, `call`, `batch`",
        args: &["build", "--release", "--package", "toolmend-cli"],
        max_minutes: 3.5,
    },
    Build {
        name: "with `serve`",
        args: &["build", "--release", "--package", "toolmend-cli", "--features", "serve"],
        max_minutes: 6.0,
    },
];

/// Prints a line for each build. A build that takes too long is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&["fetch", "--locked", "--quiet"]))?;
    let folder = cache_folder("timings")?;
    let mut missed = Vec::new();
    for build in BUILDS {
        let _ = fs::remove_dir_all(&folder);
        let (started, before) = (Instant::now(), processor_seconds_of_children()?);
        run_command(cargo_command(build.args).arg("--quiet").env("CARGO_TARGET_DIR", &folder))?;
        let minutes = (processor_seconds_of_children()? - before) / 60.0;
        let clock = started.elapsed().as_secs_f64() / 60.0;
        let (name, max) = (build.name, build.max_minutes);
        print_line(&format!(
            "{name}: {minutes:.1} minutes of a processor (at most {max}), {clock:.1} by the clock"
        ));
        if minutes > max {
            missed.push(format!("{name} takes {minutes:.1} minutes of a processor (at most {max})"));
        }
    }
    let _ = fs::remove_dir_all(&folder);
    TaskError::from_missed(&missed)
}

/// The processor time of the processes that this one started and waited for, and of theirs.
fn processor_seconds_of_children() -> Result<f64, TaskError> {
    let stat = read_file("/proc/self/stat".as_ref())?;
    // The name of the program is in parentheses and may contain anything. Fields are counted from the one after it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS_PER_SECOND),
        _ => Err(TaskError(
            "/proc/self/stat: expected the times of children; this task needs Linux".to_owned(),
        )),
    }
}
