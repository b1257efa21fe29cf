//! Runs work in another process, so that a hang, a stack overflow or a lack of memory does not end the run.

use std::fs;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hostile_text::{LARGE, SMALL};
use crate::timing::{self, Work};
use crate::{hostile_text, repairers, streams};

/// Longer than any work that ends takes.
const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 9;

/// The reply of a process.
#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Value),
    Crashed,
    TimedOut,
}

impl Reply {
    /// Says for the table why there is no answer.
    pub(crate) fn failure(&self) -> &'static str {
        match self {
            Reply::Answer(_) => "",
            Reply::Crashed => "crashed",
            Reply::TimedOut => "timed out",
        }
    }
}

/// Asks a new process of this program.
pub(crate) fn ask_child(args: &[&str], input: &str) -> Reply {
    match std::env::current_exe() {
        Ok(program) => ask_program(Command::new(program).arg("child").args(args), input),
        Err(_) => Reply::Crashed,
    }
}

/// Asks another program.
pub(crate) fn ask_program(program: &mut Command, input: &str) -> Reply {
    match run_program(program, input) {
        Ok(Some(answer)) => Reply::Answer(answer),
        Ok(None) => Reply::TimedOut,
        Err(_) => Reply::Crashed,
    }
}

/// Runs a program and returns its answer, or `None` if it took too long.
fn run_program(program: &mut Command, input: &str) -> io::Result<Option<Value>> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_owned();
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let reader = thread::spawn(move || {
        let mut answer = String::new();
        stdout.map(|mut stdout| stdout.read_to_string(&mut answer));
        answer
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    };
    let (_, answer) = (writer.join(), reader.join().unwrap_or_default());
    if status.success() { Ok(Some(serde_json::from_str(&answer)?)) } else { Err(io::ErrorKind::Other.into()) }
}

/// Answers a request of [`ask_child`].
pub(crate) fn answer_parent(args: &[&str]) -> ExitCode {
    let mut input = String::new();
    if io::stdin().read_to_string(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = match args {
        ["repair", name, schema] => measure_repair(name, schema, &input),
        ["hostile time", name, schema] => measure_hostile_time(name, schema),
        ["hostile memory", name, schema] => measure_hostile_memory(name, schema),
        ["stream time", dialect, piece] => streams::measure_sizes(dialect, piece),
        ["stream", dialect] => streams::measure_stream(dialect, &input),
        _ => None,
    };
    match answer {
        Some(answer) => {
            crate::table::print_line(&answer.to_string());
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// Runs one repairer on a text. Returns its output and the time.
fn measure_repair(name: &str, schema: &str, input: &str) -> Option<Value> {
    let repair = repairers::find_repairer(name, Some(schema).filter(|schema| !schema.is_empty()))?;
    let output = repair(input);
    let mut works: [Work<'_>; 1] = [Box::new(|| drop(black_box(repair(black_box(input)))))];
    let times = timing::measure_shortest(&mut works, ROUNDS);
    Some(json!({"output": output, "ns": times.first()?}))
}

/// Measures how long toolmend takes for hostile text of both sizes.
fn measure_hostile_time(name: &str, schema: &str) -> Option<Value> {
    let repair = repairers::find_repairer("toolmend", Some(schema).filter(|schema| !schema.is_empty()))?;
    let texts = [hostile_text::build_text(name, SMALL)?, hostile_text::build_text(name, LARGE)?];
    let mut works = texts.each_ref().map(|text| -> Work<'_> {
        let repair = &repair;
        Box::new(move || drop(black_box(repair(black_box(text)))))
    });
    let times = timing::measure_shortest(&mut works, ROUNDS);
    Some(json!({"small_ns": times.first()?, "large_ns": times.get(1)?}))
}

/// Measures the most memory that toolmend holds for the large hostile text.
fn measure_hostile_memory(name: &str, schema: &str) -> Option<Value> {
    let repair = repairers::find_repairer("toolmend", Some(schema).filter(|schema| !schema.is_empty()))?;
    let text = hostile_text::build_text(name, LARGE)?;
    drop(black_box(repair(&text)));
    Some(json!({"peak_kib": read_memory("VmHWM:")?}))
}

/// Reads a field of this process's status, in KiB. Only Linux has it.
fn read_memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
