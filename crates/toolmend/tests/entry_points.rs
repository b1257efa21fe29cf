//! The entry points on text that is not strict JSON, so that several layers have to work together.

#[path = "support/write_file_schema.rs"]
mod write_file_schema;

use serde::Deserialize;
use serde_json::json;
use toolmend::{FixOptions, Lenient, Mender, Outcome, Reason, RepairKind, Schema, fix_with, from_str_with};
use write_file_schema::write_file_schema;

fn mender() -> Mender {
    Mender::new(&json!([{"name": "read_file", "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"], "additionalProperties": false}}]))
    .unwrap()
}

#[test]
fn names_and_arguments_are_mended_together() {
    let verdict = mender().mend("functions.read_file", "{'path': 'a',}").into_owned();
    assert_eq!(verdict.value(), Some(json!({"path": "a"})));
    let kinds: Vec<_> = verdict.repairs().iter().map(|repair| repair.kind).collect();
    assert_eq!(kinds[0], RepairKind::NameCleaned);
    assert!(kinds.contains(&RepairKind::TrailingCommaRemoved), "{kinds:?}");
}

#[test]
fn a_call_in_the_name_is_read() {
    for name in [r#"read_file(path="a", limit=5)"#, r#"read_file{"path": "a", "limit": 5,}"#] {
        let verdict = mender().mend(name, "").into_owned();
        assert_eq!(verdict.value(), Some(json!({"path": "a", "limit": 5})), "{name}");
        assert_eq!(verdict.repairs()[0].kind, RepairKind::ArgumentsTakenFromName);
        assert!(verdict.repairs().iter().all(|repair| repair.at.is_none()), "{name}");
    }
}

#[test]
fn a_call_without_a_name_is_read_leniently() {
    let verdict = mender().mend("", "{path: 'a'}").into_owned();
    assert_eq!((verdict.tool(), verdict.value()), (Some("read_file"), Some(json!({"path": "a"}))));
}

#[test]
fn feedback_after_syntax_repair_still_knows_the_schema() {
    let verdict = mender().mend("read_file", "{'limit': 5,}").into_owned();
    assert_eq!((verdict.outcome(), verdict.reason()), (Outcome::Rejected, Some(Reason::Schema)));
    let feedback = verdict.feedback().unwrap();
    assert!(feedback.contains("`path` is required in the arguments but missing"), "{feedback}");
}

#[test]
fn a_truncated_call_names_the_field() {
    let verdict = mender().mend("read_file", r#"{"limit": 5, "path": "/very/lo"#).into_owned();
    assert_eq!(verdict.outcome(), Outcome::Truncated);
    assert!(verdict.feedback().unwrap().contains("cut off inside `/path`"), "{:?}", verdict.feedback());
}

#[test]
fn types_are_read_from_text_that_is_not_strict_json() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Args {
        path: String,
        limit: u32,
    }
    let wanted = Args { path: "a".into(), limit: 5 };
    let text = "```json\n{'path': 'a', 'limit': '5',}\n```";
    let mut places = Vec::new();
    let got: Args = from_str_with(text, |repairs| {
        places.extend(repairs.iter().map(|repair| (repair.kind, repair.at.clone())));
    })
    .unwrap();
    assert_eq!(got, wanted);
    let number = places.iter().find(|(kind, _)| *kind == RepairKind::StringToNumber);
    assert_eq!(number.and_then(|(_, at)| at.clone()).map(|at| &text[at]), Some("'5'"));
    let soft: Lenient<Args> = serde_json::from_value(json!("{'path': 'a', 'limit': '5'}")).unwrap();
    assert_eq!(soft.into_inner(), wanted);
}

/// Debug builds compare each inner quote that the reader steps over at a glance with the full check. This test shows them
/// many.
#[test]
fn quotes_stepped_over_at_a_glance_are_text_by_the_full_check_too() {
    const PIECES: &[&str] = &[
        "\"",
        "\"",
        "\"",
        "\"",
        "\"",
        "\"\"",
        "=\"\")",
        ", ",
        ",",
        ": ",
        ":",
        " ",
        "\\n",
        "\\\\",
        "\\\"",
        "\\t",
        "\\u00e9",
        "\\d",
        "\n",
        "\u{1}",
        "é",
        "ה",
        "(",
        ")",
        "=",
        "{",
        "}",
        "[",
        "]",
        "/",
        "word",
        "names",
        "part",
        "path",
        "over",
        "overwrite",
        "7",
        "some words that are a good deal longer than one lane of bytes ",
    ];
    let options = FixOptions::new().schema(Schema::new(&write_file_schema()).unwrap());
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..4000 {
        let count = 1 + draw(120);
        let content: String = (0..count).map(|_| PIECES[draw(PIECES.len())]).collect();
        let text = format!(r#"{{"path": "a", "content": "x \"{content}", "overwrite": true}}"#);
        let verdict = fix_with(&text, &options);
        if let Some(value) = verdict.value() {
            assert!(value["content"].is_string(), "{text}");
        }
    }
}
