//! Objects around one value: `{"value": 1}`, `{"type": "string", "value": "x"}`, `{"item": ["x"]}`.
//!
//! The key has to say nothing, or repeat the name of the field. A key that says something is never thrown away: in
//! `{"content": {"old": "x"}}` the text may be what `old` says, so it is not the content.

use std::borrow::Cow;

use crate::json::tree::{Kind, Tree};
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};
use crate::shape::mismatch::{Change, Mismatch};

use super::{container_text, key_names};

/// Keys that say nothing, folded: `{"item": [..]}` is the list.
const PLACEHOLDERS: [&str; 17] = [
    "item", "items", "list", "value", "values", "val", "array", "element", "elements", "entry", "entries",
    "data", "content", "text", "string", "result", "results",
];
/// Keys that models copy from a schema or a content block beside the value.
const LABELS: [&str; 8] =
    ["type", "description", "title", "format", "items", "enum", "required", "additionalproperties"];
/// What `type` may say beside a value: a type of JSON Schema, or a kind of content.
const TYPES: [&str; 12] = [
    "string", "str", "text", "integer", "int", "number", "float", "boolean", "bool", "array", "list",
    "object",
];

/// An object around the value that is wanted, replaced by the value.
// Case: shape/typed-wrapper, shape/key-that-says-something
pub(super) fn unwrap_placeholder(mismatch: &Mismatch<'_>) -> Option<Change> {
    let is_wanted = mismatch.wanted() != Types::NONE && !mismatch.wants(Types::OBJECT);
    if mismatch.kind() != Kind::Object || !is_wanted || container_text::is_wanted_as_text(mismatch) {
        return None;
    }
    let tree = mismatch.tree;
    let (inner, is_typed) = wrapped_value(tree, mismatch.id)?;
    let kind = tree.nodes[inner].kind;
    if mismatch.wants(kind.into()) {
        let change = replace_by_inner(mismatch, inner, RepairKind::PlaceholderUnwrapped);
        return Some(if is_typed { with_neighbours(mismatch, change) } else { change });
    }
    let is_element = mismatch.wants(Types::ARRAY) && mismatch.takes_elements(1) && kind != Kind::Null;
    is_element.then(|| replace_by_array_of(mismatch, inner, RepairKind::PlaceholderUnwrapped))
}

/// The same for all other members with a type and a value. An object that any member fits would keep its wrapper
/// otherwise.
fn with_neighbours(mismatch: &Mismatch<'_>, mut change: Change) -> Change {
    let tree = mismatch.tree;
    let Some(parent) = mismatch.node().parent.filter(|&id| tree.nodes[id].kind == Kind::Object) else {
        return change;
    };
    for member in tree.children(parent).filter(|&member| member != mismatch.id) {
        if let Some((inner, true)) = wrapped_value(tree, member) {
            let with = tree.source(inner).to_owned();
            let kind = RepairKind::PlaceholderUnwrapped;
            change.edits.push(Edit::new(tree.nodes[member].span.clone(), with, kind));
            change.in_parent = true;
        }
    }
    change.edits.sort_by_key(|edit| edit.start);
    change
}

/// The one member whose key says nothing, if all others are labels, and whether one of them is the type of the value.
pub(super) fn wrapped_value(tree: &Tree<'_>, object: usize) -> Option<(usize, bool)> {
    if tree.nodes[object].kind != Kind::Object {
        return None;
    }
    let field = tree.key(object).unwrap_or_default();
    let mut found = None;
    let mut is_typed = false;
    for member in tree.children(object) {
        let key = tree.key(member)?;
        if is_label(tree, &key, member, &field) {
            is_typed |= fold(&key) == "type";
        } else if !says_nothing(&key, &field) || found.replace(member).is_some() {
            return None;
        }
    }
    Some((found?, is_typed))
}

fn says_nothing(key: &str, field: &str) -> bool {
    let is_field = !field.is_empty() && (fold(field) == fold(key) || key_names::is_plural_of(field, key));
    is_field || PLACEHOLDERS.contains(&fold(key).as_str())
}

/// Whether a member only describes the value beside it.
fn is_label(tree: &Tree<'_>, key: &str, member: usize, field: &str) -> bool {
    let text = tree.string(member);
    let says = |words: &[&str]| {
        text.as_ref().is_some_and(|text: &Cow<'_, str>| words.contains(&text.to_lowercase().as_str()))
    };
    match fold(key).as_str() {
        "type" => {
            let is_list = tree.nodes[member].kind == Kind::Array;
            is_list || says(&TYPES) || text.as_ref().is_some_and(|text| fold(text) == fold(field))
        }
        "name" | "key" => !field.is_empty() && text.as_ref().is_some_and(|text| fold(text) == fold(field)),
        // The schema of the elements, beside the elements.
        "items" => tree.nodes[member].kind == Kind::Object,
        folded => LABELS.contains(&folded),
    }
}

/// The value replaced by `inner`, which is in it.
pub(super) fn replace_by_inner(mismatch: &Mismatch<'_>, inner: usize, kind: RepairKind) -> Change {
    mismatch.replace(mismatch.tree.source(inner).to_owned(), kind)
}

/// The value replaced by an array of `inner`, which is in it or is the value itself.
pub(super) fn replace_by_array_of(mismatch: &Mismatch<'_>, inner: usize, kind: RepairKind) -> Change {
    let outer = &mismatch.node().span;
    let inner = &mismatch.tree.nodes[inner].span;
    Change::new(vec![
        Edit::new(outer.start..inner.start, "[", kind),
        Edit::new(inner.end..outer.end, "]", kind),
    ])
}
