//! One pair of brackets too few or too many: `1` for `[1]`, `["x"]` for `"x"`, `[["a", "b"]]` for `["a", "b"]`.

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::Types;
use crate::shape::mismatch::{Change, Expectation, Mismatch, SchemaMismatch, TypeMismatch};

use super::{container_text, embedded_json, list_text, member_lists, wrapper};

/// `1` to `[1]`. A string that starts like an array or object is not one element, unless it is a pattern.
pub(super) fn value_to_array(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    wrap_element(mismatch, embedded_json::looks_like_container)
}

/// `1` to `[1]`. A string that starts like an array, but cannot be read as one, is not one element.
pub(super) fn value_to_list(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    wrap_element(mismatch, |text| text.trim().starts_with('['))
}

fn wrap_element(mismatch: &Mismatch<'_>, is_container: fn(&str) -> bool) -> Option<Change> {
    // Case: shape/flat-list-for-rows
    let is_wanted = mismatch.wants(Types::ARRAY) && mismatch.takes_elements(1) && !is_beside_others(mismatch);
    let is_one = match mismatch.kind() {
        Kind::Null | Kind::Array => false,
        Kind::String => {
            let text = mismatch.string()?;
            let field = mismatch.tree.key(mismatch.id).unwrap_or_default();
            let is_whole = !is_container(&text) || embedded_json::is_pattern(&text);
            is_whole && list_text::is_one_element(&text, &field)
        }
        // An empty object is no element, and an object with a number for a key is a list itself.
        Kind::Object => !mismatch.is_empty(Kind::Object),
        Kind::Bool | Kind::Number => true,
    };
    (is_wanted && is_one)
        .then(|| wrapper::replace_by_array_of(mismatch, mismatch.id, RepairKind::ValueToArray))
}

/// Whether the value is one of several elements. Then all of them may be one list, or each a list of its own.
fn is_beside_others(mismatch: &Mismatch<'_>) -> bool {
    let tree = mismatch.tree;
    mismatch.node().parent.is_some_and(|parent| {
        tree.nodes[parent].kind == Kind::Array && tree.children(parent).nth(1).is_some()
    })
}

/// Whether the value is beside scalars in an array that is an element of another one.
fn is_in_row(mismatch: &Mismatch<'_>) -> bool {
    let tree = mismatch.tree;
    let is_array = |id: usize| tree.nodes[id].kind == Kind::Array;
    mismatch.node().parent.filter(|&row| is_array(row)).is_some_and(|row| {
        tree.nodes[row].parent.is_some_and(is_array) && tree.children(row).any(|child| !is_array(child))
    })
}

/// `["x"]` to `"x"`, if its only element is what is wanted and no array is.
// Case: shape/list-of-one
pub(super) fn unwrap_element(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let is_map = mismatch.wants(Types::OBJECT) && !mismatch.guide().declares(mismatch.position());
    unwrap_unless_entry(mismatch, is_map)
}

/// The same for a value that a type refused.
pub(super) fn unwrap_element_for_type(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    unwrap_unless_entry(mismatch, matches!(mismatch.expected, Expectation::Map))
}

fn unwrap_unless_entry(mismatch: &Mismatch<'_>, is_map: bool) -> Option<Change> {
    let only = mismatch.only_child().filter(|_| mismatch.kind() == Kind::Array);
    if is_map && only.is_some_and(|only| member_lists::is_entry_of_map(mismatch.tree, only)) {
        return None;
    }
    unwrap_only_element(mismatch)
}

fn unwrap_only_element(mismatch: &Mismatch<'_>) -> Option<Change> {
    let is_wanted = mismatch.wanted() != Types::NONE && !mismatch.wants(Types::ARRAY);
    if mismatch.kind() != Kind::Array || !is_wanted || container_text::is_wanted_as_text(mismatch) {
        return None;
    }
    // `[[1, 2, [3], 4], [5, 6]]`: in a row, the brackets may be the end of it and the start of the next.
    // Case: shape/brackets-inside-a-row
    if mismatch.node().parent.is_some()
        && !is_in_row(mismatch)
        && let Some(only) = mismatch.only_child()
        && mismatch.wants(mismatch.tree.nodes[only].kind.into())
    {
        return Some(wrapper::replace_by_inner(mismatch, only, RepairKind::ElementUnwrapped));
    }
    remove_inner_brackets(mismatch)
}

/// `[["a", "b"]]` to `["a", "b"]`: the brackets of the only element of an array go.
// Case: shape/array-nested-once-more
fn remove_inner_brackets(mismatch: &Mismatch<'_>) -> Option<Change> {
    let parent = mismatch.node().parent?;
    let is_only_element =
        mismatch.tree.nodes[parent].kind == Kind::Array && mismatch.tree.children(parent).count() == 1;
    let span = &mismatch.node().span;
    is_only_element.then(|| {
        let kind = RepairKind::ElementUnwrapped;
        let mut change = Change::new(vec![
            Edit::new(span.start..span.start + 1, "", kind),
            Edit::new(span.end - 1..span.end, "", kind),
        ]);
        change.in_parent = true;
        change
    })
}
