//! Excerpts of a schema that fit into feedback: what matters at one position, as JSON or in a few words.
//!
//! Never used to judge a value. An excerpt is for reading only.

use std::collections::BTreeMap;

use serde_json::Value;

use super::clip::{clip, join_list};

/// Keywords that say what a value has to be.
const CONSTRAINTS: &[&str] = &[
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
/// Schemas nested deeper than this are shown by their constraints alone.
const MAX_DEPTH: usize = 2;
/// How many members of a list are shown.
const MAX_MEMBERS: usize = 8;

/// Returns the schema at one position, without what only matters elsewhere.
pub(super) fn excerpt(schema: &Value, root: &Value) -> Value {
    excerpt_to_depth(schema, root, MAX_DEPTH)
}

fn excerpt_to_depth(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(map) = resolve_reference(schema, root).as_object() else { return schema.clone() };
    // Sorted, so that the text does not depend on the features that `serde_json` was built with.
    let mut out: BTreeMap<String, Value> = BTreeMap::new();
    for keyword in CONSTRAINTS {
        if let Some(value) = map.get(*keyword) {
            out.insert((*keyword).to_owned(), first_members(value));
        }
    }
    if let Some(text) = map.get("description").and_then(Value::as_str).filter(|_| depth == MAX_DEPTH) {
        out.insert("description".to_owned(), clip(text, 120).into());
    }
    let Some(depth) = depth.checked_sub(1) else { return sorted(out) };
    for keyword in NESTED {
        let nested = match map.get(*keyword) {
            Some(Value::Array(list)) => Value::Array(
                list.iter().take(MAX_MEMBERS).map(|schema| excerpt_to_depth(schema, root, depth)).collect(),
            ),
            Some(Value::Object(members)) if *keyword == "properties" => sorted(
                members
                    .iter()
                    .take(MAX_MEMBERS)
                    .map(|(name, schema)| (name.clone(), excerpt_to_depth(schema, root, depth)))
                    .collect(),
            ),
            Some(Value::Object(_)) => excerpt_to_depth(&map[*keyword], root, depth),
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

fn first_members(value: &Value) -> Value {
    match value {
        Value::Array(list) if list.len() > MAX_MEMBERS * 3 => {
            let mut few: Vec<Value> = list.iter().take(MAX_MEMBERS * 3).cloned().collect();
            few.push("…".into());
            Value::Array(few)
        }
        other => other.clone(),
    }
}

/// Follows a local reference by one step.
pub(super) fn resolve_reference<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    schema.get("$ref").and_then(|name| root.pointer(name.as_str()?.strip_prefix('#')?)).unwrap_or(schema)
}

/// Lists the fields of an object schema in a phrase: `path` (string, required), `limit` (integer).
pub(super) fn describe_fields(schema: &Value) -> String {
    let root = schema;
    let schema = resolve_reference(schema, root);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        let any_object = schema.get("type").is_some_and(|name| name == "object");
        return if any_object { "one JSON object".to_owned() } else { excerpt(schema, root).to_string() };
    };
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_required = |name: &str| required.iter().any(|known| known == name);
    let mut fields: Vec<String> = properties
        .iter()
        .map(|(name, schema)| {
            let kind = describe_type(resolve_reference(schema, root));
            if is_required(name) {
                format!("`{name}` ({kind}, required)")
            } else {
                format!("`{name}` ({kind})")
            }
        })
        .collect();
    // Required fields come first, because the list may be cut.
    fields.sort_by_cached_key(|field| (!field.ends_with("required)"), field.clone()));
    format!("one JSON object with {}", join_list(&fields, MAX_MEMBERS * 2))
}

/// Says in a word or two what a value has to be.
pub(super) fn describe_type(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if schema.get("enum").is_some() => "one of a list".to_owned(),
        _ => "any value".to_owned(),
    }
}
