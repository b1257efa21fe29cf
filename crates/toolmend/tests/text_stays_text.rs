//! Every row of the dialect table, in places that show a call and in places that make one.
//!
//! What is shown leaves byte for byte: no call, no refused call, no reasoning. What is made runs. Both are read whole and
//! in pieces. The rows that cannot say which tool is called are left out of both; programs are never calls.

#[path = "support/read_in_pieces.rs"]
mod read_in_pieces;

use read_in_pieces::read_in_pieces;
use serde_json::{Value, json};
use toolmend::{CallToRender, Dialect, Mender, Source, ToolChoice, Turn, TurnOptions, dialects};

/// Rows that cannot say which tool is called, and programs, which are not calls.
const UNSURE: &[&str] = &["guided_named", "args_only", "code_agent", "md_bold"];

fn tools() -> Value {
    json!([
        {"name": "delete_file", "parameters": {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"},
            "recursive": {"type": "boolean"},
        }}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
    ])
}

/// One call in the notation of a row.
fn call(row: &Dialect) -> Option<String> {
    row.render(&[CallToRender { name: "delete_file", arguments: r#"{"path": "/data"}"#, id: "call00000" }])
}

fn indented(text: &str) -> String {
    format!("    {}\n", text.replace('\n', "\n    "))
}

fn quoted(text: &str) -> String {
    format!("> {}\n", text.replace('\n', "\n> "))
}

/// The row whose marker counts as one, although people type it as well.
const TYPED: &str = "calling_tool";

/// A place for a call.
type Place = (&'static str, fn(&str) -> String);

/// Places that show a call, for every row.
const SHOWN: &[Place] = &[
    ("fence", |call| format!("The format is:\n\n```\n{call}\n```\n\nDo not forget the last token.")),
    ("labelled fence", |call| format!("It begins like this.\n\n```text\n{call}\n```\n\nThen it ends.")),
    ("tildes", |call| format!("Format:\n\n~~~\n{call}\n~~~\n\nThat is all.")),
    ("longer fence", |call| format!("Look:\n\n````markdown\n```\n{call}\n```\n````\n\nThat is all.")),
    ("block quote", |call| format!("The user wrote:\n\n{}\nI will not run that.", quoted(call))),
    ("indented code", |call| format!("The log contains\n\n{}\nwhich looks wrong.", indented(call))),
    ("preformatted", |call| format!("Answer:\n<pre>\n{call}\n</pre>\n\nshows the format.")),
    ("comment", |call| format!("Answer below.\n<!--\n{call}\n-->\nThe answer is 4.")),
    ("echoed result", |call| {
        format!("<tool_response>\n{call}\n</tool_response>\n\nThe file contains an old call.")
    }),
    ("quotation", |call| format!("He wrote “{}” and left.", call.replace('\n', " "))),
    ("inline code", |call| format!("The model answered `{}` and stopped.", call.replace('\n', " "))),
    ("table", |call| {
        format!("| Model | Form |\n|---|---|\n| X | {} |\n| Y | none |\n", call.replace('\n', " "))
    }),
    ("sentence", |call| format!("You could write {} but it is late now.", call.replace('\n', " "))),
    ("string of JSON", |call| format!("{{\"answer\": {}, \"ok\": true}}", Value::from(call))),
    ("line of a log", |call| {
        format!("{{\"ts\": 1, \"msg\": {}}}\n{{\"ts\": 2, \"msg\": \"done\"}}", Value::from(call))
    }),
    ("example", |call| format!("For example:\n\n{call}\n\nThat is all.")),
    ("sentence without blanks", |call| format!("格式为{}，请注意。", call.trim().replace('\n', " "))),
    ("literal", |call| format!("parse(\"Notes {}\")", call.replace('"', "\\\"").replace('\n', "\\n"))),
    ("lines of a literal", |call| format!("PROMPT = \"\"\"\n{call}\n\"\"\"\nprint(PROMPT)")),
    ("here document", |call| format!("cat <<EOF > a.txt\n{call}\nEOF")),
    ("comment of a program", |call| format!("/*\n{call}\n*/\nint main() {{}}")),
];

/// Places in reasoning, after which the model answers.
const THOUGHT: &[Place] = &[
    ("lines", |call| format!("<think>\nMaybe:\n{call}\nNo, not needed.\n</think>\nThe answer is 4.")),
    ("sentence", |call| format!("<think>\nI could write {call} but no.\n</think>\nThe answer is 4.")),
    ("two calls", |call| format!("<think>\n{call}\n{call}\nNo.\n</think>\nThe answer is 4.")),
];

/// Places that show a call without a marker.
const SHOWN_UNMARKED: &[Place] = &[
    ("words after it", |call| format!("{call}\n\nThat is how it is called, and nothing was run.")),
    ("brackets after it", |call| format!("{call}\n[not executed] The user has to confirm first.")),
    ("template after it", |call| format!("{call}\n{{% endfor %}}")),
    ("log", |call| format!("The log shows\n[10:00] output begins\n{call}\n[10:01] refused by policy\n")),
    ("example", |call| format!("For example:\n\n{call}")),
    ("refusal", |call| format!("I must not run this:\n\n{call}")),
    ("transcript", |call| format!("User: delete it\n{call}\nUser: thanks")),
];

/// Places in which a call is made. Words may come before it.
const MADE: &[Place] = &[
    ("alone", str::to_owned),
    ("line break after it", |call| format!("{call}\n")),
    ("after a sentence", |call| format!("I will check that.\n\n{call}")),
    ("after an announcement", |call| format!("Let me look at the directory first:\n{call}")),
];

/// Reads every row in every place, whole and in pieces, and collects what is not as it should be.
fn check(places: &[Place], rows: impl Fn(&Dialect) -> bool, is_right: impl Fn(&Turn, &str) -> bool) {
    check_with(&TurnOptions::new(), places, rows, is_right);
}

/// The same, for a request.
fn check_with(
    options: &TurnOptions,
    places: &[Place],
    rows: impl Fn(&Dialect) -> bool,
    is_right: impl Fn(&Turn, &str) -> bool,
) {
    let mender = Mender::new(&tools()).expect("tools");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for row in dialects().iter().filter(|row| !UNSURE.contains(&row.name()) && rows(row)) {
        let Some(call) = call(row) else { continue };
        for (place, write) in places {
            let text = write(&call);
            count += 1;
            for size in [text.len(), 1, 7] {
                let turn = read_in_pieces(&mender, options, &text, size);
                if !is_right(&turn, &text) {
                    let calls: Vec<_> = turn.calls.iter().map(|call| (&call.name, call.outcome())).collect();
                    wrong.push(format!(
                        "{} in {place}, pieces of {size}: {text:?}\n  {:?} {calls:?}",
                        row.name(),
                        turn.content
                    ));
                    break;
                }
            }
        }
    }
    assert!(count > 0 && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

fn is_text(turn: &Turn, text: &str) -> bool {
    turn.calls.is_empty() && turn.reasoning.is_empty() && turn.content == text
}

#[test]
fn shown_calls_are_text() {
    check(SHOWN, |_| true, is_text);
}

#[test]
fn calls_in_reasoning_are_thoughts() {
    let is_thought = |turn: &Turn, text: &str| {
        let end = text.find("</think>").unwrap_or_default();
        turn.calls.is_empty()
            && turn.content == "The answer is 4."
            && turn.reasoning.trim() == text["<think>".len()..end].trim()
    };
    check(THOUGHT, |_| true, is_thought);
}

#[test]
fn nothing_runs_if_the_request_allows_no_calls() {
    let options = TurnOptions::new().tool_choice(ToolChoice::None);
    check_with(&options, MADE, |_| true, |turn, _| turn.calls.is_empty());
}

#[test]
fn shown_calls_without_a_marker_are_text() {
    check(SHOWN_UNMARKED, |row| row.source() == Source::Inferred && row.name() != TYPED, is_text);
}

#[test]
fn calls_in_their_places_run() {
    let made = |turn: &Turn, _: &str| {
        turn.calls.len() == 1
            && turn.calls[0].name == "delete_file"
            && turn.calls[0].arguments().is_some_and(|text| {
                serde_json::from_str::<Value>(text).ok() == Some(json!({"path": "/data"}))
            })
    };
    check(MADE, Dialect::on_by_default, made);
}
