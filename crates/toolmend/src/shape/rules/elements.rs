//! Elements of an array that are not what it holds: each wrapped in the name of the array, or one of them in pieces.

use std::collections::HashSet;

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::schema::guide::fold;
use crate::shape::mismatch::{Change, SchemaMismatch};

use super::{key_names, member_lists};

/// The most pieces that are put together.
const MAX_PIECES: usize = 64;

/// `{"edits": [{"edits": [..]}]}` to `{"edits": [..]}`, and `{"edits": [{"edit": {..}}]}` to `{"edits": [{..}]}`: the key only
/// repeats the name of the array.
// Case: shape/name-of-the-list-in-its-element
// Case: shape/list-of-trees
pub(super) fn unwrap_repeated_name(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let tree = mismatch.tree;
    let array = parent_array(mismatch)?;
    let inner = mismatch.only_child().filter(|_| mismatch.kind() == Kind::Object)?;
    let (name, key) = (tree.key(array)?, tree.key(inner)?);
    let is_repeated = fold(&name) == fold(&key) || key_names::is_plural_of(&name, &key);
    if !is_repeated || mismatch.declares(mismatch.position(), &key) {
        return None;
    }
    let kind = RepairKind::PlaceholderUnwrapped;
    let (outer, inner_node) = (&tree.nodes[array].span, &tree.nodes[inner]);
    if inner_node.kind != Kind::Array || mismatch.wants(Kind::Array.into()) {
        return Some(mismatch.replace(tree.source(inner).to_owned(), kind));
    }
    let is_only = tree.children(array).nth(1).is_none();
    is_only.then(|| {
        let edits = vec![
            Edit::new(outer.start..inner_node.span.start, "", kind),
            Edit::new(inner_node.span.end..outer.end, "", kind),
        ];
        in_array(array, edits)
    })
}

/// `[{"old": "a"}, {"new": "b"}]` to `[{"old": "a", "new": "b"}]`: one element, of which each piece is one member. No piece can
/// be an element, because each lacks a required member.
// Case: shape/element-in-pieces
// Case: shape/elements-without-a-member
pub(super) fn join_pieces(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let tree = mismatch.tree;
    let array = parent_array(mismatch).filter(|_| matches!(mismatch.fault.wants, Wants::Key(_)))?;
    let position = mismatch.position();
    let pieces: Option<Vec<(String, usize)>> = tree
        .children(array)
        .take(MAX_PIECES + 1)
        .map(|element| member_lists::single_member(tree, element))
        .collect();
    let pieces = pieces.filter(|all| (2..=MAX_PIECES).contains(&all.len()))?;
    let names: HashSet<&str> = pieces.iter().map(|(name, _)| name.as_str()).collect();
    let are_members =
        names.len() == pieces.len() && names.iter().all(|name| mismatch.declares(position, name));
    if !are_members || mismatch.guide().required(position).count_ones() < 2 {
        return None;
    }
    let between = |pair: &[(String, usize)]| {
        let next = tree.nodes[pair[1].1].key.as_ref()?;
        let end = tree.nodes[pair[0].1].span.end;
        Some(Edit::new(end..next.start, ", ", RepairKind::ListToObject))
    };
    let edits: Option<Vec<Edit>> = pieces.windows(2).map(between).collect();
    Some(in_array(array, edits?))
}

/// The array that the value is an element of.
fn parent_array(mismatch: &SchemaMismatch<'_>) -> Option<usize> {
    mismatch.node().parent.filter(|&parent| mismatch.tree.nodes[parent].kind == Kind::Array)
}

/// A change of the array that holds the value at the fault.
fn in_array(array: usize, edits: Vec<Edit>) -> Change {
    let mut change = Change::new(edits);
    change.in_parent = true;
    change.node = Some(array);
    change
}
