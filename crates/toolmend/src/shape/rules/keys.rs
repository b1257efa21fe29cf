//! Keys written with other case or separators, and keys under a name that resembles the declared one.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::text::quote;
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::schema::fault::Wants;
use crate::schema::guide::{Guide, SchemaPosition, fold};
use crate::shape::mismatch::{Change, Expectation, RefusalCause, SchemaMismatch, TypeMismatch};

use super::key_names;

/// Signs that turn the meaning of a key around, or show that it is code.
const MEANINGFUL: [char; 4] = ['!', '~', '^', '%'];

/// Whether a key is commented out, as people do in JSON, which has no comments: `"//path"`, `"#path"`.
// Case: shape/key-that-is-commented-out
fn is_commented_out(key: &str) -> bool {
    key.trim_start().starts_with(['/', '#'])
}

/// `userId` to `user_id`: every key of the object that has the letters of one declared and absent key.
// Case: shape/decorated-keys
pub(super) fn respell_keys(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let about_keys = matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_));
    if !about_keys || mismatch.kind() != Kind::Object {
        return None;
    }
    let edits = find_respellings(mismatch.tree, mismatch.id, mismatch.guide(), mismatch.position())?;
    (!edits.is_empty()).then(|| Change::new(edits))
}

/// The keys of an object that have the letters of one declared and absent key, with its spelling.
fn find_respellings(
    tree: &Tree<'_>,
    object: usize,
    guide: &Guide,
    position: SchemaPosition,
) -> Option<Vec<Edit>> {
    let mut by_letters: HashMap<String, Vec<usize>> = HashMap::new();
    for id in tree.children(object) {
        let key = tree.key(id)?;
        by_letters.entry(fold(key_names::undecorated(&key))).or_default().push(id);
    }
    let mut edits = Vec::new();
    for (name, ..) in guide.properties(position) {
        // Two keys of the same letters cannot both be meant.
        let Some(&[id]) = by_letters.get(&fold(name)).map(Vec::as_slice) else { continue };
        let key = tree.key(id)?;
        let meant = key != name
            && !key.contains(MEANINGFUL)
            && !is_commented_out(&key)
            && !guide.properties(position).any(|(name, ..)| name == key)
            && guide.declares_key(position, key_names::undecorated(&key));
        if meant && let Some(span) = tree.nodes[id].key.clone() {
            edits.push(Edit::new(span, quote(name), RepairKind::KeyRespelled));
        }
    }
    edits.sort_by_key(|edit| edit.start);
    Some(edits)
}

/// The respelled keys of a damaged text that fits. Its keys are not taken at their word: an open schema takes any key, but a
/// declared one in another spelling is that one.
// Case: shape/respelled-key-in-a-damaged-text
pub(crate) fn respell_damaged(tree: &Tree<'_>, schema: &Schema) -> Option<Patch> {
    let guide = schema.guide();
    let is_object = tree.nodes.first().is_some_and(|root| root.kind == Kind::Object);
    if !is_object || guide.is_closed(guide.root()) {
        return None;
    }
    let edits = find_respellings(tree, 0, guide, guide.root())?;
    (!edits.is_empty()).then(|| Patch::new(edits))
}

/// `userId` to `user_id`: the one key that has the letters of the field that the type missed, or did not know.
pub(super) fn respell_field(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let same_letters = |key: &str, field: &str| {
        !key.contains(MEANINGFUL)
            && !is_commented_out(key)
            && fold(key_names::undecorated(key)) == fold(field)
    };
    change_field(mismatch, same_letters, RepairKind::KeyRespelled)
}

/// An undeclared key takes the name of the declared and absent one that it resembles, if one of the two is at fault.
/// Neither of them may resemble a second one.
// Case: shape/synonym-for-required-key
// Case: shape/typing-error-in-key
// Case: shape/unrelated-key-is-not-renamed
// Case: shape/key-completed-by-its-sibling
pub(super) fn rename_key(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if mismatch.kind() != Kind::Object {
        return None;
    }
    let position = mismatch.position();
    let given: Vec<(usize, Cow<'_, str>)> = members(mismatch.tree, mismatch.id);
    let unknown = || given.iter().filter(|(_, key)| !mismatch.declares(position, key));
    let absent = || {
        mismatch.guide().properties(position).filter(|(name, ..)| !given.iter().any(|(_, key)| key == name))
    };
    let (id, name) = match &mismatch.fault.wants {
        Wants::Key(name) => {
            let (id, key) = only(unknown().filter(|(_, key)| key_names::means(key, name)))?;
            let is_other = absent().any(|(other, ..)| other != name && key_names::means(key, other));
            (!is_other).then_some((*id, name.as_str()))?
        }
        Wants::NoKey(unwanted) => {
            let (name, ..) = only(absent().filter(|(name, ..)| key_names::means(unwanted, name)))?;
            let (id, key) = only(unknown().filter(|(_, key)| key_names::means(key, name)))?;
            (key == unwanted).then_some((*id, name))?
        }
        _ => return None,
    };
    let key = mismatch.tree.key(id)?;
    if unknown().any(|(_, other)| key_names::completes(other, &key, name)) {
        return None;
    }
    let span = mismatch.tree.nodes[id].key.clone()?;
    let change = Change::new(vec![Edit::new(span, quote(name), RepairKind::KeyRenamed)]);
    Some(Change { node: Some(id), ..change })
}

/// The same for the fields of a struct.
pub(super) fn rename_field(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    change_field(mismatch, key_names::means, RepairKind::KeyRenamed)
}

/// Gives the one key that means the field that the type missed, or did not know, the name of the field.
fn change_field(
    mismatch: &TypeMismatch<'_>,
    means: fn(&str, &str) -> bool,
    kind: RepairKind,
) -> Option<Change> {
    let Expectation::Struct(fields) = mismatch.expected else { return None };
    let given = members(mismatch.tree, mismatch.id);
    let unknown = || given.iter().filter(|(_, key)| !fields.contains(&&**key));
    let absent = || fields.iter().filter(|field| !given.iter().any(|(_, key)| key == *field));
    let (member, field) = match mismatch.cause {
        RefusalCause::MissingField(field) => {
            let (id, key) = only(unknown().filter(|(_, key)| means(key, field)))?;
            let is_other = absent().any(|other| other != field && means(key, other));
            (!is_other).then_some((*id, *field))?
        }
        RefusalCause::UnknownField(unwanted) => {
            let field = only(absent().filter(|field| means(unwanted, field)))?;
            let (id, key) = only(unknown().filter(|(_, key)| means(key, field)))?;
            (key == unwanted).then_some((*id, *field))?
        }
        RefusalCause::UnknownVariant(..) | RefusalCause::Unfit => return None,
    };
    let span = mismatch.tree.nodes[member].key.clone()?;
    Some(Change::new(vec![Edit::new(span, quote(field), kind)]))
}

fn members<'t>(tree: &crate::json::tree::Tree<'t>, object: usize) -> Vec<(usize, Cow<'t, str>)> {
    tree.children(object).filter_map(|id| Some((id, tree.key(id)?))).collect()
}

/// The item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
