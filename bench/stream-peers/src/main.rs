//! Other readers of streams: one of them on one stream, what it found and how long that took.
//!
//! `toolmend-stream-peers PEER DIALECT BYTES` reads `{"text": …, "tools": […]}` from standard input, feeds the text in
//! pieces of that many bytes, and writes `{"calls": […], "ns": …}`.

#![forbid(unsafe_code)]

// The clock that everybody is measured with.
#[path = "../../src/clock.rs"]
#[allow(dead_code, reason = "the measuring program uses all of it")]
mod clock;
mod dynamo;
mod smg;

use std::io::{Read, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// A call as it was found: its name, and its arguments as JSON text.
type Call = (String, String);

/// What a reader found, and how long one run takes, in nanoseconds.
struct Answer {
    calls: Vec<Call>,
    nanoseconds: f64,
}

const ROUNDS: usize = 9;

/// What toolmend is measured with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match answer() {
        Some(answer) => {
            let calls: Vec<_> = answer.calls.iter().map(|(name, arguments)| json!([name, arguments])).collect();
            let written = writeln!(std::io::stdout(), "{}", json!({"calls": calls, "ns": answer.nanoseconds}));
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        None => ExitCode::FAILURE,
    }
}

fn answer() -> Option<Answer> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [peer, dialect, bytes] = args.as_slice() else { return None };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).ok()?;
    let input: Value = serde_json::from_str(&input).ok()?;
    let pieces = pieces(input["text"].as_str()?, bytes.parse().ok()?);
    match peer.as_str() {
        "tool-parser" => smg::read(dialect, &pieces, &input["tools"]),
        "dynamo-parsers" => dynamo::read(dialect, &pieces, &input["tools"]),
        _ => None,
    }
}

/// The text in pieces of about so many bytes, none of which ends inside a character.
fn pieces(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(bytes.clamp(1, rest.len())));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}
