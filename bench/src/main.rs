//! Speed and memory, as ratios: against `serde_json`, against other repairers and readers, and on hostile input.
//!
//! Everything is measured in one run, because only ratios of the same run mean something.

#![forbid(unsafe_code)]

mod broken;
mod child;
mod clock;
mod documents;
mod pathologies;
mod peers;
mod schema;
mod streams;
mod table;
mod valid;

use std::process::ExitCode;

use crate::table::Scores;

/// What the command runs with, for everybody who is measured. The system's own gives large blocks back to the kernel each
/// time, and then page faults are what is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["child", rest @ ..] => child::serve(rest),
        [] => measure(false),
        ["--gate"] => measure(true),
        _ => {
            table::line("Usage: toolmend-bench [--gate]");
            ExitCode::from(2)
        }
    }
}

fn measure(gate: bool) -> ExitCode {
    let mut scores = Scores::default();
    valid::measure(&mut scores);
    broken::measure(&mut scores);
    pathologies::measure(&mut scores);
    schema::measure(&mut scores);
    streams::measure(&mut scores);
    table::line(&format!("\n{} targets met, {} missed", scores.met, scores.missed));
    if gate && scores.missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
