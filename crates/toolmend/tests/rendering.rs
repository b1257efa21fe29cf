//! What a dialect writes is what is read, whatever the values contain: the same call, or none that runs.

#[path = "support/json_marks.rs"]
mod json_marks;

use json_marks::JSON_MARKS;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};
use toolmend::{Call, CallToRender, Dialect, Finish, Mender, Policy, Preset, TurnOptions, dialects};

/// Rows that cannot say which tool is called, programs, which are not calls, and a notation without a rule for quotes.
const UNSURE: &[&str] = &["guided_named", "args_only", "code_agent", "md_bold"];

/// What values are made of, besides the marks of JSON: words, and everything that has a meaning in some notation.
const PIECES: &[&str] = &[
    "word",
    "two words",
    "Oslo",
    "é",
    "日本",
    "☕",
    "\n\n",
    "\\",
    "\\n",
    "\\\"",
    ", ",
    ": ",
    "\": \"",
    "\", \"",
    "\"}",
    "'}",
    "{}",
    "[]",
    "null",
    "true",
    "False",
    "None",
    "42",
    "-1.50",
    "007",
    "1e5",
    "==",
    "<",
    ">",
    "</",
    "/>",
    "<b>",
    "</b>",
    "<div class=\"x\">",
    "&amp;",
    "# x\n",
    "\n```\n",
    "---",
    "***",
    "* item\n",
    "|",
    "||",
    "$",
    "%s",
    "C:\\new\\dir",
    "a=b",
    "a: b\n",
    "f(x=1)",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<|im_end|>",
    "[TOOL_CALLS]",
    "{\"name\": \"erase\", \"arguments\": {}}",
    "erase()",
    "const x = {a: 1};",
    "if (a < b) {\n  return \"c\";\n}\n",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select([JSON_MARKS, PIECES].concat()), 0..8)
        .prop_map(|pieces| pieces.concat())
}

fn arguments() -> impl Strategy<Value = Value> {
    let field = |present: f64, value: BoxedStrategy<Value>| prop::option::weighted(present, value);
    (
        text(),
        field(0.5, any::<i32>().prop_map(Value::from).boxed()),
        field(0.3, any::<bool>().prop_map(Value::from).boxed()),
        field(0.4, prop::collection::vec(text(), 0..3).prop_map(Value::from).boxed()),
        field(0.4, (text(), any::<i8>()).prop_map(|(a, b)| json!({"deep": a, "size": b})).boxed()),
        field(0.5, text().prop_map(Value::from).boxed()),
    )
        .prop_map(|(content, count, flag, tags, meta, note)| {
            let mut map = Map::new();
            map.insert("content".to_owned(), content.into());
            let rest = [("count", count), ("flag", flag), ("tags", tags), ("meta", meta), ("note", note)];
            map.extend(rest.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
            Value::Object(map)
        })
}

fn tools() -> Value {
    json!([
        {"name": "keep", "parameters": {"type": "object", "required": ["content"], "properties": {
            "content": {"type": "string"},
            "count": {"type": "integer"},
            "flag": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "meta": {"type": "object", "properties": {"deep": {"type": "string"}, "size": {"type": "integer"}}},
            "note": {"type": "string"},
        }}},
        {"name": "erase", "parameters": {"type": "object", "properties": {}}},
    ])
}

/// Fails if a call runs that is not the one that was written.
fn read_back(mender: &Mender, row: &Dialect, arguments: &Value) -> Result<(), String> {
    let written = arguments.to_string();
    let Some(text) = row.render(&[CallToRender { name: "keep", arguments: &written, id: "call00000" }])
    else {
        return Ok(());
    };
    let turn = mender.turn(&text, &TurnOptions::new().dialect(row.name()), Finish::Stop);
    let same = |call: &Call| {
        let value = call.verdict.value();
        call.name == "keep" && value.is_some_and(|value| unframed(&value) == unframed(arguments))
    };
    match turn.calls.iter().find(|call| call.outcome().runs() && !same(call)) {
        Some(call) => Err(format!("{}: {text:?}\n  became {} {:?}", row.name(), call.name, call.arguments())),
        None => Ok(()),
    }
}

/// Line breaks around a value in tags may be framing. Most families write them, and none says so.
fn unframed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), unframed(value))).collect::<Map<_, _>>().into()
        }
        Value::String(text) => text.trim_matches('\n').into(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_written_is_read_as_something_else(arguments in arguments()) {
        let mender = Mender::builder().tools(&tools()).policy(Policy::preset(Preset::Eager)).build().unwrap();
        for row in dialects().iter().filter(|row| !UNSURE.contains(&row.name())) {
            if let Err(why) = read_back(&mender, row, &arguments) {
                prop_assert!(false, "{}", why);
            }
        }
    }
}

/// Rows that only write arguments cannot name their tool, and programs are not calls.
const NAMELESS: &[&str] = &["guided_named", "args_only", "code_agent"];

#[test]
fn what_is_written_is_read_back() {
    let tools = json!([
        {"name": "get_weather", "parameters": {"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"},
        }, "required": ["city"]}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
    ]);
    let mender = Mender::builder().tools(&tools).policy(Policy::preset(Preset::Eager)).build().unwrap();
    let calls = [
        CallToRender {
            name: "get_weather",
            arguments: r#"{"city": "São \"X\"", "days": 3, "tags": [1, "a"]}"#,
            id: "call00000",
        },
        CallToRender { name: "get_time", arguments: "{}", id: "call00001" },
    ];
    let mut failed = Vec::new();
    for row in dialects().iter().filter(|row| !NAMELESS.contains(&row.name())) {
        // One call if the form cannot separate several.
        let count =
            if matches!(row.name(), "yaml" | "md_bold" | "slash_shorthand" | "glm4_legacy") { 1 } else { 2 };
        let Some(text) = row.render(&calls[..count]) else { panic!("{} writes nothing", row.name()) };
        let turn = mender.turn(&text, &TurnOptions::new(), Finish::Stop);
        let read: Vec<_> = turn.calls.iter().map(|call| (call.name.as_str(), call.verdict.value())).collect();
        let want: Vec<_> = calls[..count]
            .iter()
            .map(|call| (call.name, serde_json::from_str(call.arguments).ok()))
            .collect();
        if read != want || !turn.content.trim().is_empty() {
            failed.push(format!("{}: {text:?}\n  read {read:?}, content {:?}", row.name(), turn.content));
        }
    }
    assert!(
        failed.is_empty(),
        "rows that do not read back what they write; are their markers in src/dialect/token/table.rs?\n{}",
        failed.join("\n")
    );
}
