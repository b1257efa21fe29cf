//! Work in a process of its own: what hangs, overflows or eats memory there, does not end the run.

use std::fs;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clock::{self, Work};
use crate::pathologies::{LARGE, SMALL};
use crate::{pathologies, peers, streams};

/// Longer than anything that works takes.
const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 9;

/// What came of asking a process.
#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Value),
    Crashed,
    TimedOut,
}

impl Reply {
    /// Why there is no answer, as a word for the table.
    pub(crate) fn refusal(&self) -> &'static str {
        match self {
            Reply::Answer(_) => "",
            Reply::Crashed => "crashed",
            Reply::TimedOut => "timed out",
        }
    }
}

/// Asks a new process of this program.
pub(crate) fn ask(args: &[&str], input: &str) -> Reply {
    match std::env::current_exe() {
        Ok(program) => ask_program(Command::new(program).arg("child").args(args), input),
        Err(_) => Reply::Crashed,
    }
}

/// Asks another program.
pub(crate) fn ask_program(program: &mut Command, input: &str) -> Reply {
    match answer(program, input) {
        Ok(Some(answer)) => Reply::Answer(answer),
        Ok(None) => Reply::TimedOut,
        Err(_) => Reply::Crashed,
    }
}

/// The answer of a new process; nothing where it took too long.
fn answer(program: &mut Command, input: &str) -> io::Result<Option<Value>> {
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

/// Answers what [`ask`] asked.
pub(crate) fn serve(args: &[&str]) -> ExitCode {
    let mut input = String::new();
    if io::stdin().read_to_string(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = match args {
        ["repair", name, schema] => repair(name, schema, &input),
        ["hostile time", name, schema] => hostile_time(name, schema),
        ["hostile memory", name, schema] => hostile_memory(name, schema),
        ["stream time", dialect, piece] => streams::times(dialect, piece),
        ["stream", dialect] => streams::read(dialect, &input),
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
    let times = clock::shortest(&mut works, ROUNDS);
    Some(json!({"output": output, "ns": times.first()?}))
}

/// How long toolmend takes for hostile text of both sizes. The shortest time is the one without disturbance.
fn hostile_time(name: &str, schema: &str) -> Option<Value> {
    let repair = peers::repairer("toolmend", Some(schema).filter(|schema| !schema.is_empty()))?;
    let texts = [pathologies::text(name, SMALL)?, pathologies::text(name, LARGE)?];
    let mut works = texts.each_ref().map(|text| -> Work<'_> {
        let repair = &repair;
        Box::new(move || drop(black_box(repair(black_box(text)))))
    });
    let times = clock::shortest(&mut works, ROUNDS);
    Some(json!({"small_ns": times.first()?, "large_ns": times.get(1)?}))
}

/// The most memory that toolmend holds for the large hostile text.
fn hostile_memory(name: &str, schema: &str) -> Option<Value> {
    let repair = peers::repairer("toolmend", Some(schema).filter(|schema| !schema.is_empty()))?;
    let text = pathologies::text(name, LARGE)?;
    drop(black_box(repair(&text)));
    Some(json!({"peak_kib": memory("VmHWM:")?}))
}

/// A line of the process's status, in KiB. Only Linux has it.
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
