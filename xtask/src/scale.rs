//! `cargo xtask scale MEGABYTES`: cleaning large files: speed against the bare library, memory, and runs that are killed.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab;
use crate::step::{self, Failed, cargo, say};

/// The most memory that a run may take, in KiB.
const MOST_MEMORY: u64 = 500 * 1024;
/// The least speed, as a part of what a loop around the bare library does on as many cores, from memory to memory.
const LEAST_SPEED: f64 = 0.8;
/// How many cores are measured.
const CORES: &str = "2";
/// The library is measured on a part of the calls; they are alike.
const BARE_MEGABYTES: u64 = 512;
/// How often a run is killed, at these parts of its time.
const KILLS: [f64; 2] = [0.3, 0.4];
const KINDS: [(&str, &str); 3] = [("jsonl", "column"), ("parquet", "column"), ("chat", "chat")];

/// Generates, measures, kills and compares, for every kind or for one.
pub(crate) fn run(megabytes: &str, only: Option<&str>) -> Result<(), Failed> {
    let size: u64 =
        megabytes.parse().map_err(|_| Failed(format!("expected megabytes, found `{megabytes}`")))?;
    let binary = lab::toolmend(true)?;
    step::run(&mut cargo(&["build", "--release", "--package", "toolmend-batch", "--example", "scale"]))?;
    let lab =
        Lab { binary, scale: lab::target().join("release/examples/scale"), folder: lab::cache("scale")? };
    let tools = lab.folder.join("tools.json");
    fs::write(&tools, lab.ask(&["tools"])?)
        .map_err(|error| Failed(format!("cannot write the tools: {error}")))?;
    let mut missed = Vec::new();
    for (kind, layout) in KINDS.into_iter().filter(|(kind, _)| only.is_none_or(|only| only == *kind)) {
        missed.extend(lab.measure(kind, layout, size)?);
    }
    if missed.is_empty() { Ok(()) } else { Err(Failed(missed.join("; "))) }
}

struct Lab {
    binary: PathBuf,
    scale: PathBuf,
    folder: PathBuf,
}

/// What a run took.
#[derive(Debug, Clone, Copy)]
struct Took {
    seconds: f64,
    memory: u64,
}

/// Calls a second of the library.
#[derive(Debug, Clone, Copy)]
struct Library {
    /// Texts in memory, and nothing around them.
    alone: f64,
    /// A loop over rows of that kind; rows of chats are taken apart in too many ways.
    looped: Option<f64>,
}

