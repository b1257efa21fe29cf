//! The conversations that show how a template writes calls.
//!
//! The words in them are unlikely to occur in a template, and no two begin or end alike, so that they can be found in
//! what the template writes.

use serde_json::{Value, json};

pub(super) const FIRST_TOOL: &str = "find_zephyr";
pub(super) const SECOND_TOOL: &str = "ring_quoll";
pub(super) const FIRST_KEY: &str = "quarry_hob";
pub(super) const OTHER_KEY: &str = "mode_vex";
pub(super) const FIRST_VALUE: &str = "Vaduz";
pub(super) const OTHER_VALUE: &str = "Ljubno";
pub(super) const NUMBER_KEY: &str = "count_jub";
pub(super) const NUMBER: &str = "48213";
pub(super) const CONTENT: &str = "Gerne, einen Moment.";
pub(super) const REASONING: &str = "Brauche ich dazu Daten?";
pub(super) const USER: &str = "Bitte sieh nach.";

/// One call of a probe.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProbeCall {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
}

/// One turn of the model that a template is asked to write.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    /// What the probe shows, as the report calls it.
    pub(super) name: &'static str,
    pub(super) calls: Vec<ProbeCall>,
    pub(super) content: &'static str,
    pub(super) reasoning: &'static str,
}

/// The names of the probes that rows are derived from.
pub(super) const ONE_CALL: &str = "one call";
pub(super) const TWO_ARGUMENTS: &str = "two arguments";
pub(super) const A_NUMBER: &str = "a number";
pub(super) const TWO_CALLS: &str = "two calls";
pub(super) const WITH_REASONING: &str = "reasoning before a call";

/// Every probe.
pub(super) fn probes() -> Vec<Probe> {
    let first = |arguments: Value| ProbeCall { name: FIRST_TOOL, arguments };
    let second = |arguments: Value| ProbeCall { name: SECOND_TOOL, arguments };
    let one = || first(json!({FIRST_KEY: FIRST_VALUE}));
    let calls = |name, calls: Vec<ProbeCall>| Probe { name, calls, content: "", reasoning: "" };
    vec![
        calls(ONE_CALL, vec![one()]),
        calls("another tool", vec![second(json!({"note_bix": "Wroxeter"}))]),
        calls(TWO_ARGUMENTS, vec![first(json!({OTHER_KEY: OTHER_VALUE, FIRST_KEY: FIRST_VALUE}))]),
        calls(A_NUMBER, vec![first(json!({NUMBER_KEY: 48213}))]),
        calls("a boolean and a fraction", vec![first(json!({"exact_fyx": true, "ratio_wog": 2.5}))]),
        calls("digits in a string", vec![first(json!({FIRST_KEY: "3"}))]),
        calls(
            "nested values",
            vec![first(json!({
                "area_kip": {"names": ["Isar", "Inn"], "north": {"exact": false, "limit": 47}},
                "tags_nub": ["kalt", "sehr hoch"],
            }))],
        ),
        calls("no arguments", vec![second(json!({}))]),
        calls(TWO_CALLS, vec![one(), second(json!({"note_bix": "Wroxeter"}))]),
        calls("a string with quotes, markup and a line break", vec![first(json!({FIRST_KEY: HARD_STRING}))]),
        Probe { content: CONTENT, ..calls("content before a call", vec![one()]) },
        Probe { reasoning: REASONING, ..calls(WITH_REASONING, vec![one()]) },
    ]
}

/// A string with everything that a notation may have to escape, and what looks like the next argument.
const HARD_STRING: &str = "say \"hi\", it's\n<b></parameter> C:\\data \u{e9}, mode_vex=\"x\", y";

