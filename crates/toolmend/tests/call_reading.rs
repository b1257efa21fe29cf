//! Calls with a lost, doubled, repeated or cut part, in every row of the table of dialects: the calls that were written run, or
//! none does.

use std::ops::Range;

use serde_json::{Value, json};
use toolmend::{Call, CallToRender, Dialect, Finish, Mender, Turn, TurnOptions, dialects};

/// Rows that cannot say which tool is called, programs, and notations without marks.
const UNSURE: &[&str] =
    &["guided_named", "guided_required", "args_only", "code_agent", "md_bold", "yaml", "slash_shorthand"];

/// The values have no marks, so that every mark in a text belongs to the notation.
const ARGUMENTS: &str = r#"{"city": "Oslo", "note": "short", "days": 3}"#;
const OTHER: &str = r#"{"city": "Bergen", "note": "long", "days": 5}"#;

fn tools() -> Value {
    json!([
        {"name": "keep", "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"},
            "note": {"type": "string"},
            "days": {"type": "integer"},
        }}},
        {"name": "wipe", "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"},
        }}},
        {"name": "erase", "parameters": {"type": "object", "properties": {}}},
    ])
}

fn mender() -> Mender {
    Mender::new(&tools()).unwrap()
}

fn rows() -> impl Iterator<Item = &'static Dialect> {
    dialects().iter().filter(|row| !UNSURE.contains(&row.name()))
}

fn call<'a>(name: &'a str, arguments: &'a str) -> CallToRender<'a> {
    CallToRender { name, arguments, id: "call00000" }
}

fn read(mender: &Mender, row: &Dialect, text: &str) -> Turn {
    mender.turn(text, &TurnOptions::new().dialect(row.name()), Finish::Stop)
}

/// The calls of declared tools that run.
fn running(turn: &Turn) -> Vec<(&str, Value)> {
    let declared = |call: &&Call| matches!(call.name.as_str(), "keep" | "wipe" | "erase");
    let runs = turn.calls.iter().filter(|call| call.outcome().runs()).filter(declared);
    runs.map(|call| (call.name.as_str(), call.verdict.value().unwrap_or_default())).collect()
}

/// Collects mistakes, and fails if there are any or if too little was tried.
#[derive(Default)]
struct Tally {
    tried: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn check(&mut self, row: &Dialect, what: &str, text: &str, turn: &Turn, allowed: &[(&str, Value)]) {
        self.tried += 1;
        if let Some((name, value)) = running(turn).into_iter().find(|call| !allowed.contains(call)) {
            self.wrong.push(format!("{}: {what}\n  {text:?}\n  became {name} {value}", row.name()));
        }
    }

