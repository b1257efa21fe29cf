//! Measures streams of model output: plain text, large values in every dialect, and other stream parsers.

use std::hint::black_box;
use std::process::Command;

use serde_json::{Value, json};
use toolmend::{CallToRender, Finish, Mender, Turn, TurnOptions};

use crate::documents::source_text;
use crate::subprocess::{Reply, ask_child, ask_program};
use crate::table::{Scores, comparison_row, format_time, print_line, print_table};
use crate::timing::{self, Work, compare_times, median};

/// How many times as long plain text may take as `serde_json` on the same text in one JSON string.
const PLAIN_TARGET: f64 = 2.0;
const PLAIN_PIECES_TARGET: f64 = 20.0;
/// A value that is 16 times as long may take this many times as long.
const LARGE_TARGET: f64 = 20.0;
const SMALL: usize = 62_500;
const LARGE: usize = 1_000_000;
/// The size of a piece, about a token.
const PIECE: usize = 4;
const ROUNDS: usize = 5;
/// How often each parser is measured. The parsers take turns.
const TURNS: usize = 3;
/// The variable with the path of the program that contains the other parsers; `cargo xtask bench` builds it.
const PEERS_PROGRAM: &str = "TOOLMEND_STREAM_PEERS";
const PEERS: [&str; 2] = ["tool-parser", "dynamo-parsers"];
/// The dialects that all parsers know.
const COMPARED: [&str; 7] =
    ["hermes_json", "qwen3_xml", "kimi_k2", "glm47", "mistral_array", "deepseek_v31", "pythonic"];

/// Prints the tables.
pub(crate) fn measure(scores: &mut Scores) {
    print_table(
        "Plain text, 100 KB: toolmend against serde_json on the same text as one JSON string",
        &["", "serde_json", "toolmend", "ratio", "target", ""],
        &measure_plain_text(scores),
    );
    for (title, piece) in [("whole", usize::MAX), ("in pieces of 4 bytes", PIECE)] {
        print_table(
            &format!("A value of 1 MB against one of 62.5 KB, {title}"),
            &["", "62.5 KB", "1 MB", "ratio", "target", "value", ""],
            &toolmend::dialects()
                .iter()
                .filter_map(|dialect| measure_large_value(dialect.name(), piece, scores))
                .collect::<Vec<_>>(),
        );
    }
    match std::env::var(PEERS_PROGRAM) {
        Ok(program) => print_table(
            "Three calls in pieces of 4 bytes: each parser in a process of its own (time, and whether the calls are right)",
            &["", "toolmend", PEERS[0], PEERS[1], ""],
            &COMPARED.map(|dialect| compare_with_peers(&program, dialect, scores)),
        ),
        Err(_) => print_line("\n`cargo xtask bench` builds and measures the other stream parsers."),
    }
}

fn measure_plain_text(scores: &mut Scores) -> Vec<Vec<String>> {
    let text = build_prose(100_000);
    let json = Value::from(text.as_str()).to_string();
    let mender = Mender::new(&tools()).expect("the tools are valid");
    let options = TurnOptions::new();
    let mut works: [Work<'_>; 3] = [
        Box::new(|| drop(black_box(serde_json::from_str::<String>(black_box(&json))))),
        Box::new(|| drop(black_box(mender.turn(black_box(&text), &options, Finish::Stop)))),
        Box::new(|| drop(black_box(read_in_pieces(&mender, &options, black_box(&text), PIECE)))),
    ];
    let [theirs, whole, pieces] = compare_times(&mut works)[..] else { return Vec::new() };
    [("whole", whole, PLAIN_TARGET), ("in pieces of 4 bytes", pieces, PLAIN_PIECES_TARGET)]
        .map(|(name, ours, target)| {
            comparison_row(
                name,
                theirs,
                ours,
                target,
                [scores.score_at_most(ours / theirs, target).to_owned()],
            )
        })
        .into()
}

fn measure_large_value(dialect: &str, piece: usize, scores: &mut Scores) -> Option<Vec<String>> {
    render_call(dialect, SMALL)?;
    let reply = ask_child(&["stream time", dialect, &piece.to_string()], "");
    let Reply::Answer(answer) = &reply else {
        let mut row = vec![dialect.to_owned(), reply.failure().to_owned()];
        row.extend(["", "", "", "", scores.score(false)].map(ToOwned::to_owned));
        return Some(row);
    };
    let short = answer["small_ns"].as_f64().unwrap_or(1.0);
    let long = answer["large_ns"].as_f64().unwrap_or(f64::MAX);
    let right = answer["right"].as_bool().unwrap_or(false);
    Some(comparison_row(
        dialect,
        short,
        long,
        LARGE_TARGET,
        [
            if right { "right" } else { "WRONG" }.to_owned(),
            scores.score(right && long / short <= LARGE_TARGET).to_owned(),
        ],
    ))
}

/// Measures in a child process how long toolmend takes for values of both sizes in a dialect.
pub(crate) fn measure_sizes(dialect: &str, piece: &str) -> Option<Value> {
    let piece: usize = piece.parse().ok()?;
    let mender = Mender::new(&tools()).ok()?;
    let options = TurnOptions::new().dialect(dialect);
    let texts = [render_call(dialect, SMALL)?, render_call(dialect, LARGE)?];
    let read = |text: &str| match piece {
        usize::MAX => mender.turn(text, &options, Finish::Stop),
        piece => read_in_pieces(&mender, &options, text, piece),
    };
    let is_right = [SMALL, LARGE].iter().zip(&texts).all(|(&bytes, text)| {
        let turn = read(text);
        turn.calls.len() == 1 && turn.calls[0].verdict.value() == Some(build_arguments(bytes))
    });
    let mut works = texts.each_ref().map(|text| -> Work<'_> {
        let read = &read;
        Box::new(move || drop(black_box(read(black_box(text)))))
    });
    let times = timing::measure_shortest(&mut works, ROUNDS);
    Some(json!({"small_ns": times.first()?, "large_ns": times.get(1)?, "right": is_right}))
}