/// The declared tools of every probe.
pub(super) fn tools() -> Value {
    // Templates that describe tools as Python expect a description.
    let typed = |name: &str| json!({"type": name, "description": "Something."});
    let string = typed("string");
    json!([
        {"type": "function", "function": {
            "name": FIRST_TOOL,
            "description": "Searches.",
            "parameters": {"type": "object", "properties": {
                FIRST_KEY: string,
                OTHER_KEY: string,
                NUMBER_KEY: typed("integer"),
                "exact_fyx": typed("boolean"),
                "ratio_wog": typed("number"),
                "area_kip": {"type": "object", "description": "Where.", "additionalProperties": string, "properties": {
                    "names": {"type": "array", "items": string},
                    "north": {"type": "object", "properties": {
                        "exact": {"type": "boolean"}, "limit": {"type": "integer"},
                    }},
                }},
                "tags_nub": {"type": "array", "items": string, "description": "Which."},
            }, "required": []},
        }},
        {"type": "function", "function": {
            "name": SECOND_TOOL,
            "description": "Rings.",
            "parameters": {"type": "object", "properties": {"note_bix": string}, "required": []},
        }},
    ])
}

/// How a conversation is presented to a template. Templates differ in what they accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Arguments are JSON text, as in the API, and not an object.
    pub(super) text_arguments: bool,
    /// The content of a turn that has none.
    pub(super) no_content: NoContent,
    /// The id of a call is `functions.NAME:INDEX`, because the template writes it in place of the name.
    pub(super) named_ids: bool,
}

/// What stands for the content of a turn that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoContent {
    Empty,
    Null,
    Missing,
}

/// The shapes to try, in order.
pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for named_ids in [false, true] {
        for text_arguments in [false, true] {
            for no_content in [NoContent::Empty, NoContent::Null, NoContent::Missing] {
                shapes.push(Shape { text_arguments, no_content, named_ids });
            }
        }
    }
    shapes
}

/// The id of a call. Some templates insist on nine letters and digits.
pub(super) fn call_id(shape: Shape, call: &ProbeCall, index: usize) -> String {
    if shape.named_ids {
        format!("functions.{}:{index}", call.name)
    } else {
        format!("call0000{}", index + 1)
    }
}

/// The conversation up to the model's turn.
pub(super) fn prompt(generate: bool) -> Value {
    conversation(&[json!({"role": "user", "content": USER})], generate)
}

/// The conversation with a turn of plain text.
pub(super) fn plain_turn() -> Value {
    let turn = json!({"role": "assistant", "content": CONTENT});
    conversation(&[json!({"role": "user", "content": USER}), turn], false)
}

/// The conversation with the turn of a probe.
pub(super) fn probe_turn(probe: &Probe, shape: Shape) -> Value {
    let call = |(index, call): (usize, &ProbeCall)| {
        let arguments = if shape.text_arguments {
            Value::String(call.arguments.to_string())
        } else {
            call.arguments.clone()
        };
        let function = json!({"name": call.name, "arguments": arguments});
        json!({"id": call_id(shape, call, index), "type": "function", "function": function})
    };
    let calls: Vec<Value> = probe.calls.iter().enumerate().map(call).collect();
    let mut turn = json!({"role": "assistant", "tool_calls": calls});
    match shape.no_content {
        _ if !probe.content.is_empty() => turn["content"] = json!(probe.content),
        NoContent::Empty => turn["content"] = json!(""),
        NoContent::Null => turn["content"] = Value::Null,
        NoContent::Missing => {}
    }
    if !probe.reasoning.is_empty() {
        for field in ["reasoning_content", "reasoning", "thinking"] {
            turn[field] = json!(probe.reasoning);
        }
    }
    conversation(&[json!({"role": "user", "content": USER}), turn], false)
}

fn conversation(messages: &[Value], generate: bool) -> Value {
    json!({
        "messages": messages,
        "tools": tools(),
        "add_generation_prompt": generate,
        "documents": null,
        "functions": tools().to_string(),
        "datetime": "26 Jul 2026",
        "date_string": "26 Jul 2026",
    })
}
