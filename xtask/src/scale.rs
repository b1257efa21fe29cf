//! `cargo xtask scale MEGABYTES`: measures how large files are cleaned: speed against the library alone, memory, and runs that
//! are killed and resumed.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::builds::{build_scale_example, build_toolmend};
use crate::command::{TaskError, capture_output, print_line};
use crate::files::{cache_folder, file_error, write_file};
use crate::servers::process_memory;

/// The most memory that a run may take, in KiB.
const MAX_MEMORY: u64 = 500 * 1024;
/// The lowest speed, as a share of a loop around the library on the same number of cores, from memory to memory.
const MIN_SPEED: f64 = 0.8;
/// How many cores are measured.
const CORES: &str = "2";
/// The library is measured on some of the calls, because all calls are alike.
const LIBRARY_MEGABYTES: u64 = 512;
/// When a run is killed, as shares of the time that it takes.
const KILL_TIMES: [f64; 2] = [0.3, 0.4];
const KINDS: [(&str, &str); 3] = [("jsonl", "column"), ("parquet", "column"), ("chat", "chat")];

/// Measures every kind of file, or only one.
pub(crate) fn run(megabytes: &str, only: Option<&str>) -> Result<(), TaskError> {
    let size: u64 =
        megabytes.parse().map_err(|_| TaskError(format!("expected megabytes, found `{megabytes}`")))?;
    let programs = Programs {
        binary: build_toolmend(true)?,
        generator: build_scale_example()?,
        folder: cache_folder("scale")?,
    };
    write_file(&programs.folder.join("tools.json"), programs.run_generator(&["tools"])?)?;
    let mut missed = Vec::new();
    for (kind, layout) in KINDS.into_iter().filter(|(kind, _)| only.is_none_or(|only| only == *kind)) {
        missed.extend(programs.measure(kind, layout, size)?);
    }
    TaskError::from_missed(&missed)
}

/// The programs that are run, and the folder for their files.
struct Programs {
    binary: PathBuf,
    generator: PathBuf,
    folder: PathBuf,
}

/// What a run cost.
#[derive(Debug, Clone, Copy)]
struct RunCost {
    seconds: f64,
    /// The most memory that it held, in KiB.
    memory: u64,
}

/// The speed of the library, in calls per second.
#[derive(Debug, Clone, Copy)]
struct LibrarySpeed {
    /// Only the calls, in memory.
    alone: f64,
    /// A loop over rows of this kind. There is none for chats, whose rows differ too much.
    looped: Option<f64>,
}

impl Programs {
    fn run_generator(&self, args: &[&str]) -> Result<String, TaskError> {
        let output = capture_output("the generator", Command::new(&self.generator).args(args))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(TaskError(format!("the generator failed ({})", output.status)))
    }

    fn measure(&self, kind: &str, layout: &str, size: u64) -> Result<Vec<String>, TaskError> {
        let extension = if kind == "parquet" { "parquet" } else { "jsonl" };
        let [input, whole, killed] =
            ["in", "whole", "killed"].map(|name| self.folder.join(format!("{kind}-{name}.{extension}")));
        let calls = parse_number(&self.run_generator(&[
            "generate",
            kind,
            &size.to_string(),
            &input.display().to_string(),
        ])?);
        let bytes = file_length(&input);
        print_line(&format!("\n{kind}: {calls} calls in {:.2} GB", bytes / 1e9));
        // The library is measured before and after, because the machine is shared.
        let before = self.measure_library(kind, size)?;
        let cost = self.clean_file(&input, &whole, layout)?;
        let after = self.measure_library(kind, size)?;
        let (alone, rate) = (f64::midpoint(before.alone, after.alone), calls / cost.seconds);
        let looped = before.looped.zip(after.looped).map(|(before, after)| f64::midpoint(before, after));
        let print_speed = |what: &str, rate: f64, from: &str| {
            print_line(&format!("  library, {what:<11} {rate:>10.0} calls/s on {CORES} cores, {from}"));
        };
        print_speed("calls alone", alone, "from memory, no output");
        if let Some(looped) = looped {
            print_speed("in a loop", looped, "rows from memory to memory");
        }
        print_line(&format!(
            "  toolmend batch       {rate:>10.0} calls/s, {:.0} MB/s, from disk to disk; {:.1} s, at most {} MB",
            bytes / 1e6 / cost.seconds,
            cost.seconds,
            cost.memory / 1024
        ));
        let percent = |of: f64| 100.0 * rate / of;
        let loop_share =
            looped.map_or_else(String::new, |looped| format!("{:.0} % of the loop, ", percent(looped)));
        print_line(&format!("                       {loop_share}{:.0} % of the calls alone", percent(alone)));
        let resumed = self.kill_and_resume(&input, &killed, layout, cost.seconds)?;
        let same = are_equal(&whole, &killed)? && are_equal(&rejects_path(&whole), &rejects_path(&killed))?;
        print_line(&format!(
            "  killed {} times and resumed, at most {} MB: {}",
            KILL_TIMES.len(),
            resumed.memory / 1024,
            if same { "the same bytes" } else { "DIFFERENT BYTES" }
        ));
        for path in [&input, &whole, &killed, &rejects_path(&whole), &rejects_path(&killed)] {
            let _ = fs::remove_file(path);
        }
        let mut missed = Vec::new();
        let memory = cost.memory.max(resumed.memory);
        if memory > MAX_MEMORY {
            missed.push(format!("{kind}: {} MB of memory (at most {} MB)", memory / 1024, MAX_MEMORY / 1024));
        }
        if let Some(looped) = looped.filter(|looped| rate < MIN_SPEED * looped) {
            missed.push(format!(
                "{kind}: {:.0} % of a loop around the library (at least {:.0} %)",
                percent(looped),
                100.0 * MIN_SPEED
            ));
        }
        if !same {
            missed.push(format!("{kind}: a run that was killed and resumed wrote different bytes"));
        }
        Ok(missed)
    }

