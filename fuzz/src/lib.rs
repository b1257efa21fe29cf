//! What the fuzz targets share: a first byte that picks a schema and a finish reason, then the text.
//!
//! The target for streams has two more bytes: one for the tools, one for the way in which the text is cut into pieces.

use std::sync::LazyLock;

use serde_json::json;
use toolmend::{Delivery, Finish, FixOptions, Mender, Schema, TurnOptions};

/// Schemas of common tools, small enough that the fuzzer hits their keys.
static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    [
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}),
        json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
            "additionalProperties": false,
        }),
        json!({
            "$defs": {"node": {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
            "$ref": "#/$defs/node",
        }),
        json!({
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "number"}, {"type": "null"}, {"enum": ["x", "y"]}]},
                "b": {"type": "array", "items": {"type": "boolean"}},
            },
        }),
    ]
    .iter()
    .map(|schema| Schema::new(schema).expect("a schema of our own"))
    .collect()
});

/// The options that a byte picks. The schema, where there is one, is given too.
pub fn options(choice: u8) -> (FixOptions, Option<&'static Schema>) {
    let finish = match choice / 8 % 3 {
        0 => Finish::Unknown,
        1 => Finish::Stop,
        _ => Finish::Length,
    };
    let options = FixOptions::new().finish(finish);
    match SCHEMAS.get(usize::from(choice % 8)) {
        Some(schema) => (options.schema(schema.clone()), Some(schema)),
        None => (options, None),
    }
}

/// The first byte as a choice and the rest as text.
pub fn choice_and_text(data: &[u8]) -> Option<(u8, String)> {
    let (&choice, text) = data.split_first()?;
    Some((choice, String::from_utf8_lossy(text).into_owned()))
}

/// Whether `text` is JSON as RFC 8259 defines it, by the judgement of another parser.
pub fn is_json(text: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => true,
        // A number need not fit a float to be JSON.
        Err(error) => error.to_string().starts_with("number out of range"),
    }
}

/// Tools with names and keys that the fuzzer hits.
static MENDERS: LazyLock<Vec<Mender>> = LazyLock::new(|| {
    [
        json!([]),
        json!(["f", "g", "run"]),
        json!([
            {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}},
            {"name": "g", "parameters": {"type": "object", "properties": {}}},
            {"name": "run", "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
                "required": ["path", "text"],
                "additionalProperties": false,
            }},
        ]),
        json!([{"name": "f", "parameters": {
            "type": "object",
            "properties": {"a": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]}, "b": {"type": "boolean"}},
        }}]),
    ]
    .iter()
    .map(|tools| Mender::new(tools).expect("tools of our own"))
    .collect()
});

/// What a stream is read with.
pub struct Reading {
    /// The tools.
    pub mender: &'static Mender,
    /// How it is read.
    pub options: TurnOptions,
    /// Whether it begins inside a thought.
    pub open: bool,
    /// How it ends.
    pub finish: Finish,
    /// The sizes of the pieces, taken in turns; never zero.
    pub sizes: [usize; 3],
}

/// The first two bytes as a reading and the rest as what the model wrote, which need not be text.
pub fn reading(data: &[u8]) -> Option<(Reading, &[u8])> {
    let (&[choice, cuts], bytes) = data.split_first_chunk()?;
    let finish = match choice / 16 % 3 {
        0 => Finish::Unknown,
        1 => Finish::Stop,
        _ => Finish::Length,
    };
    let delivery = if choice & 4 == 0 { Delivery::Held } else { Delivery::Live };
    let open = choice & 8 != 0;
    let options = TurnOptions::new().delivery(delivery).reasoning_open(open);
    let sizes = [cuts & 3, cuts >> 2 & 3, cuts >> 4].map(|size| 1 + usize::from(size));
    Some((Reading { mender: &MENDERS[usize::from(choice & 3)], options, open, finish, sizes }, bytes))
}
