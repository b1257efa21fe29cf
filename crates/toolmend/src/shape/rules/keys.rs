//! Keys written with other case and separators, and the one key with a wrong name.

use std::collections::HashMap;

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::{KeyFit, fold};

use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Site};

/// `userId` to `user_id`: every key of the object that has the letters of one declared and absent key.
pub(in crate::shape) fn key_respelled(site: &Site<'_>) -> Option<Change> {
    if !matches!(site.fault.wants, Wants::Key(_) | Wants::NoKey(_)) || site.kind() != Kind::Object {
        return None;
    }
    let place = site.place();
    let mut by_letters: HashMap<String, Vec<usize>> = HashMap::new();
    for id in site.tree.children(site.id) {
        by_letters.entry(fold(&site.tree.key(id)?)).or_default().push(id);
    }
    let mut edits = Vec::new();
    for (name, ..) in site.guide().properties(place) {
        // Two keys of the same letters cannot both be meant.
        let Some(&[id]) = by_letters.get(&fold(name)).map(Vec::as_slice) else { continue };
        let key = site.tree.key(id)?;
        let meant = key != name
            && !site.declares(place, &key)
            && matches!(site.guide().key(place, &key), KeyFit::Declared(_));
        if meant && let Some(span) = site.tree.nodes[id].key.clone() {
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
    let children = || site.tree.children(site.id).filter_map(|id| Some((id, site.tree.key(id)?)));
    let mut unknown = children().filter(|(_, key)| !site.declares(place, key));
    let (Some((id, key)), None) = (unknown.next(), unknown.next()) else { return None };
    let mut required =
        site.guide().properties(place).filter(|(known, _, required)| *required && known != name);
    if required.any(|(known, ..)| !children().any(|(_, key)| key == known)) {
        return None;
    }
    // A key that is no name at all is a wreck of something else.
    let is_name = !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || "_-. ".contains(ch));
    let span = site.tree.nodes[id].key.clone().filter(|_| is_name)?;
    Some(Change::new(vec![Edit::new(span, quote(name), RepairKind::KeyRenamed)]))
}
