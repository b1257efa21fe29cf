//! One marker of a call is lost, doubled or misspelt: the calls that were written run, or none does.
//!
//! Every row of the table writes two calls, and every marker in them is damaged in turn. A lost marker makes values
//! swallow their neighbours, and the call still looks right. That is the worst mistake a reader of markup can make.

use serde_json::{Value, json};
use toolmend::{Call, CallToRender, Dialect, Finish, Mender, TurnOptions, dialects};

/// Rows that cannot say which tool is called, and notations whose markers are ordinary words.
const UNMARKED: &[&str] = &["guided_named", "args_only", "code_agent", "md_bold", "yaml", "react"];

/// Values without markers, so that every marker in a text belongs to the notation.
const VALUES: &[(&str, &str)] = &[
    ("Oslo", "3"),
    ("São \"X\"\nPaulo", "-4"),
    ("fn main() {\n    println!(\"hi, {}\", name);\n}\n", "12"),
    ("", "0"),
    ("a, b: c; days: 7", "5"),
];

fn tools() -> Value {
    json!([
        {"name": "keep", "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "note": {"type": "string"},
            "opts": {"type": "object"},
        }}},
        {"name": "erase", "parameters": {"type": "object", "properties": {}}},
    ])
}

/// The positions of markers: text in angle or square brackets without a break in it.
fn markers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    for (at, open) in text.match_indices(['<', '[']) {
        let close = if open == "<" { '>' } else { ']' };
        let rest = &text[at..];
        let Some(end) = rest.find(close).map(|end| end + 1) else { continue };
        let inner = &rest[1..end - 1];
        let named = inner.chars().any(char::is_alphabetic) && !inner.contains(['\n', '{', '(', ',']);
        if named && !inner.contains(['<', '[']) {
            out.push(at..at + end);
        }
    }
    out
}

/// The text with one marker damaged, in every possible way.
fn damaged(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for place in markers(text) {
        let marker = &text[place.clone()];
        let mut with = |what: &str, instead: String| {
            let damaged = format!("{}{instead}{}", &text[..place.start], &text[place.end..]);
            out.push((format!("{marker} {what}"), damaged));
        };
        with("lost", String::new());
        with("doubled", format!("{marker}{marker}"));
        // A special token is one token of the model. Only words of tags are misspelt.
        if !marker.contains(['|', '｜', '[']) {
            with("without its end", marker[..marker.len() - 1].to_owned());
            with("without its beginning", marker[1..].to_owned());
            if marker.contains("parameter") {
                with("misspelt", marker.replace("parameter", "paramter"));
                with("misspelt otherwise", marker.replace("parameter", "parametre"));
            }
        }
    }
    out
}

/// A call that runs although it was not written.
fn invented(mender: &Mender, row: &Dialect, text: &str, written: &[(&str, Value)]) -> Option<String> {
    let turn = mender.turn(text, &TurnOptions::new().dialect(row.name()), Finish::Stop);
    let same = |call: &Call| {
        let declared = matches!(call.name.as_str(), "keep" | "erase");
        let value = call.verdict.value().unwrap_or_default();
        !declared || written.iter().any(|(name, arguments)| *name == call.name && *arguments == value)
    };
    let call = turn.calls.iter().find(|call| call.outcome().runs() && !same(call))?;
    Some(format!("{} {:?}", call.name, call.arguments()))
}

#[test]
fn a_damaged_marker_never_changes_a_call() {
    let mender = Mender::new(&tools()).unwrap();
    let (mut tried, mut wrong) = (0, Vec::new());
    for row in dialects().iter().filter(|row| !UNMARKED.contains(&row.name())) {
        for (city, days) in VALUES {
            let days: i64 = days.parse().unwrap();
            let first = json!({"city": city, "days": days, "opts": {"a": [1, true, null]}, "note": "short"});
            let (json, empty) = (first.to_string(), json!({}));
            let calls = [
                CallToRender { name: "keep", arguments: &json, id: "call00000" },
                CallToRender { name: "erase", arguments: "{}", id: "call00001" },
            ];
            let Some(text) = row.render(&calls) else { continue };
            let written = [("keep", first), ("erase", empty)];
            for (what, text) in damaged(&text) {
                tried += 1;
                if let Some(found) = invented(&mender, row, &text, &written) {
                    wrong.push(format!("{}: {what}\n  {text:?}\n  became {found}", row.name()));
                }
            }
        }
    }
    assert!(tried > 5_000, "only {tried} damages");
    assert!(wrong.is_empty(), "{} of {tried} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
