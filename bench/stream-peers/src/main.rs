//! Runs another stream parser on a stream and prints the calls and the time.
//!
//! `toolmend-stream-peers PEER DIALECT BYTES` reads `{"text": …, "tools": […]}` from standard input, feeds the text in
//! pieces of this many bytes, and writes `{"calls": […], "ns": …}`.

#![forbid(unsafe_code)]

// The same measurement as for toolmend.
mod dynamo;
mod smg;
#[path = "../../src/timing.rs"]
#[allow(dead_code, reason = "the benchmark uses all of it")]
mod timing;

use std::io::{Read, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// A call: its name, and its arguments as JSON text.
type Call = (String, String);

/// The calls that a parser found, and the time of one run in nanoseconds.
struct Answer {
    calls: Vec<Call>,
    nanoseconds: f64,
}

const ROUNDS: usize = 9;

/// The allocator that toolmend is measured with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run_peer() {
        Some(answer) => {
            let calls: Vec<_> =
                answer.calls.iter().map(|(name, arguments)| json!([name, arguments])).collect();
            let written =
                writeln!(std::io::stdout(), "{}", json!({"calls": calls, "ns": answer.nanoseconds}));
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        None => ExitCode::FAILURE,
    }
}

fn run_peer() -> Option<Answer> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [peer, dialect, bytes] = args.as_slice() else { return None };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).ok()?;
    let input: Value = serde_json::from_str(&input).ok()?;
    let pieces = split_pieces(input["text"].as_str()?, bytes.parse().ok()?);
    match peer.as_str() {
        "tool-parser" => smg::read_stream(dialect, &pieces, &input["tools"]),
        "dynamo-parsers" => dynamo::read_stream(dialect, &pieces, &input["tools"]),
        _ => None,
    }
}

/// Splits the text into pieces of about this many bytes. No piece ends inside a character.
fn split_pieces(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(bytes.clamp(1, rest.len())));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
