//! One answer from both doors: what a Rust type reads from a text is what the schema of that type makes of it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolmend::{Finish, FixOptions, RepairKind, Schema, fix_with};

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    ReadOnly,
    Append,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Step {
    file_path: String,
    #[serde(default)]
    line: Option<u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    path: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    count: Option<i64>,
    #[serde(default)]
    ratio: Option<f64>,
    #[serde(default)]
    force: Option<bool>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    ports: Option<Vec<u16>>,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    steps: Option<Vec<Step>>,
    #[serde(default)]
    limits: Option<BTreeMap<String, u32>>,
}

/// What the door for schemas makes of the text, read into the type.
fn by_schema(schema: &Schema, text: &str) -> Option<Call> {
    let options = FixOptions::new().schema(schema.clone()).finish(Finish::Unknown);
    let verdict = fix_with(text, &options);
    let json = verdict.json()?;
    let mut kinds = Vec::new();
    let call =
        toolmend::from_str_with(json, |repairs| kinds.extend(repairs.iter().map(|repair| repair.kind)));
    // To a schema `1.0` is an integer.
    assert!(kinds.iter().all(|kind| *kind == RepairKind::FloatToInteger), "{json} needs {kinds:?}");
    Some(call.unwrap_or_else(|error| panic!("{json} fits its schema, but {error}")))
}

#[track_caller]
fn check_same(schema: &Schema, text: &str) {
    assert_eq!(differ(schema, text), None);
}

/// What the two doors say, if they differ.
fn differ(schema: &Schema, text: &str) -> Option<String> {
    let typed: Option<Call> = toolmend::from_str(text).ok();
    let fitted = by_schema(schema, text);
    (typed != fitted).then(|| format!("{text}\n  type:   {typed:?}\n  schema: {fitted:?}"))
}

fn schema_of_call() -> Schema {
    let schema = schemars::schema_for!(Call);
    Schema::new(schema.as_value()).expect("the schema of a type compiles")
}

/// Values of every kind, right and wrong, for every field.
fn values() -> Vec<Value> {
    vec![
        json!("x"),
        json!("two words"),
        json!("42"),
        json!("\"42\""),
        json!("1,000"),
        json!("007"),
        json!("0x1f"),
        json!("4.5"),
        json!("yes"),
        json!("null"),
        json!("None"),
        json!(""),
        json!("a, b"),
        json!("80, 443"),
        json!("[\"a\", \"b\"]"),
        json!("[1, 2]"),
        json!("- a\n- b"),
        json!("Read Only"),
        json!("append"),
        json!(1),
        json!(0),
        json!(1.0),
        json!(2.5),
        json!(-3),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(["x"]),
        json!([["x", "y"]]),
        json!(["1", "2"]),
        json!([1, 2]),
        json!({"value": "x"}),
        json!({"type": "string", "value": "x"}),
        json!({"value": 5}),
        json!({"old": "x"}),
        json!({"item": ["x"]}),
        json!({"0": "x", "1": "y"}),
        json!({"a": "1", "b": 2}),
        json!({"file_path": "x"}),
        json!([{"filePath": "x", "line": "3"}]),
        json!([{"file": "x"}]),
        json!([{"thought": "x"}]),
    ]
}

const KEYS: [&str; 18] = [
    "path", "content", "count", "ratio", "force", "tags", "ports", "mode", "steps", "limits", "Path", "file",
    "thought", "tag", "cuont", "`mode`", "text", "FORCE",
];

#[test]
fn every_value_in_every_field() {
    let schema = schema_of_call();
    let mut different = Vec::new();
    for key in KEYS {
        for value in values() {
            let mut beside = json!({"path": "p"});
            beside[key] = value.clone();
            let alone = json!({key: value});
            different.extend([beside, alone].iter().filter_map(|call| differ(&schema, &call.to_string())));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn many_values_of_a_map() {
    let schema = schema_of_call();
    let limits: BTreeMap<String, String> = (0..100).map(|n| (format!("k{n}"), n.to_string())).collect();
    let text = json!({"path": "p", "limits": limits}).to_string();
    assert_eq!(toolmend::from_str::<Call>(&text).unwrap().limits.unwrap().len(), 100);
    check_same(&schema, &text);
}

#[test]
fn the_deepest_value_is_the_same_for_both() {
    for depth in [126, 127, 128, 129] {
        let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let fixed = toolmend::fix(&text);
        assert_eq!(fixed.json().is_some(), serde_json::from_str::<Value>(&text).is_ok(), "depth {depth}");
        assert_eq!(fixed.json().is_some(), toolmend::from_str::<Value>(&text).is_ok(), "depth {depth}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(18), ..ProptestConfig::default() })]

    #[test]
    fn several_fields_at_once(members in prop::collection::btree_map(select(&KEYS[..]), select(values()), 1..5)) {
        let schema = schema_of_call();
        let members: serde_json::Map<String, Value> =
            members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        check_same(&schema, &Value::Object(members).to_string());
    }
}
