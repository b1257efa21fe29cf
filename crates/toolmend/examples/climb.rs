//! Looks for slow inputs by hill climbing: `cargo xtask climb --seconds N`.
//!
//! A text is a head, a unit that is repeated, and a tail, all made of pieces that mean something to the readers. A change
//! that makes it take longer per byte is kept. What costs more than the target is printed, and a test should keep it
//! (`crates/toolmend/src/syntax/growth_tests.rs`, `crates/toolmend/src/stream/growth_tests.rs`).
//!
//! The program takes seconds, a seed, and a part of the names of the entry points to try. With the name of
//! a file instead of seconds, the lines of an earlier report in that file are measured again.

#![expect(clippy::print_stdout, reason = "the report is what this program is for")]

#[path = "../tests/support/json_marks.rs"]
mod json_marks;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use json_marks::JSON_MARKS;
use serde_json::json;
use toolmend::{FixOptions, Mender, Schema, TurnOptions, fix_with};

/// The most that a byte may cost.
const TARGET: f64 = 300.0;
/// The length of the texts.
const BYTES: usize = 16 << 10;
/// Changes in a row that lead nowhere before another start is tried.
const PATIENCE: usize = 60;

/// What texts are made of.
static PIECES: LazyLock<Vec<&str>> = LazyLock::new(|| [JSON_MARKS, TEXT_PIECES].concat());

const TEXT_PIECES: &[&str] = &[
    "\\",
    "\\n",
    "\\\"",
    "\\\\",
    "\\u00e9",
    "\\ud83d",
    "\\d",
    "\\'",
    "\"a\":",
    "'b':",
    "a:",
    "a=",
    "\"a\": \"",
    "\", \"b\": \"",
    "\", \"",
    "\",\"",
    "\"}",
    "\"]",
    "{\"a\":",
    "{\"a\": \"",
    "[1,",
    "{}",
    "[]",
    "}, {",
    "1",
    "12",
    "100,",
    "1,000",
    "1.5",
    "-1",
    "1e5",
    "0x1f",
    "true",
    "None",
    "null",
    "NaN",
    "...",
    "…",
    "x",
    "word ",
    "some words",
    "it's",
    "é",
    "“",
    "”",
    "‘",
    "’",
    "«",
    "：",
    "，",
    "｛",
    "\u{a0}",
    "\u{200b}",
    "<",
    ">",
    "<b>",
    "</b>",
    "‹",
    "&quot;",
    "&amp;",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<function=f>",
    "<parameter=a>",
    "</parameter>",
    "</function>",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<invoke name=\"f\">",
    "<parameter name=\"a\">",
    "f(a=",
    "f(",
    "f ",
    "{\"name\": \"f\", \"arguments\": {",
    "\"name\": \"f\"",
    "\"arguments\":",
    "Action: f\nAction Input: ",
    "<｜DSML｜",
    "<｜DSML｜invoke name=\"f\">",
    "<!--",
    "<pre>",
    "<|channel|>",
    "<|message|>",
    "<|start|>assistant",
    " to=functions.f ",
    "<tool_response>",
    "<arg_key>a</arg_key><arg_value>",
    "<f>",
    "For example:\n",
    "I will not call:\n",
    "words ",
    "Value 1",
    "\"x\": \"1\"",
    "--a ",
    "$",
    "|",
    ";",
    "C:\\",
    "http://a.b/c",
    "[see](x) ",
    "- ",
    "a: |\n  ",
    "&",
    "%20",
    "+ ",
];

/// A way into the library.
struct Entry {
    name: &'static str,
    run: Box<dyn Fn(&str)>,
}

fn entries() -> Vec<Entry> {
    let object = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}, "c": {"type": "number"},
        "d": {"type": "object", "properties": {"a": {"type": "boolean"}}},
        "e": {"anyOf": [{"type": "string", "enum": ["on", "off"]}, {"type": "null"}]},
    }, "required": ["a"], "additionalProperties": false});
    let list = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "number"}}}}}});
    let entry = |name, run: Box<dyn Fn(&str)>| Entry { name, run };
    let mut all = vec![entry("fix", Box::new(|text| drop(fix_with(text, &FixOptions::new()))))];
    // Many values to choose from, and members that depend on each other.
    let values: Vec<String> = (0..40).map(|number| format!("value_{number}")).collect();
    let items = json!({"type": "object", "properties": {"a": {"type": "string", "enum": values}, "x": {"type": "integer"}},
        "if": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}, "then": {"required": ["b"]}});
    let linked =
        json!({"anyOf": [items, {"type": "object", "properties": {"a": {"type": "array", "items": items}}}]});
    let schemas =
        [("fix with a schema", &object), ("fix with a list", &list), ("fix with linked members", &linked)];
    for (name, schema) in schemas {
        if let Ok(schema) = Schema::new(schema) {
            let options = FixOptions::new().schema(schema);
            all.push(entry(name, Box::new(move |text| drop(fix_with(text, &options)))));
        }
    }
    let tools = json!([{"name": "f", "parameters": object}, {"name": "g", "parameters": {"type": "object",
        "properties": {"command": {"type": "string"}}, "required": ["command"]}}]);
    let mender = Mender::lenient(&tools).0;
    for tool in ["f", "g"] {
        let mender = mender.clone();
        all.push(entry(tool, Box::new(move |text| drop(mender.mend(tool, text)))));
    }
    let whole = mender.clone();
    all.push(entry(
        "turn",
        Box::new(move |text| drop(whole.turn(text, &TurnOptions::default(), toolmend::Finish::Stop))),
    ));
    for (name, length) in [("turn in pieces", 7), ("turn in bytes", 1)] {
        let mender = mender.clone();
        all.push(entry(name, Box::new(move |text| push_pieces(&mender, text, length))));
    }
    all
}

