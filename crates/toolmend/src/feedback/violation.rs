//! What one violated keyword means, in words: the problem, what is wanted, what was sent, the next step.

use serde_json::Value;

use super::place;
use super::shorten::{clip, list};
use super::slice::{fields, referred, slice, what};
use crate::json::pointer;
use crate::spelling::closest_names;
use crate::verdict::Violation;

/// One violation, explained.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) problem: String,
    pub(super) expected: String,
    pub(super) got: String,
    pub(super) next: String,
}

/// Keywords with one operand: what a value must be, around that operand.
const WANTED: &[(&str, &str, &str)] = &[
    ("const", "exactly ", ""),
    ("enum", "one of ", ""),
    ("format", "a string in the format ", ""),
    ("pattern", "a string that matches the pattern ", ""),
    ("minimum", "a number of at least ", ""),
    ("maximum", "a number of at most ", ""),
    ("exclusiveMinimum", "a number greater than ", ""),
    ("exclusiveMaximum", "a number less than ", ""),
    ("multipleOf", "a multiple of ", ""),
    ("minLength", "a string of at least ", " characters"),
    ("maxLength", "a string of at most ", " characters"),
    ("minItems", "an array of at least ", " items"),
    ("maxItems", "an array of at most ", " items"),
    ("minProperties", "an object of at least ", " members"),
    ("maxProperties", "an object of at most ", " members"),
];

/// Keywords that forbid members.
const UNKNOWN: &[&str] = &["additionalProperties", "unevaluatedProperties"];

/// How a value of each type is written.
const WRITTEN: &[(&str, &str)] = &[
    ("string", "a string in double quotes"),
    ("integer", "an integer without quotes"),
    ("number", "a number without quotes"),
    ("boolean", "true or false without quotes"),
    ("array", "an array in [ ]"),
    ("object", "an object in { }"),
    ("null", "null"),
];

/// Each violated place once, in the order of the violations.
pub(super) fn findings(violations: &[Violation], schema: &Value, sent: &Value) -> Vec<Finding> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut out = Vec::new();
    for violation in violations {
        let key = (violation.path.as_str(), violation.keyword.as_str());
        // The validator reports each missing field by itself; here they make one sentence.
        if !seen.contains(&key) {
            seen.push(key);
            out.push(explain(violation, schema, sent));
        }
    }
    out
}

/// The members at the top that nothing is wrong with.
pub(super) fn fine(violations: &[Violation], schema: &Value, sent: &Value) -> Vec<String> {
    let at_root = |keywords: &[&str]| {
        violations.iter().any(|one| one.path.is_empty() && keywords.contains(&one.keyword.as_str()))
    };
    let wrong: Vec<String> =
        violations.iter().filter_map(|violation| pointer::tokens(&violation.path).next()).collect();
    let about_members = violations
        .iter()
        .filter(|violation| violation.path.is_empty())
        .all(|violation| violation.keyword == "required" || UNKNOWN.contains(&violation.keyword.as_str()));
    if !about_members {
        return Vec::new();
    }
    let known = schema.get("properties").filter(|_| at_root(UNKNOWN));
    sent.as_object()
        .into_iter()
        .flat_map(|object| object.keys())
        .filter(|key| !wrong.contains(key) && known.is_none_or(|known| known.get(key.as_str()).is_some()))
        .map(|key| format!("`{key}`"))
        .collect()
}

