//! Measures speed and memory as ratios: against `serde_json`, against other repairers and stream parsers, and on hostile input.
//!
//! Everything is measured in one run, because only ratios of the same run are comparable.

#![forbid(unsafe_code)]

mod broken_text;
mod documents;
mod hostile_text;
mod repairers;
mod schema_checks;
mod streams;
mod subprocess;
mod table;
mod timing;
mod valid_text;
#[path = "../../crates/toolmend/tests/support/write_file_schema.rs"]
mod write_file_schema;

use std::process::ExitCode;

use crate::table::Scores;

/// The allocator of the command, for everything that is measured. The system allocator returns large blocks to the kernel each
/// time, which would measure page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["child", rest @ ..] => subprocess::answer_parent(rest),
        [] => run_measurements(false),
        ["--gate"] => run_measurements(true),
        _ => {
            table::print_line("Usage: toolmend-bench [--gate]");
            ExitCode::from(2)
        }
    }
}

fn run_measurements(gate: bool) -> ExitCode {
    let mut scores = Scores::default();
    valid_text::measure(&mut scores);
    broken_text::measure(&mut scores);
    hostile_text::measure(&mut scores);
    schema_checks::measure(&mut scores);
    streams::measure(&mut scores);
    table::print_line(&format!("\n{} targets met, {} missed", scores.met, scores.missed));
    if gate && scores.missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
