//! Which hints a value violates. A violated hint counts as a violation of the schema at its path.
//!
//! This module only reports. The rules in `rules` do the repairs.

use serde_json::Value;

use crate::json::pointer;
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::schema::guide::SchemaPosition;
use crate::verdict::Violation;

use super::rules::{code_quotes, markdown_link, relation};
use crate::schema::fault::{Fault, HintKind, Wants};
use crate::schema::hints::Semantic;

/// The keyword that violations of hints carry.
const KEYWORD: &str = "x-toolmend";

/// Every hint that the value violates. Costs nothing if the schema has no hints and the policy asks for nothing.
pub(super) fn violated_hints(schema: &Schema, policy: &Policy, value: &Value) -> Vec<Fault> {
    let relations = schema.hints().relational.iter().enumerate();
    let mut out: Vec<Fault> = relations
        .filter(|(_, relation)| !relation::missing_fields(relation, value).is_empty())
        .map(|(index, _)| fault(String::new(), HintKind::Relation(index)))
        .collect();
    let quotes = policy.allows(RepairKind::CodeQuotesNormalised);
    if quotes || schema.guide().has_semantics() {
        check_strings(schema, value, quotes, &mut out);
    }
    out
}

fn fault(path: String, kind: HintKind) -> Fault {
    let schema_path = match kind {
        HintKind::Relation(index) => format!("/{KEYWORD}/relational/{index}"),
        HintKind::Link | HintKind::CodeQuotes => format!("/{KEYWORD}/semantic"),
    };
    Fault { path, schema_path, wants: Wants::Hint(kind) }
}

/// Walks the value along the guide and checks every string.
fn check_strings<'v>(schema: &Schema, value: &'v Value, quotes: bool, out: &mut Vec<Fault>) {
    let guide = schema.guide();
    let mut open: Vec<(&'v Value, SchemaPosition, String)> = vec![(value, guide.root(), String::new())];
    while let Some((container, position, path)) = open.pop() {
        let below = |token: &str| {
            let mut path = path.clone();
            pointer::push(&mut path, token);
            path
        };
        let mut look = |child: &'v Value, position, token: &str, key: Option<&str>, semantic| match child {
            Value::Array(_) | Value::Object(_) => open.push((child, position, below(token))),
            Value::String(text) => {
                let kind = check_link(text, semantic)
                    .or_else(|| check_code_quotes(quotes, container, key?, text, semantic));
                out.extend(kind.map(|kind| fault(below(token), kind)));
            }
            _ => {}
        };
        match container {
            Value::Object(members) => {
                for (key, child) in members {
                    let position = guide.member(position, key);
                    look(child, position, key, Some(key), guide.semantic(position));
                }
            }
            Value::Array(elements) => {
                for (index, child) in elements.iter().enumerate() {
                    let inner = guide.element(position, index);
                    // A hint on a list is about its elements.
                    let semantic = guide.semantic(inner).or_else(|| guide.semantic(position));
                    look(child, inner, &index.to_string(), None, semantic);
                }
            }
            _ => {}
        }
    }
}

fn check_link(text: &str, semantic: Option<Semantic>) -> Option<HintKind> {
    let meaning = semantic.filter(|semantic| semantic.is_path() || *semantic == Semantic::Url)?;
    markdown_link::link_target(text, Some(meaning)).map(|_| HintKind::Link)
}

fn check_code_quotes(
    quotes: bool,
    object: &Value,
    key: &str,
    text: &str,
    semantic: Option<Semantic>,
) -> Option<HintKind> {
    let curly = quotes
        && code_quotes::is_code(object, key, semantic)
        && code_quotes::straighten_quotes(text).is_some();
    curly.then_some(HintKind::CodeQuotes)
}

/// A violated hint as a violation of the schema.
pub(super) fn describe_violation(schema: &Schema, fault: &Fault) -> Option<Violation> {
    let Wants::Hint(kind) = fault.wants else { return None };
    let message = match kind {
        HintKind::Link => {
            "the value is written as a Markdown link; a plain path or address is wanted".to_owned()
        }
        HintKind::CodeQuotes => "code holds curly quotes; straight ones are wanted".to_owned(),
        HintKind::Relation(index) => {
            let fields = schema.hints().relational.get(index).map_or(&[][..], |relation| &relation.fields);
            format!("[{}] belong together; give all of them or none", fields.join(", "))
        }
    };
    Some(Violation {
        path: fault.path.clone(),
        keyword: KEYWORD.to_owned(),
        schema_path: fault.schema_path.clone(),
        message,
    })
}
