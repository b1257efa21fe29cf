//! Members that should not be there, and members that should.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::schema::guide::KeyFit;
use crate::shape::mismatch::{Change, Expectation, Mismatch, SchemaMismatch, TypeMismatch};

use super::member_edits;

/// A null that the schema rejects: the field was meant to be left out. Whether it may be left out is the validator's
/// decision.
pub(super) fn drop_null(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let rejected =
        mismatch.kind() == Kind::Null && !matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_));
    if rejected { drop_member(mismatch, RepairKind::NullDropped) } else { None }
}

/// A null that the type refused.
pub(super) fn drop_null_field(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    if mismatch.kind() == Kind::Null { drop_field(mismatch, RepairKind::NullDropped) } else { None }
}

/// An empty string that the schema rejects; it is dropped like a null.
pub(super) fn drop_empty_string(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let rejected = is_empty_string(mismatch) && !mismatch.fault.is_hint();
    if rejected { drop_member(mismatch, RepairKind::EmptyStringDropped) } else { None }
}

/// An empty string where the type expected something that is not text.
pub(super) fn drop_empty_string_field(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let may_be_text = matches!(
        mismatch.expected,
        Expectation::Text | Expectation::Anything | Expectation::Other | Expectation::Unseen
    );
    let rejected = is_empty_string(mismatch) && !may_be_text;
    if rejected { drop_field(mismatch, RepairKind::EmptyStringDropped) } else { None }
}

fn is_empty_string(mismatch: &Mismatch<'_>) -> bool {
    mismatch.source() == "\"\""
}

fn drop_member(mismatch: &Mismatch<'_>, kind: RepairKind) -> Option<Change> {
    let edit = member_edits::remove_member(mismatch.tree, mismatch.id, kind)?;
    Some(Change { drops: true, ..Change::new(vec![edit]) })
}

/// Only a field of a struct can have a default; a dropped entry of a map would be lost. An element of an array stays,
/// because its index has a meaning. So does a member whose key is written twice: dropping one would reveal the other.
fn drop_field(mismatch: &TypeMismatch<'_>, kind: RepairKind) -> Option<Change> {
    let object = mismatch.node().parent?;
    let droppable = mismatch.is_field && member_edits::has_unique_key(mismatch.tree, object, mismatch.id);
    if droppable { drop_member(mismatch, kind) } else { None }
}

/// A key that the closed object does not know.
pub(super) fn drop_unknown_key(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::NoKey(name) = &mismatch.fault.wants else { return None };
    let member = mismatch.tree.member(mismatch.id, name)?;
    let edit = member_edits::remove_member(mismatch.tree, member, RepairKind::UnknownKeyDropped)?;
    Some(Change { node: Some(member), ..Change::new(vec![edit]) })
}

/// Missing required members whose defaults the schema declares. Not beside a key that the schema does not declare:
/// that one may be a missing member under another name.
pub(super) fn fill_defaults(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Key(missing) = &mismatch.fault.wants else { return None };
    if mismatch.kind() != Kind::Object {
        return None;
    }
    let position = mismatch.position();
    let guide = mismatch.guide();
    let given: HashSet<Cow<'_, str>> =
        mismatch.tree.children(mismatch.id).filter_map(|child| mismatch.tree.key(child)).collect();
    if given.iter().any(|key| guide.match_key(position, key) == KeyFit::Undeclared) {
        return None;
    }
    let wanted = guide.properties(position).filter(|(name, _, required)| *required || name == missing);
    let members: Vec<(&str, &str)> = wanted
        .filter(|(name, ..)| !given.contains(*name))
        .filter_map(|(name, position, _)| Some((name, guide.declared_default(position)?)))
        .collect();
    let edit = member_edits::insert_members(mismatch.tree, mismatch.id, &members, RepairKind::DefaultFilled);
    members.iter().any(|(name, _)| name == missing).then(|| Change::new(vec![edit]))
}
