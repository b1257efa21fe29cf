//! Explains schema violations: the problem, what is expected, what was sent and the next step.
//!
//! It only turns the findings of the validator into sentences. It never decides whether a value fits.

use std::collections::HashSet;

use serde_json::Value;

use super::clip::{clip, join_list};
use super::describe_position;
use super::schema_excerpt::{describe_fields, describe_type, excerpt, resolve_reference};
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

/// Keywords with one operand: the words before and after it in "must be ...".
const OPERAND_PHRASES: &[(&str, &str, &str)] = &[
    ("const", "exactly ", ""),
    ("enum", "one of ", ""),
    ("format", "a string in the format ", ""),
    ("pattern", "a string that matches the pattern ", ""),
    ("minimum", "a number that is at least ", ""),
    ("maximum", "a number that is at most ", ""),
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

/// Keywords that forbid undeclared members.
const CLOSED_OBJECT_KEYWORDS: &[&str] = &["additionalProperties", "unevaluatedProperties"];

/// How a value of each type is written.
const TYPE_PHRASES: &[(&str, &str)] = &[
    ("string", "a string in double quotes"),
    ("integer", "an integer without quotes"),
    ("number", "a number without quotes"),
    ("boolean", "true or false without quotes"),
    ("array", "an array in [ ]"),
    ("object", "an object in { }"),
    ("null", "null"),
];

/// Each violated keyword at each position once, in the order of the violations. The validator reports each missing field
/// separately, and one sentence covers them all.
pub(super) fn distinct_violations(violations: &[Violation]) -> Vec<&Violation> {
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    violations.iter().filter(|one| seen.insert((one.path.as_str(), one.keyword.as_str()))).collect()
}

/// Returns the top-level members that are correct as sent.
pub(super) fn correct_members(violations: &[Violation], schema: &Value, sent: &Value) -> Vec<String> {
    let at_root = |keywords: &[&str]| {
        violations.iter().any(|one| one.path.is_empty() && keywords.contains(&one.keyword.as_str()))
    };
    let wrong: HashSet<String> =
        violations.iter().filter_map(|violation| pointer::tokens(&violation.path).next()).collect();
    let about_members = violations.iter().filter(|violation| violation.path.is_empty()).all(|violation| {
        violation.keyword == "required" || CLOSED_OBJECT_KEYWORDS.contains(&violation.keyword.as_str())
    });
    if !about_members {
        return Vec::new();
    }
    let known = schema.get("properties").filter(|_| at_root(CLOSED_OBJECT_KEYWORDS));
    sent.as_object()
        .into_iter()
        .flat_map(|object| object.keys())
        .filter(|key| !wrong.contains(*key) && known.is_none_or(|known| known.get(key.as_str()).is_some()))
        .map(|key| format!("`{key}`"))
        .collect()
}

pub(super) fn explain_violation(violation: &Violation, root: &Value, sent: &Value) -> Finding {
    // The operand of the keyword, and the schema that contains it.
    let operand = root.pointer(&violation.schema_path).unwrap_or(&Value::Null);
    let parent =
        violation.schema_path.rsplit_once('/').and_then(|(parent, _)| root.pointer(parent)).unwrap_or(root);
    let got = sent.pointer(&violation.path);
    let position = describe_position(&violation.path);
    let keyword = violation.keyword.as_str();
    let (problem, next, expected) = match keyword {
        "required" => explain_missing(&position, operand, parent, root, got),
        _ if CLOSED_OBJECT_KEYWORDS.contains(&keyword) => explain_unknown(&position, parent, root, got),
        "type" => {
            let wanted = describe_types(operand);
            (
                format!("{position} must be {wanted}"),
                format!("write {position} as {wanted}"),
                excerpt(parent, root).to_string(),
            )
        }
        "anyOf" | "oneOf" => {
            let forms: Vec<String> = operand
                .as_array()
                .into_iter()
                .flatten()
                .map(|form| describe_form(resolve_reference(form, root)))
                .collect();
            let (count, forms) =
                (if keyword == "oneOf" { "exactly one" } else { "at least one" }, join_list(&forms, 6));
            (
                format!("{position} must match {count} of the allowed forms"),
                format!("write {position} as one of these: {forms}"),
                excerpt(parent, root).to_string(),
            )
        }
        "uniqueItems" => {
            let wanted = "an array without repeated items";
            (
                format!("{position} must be {wanted}"),
                format!("remove the repeated items from {position}"),
                String::new(),
            )
        }
        "dependentRequired" | "dependencies" => (
            format!("{position} is missing a field that another of its fields requires"),
            format!("add to {position} the fields that belong together: {operand}"),
            excerpt(parent, root).to_string(),
        ),
        _ => match OPERAND_PHRASES.iter().find(|row| row.0 == keyword) {
            Some((_, before, after)) => {
                let wanted = format!("{before}{}{after}", clip(&list_operand(operand), 160));
                (
                    format!("{position} must be {wanted}"),
                    format!("set {position} to {wanted}"),
                    excerpt(parent, root).to_string(),
                )
            }
            None => (
                format!("{position}: {}", violation.message),
                format!("change {position} to match what is expected"),
                excerpt(parent, root).to_string(),
            ),
        },
    };
    Finding { problem, expected, got: got.map(Value::to_string).unwrap_or_default(), next }
}

/// Lists the members of an array without its brackets, or shows any other value.
fn list_operand(operand: &Value) -> String {
    match operand {
        Value::Array(all) => join_list(&all.iter().map(Value::to_string).collect::<Vec<_>>(), 24),
        other => other.to_string(),
    }
}

/// Says how values of these types are written.
fn describe_types(types: &Value) -> String {
    let names = match types {
        Value::Array(names) => names.as_slice(),
        one => std::slice::from_ref(one),
    };
    let phrases: Vec<&str> = names
        .iter()
        .filter_map(Value::as_str)
        .map(|name| TYPE_PHRASES.iter().find(|row| row.0 == name).map_or(name, |row| row.1))
        .collect();
    phrases.join(" or ")
}

/// Describes one branch of a union in a few words.
fn describe_form(schema: &Value) -> String {
    match (schema.get("properties"), schema.get("enum").or(schema.get("const"))) {
        (Some(_), _) => describe_fields(schema),
        (_, Some(values)) => list_operand(values),
        _ => match describe_types(schema.get("type").unwrap_or(&Value::Null)) {
            phrases if phrases.is_empty() => excerpt(schema, schema).to_string(),
            phrases => phrases,
        },
    }
}

fn explain_missing(
    position: &str,
    names: &Value,
    parent: &Value,
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
    let declared = |name: &str| parent.get("properties").and_then(|known| known.get(name));
    let ticked: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let typed: Vec<String> = missing
        .iter()
        .map(|name| match declared(name) {
            Some(schema) => format!("`{name}` ({})", describe_type(resolve_reference(schema, root))),
            None => format!("`{name}`"),
        })
        .collect();
    let expected: serde_json::Map<String, Value> = missing
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), excerpt(declared(name)?, root))))
        .collect();
    let verb = if missing.len() == 1 { "is" } else { "are" };
    (
        format!("{} {verb} required in {position} but missing", join_list(&ticked, 8)),
        format!("add {} to {position} and keep the rest", join_list(&typed, 8)),
        Value::Object(expected).to_string(),
    )
}

fn explain_unknown(
    position: &str,
    parent: &Value,
    root: &Value,
    got: Option<&Value>,
) -> (String, String, String) {
    let known: Vec<&str> = parent
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
            Some(close) => {
                format!("rename `{key}` to `{close}` if that is what you mean, otherwise remove it")
            }
            None => format!("remove `{key}`"),
        },
        _ => format!("remove {}", join_list(&ticked, 8)),
    };
    let verb = if unknown.len() == 1 { "is not a field" } else { "are not fields" };
    let expected = describe_fields(resolve_reference(parent, root));
    (format!("{} {verb} of {position}", join_list(&ticked, 8)), next, expected)
}
