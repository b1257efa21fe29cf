//! Measures hostile input: time must stay linear, memory small, and nothing may crash.

use crate::subprocess::{Reply, ask_child};
use crate::table::{Scores, comparison_row, print_table};
use crate::write_file_schema::write_file_schema;

pub(crate) const SMALL: usize = 64 << 10;
pub(crate) const LARGE: usize = 1 << 20;
/// An input that is 16 times as long may take this many times as long.
const TIME_TARGET: f64 = 20.0;
const MEMORY_TARGET_KIB: u64 = 100_000;

/// A name, a start, and the unit that is repeated after it.
const UNITS: &[(&str, &str, &str)] = &[
    ("[", "", "["),
    ("{\"a\":", "", "{\"a\":"),
    ("\"", "", "\""),
    ("\\", "", "\\"),
    ("'", "", "'"),
    (",", "", ","),
    ("/*", "", "/*"),
    ("{\"a\":\"", "", "{\"a\":\""),
    ("\"a\" \"b\" ", "", "\"a\" \"b\" "),
    ("\\\"", "", "\\\""),
    ("alternating quotes", "", "\"'"),
    ("a string of \", \"", "{\"content\": \"", "\", \""),
    ("a string of \", \"path\": \"", "{\"content\": \"", "x\", \"path\": \""),
    ("[{", "", "[{"),
    ("] in an array", "[", "1]"),
    ("{ in prose", "", "see {this} and "),
    ("fences", "", "```json\n"),
    ("key=value", "", "a=b, "),
    ("// comments", "{", "// x\n"),
    ("` quotes", "{\"a\": ", "`"),
    ("numbers", "[", "1 "),
    ("{}", "", "{} "),
    ("\\u escapes", "\"", "\\ud800"),
    ("words", "{\"a\": ", "word "),
    ("HTML entities", "", "{&quot;"),
];

/// Builds the hostile text of this name.
pub(crate) fn build_text(name: &str, bytes: usize) -> Option<String> {
    let (_, start, unit) = UNITS.iter().find(|(known, ..)| *known == name)?;
    let mut text = (*start).to_owned();
    while text.len() + unit.len() <= bytes {
        text.push_str(unit);
    }
    Some(text)
}

/// Prints the tables.
pub(crate) fn measure(scores: &mut Scores) {
    for (title, schema) in [("no schema", String::new()), ("with schema", write_file_schema().to_string())] {
        print_table(
            &format!("Hostile text, {title}: 1 MiB against 64 KiB"),
            &["", "64 KiB", "1 MiB", "ratio", "target", "peak memory", ""],
            &UNITS.iter().map(|(name, ..)| measure_unit(name, &schema, scores)).collect::<Vec<_>>(),
        );
    }
}

fn measure_unit(name: &str, schema: &str, scores: &mut Scores) -> Vec<String> {
    let (time_reply, memory_reply) =
        (ask_child(&["hostile time", name, schema], ""), ask_child(&["hostile memory", name, schema], ""));
    let (Reply::Answer(times), Reply::Answer(memory)) = (&time_reply, &memory_reply) else {
        let failure = format!("{} {}", time_reply.failure(), memory_reply.failure());
        let mut row = vec![name.to_owned(), failure];
        row.extend(["", "", "", "", scores.score(false)].map(ToOwned::to_owned));
        return row;
    };
    let short = times["small_ns"].as_f64().unwrap_or(1.0);
    let long = times["large_ns"].as_f64().unwrap_or(f64::MAX);
    let peak = memory["peak_kib"].as_u64().unwrap_or(u64::MAX);
    // Shorter times are mostly noise.
    let is_quick = long < 200_000.0;
    let is_met = (is_quick || long / short <= TIME_TARGET) && peak < MEMORY_TARGET_KIB;
    comparison_row(
        name,
        short,
        long,
        TIME_TARGET,
        [format!("{} MiB", peak >> 10), scores.score(is_met).to_owned()],
    )
}
