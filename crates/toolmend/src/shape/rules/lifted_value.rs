//! A required value that was put into a container beside its place.

use crate::json::text::compact_into;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::KeyFit;

use super::member_edits;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Site};

/// Moves the value up where one declared container holds it in each of its items with one meaning, and does
/// not declare it.
pub(in crate::shape) fn value_lifted(site: &Site<'_>) -> Option<Change> {
    let Wants::Key(name) = &site.fault.wants else { return None };
    let (tree, guide, place) = (site.tree, site.guide(), site.place());
    if site.kind() != Kind::Object {
        return None;
    }
    let mut found: Option<Vec<(usize, usize)>> = None;
    for container in tree.children(site.id) {
        let Some(key) = tree.key(container).filter(|key| site.declares(place, key)) else { continue };
        let inside = guide.member(place, &key);
        let (items, item_place): (Vec<usize>, _) = match tree.nodes[container].kind {
            Kind::Object => (vec![container], inside),
            Kind::Array => (tree.children(container).collect(), guide.element(inside, 0)),
            _ => continue,
        };
        // Without declared keys an object is a map, where any key is at home.
        if guide.key(item_place, name) != KeyFit::Undeclared {
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
            && member_edits::is_only(tree, one.0, one.1)
            && meaning(one) == meaning(first)
    });
    if !agree {
        return None;
    }
    let kind = RepairKind::ValueLifted;
    let mut edits: Vec<_> =
        buried.iter().filter_map(|&(_, member)| member_edits::remove(tree, member, kind)).collect();
    edits.push(member_edits::insert(tree, site.id, &[(name, tree.source(first.1))], kind));
    Some(Change::new(edits))
}