fn push_pieces(mender: &Mender, text: &str, length: usize) {
    let mut stream = mender.stream(&TurnOptions::default());
    for piece in text.as_bytes().chunks(length) {
        drop(stream.push(piece));
    }
    drop(stream.finish(toolmend::Finish::Stop));
}

/// A text as the search changes it: indexes of pieces.
#[derive(Clone, Default)]
struct Genes {
    parts: [Vec<usize>; 3],
}

/// A head, a unit that is repeated, and a tail.
type Shape = [String; 3];

fn write_text([head, unit, tail]: &Shape, bytes: usize) -> String {
    let mut text = head.clone();
    while !unit.is_empty() && text.len() + unit.len() + tail.len() <= bytes {
        text.push_str(unit);
    }
    text + tail
}

impl Genes {
    fn shape(&self) -> Shape {
        self.parts.each_ref().map(|part| part.iter().map(|index| PIECES[*index]).collect())
    }

    fn text(&self, bytes: usize) -> String {
        write_text(&self.shape(), bytes)
    }

    fn mutate(&mut self, random: &mut Random) {
        for _ in 0..=random.below(3) {
            let part = &mut self.parts[[0, 1, 1, 1, 2][random.below(5)]];
            let piece = random.below(PIECES.len());
            let at = random.below(part.len() + 1);
            match random.below(4) {
                0 if at < part.len() => drop(part.remove(at)),
                1 if at < part.len() => part[at] = piece,
                2 if at + 1 < part.len() => part.swap(at, at + 1),
                _ if part.len() < 12 => part.insert(at, piece),
                _ => part.truncate(6),
            }
        }
    }
}

/// Xorshift: the search needs variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }
}

/// Nanoseconds that this thread has computed, whatever else the machine does.
#[expect(clippy::cast_precision_loss, reason = "a measurement")]
fn cpu_time() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Nanoseconds for each byte, the least of several runs.
#[expect(clippy::cast_precision_loss, reason = "a measurement")]
fn measure(entry: &Entry, text: &str, runs: usize) -> f64 {
    let time = |_| {
        let start = cpu_time();
        (entry.run)(text);
        cpu_time() - start
    };
    (0..runs).map(time).fold(f64::MAX, f64::min) / text.len().max(1) as f64
}

fn climb(entry: &Entry, random: &mut Random, until: Instant) -> (f64, Genes) {
    let mut best = (0.0, Genes::default());
    let mut failures = 0;
    while failures < PATIENCE && Instant::now() < until {
        let mut genes = best.1.clone();
        genes.mutate(random);
        let text = genes.text(BYTES);
        if text.len() < BYTES / 2 {
            continue;
        }
        // A second look only at what seems better: the machine may just have been busy.
        let cost = measure(entry, &text, 1);
        let cost = if cost > best.0 { measure(entry, &text, 3).min(cost) } else { cost };
        failures += 1;
        if cost > best.0 * 1.02 {
            best = (cost, genes);
            failures = 0;
        }
    }
    best
}

/// What a shape costs at two lengths, as a line of the report.
fn describe(entry: &Entry, shape: &Shape) -> (f64, f64, String) {
    let cost = measure(entry, &write_text(shape, BYTES), 3);
    let growth = measure(entry, &write_text(shape, 4 * BYTES), 2) / cost;
    let parts = json!(shape);
    (
        cost,
        growth,
        format!("{cost:8.0} ns/byte, x{growth:.2} for 4 times the length, {}: {parts}", entry.name),
    )
}

/// Measures the lines of an earlier report again.
fn measure_again(report: &str) {
    let entries = entries();
    for line in report.lines() {
        let Some((before, (name, shape))) = line
            .split_once("length, ")
            .and_then(|(before, rest)| Some((before.trim_start(), rest.split_once(": ")?)))
        else {
            continue;
        };
        let entry = entries.iter().find(|entry| entry.name == name);
        if let (Some(entry), Ok(shape)) = (entry, serde_json::from_str(shape)) {
            println!("{} (was {})", describe(entry, &shape).2, before.split(' ').next().unwrap_or_default());
        }
    }
}

fn main() {
    let first = std::env::args().nth(1).unwrap_or_else(|| "60".to_owned());
    let Ok(seconds) = first.parse() else {
        match std::fs::read_to_string(&first) {
            Ok(report) => measure_again(&report),
            Err(error) => println!("{first}: {error}"),
        }
        return;
    };
    let seed = std::env::args().nth(2).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let wanted = std::env::args().nth(3).unwrap_or_default();
    let entries: Vec<Entry> = entries().into_iter().filter(|entry| entry.name.contains(&wanted)).collect();
    let mut worst: Vec<(f64, String)> = Vec::new();
    while Instant::now() < until && !entries.is_empty() {
        let entry = &entries[random.below(entries.len())];
        let (_, genes) = climb(entry, &mut random, until);
        let (cost, growth, line) = describe(entry, &genes.shape());
        if cost > TARGET || growth > 1.5 {
            println!("{line}");
        }
        worst.push((cost, line));
    }
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    println!("the slowest of {}:", worst.len());
    for (_, line) in worst.iter().take(10) {
        println!("{line}");
    }
}
