//! Keys written with other case or separators, and the one key with a wrong name.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::schema::guide::{KeyFit, fold};
use crate::shape::mismatch::{Change, Expectation, RefusalCause, SchemaMismatch, TypeMismatch};

/// `userId` to `user_id`: every key of the object that has the letters of one declared and absent key.
pub(super) fn respell_keys(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let about_keys = matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_));
    if !about_keys || mismatch.kind() != Kind::Object {
        return None;
    }
    let position = mismatch.position();
    let mut by_letters: HashMap<String, Vec<usize>> = HashMap::new();
    for id in mismatch.tree.children(mismatch.id) {
        by_letters.entry(fold(&mismatch.tree.key(id)?)).or_default().push(id);
    }
    let mut edits = Vec::new();
    for (name, ..) in mismatch.guide().properties(position) {
        // Two keys of the same letters cannot both be meant.
        let Some(&[id]) = by_letters.get(&fold(name)).map(Vec::as_slice) else { continue };
        let key = mismatch.tree.key(id)?;
        let meant = key != name
            && !mismatch.declares(position, &key)
            && matches!(mismatch.guide().match_key(position, &key), KeyFit::Declared(_));
        if meant && let Some(span) = mismatch.tree.nodes[id].key.clone() {
            edits.push(Edit::new(span, quote(name), RepairKind::KeyRespelled));
        }
    }
    edits.sort_by_key(|edit| edit.start);
    (!edits.is_empty()).then(|| Change::new(edits))
}

/// `userId` to `user_id`: the one key that has the letters of the field that the type missed, or did not know.
pub(super) fn respell_field(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let Expectation::Struct(fields) = mismatch.expected else { return None };
    let tree = mismatch.tree;
    let members: Vec<(usize, Cow<'_, str>)> =
        tree.children(mismatch.id).filter_map(|id| Some((id, tree.key(id)?))).collect();
    let (member, field) = match mismatch.cause {
        RefusalCause::MissingField(field) => {
            let unknown = members.iter().filter(|(_, key)| !fields.contains(&&**key));
            (only(unknown.filter(|(_, key)| fold(key) == fold(field)))?.0, *field)
        }
        RefusalCause::UnknownField(unknown) => {
            let field = only(fields.iter().filter(|field| fold(field) == fold(unknown)))?;
            (only(members.iter().filter(|(_, key)| key == unknown))?.0, *field)
        }
        RefusalCause::UnknownVariant(..) | RefusalCause::Unfit => return None,
    };
    let span = tree.nodes[member].key.clone()?;
    let is_taken = members.iter().any(|(_, key)| key == field);
    (!is_taken).then(|| Change::new(vec![Edit::new(span, quote(field), RepairKind::KeyRespelled)]))
}

/// The item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// The one unknown key takes the name of the one missing required key.
pub(super) fn rename_key(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Key(name) = &mismatch.fault.wants else { return None };
    if mismatch.kind() != Kind::Object {
        return None;
    }
    let position = mismatch.position();
    let children = || mismatch.tree.children(mismatch.id).filter_map(|id| Some((id, mismatch.tree.key(id)?)));
    let (id, key) = only(children().filter(|(_, key)| !mismatch.declares(position, key)))?;
    let mut required =
        mismatch.guide().properties(position).filter(|(known, _, required)| *required && known != name);
    if required.any(|(known, ..)| !children().any(|(_, key)| key == known)) {
        return None;
    }
    // A key that cannot be a name is the wreck of something else.
    let is_name = !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || "_-. ".contains(ch));
    let span = mismatch.tree.nodes[id].key.clone().filter(|_| is_name)?;
    Some(Change::new(vec![Edit::new(span, quote(name), RepairKind::KeyRenamed)]))
}