    fn measure_library(&self, kind: &str, size: u64) -> Result<LibrarySpeed, TaskError> {
        let size = size.min(LIBRARY_MEGABYTES).to_string();
        let rate = |args: &[&str]| -> Result<f64, TaskError> {
            let answer = self.run_generator(args)?;
            let mut parts = answer.split_whitespace().map(parse_number);
            Ok(parts.next().unwrap_or(0.0) / parts.next().unwrap_or(1.0))
        };
        let looped = (kind != "chat").then(|| rate(&["by-hand", kind, &size, CORES])).transpose()?;
        Ok(LibrarySpeed { alone: rate(&["bare", &size, CORES])?, looped })
    }

    fn clean_command(&self, input: &Path, out: &Path, layout: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("batch").arg(input).args(["--layout", layout, "--threads", CORES, "--out"]).arg(out);
        // Rows of chats contain their tools.
        if layout == "column" {
            command.arg("--tools").arg(self.folder.join("tools.json"));
        }
        command.arg("--rejects").arg(rejects_path(out)).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs the command without interruption.
    fn clean_file(&self, input: &Path, out: &Path, layout: &str) -> Result<RunCost, TaskError> {
        let started = Instant::now();
        let child = self
            .clean_command(input, out, layout)
            .spawn()
            .map_err(|error| TaskError::cannot_start("toolmend", &error))?;
        let memory = wait_or_kill(child, None)?;
        Ok(RunCost { seconds: started.elapsed().as_secs_f64(), memory })
    }

    /// Kills a run several times, and then resumes it to its end.
    fn kill_and_resume(
        &self,
        input: &Path,
        out: &Path,
        layout: &str,
        seconds: f64,
    ) -> Result<RunCost, TaskError> {
        let started = Instant::now();
        let mut memory = 0;
        for (index, share) in KILL_TIMES.into_iter().enumerate() {
            let mut command = self.clean_command(input, out, layout);
            if index > 0 {
                command.arg("--resume");
            }
            let child = command.spawn().map_err(|error| TaskError::cannot_start("toolmend", &error))?;
            memory = memory.max(wait_or_kill(child, Some(Duration::from_secs_f64(seconds * share)))?);
            if out.exists() {
                return Err(TaskError(
                    "the run ended before it could be killed; use more megabytes".to_owned(),
                ));
            }
        }
        let child = self.clean_command(input, out, layout).arg("--resume").spawn();
        memory = memory
            .max(wait_or_kill(child.map_err(|error| TaskError::cannot_start("toolmend", &error))?, None)?);
        Ok(RunCost { seconds: started.elapsed().as_secs_f64(), memory })
    }
}

/// Waits for a process, or kills it after some time. Returns the most memory that it held, in KiB.
fn wait_or_kill(mut child: Child, kill_after: Option<Duration>) -> Result<u64, TaskError> {
    let started = Instant::now();
    let mut most = 0;
    loop {
        // The kernel keeps the peak, but only until the process ends.
        most = most.max(process_memory(child.id(), "VmHWM").unwrap_or(0));
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) if status.success() => return Ok(most),
            Ok(Some(status)) => return Err(TaskError(format!("`toolmend batch` failed ({status})"))),
            Err(error) => return Err(TaskError(format!("cannot wait: {error}"))),
        }
        if kill_after.is_some_and(|time| started.elapsed() >= time) {
            // SIGKILL, so that the process cannot clean up.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(most);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn rejects_path(out: &Path) -> PathBuf {
    out.with_extension("rejects.jsonl")
}

#[expect(clippy::cast_precision_loss, reason = "only printed")]
fn file_length(path: &Path) -> f64 {
    fs::metadata(path).map_or(0.0, |metadata| metadata.len() as f64)
}

fn parse_number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(0.0)
}

/// Whether two files contain the same bytes.
fn are_equal(one: &Path, other: &Path) -> Result<bool, TaskError> {
    let open = |path: &Path| File::open(path).map_err(|error| file_error("read", path, &error));
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        let read = |file: &mut File, into: &mut Vec<u8>| file.take(8 << 20).read_to_end(into).unwrap_or(0);
        let count = read(&mut one, &mut left);
        read(&mut other, &mut right);
        if left != right {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}
