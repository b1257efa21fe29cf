//! Objects written as lists of their members, and lists written as objects of their elements.
//!
//! Each member keeps the name that the model gave it. A name that occurs twice means that this is a list after all.

use std::collections::HashSet;

use crate::json::text::quote;
use crate::json::tree::{Kind, Tree};
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};
use crate::shape::mismatch::{Change, Mismatch, SchemaMismatch};

/// Keys that hold the name of a member, and keys that hold its value, folded.
const NAMES: [&str; 9] =
    ["name", "key", "parameter", "param", "argument", "arg", "field", "property", "parametername"];
const VALUES: [&str; 3] = ["value", "val", "content"];
/// Keys that may stand beside them.
const LABELS: [&str; 2] = ["type", "description"];
/// The most members that are put together.
const MAX_MEMBERS: usize = 1024;

/// Finds the name and the value of the member that an element of a list stands for.
type Notation = fn(&Tree<'_>, usize) -> Option<(String, usize)>;

/// How lists write one member.
const NOTATIONS: [Notation; 3] = [pair, named_value, single_member];

/// `[["a", 1]]`, `[{"name": "a", "value": 1}]` and `[{"a": 1}, {"b": 2}]` to `{"a": 1, ..}`.
// Case: shape/pairs-for-object, shape/named-values-for-object, shape/single-members-for-object
// Case: shape/same-member-twice
pub(super) fn list_to_object(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if mismatch.kind() != Kind::Array || !mismatch.wants(Types::OBJECT) || mismatch.wants(Types::ARRAY) {
        return None;
    }
    let tree = mismatch.tree;
    let position = mismatch.position();
    let is_declared = |name: &str| mismatch.guide().declares_key(position, name);
    let is_open = !mismatch.guide().declares(position);
    for (index, notation) in NOTATIONS.iter().enumerate() {
        let members: Option<Vec<(String, usize)>> =
            tree.children(mismatch.id).take(MAX_MEMBERS + 1).map(|element| notation(tree, element)).collect();
        let Some(members) = members.filter(|all| !all.is_empty() && all.len() <= MAX_MEMBERS) else {
            continue;
        };
        // One object of one member is an object in brackets.
        let is_single_object = index == 2 && members.len() < 2;
        let distinct: HashSet<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let is_known = is_open || members.iter().all(|(name, _)| is_declared(name));
        if is_single_object || distinct.len() != members.len() || !is_known {
            continue;
        }
        if index == 2 && !is_open && each_fits_alone(mismatch) {
            return None;
        }
        let written: Vec<String> =
            members.iter().map(|(name, value)| format!("{}: {}", quote(name), tree.source(*value))).collect();
        let text = format!("{{{}}}", written.join(", "));
        return Some(mismatch.replace(text, RepairKind::ListToObject));
    }
    None
}

/// Whether each element of the whole document fits the schema: then they may be as many calls.
fn each_fits_alone(mismatch: &SchemaMismatch<'_>) -> bool {
    mismatch.id == 0
        && mismatch.tree.children(mismatch.id).all(|element| {
            let value = serde_json::from_str(mismatch.tree.source(element));
            value.is_ok_and(|value| mismatch.context.schema.accepts(&value))
        })
}

/// `["a", 1]`
fn pair(tree: &Tree<'_>, element: usize) -> Option<(String, usize)> {
    let mut children = tree.children(element);
    let is_array = tree.nodes[element].kind == Kind::Array;
    match (children.next(), children.next(), children.next()) {
        (Some(name), Some(value), None) if is_array => Some((tree.string(name)?.into_owned(), value)),
        _ => None,
    }
}

/// `{"name": "a", "value": 1}`
fn named_value(tree: &Tree<'_>, element: usize) -> Option<(String, usize)> {
    if tree.nodes[element].kind != Kind::Object {
        return None;
    }
    let (mut name, mut value) = (None, None);
    for member in tree.children(element) {
        let key = fold(&tree.key(member)?);
        if NAMES.contains(&key.as_str()) && name.is_none() {
            name = Some(tree.string(member)?.into_owned());
        } else if VALUES.contains(&key.as_str()) && value.is_none() {
            value = Some(member);
        } else if !LABELS.contains(&key.as_str()) {
            return None;
        }
    }
    Some((name?, value?))
}

/// Whether an object is one entry of a map, such as `{"name": "PATH", "value": "/x"}`, and not the map itself.
// Case: shape/one-entry-for-a-map
pub(super) fn is_entry_of_map(tree: &Tree<'_>, object: usize) -> bool {
    const SHORT_NAMES: [&str; 4] = ["k", "id", "header", "variable"];
    if tree.nodes[object].kind != Kind::Object {
        return false;
    }
    let keys: Option<Vec<String>> =
        tree.children(object).map(|child| Some(fold(&tree.key(child)?))).collect();
    let is_name = |key: &str| NAMES.contains(&key) || SHORT_NAMES.contains(&key);
    let is_value = |key: &str| VALUES.contains(&key) || key == "v";
    keys.is_some_and(|keys| {
        keys.len() == 2 && keys.iter().any(|key| is_name(key)) && keys.iter().any(|key| is_value(key))
    })
}

/// `{"a": 1}`
pub(super) fn single_member(tree: &Tree<'_>, element: usize) -> Option<(String, usize)> {
    let mut children = tree.children(element);
    let is_object = tree.nodes[element].kind == Kind::Object;
    match (children.next(), children.next()) {
        (Some(only), None) if is_object => Some((tree.key(only)?.into_owned(), only)),
        _ => None,
    }
}

/// `{"0": "a", "1": "b"}` to `["a", "b"]`: the keys are the numbers of the elements, in order, from 0 or 1.
// Case: shape/numbered-members-for-array
pub(super) fn indexed_object_to_array(mismatch: &Mismatch<'_>) -> Option<Change> {
    let is_wanted = mismatch.wants(Types::ARRAY) && !mismatch.wants(Types::OBJECT);
    if mismatch.kind() != Kind::Object || !is_wanted {
        return None;
    }
    let tree = mismatch.tree;
    let mut elements = Vec::new();
    let mut next = None;
    for member in tree.children(mismatch.id) {
        let key = tree.key(member)?;
        let number: usize = key.parse().ok().filter(|number: &usize| number.to_string() == key)?;
        if next.unwrap_or(number.min(1)) != number {
            return None;
        }
        next = Some(number + 1);
        elements.push(tree.source(member));
    }
    let is_list = !elements.is_empty() && mismatch.takes_elements(elements.len());
    is_list.then(|| mismatch.replace(format!("[{}]", elements.join(", ")), RepairKind::IndexedObjectToArray))
}
