//! One marker of a call is truncated, lost, doubled, misspelt or misquoted, with prose around the calls: the calls that
//! were written run, or they are refused, or they are text.
//!
//! Every row of the table writes two calls, and every marker in them is damaged in turn at every byte. A lost marker
//! makes values swallow their neighbours, and the call still looks right. That is the worst mistake a reader of markup
//! can make. The normal run takes a sample; `cargo test -p toolmend --test markup -- --ignored` tries everything.

use std::ops::Range;

use serde_json::{Value, json};
use toolmend::{Call, CallToRender, Dialect, Finish, Mender, Turn, TurnOptions, dialects};

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

/// What is written before and after the calls. The words are in no value.
const PROSE: &[(&str, &str)] = &[("", ""), ("One moment, please.\n\n", "\n\nThat was everything.")];

/// Names of tools and arguments. A misspelt name is another call, not another marker.
const NAMES: &[&str] = &["keep", "erase", "city", "days", "note", "opts", "string", "number", "call0000"];

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
fn markers(text: &str) -> Vec<Range<usize>> {
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

/// A text with one damaged marker.
struct Damage {
    what: String,
    text: String,
}

/// Every way to damage one marker.
fn damages_of(marker: &str) -> Vec<(String, String)> {
    let mut out = vec![("lost".to_owned(), String::new()), ("doubled".to_owned(), marker.repeat(2))];
    let is_in_name = |at: usize| {
        let covers = |name: &&str| {
            marker.match_indices(*name).any(|(from, name)| (from..from + name.len()).contains(&at))
        };
        NAMES.iter().any(covers)
    };
    for (at, ch) in marker.char_indices() {
        let (before, after) = (&marker[..at], &marker[at + ch.len_utf8()..]);
        // A name that loses a part is another name.
        let whole = |half: &str| NAMES.iter().all(|name| marker.contains(name) == half.contains(name));
        for (what, half) in [("truncated", before), ("beheaded", &marker[at..])] {
            if at > 0 && whole(half) {
                out.push((format!("{what} at {at}"), half.to_owned()));
            }
        }
        if is_in_name(at) {
            continue;
        }
        out.push((format!("without byte {at}"), format!("{before}{after}")));
        // Twice the first or last byte is the marker and a byte of text.
        if at > 0 && !after.is_empty() {
            out.push((format!("with byte {at} twice"), format!("{before}{ch}{ch}{after}")));
        }
        if ch.is_alphabetic() {
            out.push((format!("misspelt at {at}"), format!("{before}x{after}")));
        }
        if let Some(next) = after.chars().next().filter(|&next| next != ch && !is_in_name(at + ch.len_utf8()))
        {
            let rest = &after[next.len_utf8()..];
            out.push((format!("swapped at {at}"), format!("{before}{next}{ch}{rest}")));
        }
        let quotes: &[&str] = match ch {
            '"' => &["'", "”", "\\\"", "`"],
            '\'' => &["\"", "’"],
            '=' => &[":", " "],
            _ => &[],
        };
        for quote in quotes {
            out.push((format!("misquoted at {at} with {quote}"), format!("{before}{quote}{after}")));
        }
    }
    out
}

/// The text with one marker damaged, in every possible way.
fn damaged(text: &str) -> Vec<Damage> {
    let mut out = Vec::new();
    for place in markers(text) {
        let marker = &text[place.clone()];
        for (what, instead) in damages_of(marker) {
            out.push(Damage {
                what: format!("{marker} {what}"),
                text: format!("{}{instead}{}", &text[..place.start], &text[place.end..]),
            });
        }
    }
    out
}

/// What is wrong with the answer to a damaged text.
fn find_mistake(turn: &Turn, damage: &Damage, written: &[(&str, Value)]) -> Option<String> {
    let is_written = |call: &Call| {
        let value = call.verdict.value().unwrap_or_default();
        written.iter().any(|(name, arguments)| *name == call.name && *arguments == value)
    };
    let declared = |call: &&Call| matches!(call.name.as_str(), "keep" | "erase");
    let running = turn.calls.iter().filter(|call| call.outcome().runs()).filter(declared);
    if let Some(call) = running.clone().find(|call| !is_written(call)) {
        return Some(format!("became {} {:?}", call.name, call.arguments()));
    }
    // A call that does not run is refused with its bytes, or it is text.
    let left: String =
        turn.calls.iter().filter(|call| !call.outcome().runs()).map(|call| &*call.raw).collect();
    let undeclared: String = turn.calls.iter().map(|call| &*call.name).collect();
    for (name, _) in written {
        let can_be_lost = running.clone().any(|call| call.name == *name) || !damage.text.contains(name);
        if !can_be_lost
            && ![&left, &undeclared, &turn.content, &turn.reasoning].iter().any(|text| text.contains(name))
        {
            return Some(format!("lost {name}"));
        }
    }
    None
}

/// Tries one of `every` damages, and all of them if it is 1.
fn check_damages(every: usize) {
    let mender = Mender::new(&tools()).unwrap();
    let (mut tried, mut wrong) = (0, Vec::new());
    for row in dialects().iter().filter(|row| !UNMARKED.contains(&row.name())) {
        // The sample of a row does not depend on the other rows.
        let mut of_row = 0;
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
            for (before, after) in PROSE {
                for damage in damaged(&format!("{before}{text}{after}")) {
                    tried += 1;
                    of_row += 1;
                    if of_row % every != 0 {
                        continue;
                    }
                    let turn = read(&mender, row, &damage.text);
                    if let Some(mistake) = find_mistake(&turn, &damage, &written) {
                        let (what, text) = (&damage.what, &damage.text);
                        wrong.push(format!("{}: {what}\n  {text:?}\n  {mistake}", row.name()));
                    }
                }
            }
        }
    }
    assert!(tried > 100_000, "only {tried} damages");
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), tried / every, wrong.join("\n"));
}

fn read(mender: &Mender, row: &Dialect, text: &str) -> Turn {
    mender.turn(text, &TurnOptions::new().dialect(row.name()), Finish::Stop)
}

/// The number is prime, so that the sample is spread over rows, markers and damages.
#[test]
fn a_damaged_marker_never_changes_a_call() {
    check_damages(23);
}

#[test]
#[ignore = "takes minutes; the test above takes a sample of the same damages"]
fn no_damage_of_a_marker_changes_a_call() {
    check_damages(1);
}
