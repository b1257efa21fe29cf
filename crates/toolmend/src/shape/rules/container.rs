//! Arrays and objects: written in strings, left out around one value, or replaced by a placeholder.

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};

use super::embedded_json;
use crate::shape::mismatch::{Change, Site};

/// `"[1,2]"` to `[1,2]`. A string that is the whole document is a matter of syntax.
pub(in crate::shape) fn string_to_container(site: &Site<'_>) -> Option<Change> {
    if !(site.wanted().has(Types::ARRAY) || site.wanted().has(Types::OBJECT)) || site.node().parent.is_none()
    {
        return None;
    }
    let embedded = embedded_json::read(&site.string()?, site.ground.policy)?;
    let change = site.replace(embedded.text, RepairKind::StringToContainer);
    Some(Change { within: embedded.layers, ..change })
}

/// `{}` to `[]`.
pub(in crate::shape) fn empty_object_to_array(site: &Site<'_>) -> Option<Change> {
    let fits = site.wanted().has(Types::ARRAY) && is_empty(site, Kind::Object);
    fits.then(|| site.replace("[]", RepairKind::EmptyObjectToArray))
}

/// `[]` to `{}`.
pub(in crate::shape) fn empty_array_to_object(site: &Site<'_>) -> Option<Change> {
    let fits = site.wanted().has(Types::OBJECT) && is_empty(site, Kind::Array);
    fits.then(|| site.replace("{}", RepairKind::EmptyArrayToObject))
}

fn is_empty(site: &Site<'_>, kind: Kind) -> bool {
    site.kind() == kind && site.tree.children(site.id).next().is_none()
}

/// `1` to `[1]`. A string that sets out to be an array or object is not one element, and neither is nothing.
pub(in crate::shape) fn value_to_array(site: &Site<'_>) -> Option<Change> {
    let single = match site.kind() {
        Kind::Null | Kind::Array => false,
        Kind::String => site
            .string()
            .is_some_and(|text| !text.trim().is_empty() && !embedded_json::looks_like_container(&text)),
        Kind::Object => !is_empty(site, Kind::Object),
        Kind::Bool | Kind::Number => true,
    };
    let fits = single && site.wanted().has(Types::ARRAY);
    fits.then(|| reduced(site, site.id, BRACKETS, RepairKind::ValueToArray))
}

const BRACKETS: [&str; 2] = ["[", "]"];
const NOTHING: [&str; 2] = ["", ""];

/// The value at the site reduced to `inner`, which is in it or is itself, between two marks.
fn reduced(site: &Site<'_>, inner: usize, [open, close]: [&'static str; 2], kind: RepairKind) -> Change {
    let outer = &site.node().span;
    let inner = &site.tree.nodes[inner].span;
    Change::new(vec![
        Edit::new(outer.start..inner.start, open, kind),
        Edit::new(inner.end..outer.end, close, kind),
    ])
}

/// Keys that say nothing: `{"item": [..]}` is the list.
const PLACEHOLDERS: [&str; 16] = [
    "item", "items", "list", "value", "values", "array", "element", "elements", "entry", "entries", "data",
    "content", "text", "string", "result", "results",
];
/// Keys of a schema that a model repeats instead of filling it in.
const SCHEMA_WORDS: [&str; 7] = ["type", "description", "enum", "$ref", "default", "format", "title"];

/// `{"item": [1]}` to `[1]`, where the key is a placeholder or repeats the name of the field.
pub(in crate::shape) fn placeholder_unwrapped(site: &Site<'_>) -> Option<Change> {
    let (key, inner) = only_member(site)?;
    let field = site.tree.key(site.id).map(|key| fold(&key)).unwrap_or_default();
    let folded = fold(&key);
    let same_name = !field.is_empty() && (field == folded || field.strip_suffix('s') == Some(&folded));
    if !(same_name || PLACEHOLDERS.contains(&folded.as_str())) {
        return None;
    }
    let kind = site.tree.nodes[inner].kind;
    if site.wanted().has(kind.into()) {
        return Some(reduced(site, inner, NOTHING, RepairKind::PlaceholderUnwrapped));
    }
    let single = site.wanted().has(Types::ARRAY) && kind != Kind::Null;
    single.then(|| reduced(site, inner, BRACKETS, RepairKind::PlaceholderUnwrapped))
}

/// `{"path": "x"}` to `["x"]`, whatever the key: an array is wanted and there is one value.
pub(in crate::shape) fn member_to_array(site: &Site<'_>) -> Option<Change> {
    let (key, inner) = only_member(site)?;
    if !site.wanted().has(Types::ARRAY) || SCHEMA_WORDS.contains(&&*key) {
        return None;
    }
    let marks = match site.tree.nodes[inner].kind {
        Kind::Null | Kind::Object => return None,
        Kind::Array => NOTHING,
        Kind::Bool | Kind::Number | Kind::String => BRACKETS,
    };
    Some(reduced(site, inner, marks, RepairKind::PlaceholderUnwrapped))
}

/// The key and value of an object with one member, where no object is wanted.
fn only_member<'a>(site: &Site<'a>) -> Option<(std::borrow::Cow<'a, str>, usize)> {
    if site.kind() != Kind::Object || site.wanted() == Types::NONE || site.wanted().has(Types::OBJECT) {
        return None;
    }
    let mut children = site.tree.children(site.id);
    match (children.next(), children.next()) {
        (Some(only), None) => Some((site.tree.key(only)?, only)),
        _ => None,
    }
}
