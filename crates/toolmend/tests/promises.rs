//! The promises of the README, as properties of any text.
//!
//! Each test is named after its promise. Promises 5 and 6 are about whole model outputs and streams; `tests/streaming.rs`
//! checks them.

#[path = "support/json_marks.rs"]
mod json_marks;

use std::borrow::Cow;

use json_marks::JSON_MARKS;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use toolmend::{Finish, FixOptions, Mender, Outcome, Reason, Schema, TurnOptions, Verdict, fix, fix_with};

/// Pieces of broken JSON, besides its marks. There are no escapes and no numbers in other notations: a piece means what it
/// says, so that the words of the output can be looked up in the input.
const PIECES: &[&str] = &[
    "\"a\":",
    "'b':",
    "path:",
    "\"path\": \"",
    "\", \"content\": \"",
    "\"content\"",
    "alpha",
    "beta",
    "true",
    "false",
    "null",
    "True",
    "None",
    "12",
    "3.5",
    "-1",
    "“",
    "”",
    "‘",
    "’",
    "：",
    "，",
    "\u{a0}",
    "<|im_end|>",
    "it's",
    "é",
    "{}",
    "},",
    "--path",
    "Here:",
];

/// The keys of the schemas below.
const DECLARED: &[&str] = &["path", "content", "a", "b"];

fn schemas() -> Vec<Schema> {
    [
        json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path"],
        }),
        json!({
            "type": "object",
            "properties": {"a": {"type": ["number", "null"]}, "b": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": false,
        }),
    ]
    .iter()
    .map(|schema| Schema::new(schema).unwrap())
    .collect()
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(select([JSON_MARKS, PIECES].concat()), 0..24).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => soup(), 1 => any::<String>(), 1 => "[\\[\\]{}:,\"'\\\\a-c0-3 \n]{0,40}"]
}

fn any_schema() -> impl Strategy<Value = Option<Schema>> {
    prop::option::of(select(schemas()))
}

fn any_finish() -> impl Strategy<Value = Finish> {
    select(&[Finish::Unknown, Finish::Stop, Finish::Length][..])
}

/// A JSON value as text, in varying spellings.
fn any_json() -> impl Strategy<Value = String> {
    let space = || select(&["", " ", "\n\t"][..]);
    let number = select(&["0", "-0", "1.10", "1E+2", "123456789012345678901234567890", "-5e-3"][..]);
    let text = prop_oneof![
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        select(
            &[
                "\"\\u00e9\\/\"",
                "\"\\ud83d\\ude00\"",
                "\"```json\"",
                "\"it's // {not} a \\\"comment\\\"\"",
                "\"f({a: [1, 2]}, {})]\"",
                "\"x}\""
            ][..]
        )
        .prop_map(ToOwned::to_owned),
    ];
    let leaf = prop_oneof![
        number.prop_map(ToOwned::to_owned),
        select(&["true", "false", "null"][..]).prop_map(ToOwned::to_owned),
        text.clone(),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..5), space())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(&format!("{space},")))),
            (prop::collection::vec((text.clone(), inner), 0..5), space()).prop_map(|(members, space)| {
                let members: Vec<_> =
                    members.iter().map(|(key, value)| format!("{key}{space}:{value}")).collect();
                format!("{{{}{space}}}", members.join(","))
            }),
        ]
    })
}

fn mend<'t>(text: &'t str, schema: Option<&Schema>, finish: Finish) -> Verdict<'t> {
    let options = FixOptions::new().finish(finish);
    fix_with(text, &schema.map_or(options.clone(), |schema| options.schema(schema.clone())))
}

