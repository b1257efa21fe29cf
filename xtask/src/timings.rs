//! `cargo xtask timings`: how much processor time it takes to build what people build, from nothing, and how long installing takes.
//!
//! Downloads are not counted. Processor time says more than a clock on a machine that does other things too, but both are printed, as
//! the rows of the table in CONTRIBUTING.md.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::command::{TaskError, cargo_command, print_line, run_command, workspace_root};
use crate::files::{cache_folder, list_files, read_file};
use crate::installs::install_python_packages;
use crate::release::artefacts::{install_from_archives, pack_for_npm};

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
        name: "the first command of the README: `fix`, `call`, `batch`",
        args: &["build", "--release", "--package", "toolmend-cli"],
        max_minutes: 3.5,
    },
    Build {
        name: "the same with `serve`",
        args: &["build", "--release", "--package", "toolmend-cli", "--features", "serve"],
        max_minutes: 6.0,
    },
];

/// The most seconds that installing a package may take.
const MAX_INSTALL_SECONDS: f64 = 10.0;

/// Measures an installation: its processor time and the time on the clock, in seconds.
type Installation = fn(&Path) -> Result<(f64, f64), TaskError>;

const INSTALLATIONS: &[(&str, Installation)] =
    &[("installing the built wheel", time_wheel), ("installing the package of npm", time_npm)];

/// Prints a row for each build. What takes too long is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    run_command(&mut cargo_command(&["fetch", "--locked", "--quiet"]))?;
    let folder = cache_folder("timings")?;
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    for build in BUILDS {
        let target = folder.join("build");
        let _ = fs::remove_dir_all(&target);
        let (started, before) = (Instant::now(), processor_seconds_of_children()?);
        run_command(cargo_command(build.args).arg("--quiet").env("CARGO_TARGET_DIR", &target))?;
        let minutes = (processor_seconds_of_children()? - before) / 60.0;
        let clock = started.elapsed().as_secs_f64() / 60.0;
        let (name, max) = (build.name, build.max_minutes);
        rows.push(format!("| {name} | {max} min | {minutes:.1} min | {clock:.1} min |"));
        if minutes > max {
            missed.push(format!("{name} takes {minutes:.1} minutes of a processor (at most {max})"));
        }
        let _ = fs::remove_dir_all(&target);
    }
    for (name, time) in INSTALLATIONS {
        let (processor, clock) = time(&folder)?;
        rows.push(format!("| {name} | {MAX_INSTALL_SECONDS} s | {processor:.1} s | {clock:.1} s |"));
        if clock > MAX_INSTALL_SECONDS {
            missed.push(format!("{name} takes {clock:.1} seconds (at most {MAX_INSTALL_SECONDS})"));
        }
    }
    print_line("| Build | At most | Processor | Clock |");
    for row in &rows {
        print_line(row);
    }
    TaskError::from_missed(&missed)
}

/// Builds a wheel, and measures how long it takes to install it into a new environment.
fn time_wheel(folder: &Path) -> Result<(f64, f64), TaskError> {
    let builder = install_python_packages(folder, "maturin", &["maturin>=1.16,<2"])?;
    let wheels = folder.join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    let mut build = Command::new(&builder);
    build.args(["-m", "maturin", "build", "--quiet", "--release", "--out"]).arg(&wheels);
    run_command(build.current_dir(workspace_root()))?;
    let environment = folder.join("installed");
    let _ = fs::remove_dir_all(&environment);
    run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let mut install = Command::new(environment.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-index"]).args(list_files(&wheels)?);
    let (started, before) = (Instant::now(), processor_seconds_of_children()?);
    run_command(&mut install)?;
    Ok((processor_seconds_of_children()? - before, started.elapsed().as_secs_f64()))
}

/// Builds the packages of npm, and measures how long it takes to install them into a new project.
fn time_npm(folder: &Path) -> Result<(f64, f64), TaskError> {
    let archives = pack_for_npm(folder, "release")?;
    let (started, before) = (Instant::now(), processor_seconds_of_children()?);
    install_from_archives(folder, &archives)?;
    Ok((processor_seconds_of_children()? - before, started.elapsed().as_secs_f64()))
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
