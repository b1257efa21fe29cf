//! Keys written with other case and separators, and the one key with a wrong name.

use crate::guide::{KeyFit, fold};
use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;

use crate::shape::fault::Wants;
use crate::shape::site::{Change, Site};

/// `userId` to `user_id`: every key of the object that has the letters of one declared and absent key.
pub(in crate::shape) fn key_respelled(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.fault.wants, Wants::Key(_) | Wants::NoKey(_)) || site.kind() != Kind::Object {
        return None;
    }
    let place = site.place();
    let keys: Vec<_> = site.tree.children(site.id).filter_map(|id| Some((id, site.tree.key(id)?))).collect();
    let mut edits = Vec::new();
    for (name, ..) in site.guide().properties(place) {
        let folded = fold(name);
        let mut alike = keys.iter().filter(|(_, key)| fold(key) == folded);
        let (Some((id, key)), None) = (alike.next(), alike.next()) else { continue };
        let meant = key != name
            && !site.declares(place, key)
            && matches!(site.guide().key(place, key), KeyFit::Declared(_));
        if meant && let Some(span) = site.tree.nodes[*id].key.clone() {
            edits.push(Edit::new(span, quote(name), RepairKind::KeyRespelled));
        }
    }
    edits.sort_by_key(|edit| edit.start);
    (!edits.is_empty()).then(|| Change::new(edits))
}

/// The one unknown key takes the name of the one missing required key.
pub(in crate::shape) fn key_renamed(site: &Site<'_>) -> Option<Change> {
    let Wants::Key(name) = &site.fault.wants else { return None };
    if site.kind() != Kind::Object {
        return None;
    }
    let place = site.place();
    let members = |id| site.tree.key(id).map(|key| (id, key));
    let keys: Vec<_> = site.tree.children(site.id).filter_map(members).collect();
    let missing = site
        .guide()
        .properties(place)
        .filter(|(known, _, required)| *required && !keys.iter().any(|(_, key)| key == known));
    let other_missing = missing.filter(|(known, ..)| known != name).count();
    let mut unknown = keys.iter().filter(|(_, key)| !site.declares(place, key));
    let (Some((id, key)), None, 0) = (unknown.next(), unknown.next(), other_missing) else { return None };
    // A key that is no name at all is a wreck of something else.
    let is_name = !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || "_-. ".contains(ch));
    let span = site.tree.nodes[*id].key.clone().filter(|_| is_name)?;
    Some(Change::new(vec![Edit::new(span, quote(name), RepairKind::KeyRenamed)]))
}