fn explain(violation: &Violation, root: &Value, sent: &Value) -> Finding {
    // The keyword's operand, and the schema that it stands in.
    let operand = root.pointer(&violation.schema_path).unwrap_or(&Value::Null);
    let around =
        violation.schema_path.rsplit_once('/').and_then(|(parent, _)| root.pointer(parent)).unwrap_or(root);
    let got = sent.pointer(&violation.path);
    let place = place(&violation.path);
    let keyword = violation.keyword.as_str();
    let (problem, next, expected) = match keyword {
        "required" => missing(&place, operand, around, root, got),
        _ if UNKNOWN.contains(&keyword) => unknown(&place, around, root, got),
        "type" => {
            let wanted = written(operand);
            (format!("{place} must be {wanted}"), format!("write {place} as {wanted}"), shown(around, root))
        }
        "anyOf" | "oneOf" => {
            let forms: Vec<String> =
                operand.as_array().into_iter().flatten().map(|form| form_of(referred(form, root))).collect();
            let (count, forms) =
                (if keyword == "oneOf" { "exactly one" } else { "at least one" }, list(&forms, 6));
            (
                format!("{place} must fit {count} of the allowed forms"),
                format!("write {place} as one of these: {forms}"),
                shown(around, root),
            )
        }
        "uniqueItems" => {
            let wanted = "an array without repeated items";
            (
                format!("{place} must be {wanted}"),
                format!("remove the repeated items from {place}"),
                String::new(),
            )
        }
        "dependentRequired" | "dependencies" => (
            format!("{place} lacks a field that another of its fields needs"),
            format!("add to {place} the fields that belong together: {operand}"),
            shown(around, root),
        ),
        _ => match WANTED.iter().find(|row| row.0 == keyword) {
            Some((_, before, after)) => {
                let wanted = format!("{before}{}{after}", clip(&members(operand), 160));
                (format!("{place} must be {wanted}"), format!("set {place} to {wanted}"), shown(around, root))
            }
            None => (
                format!("{place}: {}", violation.message),
                format!("change {place} so that it fits what is expected"),
                shown(around, root),
            ),
        },
    };
    Finding { problem, expected, got: got.map(Value::to_string).unwrap_or_default(), next }
}

fn shown(schema: &Value, root: &Value) -> String {
    slice(schema, root).to_string()
}

/// The members of a list without its brackets, else the value.
fn members(operand: &Value) -> String {
    match operand {
        Value::Array(all) => list(&all.iter().map(Value::to_string).collect::<Vec<_>>(), 24),
        other => other.to_string(),
    }
}

fn written(types: &Value) -> String {
    let names = match types {
        Value::Array(names) => names.as_slice(),
        one => std::slice::from_ref(one),
    };
    let ways: Vec<&str> = names
        .iter()
        .filter_map(Value::as_str)
        .map(|name| WRITTEN.iter().find(|row| row.0 == name).map_or(name, |row| row.1))
        .collect();
    ways.join(" or ")
}

/// One branch of a union in a few words.
fn form_of(schema: &Value) -> String {
    match (schema.get("properties"), schema.get("enum").or(schema.get("const"))) {
        (Some(_), _) => fields(schema),
        (_, Some(values)) => members(values),
        _ => match written(schema.get("type").unwrap_or(&Value::Null)) {
            ways if ways.is_empty() => slice(schema, schema).to_string(),
            ways => ways,
        },
    }
}

fn missing(
    place: &str,
    names: &Value,
    around: &Value,
    root: &Value,
    got: Option<&Value>,
) -> (String, String, String) {
    let missing: Vec<&str> = names
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| got.is_none_or(|got| got.get(name).is_none()))
        .collect();
    let declared = |name: &str| around.get("properties").and_then(|known| known.get(name));
    let ticked: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let typed: Vec<String> = missing
        .iter()
        .map(|name| match declared(name) {
            Some(schema) => format!("`{name}` ({})", what(referred(schema, root))),
            None => format!("`{name}`"),
        })
        .collect();
    let expected: serde_json::Map<String, Value> =
        missing.iter().filter_map(|name| Some(((*name).to_owned(), slice(declared(name)?, root)))).collect();
    let verb = if missing.len() == 1 { "is" } else { "are" };
    (
        format!("{} {verb} required in {place} and missing", list(&ticked, 8)),
        format!("add {} to {place} and keep the rest", list(&typed, 8)),
        Value::Object(expected).to_string(),
    )
}

fn unknown(place: &str, around: &Value, root: &Value, got: Option<&Value>) -> (String, String, String) {
    let known: Vec<&str> = around
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|known| known.keys().map(String::as_str))
        .collect();
    let unknown: Vec<&str> = got
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|got| got.keys().map(String::as_str))
        .filter(|key| !known.contains(key))
        .collect();
    let ticked: Vec<String> = unknown.iter().map(|key| format!("`{key}`")).collect();
    let next = match unknown.as_slice() {
        [key] => match closest_names(key, known.iter().copied(), 1).first() {
            Some(near) => format!("rename `{key}` to `{near}` if that is what you mean, else remove it"),
            None => format!("remove `{key}`"),
        },
        _ => format!("remove {}", list(&ticked, 8)),
    };
    let verb = if unknown.len() == 1 { "is no field" } else { "are no fields" };
    (format!("{} {verb} of {place}", list(&ticked, 8)), next, fields_of(around, root))
}

fn fields_of(schema: &Value, root: &Value) -> String {
    fields(referred(schema, root))
}