    fn finish(self, at_least: usize) {
        let Tally { tried, wrong } = self;
        assert!(tried >= at_least, "only {tried} texts");
        assert!(wrong.is_empty(), "{} of {tried} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// Lost and doubled marks of calls in Python's notation and between corner brackets. What is JSON is judged by `slips`.
#[test]
fn a_lost_or_doubled_mark_never_changes_a_call() {
    let mender = mender();
    let mut tally = Tally::default();
    let two = [call("keep", ARGUMENTS), call("wipe", r#"{"city": "Bergen"}"#)];
    let allowed = [("keep", parse(ARGUMENTS)), ("wipe", json!({"city": "Bergen"}))];
    let marks = |ch: &char| "\"'(),=「」始末".contains(*ch);
    for row in rows() {
        let Some(text) = row.render(&two) else { continue };
        if text.contains("{\"") {
            continue;
        }
        for (at, ch) in text.char_indices().filter(|(_, ch)| marks(ch)) {
            let (before, after) = (&text[..at], &text[at + ch.len_utf8()..]);
            for (what, text) in
                [("lost", format!("{before}{after}")), ("doubled", format!("{before}{ch}{ch}{after}"))]
            {
                let turn = read(&mender, row, &text);
                tally.check(row, &format!("{ch} at {at} {what}"), &text, &turn, &allowed);
            }
        }
    }
    tally.finish(500);
}

/// The last quote of a call that another one follows.
#[test]
fn a_string_never_takes_in_the_next_call() {
    let mender = mender();
    let mut tally = Tally::default();
    let first = r#"{"note": "short", "city": "Oslo"}"#;
    for (name, arguments) in [("wipe", r#"{"city": "Bergen"}"#), ("erase", "{}"), ("keep", OTHER)] {
        let allowed = [("keep", parse(first)), (name, parse(arguments))];
        for row in rows() {
            let Some(text) = row.render(&[call("keep", first), call(name, arguments)]) else { continue };
            for (at, _) in text.match_indices("Oslo") {
                let after = &text[at + 4..];
                let Some(mark) = after.chars().next().filter(|ch| matches!(ch, '"' | '\'' | '\\')) else {
                    continue;
                };
                let length = if mark == '\\' { 2 } else { 1 };
                let text = format!("{}Oslo{}", &text[..at], &after[length..]);
                let turn = read(&mender, row, &text);
                tally.check(row, "lost its last quote", &text, &turn, &allowed);
            }
        }
    }
    tally.finish(100);
}

/// Where each argument visibly begins: in its tag, or in its key.
fn beginnings(text: &str) -> Vec<(&'static str, usize)> {
    ["city", "note", "days"]
        .into_iter()
        .filter_map(|key| {
            let at = text.find(key)?;
            let tag = text[..at].rfind('<').filter(|tag| at - tag < 40 && !text[*tag..at].contains('>'));
            Some((key, tag.map_or(at + 1, |tag| tag + 6)))
        })
        .collect()
}

/// The model says that it stopped by itself, but the next argument has begun.
#[test]
fn a_call_with_a_begun_argument_is_truncated() {
    let mender = mender();
    let mut tally = Tally::default();
    for row in rows() {
        let Some(text) = row.render(&[call("keep", ARGUMENTS)]) else { continue };
        let begun = beginnings(&text);
        for (cut, _) in text.char_indices().skip(1) {
            let turn = read(&mender, row, &text[..cut]);
            tally.tried += 1;
            for (name, value) in running(&turn) {
                let whole = parse(ARGUMENTS);
                let other = value
                    .as_object()
                    .is_none_or(|members| members.iter().any(|(key, value)| whole[key] != *value));
                let missing = begun.iter().find(|(key, from)| cut >= *from && value.get(*key).is_none());
                if name != "keep" || other || missing.is_some() {
                    let what = format!("cut at {cut}, missing {missing:?}");
                    tally.wrong.push(format!(
                        "{}: {what}\n  {:?}\n  became {name} {value}",
                        row.name(),
                        &text[..cut]
                    ));
                }
            }
        }
    }
    tally.finish(5000);
}

/// The marker that ends directly before `at`, if there is one.
fn marker_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text[..at].trim_end();
    let (open, close) = if before.ends_with('>') { ('<', '>') } else { ('[', ']') };
    let start = before.ends_with(close).then(|| before.rfind(open)).flatten()?;
    let names = before[start..].contains("keep");
    (!names && !before[start..].contains(['"', '\n', '='])).then_some(start..before.len())
}

/// A part of the envelope that is there twice and differs.
#[test]
fn a_call_that_says_two_things_is_refused() {
    let mender = mender();
    let mut tally = Tally::default();
    for row in rows() {
        let Some(text) = row.render(&[call("keep", ARGUMENTS)]) else { continue };
        let mut doubled = Vec::new();
        for (at, _) in text.match_indices(ARGUMENTS) {
            let (before, after) = (&text[..at], &text[at + ARGUMENTS.len()..]);
            // `"arguments": {…}, "arguments": {…}`
            if let Some(key) = before
                .trim_end()
                .strip_suffix(':')
                .and_then(|text| text.rfind([',', '{']).map(|at| &text[at + 1..]))
            {
                doubled.push(("arguments", format!("{before}{ARGUMENTS}, {}: {OTHER}{after}", key.trim())));
            }
            // `[ARGS]{…}[ARGS]{…}`
            if let Some(marker) = marker_before(&text, at) {
                doubled.push((
                    "marker of arguments",
                    format!("{before}{ARGUMENTS}{}{OTHER}{after}", &text[marker]),
                ));
            }
        }
        for name in ["\"name\": \"keep\"", "name=\"keep\""] {
            let other = name.replace("keep", "wipe");
            let comma = if name.starts_with('"') { ", " } else { " " };
            if text.contains(name) {
                doubled.push(("name", text.replacen(name, &format!("{name}{comma}{other}"), 1)));
            }
        }
        for (what, text) in doubled {
            let turn = read(&mender, row, &text);
            tally.check(row, &format!("{what} twice"), &text, &turn, &[]);
        }
    }
    tally.finish(40);
}

/// Nothing, a word for nothing, and JSON that lost its first brace, where the arguments should be.
#[test]
fn nothing_never_becomes_a_value() {
    let mender = mender();
    let mut tally = Tally::default();
    let written = r#"{"city": "Oslo"}"#;
    let instead =
        ["", "N/A", "none", "N/A (ask the user first)", r#""city": "Oslo"}"#, "...", "\n</tool_call>\n"];
    for row in rows() {
        let Some(text) = row.render(&[call("wipe", written)]) else { continue };
        for (at, _) in text.match_indices(written) {
            for part in instead {
                let text = format!("{}{part}{}", &text[..at], &text[at + written.len()..]);
                for text in [text.clone(), text[..at + part.len()].trim_end().to_owned()] {
                    let turn = read(&mender, row, &text);
                    tally.check(
                        row,
                        &format!("{part:?} for arguments"),
                        &text,
                        &turn,
                        &[("wipe", parse(written))],
                    );
                }
            }
        }
    }
    tally.finish(300);
}

/// Values that contain elements that some dialect uses for arguments, and markers of the dialect itself.
#[test]
fn elements_of_a_value_stay_in_it() {
    const VALUES: &[&str] = &[
        "<param>1</param>",
        "<param name='a'>1</param>",
        "<parameter>1</parameter>",
        "a\n<param>1</param>",
        "<param><param>1</param></param>",
        "<arg_value>x</arg_value>",
        "<argument>x</argument>",
        "use ]<]minimax[>[",
        "start 「始」x「末」 end",
        "x「末」",
        "「始」x",
    ];
    let mender = mender();
    let mut tally = Tally::default();
    for row in rows() {
        for value in VALUES {
            let arguments = json!({"city": value, "note": format!("{value} and {value}")});
            let Some(text) = row.render(&[call("keep", &arguments.to_string())]) else { continue };
            let turn = read(&mender, row, &text);
            tally.check(row, "element in a value", &text, &turn, &[("keep", arguments)]);
        }
    }
    tally.finish(500);
}

/// A prefix with a meaning of its own makes another name.
#[test]
fn another_name_calls_no_declared_tool() {
    let mender = mender();
    let mut tally = Tally::default();
    let names = [
        "dry_run.keep",
        "help:keep",
        "undo::keep",
        "no_op/keep",
        "mcp__a__b__keep",
        "functions.simulate.keep",
    ];
    for row in rows() {
        for name in names {
            let Some(text) = row.render(&[call(name, ARGUMENTS)]) else { continue };
            let turn = read(&mender, row, &text);
            tally.check(row, name, &text, &turn, &[]);
        }
    }
    tally.finish(300);
}

/// A list of calls loses none of them: what is not read is refused or shown.
#[test]
fn no_lost_mark_makes_a_call_vanish() {
    let mender = mender();
    let mut tally = Tally::default();
    for row in rows() {
        let calls = [call("keep", ARGUMENTS), call("wipe", r#"{"city": "Bergen"}"#)];
        let Some(text) = row.render(&calls) else { continue };
        for (at, mark) in text.match_indices(['{', '}', '[', ']', '"', ',', ':', '\'']) {
            let damaged = format!("{}{}", &text[..at], &text[at + mark.len()..]);
            let turn = read(&mender, row, &damaged);
            let calls =
                turn.calls.iter().map(|call| format!("{} {}", call.raw, call.arguments().unwrap_or("")));
            let known = calls.fold(turn.content.clone() + &turn.reasoning, |known, call| known + &call);
            tally.tried += 1;
            if let Some(lost) = ["Oslo", "Bergen"].iter().find(|value| !known.contains(**value)) {
                tally.wrong.push(format!("{}: {lost} is lost: {damaged}", row.name()));
            }
        }
    }
    tally.finish(1000);
}

/// What follows a call shows that it was not complete: a quote and a bracket, or another argument.
#[test]
fn a_call_that_goes_on_is_not_cut_short() {
    let mender = mender();
    for (text, expected) in [
        (
            r#"<tool_call>{"name": "keep", "arguments": {"city": "A", "note": "{\"x\": {\"y\": \"z"}}"}}</tool_call>"#,
            Some(r#"{"city": "A", "note": "{\"x\": {\"y\": \"z\"}}"}"#),
        ),
        (
            r#"[TOOL_CALLS]keep[ARGS]{"city": "A", "note": "{\"x\": \"y"}"}"#,
            Some(r#"{"city": "A", "note": "{\"x\": \"y\"}"}"#),
        ),
        (r#"[TOOL_CALLS]keep[ARGS]{"city": "A"}, "days": 3}"#, None),
        (
            r#"<tool_call>{"name": "keep", "arguments": {"city": "A"}, "days": 3}}</tool_call>"#,
            Some(r#"{"city": "A", "days": 3}"#),
        ),
        (
            "<tool_call>\n<function=keep>\n<parameter=city>\nA\n</parameter>\n</function>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            None,
        ),
    ] {
        let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
        let found: Vec<Value> = running(&turn).into_iter().map(|(_, arguments)| arguments).collect();
        let expected: Vec<Value> = expected.into_iter().map(parse).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(turn.calls.len(), 1, "{text}: {:?}", turn.content);
    }
}
