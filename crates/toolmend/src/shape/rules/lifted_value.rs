//! A required value that was put into a container beside its own position.

use crate::json::text::compact_into;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::KeyFit;

use super::member_edits;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, SchemaMismatch};

/// Moves the value up if one declared container holds it in each of its items, always with the same meaning, and does
/// not declare it.
pub(super) fn lift_value(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Key(name) = &mismatch.fault.wants else { return None };
    let (tree, guide, position) = (mismatch.tree, mismatch.guide(), mismatch.position());
    if mismatch.kind() != Kind::Object {
        return None;
    }
    let mut found: Option<Vec<(usize, usize)>> = None;
    for container in tree.children(mismatch.id) {
        let Some(key) = tree.key(container).filter(|key| mismatch.declares(position, key)) else { continue };
        let inside = guide.member(position, &key);
        let (items, item_position): (Vec<usize>, _) = match tree.nodes[container].kind {
            Kind::Object => (vec![container], inside),
            Kind::Array => (tree.children(container).collect(), guide.element(inside, 0)),
            _ => continue,
        };
        // Without declared keys an object is a map, and any key belongs there.
        if guide.match_key(item_position, name) != KeyFit::Undeclared {
            continue;
        }
        let buried: Vec<(usize, usize)> =
            items.iter().filter_map(|&item| Some((item, tree.member(item, name)?))).collect();
        if buried.is_empty() {
            continue;
        }
        if buried.len() != items.len() || found.replace(buried).is_some() {
            return None;
        }
    }
    let buried = found?;
    let meaning = |&(_, member): &(usize, usize)| {
        let mut out = String::new();
        compact_into(&mut out, tree.source(member));
        out
    };
    let first = buried.first()?;
    let agree = buried.iter().all(|one| {
        tree.nodes[one.0].kind == Kind::Object
            && member_edits::has_unique_key(tree, one.0, one.1)
            && meaning(one) == meaning(first)
    });
    if !agree {
        return None;
    }
    let kind = RepairKind::ValueLifted;
    let mut edits: Vec<_> =
        buried.iter().filter_map(|&(_, member)| member_edits::remove_member(tree, member, kind)).collect();
    edits.push(member_edits::insert_members(tree, mismatch.id, &[(name, tree.source(first.1))], kind));
    Some(Change::new(edits))
}
