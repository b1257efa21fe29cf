//! Fields that belong together, as the tool's author declared it.
//!
//! Only declared defaults are filled in, and the note tells the model which.

use serde_json::Value;

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;

use super::member_edits;
use crate::schema::fault::{HintKind, Wants};
use crate::schema::hints::Relation;
use crate::shape::mismatch::{Change, SchemaMismatch};

/// The fields of the relation that are missing beside one that is given, and have a default. A null counts as missing.
pub(in crate::shape) fn missing_fields<'r>(relation: &'r Relation, value: &Value) -> Vec<&'r str> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let given = |name: &String| object.get(name).is_some_and(|value| !value.is_null());
    if !relation.fields.iter().any(given) {
        return Vec::new();
    }
    let absent = relation.fields.iter().filter(|name| !given(name));
    absent.filter(|name| relation.defaults.contains_key(*name)).map(String::as_str).collect()
}

/// Fills the missing fields of a relation and says so in a note.
pub(super) fn fill_relational_defaults(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Hint(HintKind::Relation(index)) = mismatch.fault.wants else { return None };
    let relation = mismatch.context.schema.hints().relational.get(index)?;
    let kind = RepairKind::RelationalDefaultFilled;
    let mut edits = Vec::new();
    let mut given = Vec::new();
    let mut filled: Vec<(&str, String)> = Vec::new();
    for name in &relation.fields {
        let member = mismatch.tree.member(mismatch.id, name);
        let default = relation.defaults.get(name).map(Value::to_string);
        match (member, default) {
            (Some(id), _) if mismatch.tree.nodes[id].kind != Kind::Null => given.push(name.as_str()),
            (Some(id), Some(default)) => {
                edits.push(Edit::new(mismatch.tree.nodes[id].span.clone(), default.clone(), kind));
                filled.push((name, default));
            }
            (None, Some(default)) => filled.push((name, default)),
            (_, None) => {}
        }
    }
    let inserted: Vec<(&str, &str)> = filled
        .iter()
        .filter(|(name, _)| mismatch.tree.member(mismatch.id, name).is_none())
        .map(|(name, default)| (*name, default.as_str()))
        .collect();
    if !inserted.is_empty() {
        edits.push(member_edits::insert_members(mismatch.tree, mismatch.id, &inserted, kind));
    }
    let set: Vec<String> = filled.iter().map(|(name, default)| format!("{name}={default}")).collect();
    let note = format!(
        "Note: {} came without {}; the declared default was used: {}. Give all of [{}] to choose other values.",
        given.join(", "),
        filled.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        set.join(", "),
        relation.fields.join(", "),
    );
    (!edits.is_empty()).then(|| Change { note: Some(note), ..Change::new(edits) })
}