impl Lab {
    fn ask(&self, args: &[&str]) -> Result<String, Failed> {
        let output = Command::new(&self.scale).args(args).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| Failed(format!("cannot run the generator: {error}")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(Failed(format!("the generator failed ({})", output.status)))
    }

    fn measure(&self, kind: &str, layout: &str, size: u64) -> Result<Vec<String>, Failed> {
        let end = if kind == "parquet" { "parquet" } else { "jsonl" };
        let [input, whole, killed] =
            ["in", "whole", "killed"].map(|name| self.folder.join(format!("{kind}-{name}.{end}")));
        let calls =
            number(&self.ask(&["generate", kind, &size.to_string(), &input.display().to_string()])?);
        let bytes = length(&input);
        say(&format!("\n{kind}: {calls} calls in {:.2} GB", bytes / 1e9));
        // By turns, because the machine is shared.
        let before = self.library(kind, size)?;
        let took = self.clean(&input, &whole, layout)?;
        let after = self.library(kind, size)?;
        let (alone, rate) = (f64::midpoint(before.alone, after.alone), calls / took.seconds);
        let looped = before.looped.zip(after.looped).map(|(before, after)| f64::midpoint(before, after));
        let library = |what: &str, rate: f64, from: &str| {
            say(&format!("  library, {what:<11} {rate:>10.0} calls/s on {CORES} cores, {from}"));
        };
        library("calls alone", alone, "from memory to nowhere");
        if let Some(looped) = looped {
            library("in a loop", looped, "rows from memory to memory");
        }
        say(&format!(
            "  toolmend batch       {rate:>10.0} calls/s, {:.0} MB/s, from disk to disk; {:.1} s, {} MB at most",
            bytes / 1e6 / took.seconds,
            took.seconds,
            took.memory / 1024
        ));
        let percent = |of: f64| 100.0 * rate / of;
        let loop_share =
            looped.map_or_else(String::new, |looped| format!("{:.0} % of the loop, ", percent(looped)));
        say(&format!("                       {loop_share}{:.0} % of the calls alone", percent(alone)));
        let kills = self.killed(&input, &killed, layout, took.seconds)?;
        let same = same(&whole, &killed)? && same(&rejects(&whole), &rejects(&killed))?;
        say(&format!(
            "  killed {} times and resumed, {} MB at most: {}",
            KILLS.len(),
            kills.memory / 1024,
            if same { "the same bytes" } else { "OTHER BYTES" }
        ));
        for path in [&input, &whole, &killed, &rejects(&whole), &rejects(&killed)] {
            let _ = fs::remove_file(path);
        }
        let mut missed = Vec::new();
        let memory = took.memory.max(kills.memory);
        if memory > MOST_MEMORY {
            missed.push(format!(
                "{kind}: {} MB of memory (at most {} MB)",
                memory / 1024,
                MOST_MEMORY / 1024
            ));
        }
        if let Some(looped) = looped.filter(|looped| rate < LEAST_SPEED * looped) {
            missed.push(format!(
                "{kind}: {:.0} % of a loop around the library (at least {:.0} %)",
                percent(looped),
                100.0 * LEAST_SPEED
            ));
        }
        if !same {
            missed.push(format!("{kind}: a run that was killed and resumed wrote other bytes"));
        }
        Ok(missed)
    }

    fn library(&self, kind: &str, size: u64) -> Result<Library, Failed> {
        let size = size.min(BARE_MEGABYTES).to_string();
        let rate = |args: &[&str]| -> Result<f64, Failed> {
            let told = self.ask(args)?;
            let mut parts = told.split_whitespace().map(number);
            Ok(parts.next().unwrap_or(0.0) / parts.next().unwrap_or(1.0))
        };
        let looped = (kind != "chat").then(|| rate(&["by-hand", kind, &size, CORES])).transpose()?;
        Ok(Library { alone: rate(&["bare", &size, CORES])?, looped })
    }

    fn command(&self, input: &Path, out: &Path, layout: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("batch").arg(input).args(["--layout", layout, "--threads", CORES, "--out"]).arg(out);
        // Rows of chats bring their tools along.
        if layout == "column" {
            command.arg("--tools").arg(self.folder.join("tools.json"));
        }
        command.arg("--rejects").arg(rejects(out)).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A run from its beginning to its end.
    fn clean(&self, input: &Path, out: &Path, layout: &str) -> Result<Took, Failed> {
        let started = Instant::now();
        let child = self
            .command(input, out, layout)
            .spawn()
            .map_err(|error| Failed(format!("cannot start: {error}")))?;
        let memory = watched(child, None)?;
        Ok(Took { seconds: started.elapsed().as_secs_f64(), memory })
    }

    /// A run that is killed again and again, and then goes on to its end.
    fn killed(&self, input: &Path, out: &Path, layout: &str, seconds: f64) -> Result<Took, Failed> {
        let started = Instant::now();
        let mut memory = 0;
        for (time, part) in KILLS.into_iter().enumerate() {
            let mut command = self.command(input, out, layout);
            if time > 0 {
                command.arg("--resume");
            }
            let child = command.spawn().map_err(|error| Failed(format!("cannot start: {error}")))?;
            memory = memory.max(watched(child, Some(Duration::from_secs_f64(seconds * part)))?);
            if out.exists() {
                return Err(Failed(
                    "the run was done before it could be killed; take more megabytes".to_owned(),
                ));
            }
        }
        let child = self.command(input, out, layout).arg("--resume").spawn();
        memory = memory.max(watched(child.map_err(|error| Failed(format!("cannot start: {error}")))?, None)?);
        Ok(Took { seconds: started.elapsed().as_secs_f64(), memory })
    }
}

/// Waits for a process, or kills it after a time. Tells the most memory that it held, in KiB.
fn watched(mut child: Child, kill: Option<Duration>) -> Result<u64, Failed> {
    let started = Instant::now();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        // The kernel keeps the peak; it only has to be read before the process is gone.
        if let Ok(text) = fs::read_to_string(&status) {
            let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
            most = most.max(peak.unwrap_or(0));
        }
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) if status.success() => return Ok(most),
            Ok(Some(status)) => return Err(Failed(format!("`toolmend batch` failed ({status})"))),
            Err(error) => return Err(Failed(format!("cannot wait: {error}"))),
        }
        if kill.is_some_and(|after| started.elapsed() >= after) {
            // SIGKILL: nothing is said, nothing is put away.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(most);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn rejects(out: &Path) -> PathBuf {
    out.with_extension("rejects.jsonl")
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn length(path: &Path) -> f64 {
    fs::metadata(path).map_or(0.0, |about| about.len() as f64)
}

fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(0.0)
}

/// Whether two files hold the same bytes.
fn same(one: &Path, other: &Path) -> Result<bool, Failed> {
    let open = |path: &Path| {
        File::open(path).map_err(|error| Failed(format!("cannot read {}: {error}", path.display())))
    };
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
