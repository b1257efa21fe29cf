//! Hostile input: time stays linear, memory stays small, nothing falls over.

use crate::child::{Reply, ask};
use crate::documents::file_schema;
use crate::table::{Scores, print, ratio, time};

pub(crate) const SMALL: usize = 64 << 10;
pub(crate) const LARGE: usize = 1 << 20;
/// Sixteen times the input may take this many times the time.
const TIME_TARGET: f64 = 20.0;
const MEMORY_TARGET_KIB: u64 = 100_000;

/// The unit that is repeated, by name. What stands before it, once, comes first.
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
    // The list above is asked for; these are ours.
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

/// The hostile text of that name.
pub(crate) fn text(name: &str, bytes: usize) -> Option<String> {
    let (_, start, unit) = UNITS.iter().find(|(known, ..)| *known == name)?;
    let mut text = (*start).to_owned();
    while text.len() + unit.len() <= bytes {
        text.push_str(unit);
    }
    Some(text)
}

pub(crate) fn measure(scores: &mut Scores) {
    for (title, schema) in [("no schema", String::new()), ("with schema", file_schema().to_string())] {
        print(
            &format!("Hostile text, {title}: 1 MiB against 64 KiB"),
            &["", "64 KiB", "1 MiB", "ratio", "target", "peak memory", ""],
            &UNITS.iter().map(|(name, ..)| row(name, &schema, scores)).collect::<Vec<_>>(),
        );
    }
}

fn row(name: &str, schema: &str, scores: &mut Scores) -> Vec<String> {
    let (time_reply, memory_reply) =
        (ask(&["hostile time", name, schema], ""), ask(&["hostile memory", name, schema], ""));
    let (Reply::Answer(times), Reply::Answer(memory)) = (&time_reply, &memory_reply) else {
        let refusal = format!("{} {}", time_reply.refusal(), memory_reply.refusal());
        let mut row = vec![name.to_owned(), refusal];
        row.extend(["", "", "", "", scores.holds(false)].map(ToOwned::to_owned));
        return row;
    };
    let short = times["small_ns"].as_f64().unwrap_or(1.0);
    let long = times["large_ns"].as_f64().unwrap_or(f64::MAX);
    let peak = memory["peak_kib"].as_u64().unwrap_or(u64::MAX);
    // Below this everything is noise, and nothing is slow.
    let quick = long < 200_000.0;
    let met = (quick || long / short <= TIME_TARGET) && peak < MEMORY_TARGET_KIB;
    vec![
        name.to_owned(),
        time(short),
        time(long),
        ratio(long / short),
        ratio(TIME_TARGET),
        format!("{} MiB", peak >> 10),
        scores.holds(met).to_owned(),
    ]
}
