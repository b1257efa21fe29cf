//! Texts that are no calls: documentation, answers in JSON, logs, code, quotations, refusals. None of them runs, none is
//! reported as a refused call, and every byte stays content. The README of the corpus describes the format.

#[path = "support/read_in_pieces.rs"]
mod read_in_pieces;

use std::path::Path;

use read_in_pieces::read_in_pieces;
use toolmend::{Mender, TurnOptions};

/// The tools of a file, and its texts.
fn read(file: &str) -> (Mender, Vec<String>) {
    let (head, body) = file.split_once("\n=====\n").expect("a file begins with its tools");
    let tools = head.strip_prefix("tools: ").expect("a file begins with its tools");
    let mender = Mender::new(&serde_json::from_str(tools).expect("tools as JSON")).expect("tools");
    let body = body.strip_suffix('\n').unwrap_or(body);
    (mender, body.split("\n=====\n").map(str::to_owned).collect())
}

fn run(path: &Path) -> datatest_stable::Result<()> {
    let (mender, texts) = read(&std::fs::read_to_string(path)?);
    let mut wrong = Vec::new();
    for text in &texts {
        for size in [1, 7, text.len()] {
            let turn = read_in_pieces(&mender, &TurnOptions::new(), text, size);
            let is_text = turn.calls.is_empty() && turn.reasoning.is_empty() && turn.content == *text;
            if !is_text {
                let calls: Vec<_> = turn.calls.iter().map(|call| (&call.name, call.outcome())).collect();
                wrong.push(format!("{text}\n--- became {:?} {calls:?}\n", turn.content));
                break;
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} texts:\n\n{}", wrong.len(), texts.len(), wrong.join("\n")).into())
}

datatest_stable::harness! {
    { test = run, root = "../../corpus/not_calls", pattern = r"\.texts$" },
}
