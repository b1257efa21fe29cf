//! Work in a process of its own: what hangs, overflows or eats memory there, does not end the run.

use std::fs;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clock::{Work, compare_for};
use crate::{pathologies, peers};

/// Longer than anything that works takes.
const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 9;

/// Asks a new process; nothing where it crashed or did not answer in time.
pub(crate) fn ask(args: &[&str], input: &str) -> Option<Value> {
    let mut child = Command::new(std::env::current_exe().ok()?)
        .arg("child")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let mut stdout = child.stdout.take()?;
    let input = input.to_owned();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let reader = thread::spawn(move || {
        let mut answer = String::new();
        stdout.read_to_string(&mut answer).map(|_| answer)
    });
    let start = Instant::now();
    let finished = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status.success();
        }
        if start.elapsed() > PATIENCE {
            child.kill().ok()?;
            child.wait().ok()?;
            break false;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let (_, answer) = (writer.join(), reader.join().ok()?.ok()?);
    if finished { serde_json::from_str(&answer).ok() } else { None }
}

/// Answers what [`ask`] asked.
pub(crate) fn serve(args: &[&str]) -> ExitCode {
    let mut input = String::new();
    if io::stdin().read_to_string(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = match args {
        ["repair", name, schema] => repair(name, schema, &input),
        ["hostile", name, schema, bytes] => hostile(name, schema, bytes.parse().unwrap_or(0)),
        _ => None,
    };
    match answer {
        Some(answer) => {
            crate::table::line(&answer.to_string());
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// One repairer on one text: what it gives, and how long it takes.
fn repair(name: &str, schema: &str, input: &str) -> Option<Value> {
    let repair = peers::repairer(name, Some(schema).filter(|schema| !schema.is_empty()))?;
    let output = repair(input);
    let mut works: [Work<'_>; 1] = [Box::new(|| drop(black_box(repair(black_box(input)))))];
    let times = compare_for(&mut works, ROUNDS);
    Some(json!({"output": output, "ns": times.first()?}))
}

/// toolmend on hostile text: how long it takes, and the most memory it held.
fn hostile(name: &str, schema: &str, bytes: usize) -> Option<Value> {
    let text = pathologies::text(name, bytes)?;
    let repair = peers::repairer("toolmend", Some(schema).filter(|schema| !schema.is_empty()))?;
    let before = memory("VmRSS:")?;
    drop(black_box(repair(&text)));
    let peak = memory("VmHWM:")?;
    let mut works: [Work<'_>; 1] = [Box::new(|| drop(black_box(repair(black_box(&text)))))];
    let times = compare_for(&mut works, 3);
    Some(json!({"ns": times.first()?, "before_kib": before, "peak_kib": peak}))
}

/// A line of the process's status, in KiB. Only Linux has it.
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
