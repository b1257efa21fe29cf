//! What the fuzz targets share: a first byte that picks a schema and a finish reason, then the text.

use std::sync::LazyLock;

use serde_json::json;
use toolmend::{Finish, FixOptions, Schema};

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
