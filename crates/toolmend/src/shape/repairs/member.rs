//! Members that should not be there, and members that should.

use crate::guide::KeyFit;
use crate::json::tree::Kind;
use crate::repair::RepairKind;

use super::surgery;
use crate::shape::fault::Wants;
use crate::shape::site::{Change, Site};

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
    let object = site.node().parent.filter(|&parent| site.tree.nodes[parent].kind == Kind::Object)?;
    // With the key written twice, dropping one would bring the other to life.
    surgery::is_only(site.tree, object, site.id)
        .then(|| Change::new(surgery::remove(site.tree, object, &[site.id], kind)).in_parent())
}

/// A key that the closed object does not know.
pub(in crate::shape) fn unknown_key_dropped(site: &Site<'_>) -> Option<Change> {
    let Wants::NoKey(name) = &site.fault.wants else { return None };
    let members: Vec<usize> = site
        .tree
        .children(site.id)
        .filter(|&child| site.tree.key(child).is_some_and(|key| key == *name))
        .collect();
    let edits = surgery::remove(site.tree, site.id, &members, RepairKind::UnknownKeyDropped);
    (!edits.is_empty()).then(|| Change::new(edits))
}

/// A missing required member whose default the schema declares. Not beside a key that nobody knows: that one
/// may be the missing member under another name.
pub(in crate::shape) fn default_filled(site: &Site<'_>) -> Option<Change> {
    let Wants::Key(name) = &site.fault.wants else { return None };
    let place = site.place();
    let guide = site.guide();
    let default = guide.declared_default(guide.member(place, name))?;
    let stranger = site
        .tree
        .children(site.id)
        .any(|child| site.tree.key(child).is_some_and(|key| guide.key(place, &key) == KeyFit::Undeclared));
    let edit = surgery::insert(site.tree, site.id, &[(name, default)], &[], RepairKind::DefaultFilled);
    (!stranger && site.kind() == Kind::Object).then(|| Change::new(vec![edit]))
}
