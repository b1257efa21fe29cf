//! What the fuzz targets share: how they turn bytes into options and text.
//!
//! The first byte selects a schema and a finish reason, and the rest is the text. In the target for streams, the first byte selects
//! the tools and the options, and the second one how the text is split into pieces.

use std::sync::LazyLock;

use serde_json::json;
use toolmend::{Delivery, Finish, FixOptions, Mender, Schema, TurnOptions};

/// Schemas of common tools, with keys that are short enough for the fuzzer to find.
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
    .map(|schema| Schema::new(schema).expect("the schemas are valid"))
    .collect()
});

/// Returns the options that a byte selects, and the schema if there is one.
pub fn select_options(choice: u8) -> (FixOptions, Option<&'static Schema>) {
    let options = FixOptions::new().finish(select_finish(choice / 8));
    match SCHEMAS.get(usize::from(choice % 8)) {
        Some(schema) => (options.schema(schema.clone()), Some(schema)),
        None => (options, None),
    }
}

/// Splits the input into a byte that selects options and the text.
pub fn split_choice(data: &[u8]) -> Option<(u8, String)> {
    let (&choice, text) = data.split_first()?;
    Some((choice, String::from_utf8_lossy(text).into_owned()))
}

/// Whether `text` is JSON as RFC 8259 defines it, according to another parser.
pub fn is_json(text: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => true,
        // A number may be JSON and still not fit a float.
        Err(error) => error.to_string().starts_with("number out of range"),
    }
}

/// Tools with names and keys that are short enough for the fuzzer to find.
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
    .map(|tools| Mender::new(tools).expect("the tools are valid"))
    .collect()
});

/// How a stream is read.
pub struct StreamSetup {
    /// The mender with the tools.
    pub mender: &'static Mender,
    /// The options of the turn.
    pub options: TurnOptions,
    /// Whether the output begins inside the reasoning.
    pub reasoning_open: bool,
    /// How the output ends.
    pub finish: Finish,
    /// The sizes of the pieces, used in turn; never zero.
    pub piece_sizes: [usize; 3],
}

/// Splits the input into the setup that the first two bytes select and the output of the model, which may be any bytes.
pub fn split_setup(data: &[u8]) -> Option<(StreamSetup, &[u8])> {
    let (&[choice, sizes], bytes) = data.split_first_chunk()?;
    let delivery = if choice & 4 == 0 { Delivery::Held } else { Delivery::Live };
    let reasoning_open = choice & 8 != 0;
    let setup = StreamSetup {
        mender: &MENDERS[usize::from(choice & 3)],
        options: TurnOptions::new().delivery(delivery).reasoning_open(reasoning_open),
        reasoning_open,
        finish: select_finish(choice / 16),
        piece_sizes: [sizes & 3, sizes >> 2 & 3, sizes >> 4].map(|size| 1 + usize::from(size)),
    };
    Some((setup, bytes))
}

fn select_finish(choice: u8) -> Finish {
    match choice % 3 {
        0 => Finish::Unknown,
        1 => Finish::Stop,
        _ => Finish::Length,
    }
}
