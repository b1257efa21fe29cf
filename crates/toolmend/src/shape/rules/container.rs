//! Arrays and objects: written in strings, left out around one value, or wrapped in a placeholder.

use std::borrow::Cow;

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};
use crate::shape::mismatch::{Change, Expectation, Mismatch, SchemaMismatch, TypeMismatch};

use super::embedded_json;

/// `"[1,2]"` to `[1,2]`. A string that is the whole document is a matter of syntax.
pub(super) fn string_to_container(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::ARRAY) || mismatch.wants(Types::OBJECT);
    if !wanted || mismatch.node().parent.is_none() {
        return None;
    }
    let embedded = embedded_json::read_container(&mismatch.string()?, mismatch.context.policy)?;
    let change = mismatch.replace(embedded.text, RepairKind::StringToContainer);
    Some(Change { within: embedded.layers, ..change })
}

/// `"[1,2]"` to `[1,2]`, for the kind of container that the type expects.
pub(super) fn string_to_expected_container(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let opener = match mismatch.expected {
        Expectation::List(_) => '[',
        Expectation::Map | Expectation::Struct(_) => '{',
        _ => return None,
    };
    let string = mismatch.string().filter(|string| string.trim_start().starts_with(opener))?;
    let embedded = embedded_json::read_container(&string, &Policy::default())?;
    let text = embedded.layers.iter().fold(embedded.text, |text, patch| patch.apply(&text));
    Some(mismatch.replace(text, RepairKind::StringToContainer))
}

/// `{}` to `[]`.
pub(super) fn empty_object_to_array(mismatch: &Mismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::ARRAY) && mismatch.wanted_length().is_none();
    (wanted && mismatch.is_empty(Kind::Object))
        .then(|| mismatch.replace("[]", RepairKind::EmptyObjectToArray))
}

/// `[]` to `{}`.
pub(super) fn empty_array_to_object(mismatch: &Mismatch<'_>) -> Option<Change> {
    let fits = mismatch.wants(Types::OBJECT) && mismatch.is_empty(Kind::Array);
    fits.then(|| mismatch.replace("{}", RepairKind::EmptyArrayToObject))
}

/// `1` to `[1]`. A string that starts like an array or object is not one element.
pub(super) fn value_to_array(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let fits = mismatch.wants(Types::ARRAY) && is_one_element(mismatch, embedded_json::looks_like_container);
    fits.then(|| reduce_to(mismatch, mismatch.id, BRACKETS, RepairKind::ValueToArray))
}

/// `1` to `[1]`. A string that starts like an array, but cannot be read as one, is not one element.
pub(super) fn value_to_list(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let wanted = matches!(mismatch.expected, Expectation::List(None | Some(1)));
    let fits = wanted && is_one_element(mismatch, |text| text.trim().starts_with('['));
    fits.then(|| mismatch.replace(format!("[{}]", mismatch.source()), RepairKind::ValueToArray))
}

/// Whether the value can be the only element of an array. Blank text and empty objects are no element.
fn is_one_element(mismatch: &Mismatch<'_>, is_container: fn(&str) -> bool) -> bool {
    match mismatch.kind() {
        Kind::Null | Kind::Array => false,
        Kind::String => mismatch.string().is_some_and(|text| !text.trim().is_empty() && !is_container(&text)),
        Kind::Object => !mismatch.is_empty(Kind::Object),
        Kind::Bool | Kind::Number => true,
    }
}

const BRACKETS: [&str; 2] = ["[", "]"];
const NOTHING: [&str; 2] = ["", ""];

/// The value reduced to `inner`, which is in it or is the value itself, between two brackets or none.
fn reduce_to(
    mismatch: &SchemaMismatch<'_>,
    inner: usize,
    [open, close]: [&'static str; 2],
    kind: RepairKind,
) -> Change {
    let outer = &mismatch.node().span;
    let inner = &mismatch.tree.nodes[inner].span;
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

/// `{"item": [1]}` to `[1]`, if the key is a placeholder or repeats the name of the field.
pub(super) fn unwrap_placeholder(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let (key, inner) = only_member(mismatch)?;
    let field = mismatch.tree.key(mismatch.id).map(|key| fold(&key)).unwrap_or_default();
    let folded = fold(&key);
    let same_name = !field.is_empty() && (field == folded || field.strip_suffix('s') == Some(&folded));
    if !(same_name || PLACEHOLDERS.contains(&folded.as_str())) {
        return None;
    }
    let kind = mismatch.tree.nodes[inner].kind;
    if mismatch.wants(kind.into()) {
        return Some(reduce_to(mismatch, inner, NOTHING, RepairKind::PlaceholderUnwrapped));
    }
    let single = mismatch.wants(Types::ARRAY) && kind != Kind::Null;
    single.then(|| reduce_to(mismatch, inner, BRACKETS, RepairKind::PlaceholderUnwrapped))
}

/// `{"item": [1]}` for a list, `{"value": 1}` for a number: the inner value has to be what the type expects.
pub(super) fn unwrap_expected_value(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let inner = mismatch.only_child().filter(|_| mismatch.kind() == Kind::Object)?;
    // A struct or map would be an object itself, so nothing shows which of the two was meant.
    let fits = mismatch.wants(mismatch.tree.nodes[inner].kind.into()) && !mismatch.wants(Types::OBJECT);
    let source = mismatch.tree.source(inner).to_owned();
    fits.then(|| mismatch.replace(source, RepairKind::PlaceholderUnwrapped))
}

/// `{"path": "x"}` to `["x"]`, whatever the key: an array is wanted and there is one value.
pub(super) fn member_to_array(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let (key, inner) = only_member(mismatch)?;
    if !mismatch.wants(Types::ARRAY) || SCHEMA_WORDS.contains(&&*key) {
        return None;
    }
    let brackets = match mismatch.tree.nodes[inner].kind {
        Kind::Null | Kind::Object => return None,
        Kind::Array => NOTHING,
        Kind::Bool | Kind::Number | Kind::String => BRACKETS,
    };
    Some(reduce_to(mismatch, inner, brackets, RepairKind::PlaceholderUnwrapped))
}

/// The key and value of an object with one member, if no object is wanted.
fn only_member<'a>(mismatch: &SchemaMismatch<'a>) -> Option<(Cow<'a, str>, usize)> {
    let other_type = mismatch.wanted() != Types::NONE && !mismatch.wants(Types::OBJECT);
    if mismatch.kind() != Kind::Object || !other_type {
        return None;
    }
    let only = mismatch.only_child()?;
    Some((mismatch.tree.key(only)?, only))
}