/// The words and digits of a value's keys, strings and numbers, in lower case. Keys that a schema declares are left out: a
/// key may be respelled as a declared one.
fn words(value: &Value, out: &mut Vec<String>) {
    let mut add = |text: &str| {
        let words = text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
        out.extend(words.map(str::to_lowercase));
    };
    match value {
        Value::String(text) => add(text),
        Value::Number(number) => add(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| words(item, out)),
        Value::Object(members) => {
            members.keys().filter(|key| !DECLARED.contains(&key.as_str())).for_each(|key| add(key));
            members.values().for_each(|member| words(member, out));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

proptest! {
    // Always the same cases, so that a failing run says something about the change. The fuzzer looks for new ones.
    #![proptest_config(ProptestConfig {
        cases: 5000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn promise_1_strict_first(text in any_json()) {
        let verdict = fix(&text);
        prop_assert_eq!(verdict.outcome(), Outcome::Clean);
        prop_assert_eq!(verdict.repairs(), []);
        prop_assert!(matches!(verdict.into_json(), Some(Cow::Borrowed(same)) if std::ptr::eq(same, text.as_str())));
    }

    #[test]
    fn promise_2_proved_again(text in any_text(), schema in any_schema(), finish in any_finish()) {
        let verdict = mend(&text, schema.as_ref(), finish);
        if let Some(json) = verdict.json() {
            let value: Value = serde_json::from_str(json).map_err(|error| TestCaseError::fail(format!("{json}: {error}")))?;
            prop_assert!(schema.is_none_or(|schema| schema.accepts(&value)), "{}", json);
        }
    }

    #[test]
    fn promise_3_nothing_invented(text in soup(), schema in any_schema(), finish in any_finish()) {
        if let Some(value) = mend(&text, schema.as_ref(), finish).value() {
            let mut found = Vec::new();
            words(&value, &mut found);
            for word in found {
                prop_assert!(text.to_lowercase().contains(&word), "{:?} is not in the input, but in {}", word, value);
            }
        }
    }

    #[test]
    fn promise_4_nothing_half_done(text in any_json(), cut in 0.0..1.0f64, finish in any_finish()) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let cut = (text.len() as f64 * cut) as usize;
        let cut = (0..=cut).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        let head = &text[..cut];
        if ends_inside_string(head) {
            let verdict = mend(head, None, finish);
            let runs = verdict.outcome().runs() && !has_lost_its_last_quote(head, finish, &verdict);
            prop_assert!(!runs, "{:?}, {:?} became {:?}", finish, head, verdict.json());
        }
    }

    #[test]
    fn promise_8_explained(text in any_text(), schema in any_schema(), finish in any_finish()) {
        let verdict = mend(&text, schema.as_ref(), finish);
        if verdict.outcome().runs() {
            prop_assert_eq!(verdict.repairs().is_empty(), verdict.json() == Some(text.as_str()));
            prop_assert_eq!(verdict.repairs().is_empty(), verdict.outcome() == Outcome::Clean);
        } else {
            prop_assert_eq!(verdict.repairs(), []);
            prop_assert_eq!(verdict.refused_input(), Some(text.as_str()), "what does not run comes back as it was");
        }
        for repair in verdict.repairs() {
            let inside = repair.at.clone().and_then(|at| text.get(at)).is_some();
            prop_assert!(inside, "{:?} is no range of the input", repair);
            let value = verdict.value().unwrap_or_default();
            prop_assert!(value.pointer(&repair.path).is_some(), "{:?} is no place in {}", repair, value);
        }
    }

    #[test]
    fn promise_9_doubt_is_refusal(text in any_text(), schema in any_schema(), finish in any_finish()) {
        let verdict = mend(&text, schema.as_ref(), finish);
        if verdict.reason() == Some(Reason::Ambiguous) {
            let readings = verdict.refusal().map(|refusal| refusal.readings.clone()).unwrap_or_default();
            let named = [readings.as_slice(), verdict.values()].concat();
            prop_assert!(named.len() >= 2, "an ambiguity that names {:?}", named);
            let values: Vec<Value> = named.iter().filter_map(|json| serde_json::from_str(json).ok()).collect();
            prop_assert_eq!(values.len(), named.len(), "a reading is JSON");
            prop_assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "all readings are {}", named[0]);
        }
    }

    #[test]
    fn promise_10_stable(text in any_text(), schema in any_schema(), finish in any_finish()) {
        let verdict = mend(&text, schema.as_ref(), finish);
        if let Some(json) = verdict.json() {
            let again = mend(json, schema.as_ref(), finish);
            prop_assert_eq!(again.outcome(), Outcome::Clean, "{}", json);
            prop_assert_eq!(again.json(), Some(json));
        }
    }
}

/// Pieces of text that are no evidence of a call: words, code, values, and the names and fields of tools in sentences.
const PROSE: &[&str] = &[
    "The answer is 42.",
    " ",
    "\n",
    "\n\n",
    "use `delete_file` with care",
    "read_file takes a path",
    "- item one",
    "1. first",
    "a < b && c > d",
    "let x = vec![1, 2];",
    "{\"status\": \"ok\"}",
    "[1, 2, 3]",
    "fn main() {}",
    "\"quoted\"",
    "| a | b |",
    "# Title",
    "https://example.com/?q=1",
    "e.g. path=/tmp",
    "100%",
    "\u{e9}\u{1f600}",
];

fn file_tools() -> Mender {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false});
    let tool = |name: &str| json!({"name": name, "parameters": schema});
    Mender::new(&json!([tool("delete_file"), tool("read_file")])).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(11), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promise_11_only_what_was_meant(pieces in prop::collection::vec(select(PROSE), 0..12)) {
        let text = pieces.concat();
        let turn = file_tools().turn(&text, &TurnOptions::new(), Finish::Stop);
        prop_assert!(turn.calls.is_empty(), "{:?}: {:?}", text, turn.calls);
        prop_assert_eq!(&turn.content, &text);
        prop_assert!(turn.reasoning.is_empty());
    }

    #[test]
    fn promise_11_all_calls_of_one_form_run_or_none(
        count in 2..5usize, wrong in 0..5usize, form in select(&["json", "fence"][..]),
    ) {
        let call = |at| {
            let arguments = if at == wrong { r#"{"road": 1}"#.to_owned() } else { format!(r#"{{"path": "{at}.txt"}}"#) };
            format!(r#"{{"name": "read_file", "arguments": {arguments}}}"#)
        };
        let calls: Vec<String> = (0..count).map(call).collect();
        let text = match form {
            "fence" => format!("```json\n{}\n```\n", calls.join("\n```\n```json\n")),
            _ => calls.join("\n"),
        };
        let turn = file_tools().turn(&text, &TurnOptions::new(), Finish::Stop);
        let running = turn.calls.iter().filter(|call| call.outcome().runs()).count();
        prop_assert!(running == 0 || running == count, "{} of {} run: {}", running, count, text);
    }
}

/// Texts that broke a promise once.
#[test]
fn texts_that_broke_a_promise_once_keep_it_now() {
    for text in ["{```=`", "{''':'", "{''':''a''", "b\":\u{fffd}\u{c}"] {
        for schema in schemas().into_iter().map(Some).chain(Some(None)) {
            let verdict = mend(text, schema.as_ref(), Finish::Unknown);
            if let Some(json) = verdict.json() {
                let again = mend(json, schema.as_ref(), Finish::Unknown);
                assert_eq!((again.outcome(), again.json()), (Outcome::Clean, Some(json)), "{text}");
            }
        }
    }
    for cut in [
        "{\"\":1E+2,\"",
        "{\"[a",
        "[[],1.10,\"\\u00e9\\",
        "[[],0,\"\\u00e",
        "{\"\"\n\t:{\"\" :0 },\"",
        "[\"{x:a",
    ] {
        for finish in [Finish::Unknown, Finish::Stop, Finish::Length] {
            let verdict = mend(cut, None, finish);
            assert!(!verdict.outcome().runs(), "{cut:?} became {:?}", verdict.json());
        }
    }
}

/// Whether a text is read as one that lost its last quote, `{"a": "x}`: the closers at its end are exactly those that are
/// missing, and the value is what the text says with the quote put back. After a cut that the server reports, nothing is.
fn has_lost_its_last_quote(text: &str, finish: Finish, verdict: &Verdict<'_>) -> bool {
    let inside = text.trim_end_matches(['}', ']', ' ', '\n', '\t']);
    let with_quote = format!("{inside}\"{}", &text[inside.len()..]);
    let meant = serde_json::from_str::<Value>(&with_quote).ok();
    finish != Finish::Length && meant.is_some() && meant == verdict.value()
}

/// Whether the text stops between the quotes of a string.
fn ends_inside_string(text: &str) -> bool {
    let mut inside = false;
    let mut characters = text.chars();
    while let Some(ch) = characters.next() {
        match ch {
            '"' => inside = !inside,
            '\\' if inside => drop(characters.next()),
            _ => {}
        }
    }
    inside
}

/// Units whose repetition is hostile to some readers: nesting, quotes, doubt at every step.
const HOSTILE: &[&str] = &[
    "[",
    "{\"a\":",
    "\"",
    "\\",
    "'",
    ",",
    "/*",
    "{\"a\":\"",
    "\"a\" \"b\" ",
    "\\\"",
    "\"'",
    "\", \"",
    "{\"a\":[",
    "1 ",
    "```json\n",
    "a=b, ",
    "see {this} and ",
    "// x\n",
    "`",
    "{} ",
    "\\ud800",
    "word ",
    "{&quot;",
    "}",
    "]",
    "x\", \"path\": \"",
    "[{",
    "(",
    "<|im_end|>",
];

/// A megabyte of each is answered. A quadratic reader would run into the time limit.
#[test]
fn promise_7_hostile_text_is_answered() {
    const LONG: usize = 1 << 20;
    for schema in [None, Some(schemas().remove(0))] {
        let options = FixOptions::new();
        let options = schema.map_or(options.clone(), |schema| options.schema(schema));
        for unit in HOSTILE {
            let text = unit.repeat(LONG / unit.len());
            let verdict = fix_with(&text, &options);
            assert_eq!(verdict.json().is_some(), verdict.outcome().runs(), "{unit:?}");
        }
    }
}

/// Depth is counted, so that no stack overflows.
#[test]
fn promise_7_depth_cannot_overflow() {
    for unit in ["[", "{\"a\":", "{'a':[", "(", "[{"] {
        let verdict = fix(&unit.repeat((1 << 17) / unit.len())).into_owned();
        assert!(!verdict.outcome().runs(), "{unit:?}");
    }
}

/// Every short sequence of marks and wide characters inside a string gets an answer. Rules that look at the neighbours of a mark
/// must not cut a character in two.
#[test]
fn no_mark_beside_a_wide_character_is_too_much() {
    const PARTS: [&str; 7] = ["é", "\"", "\\\"", ", ", ":", "\\", "}"];
    const LENGTH: u32 = 5;
    let schema = Schema::new(&json!({"type": "object", "properties": {"a": {"type": "string"}}})).unwrap();
    for mut index in 0..PARTS.len().pow(LENGTH) {
        let mut text = String::from("{\"a\": \"");
        for _ in 0..LENGTH {
            text.push_str(PARTS[index % PARTS.len()]);
            index /= PARTS.len();
        }
        text.push_str("\"}");
        let mended = mend(&text, Some(&schema), Finish::Unknown);
        assert!(!mended.outcome().runs() || mended.json().is_some(), "{text}");
    }
}