/// Measures in a child process how long toolmend takes for a stream.
pub(crate) fn measure_stream(dialect: &str, input: &str) -> Option<Value> {
    let input: Value = serde_json::from_str(input).ok()?;
    let text = input["text"].as_str()?;
    let mender = Mender::new(&input["tools"]).ok()?;
    // The other parsers are told the dialect too.
    let options = TurnOptions::new().dialect(dialect);
    let turn = read_in_pieces(&mender, &options, text, PIECE);
    let calls: Vec<_> = turn.calls.iter().map(|call| json!([call.name, call.arguments()])).collect();
    let mut works: [Work<'_>; 1] =
        [Box::new(|| drop(black_box(read_in_pieces(&mender, &options, black_box(text), PIECE))))];
    let times = timing::measure_shortest(&mut works, 9);
    Some(json!({"calls": calls, "ns": times.first()?}))
}

fn read_in_pieces(mender: &Mender, options: &TurnOptions, text: &str, piece: usize) -> Turn {
    let mut stream = mender.stream(options);
    let mut turn = Turn::default();
    for piece in text.as_bytes().chunks(piece) {
        stream.push_to(piece, &mut turn);
    }
    turn.extend(stream.finish(Finish::Stop));
    turn
}

fn compare_with_peers(program: &str, dialect: &str, scores: &mut Scores) -> Vec<String> {
    let calls = [
        ("write_report", build_arguments(2_000)),
        ("clock", json!({})),
        ("write_report", build_arguments(6_000)),
    ];
    let written: Vec<_> = calls.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let written: Vec<_> =
        written.iter().map(|(name, text)| CallToRender { name, arguments: text, id: "call00000" }).collect();
    let expected: Vec<_> = calls.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let Some(text) = find_dialect(dialect).and_then(|row| row.render(&written)) else {
        return vec![
            dialect.to_owned(),
            "no rendering".to_owned(),
            String::new(),
            String::new(),
            scores.score(false).to_owned(),
        ];
    };
    let input = json!({"text": text, "tools": tools()}).to_string();
    let mut found: Vec<(Vec<f64>, bool, &str)> = vec![(Vec::new(), false, ""); 1 + PEERS.len()];
    for _ in 0..TURNS {
        for (index, found) in found.iter_mut().enumerate() {
            let reply = match index.checked_sub(1).and_then(|index| PEERS.get(index)) {
                None => ask_child(&["stream", dialect], &input),
                Some(peer) => {
                    ask_program(Command::new(program).args([peer, dialect, &PIECE.to_string()]), &input)
                }
            };
            match &reply {
                Reply::Answer(answer) => {
                    found.0.extend(answer["ns"].as_f64());
                    found.1 = read_calls(&answer["calls"]).as_ref() == Some(&expected);
                }
                failed => found.2 = failed.failure(),
            }
        }
    }
    let times: Vec<f64> = found.iter().map(|(times, ..)| median(times.clone())).collect();
    let fastest = found.iter().zip(&times).skip(1).all(|((_, right, _), &time)| !right || time > times[0]);
    let mut row = vec![dialect.to_owned()];
    row.extend(found.iter().zip(&times).map(|((all, right, refusal), &median)| {
        if all.is_empty() {
            (*refusal).to_owned()
        } else {
            format!("{} {}", format_time(median), if *right { "right" } else { "wrong" })
        }
    }));
    row.push(scores.score(found[0].1 && fastest).to_owned());
    row
}

fn read_calls(calls: &Value) -> Option<Vec<(String, Value)>> {
    let read = |call: &Value| {
        let arguments = serde_json::from_str(call[1].as_str()?).ok()?;
        Some((call[0].as_str()?.to_owned(), arguments))
    };
    calls.as_array()?.iter().map(read).collect()
}

fn find_dialect(name: &str) -> Option<&'static toolmend::Dialect> {
    toolmend::dialects().iter().find(|dialect| dialect.name() == name)
}

/// Renders a call with a value of about this many bytes in a dialect.
fn render_call(dialect: &str, bytes: usize) -> Option<String> {
    find_dialect(dialect)?.render(&[CallToRender {
        name: "write_report",
        arguments: &build_arguments(bytes).to_string(),
        id: "call00000",
    }])
}

fn build_arguments(bytes: usize) -> Value {
    json!({"path": "src/report.py", "content": source_text(bytes)})
}

fn tools() -> Value {
    json!([
        {"type": "function", "function": {"name": "write_report", "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        }}},
        {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}},
    ])
}

/// Returns an answer as models write it: sentences, a list, some code, and characters that begin markers.
fn build_prose(bytes: usize) -> String {
    let unit = "The train leaves at 8:07 and takes 42 minutes, if the points at Voss are free.\n\n- `a < b` holds for all rows\n- see [the table](#table) and \"the notes\"\n\nOtherwise it waits: die Züge fahren später.\n\n";
    unit.repeat(bytes / unit.len() + 1)
}
