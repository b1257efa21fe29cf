//! The part of a schema that matters at one place, small enough to be read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shorten::{clip, list};

/// Keywords that tell what a value has to be.
const TELLING: &[&str] = &[
    "type",
    "enum",
    "const",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "required",
];
/// Keywords that hold further schemas.
const NESTED: &[&str] =
    &["items", "prefixItems", "properties", "anyOf", "oneOf", "allOf", "additionalProperties"];
/// Below this depth a schema is shown by its type alone.
const DEPTH: usize = 2;
/// So many members of a list are shown.
const MEMBERS: usize = 8;

/// The schema at one place without what only matters elsewhere.
pub(super) fn slice(schema: &Value, root: &Value) -> Value {
    cut(schema, root, DEPTH)
}

fn cut(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(map) = referred(schema, root).as_object() else { return schema.clone() };
    // Sorted, so that the words do not depend on how `serde_json` was built.
    let mut out: BTreeMap<String, Value> = BTreeMap::new();
    for keyword in TELLING {
        if let Some(value) = map.get(*keyword) {
            out.insert((*keyword).to_owned(), few(value));
        }
    }
    if let Some(text) = map.get("description").and_then(Value::as_str).filter(|_| depth == DEPTH) {
        out.insert("description".to_owned(), clip(text, 120).into());
    }
    let Some(depth) = depth.checked_sub(1) else { return sorted(out) };
    for keyword in NESTED {
        let nested = match map.get(*keyword) {
            Some(Value::Array(list)) => {
                Value::Array(list.iter().take(MEMBERS).map(|schema| cut(schema, root, depth)).collect())
            }
            Some(Value::Object(members)) if *keyword == "properties" => sorted(
                members
                    .iter()
                    .take(MEMBERS)
                    .map(|(name, schema)| (name.clone(), cut(schema, root, depth)))
                    .collect(),
            ),
            Some(Value::Object(_)) => cut(&map[*keyword], root, depth),
            Some(other) => other.clone(),
            None => continue,
        };
        out.insert((*keyword).to_owned(), nested);
    }
    sorted(out)
}

fn sorted(members: BTreeMap<String, Value>) -> Value {
    Value::Object(members.into_iter().collect())
}

fn few(value: &Value) -> Value {
    match value {
        Value::Array(list) if list.len() > MEMBERS * 3 => {
            let mut few: Vec<Value> = list.iter().take(MEMBERS * 3).cloned().collect();
            few.push("…".into());
            Value::Array(few)
        }
        other => other.clone(),
    }
}

/// The schema that a local reference names, one step.
pub(super) fn referred<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    schema.get("$ref").and_then(|name| root.pointer(name.as_str()?.strip_prefix('#')?)).unwrap_or(schema)
}

/// The fields of an object schema in a sentence: `path` (string, required), `limit` (integer).
pub(super) fn fields(schema: &Value) -> String {
    let root = schema;
    let schema = referred(schema, root);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        let any_object = schema.get("type").is_some_and(|name| name == "object");
        return if any_object { "one JSON object".to_owned() } else { slice(schema, root).to_string() };
    };
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_required = |name: &str| required.iter().any(|known| known == name);
    let mut fields: Vec<String> = properties
        .iter()
        .map(|(name, schema)| {
            let what = what(referred(schema, root));
            if is_required(name) {
                format!("`{name}` ({what}, required)")
            } else {
                format!("`{name}` ({what})")
            }
        })
        .collect();
    // Required ones first: the list may be cut.
    fields.sort_by_cached_key(|field| (!field.ends_with("required)"), field.clone()));
    format!("one JSON object with {}", list(&fields, MEMBERS * 2))
}

/// What a value has to be, in a word or two.
pub(super) fn what(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if schema.get("enum").is_some() => "one of a list".to_owned(),
        _ => "any value".to_owned(),
    }
}
