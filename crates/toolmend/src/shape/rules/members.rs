//! Members that should not be there, and members that should.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::KeyFit;

use super::member_edits;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Site};

/// A null that the schema rejects: the field was meant to be left out. That it may be is for the validator.
pub(in crate::shape) fn null_dropped(site: &Site<'_>) -> Option<Change> {
    let rejected = site.kind() == Kind::Null && !matches!(site.fault.wants, Wants::Key(_) | Wants::NoKey(_));
    if rejected { dropped(site, RepairKind::NullDropped) } else { None }
}

/// An empty string that the schema rejects, likewise.
pub(in crate::shape) fn empty_string_dropped(site: &Site<'_>) -> Option<Change> {
    let rejected = site.kind() == Kind::String && site.source() == "\"\"" && !site.fault.is_hint();
    if rejected { dropped(site, RepairKind::EmptyStringDropped) } else { None }
}

fn dropped(site: &Site<'_>, kind: RepairKind) -> Option<Change> {
    let edit = member_edits::remove(site.tree, site.id, kind)?;
    Some(Change { drops: true, ..Change::new(vec![edit]) })
}

/// A key that the closed object does not know.
pub(in crate::shape) fn unknown_key_dropped(site: &Site<'_>) -> Option<Change> {
    let Wants::NoKey(name) = &site.fault.wants else { return None };
    let member = site.tree.member(site.id, name)?;
    let edit = member_edits::remove(site.tree, member, RepairKind::UnknownKeyDropped)?;
    Some(Change { node: Some(member), ..Change::new(vec![edit]) })
}

/// Missing required members whose defaults the schema declares. Not beside a key that nobody knows: that one
/// may be a missing member under another name.
pub(in crate::shape) fn defaults_filled(site: &Site<'_>) -> Option<Change> {
    let Wants::Key(missing) = &site.fault.wants else { return None };
    if site.kind() != Kind::Object {
        return None;
    }
    let place = site.place();
    let guide = site.guide();
    let given: HashSet<Cow<'_, str>> =
        site.tree.children(site.id).filter_map(|child| site.tree.key(child)).collect();
    if given.iter().any(|key| guide.key(place, key) == KeyFit::Undeclared) {
        return None;
    }
    let wanted = guide.properties(place).filter(|(name, _, required)| *required || name == missing);
    let members: Vec<(&str, &str)> = wanted
        .filter(|(name, ..)| !given.contains(*name))
        .filter_map(|(name, place, _)| Some((name, guide.declared_default(place)?)))
        .collect();
    let edit = member_edits::insert(site.tree, site.id, &members, RepairKind::DefaultFilled);
    members.iter().any(|(name, _)| name == missing).then(|| Change::new(vec![edit]))
}
