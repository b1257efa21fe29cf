//! Arrays and objects that were written in strings, or left empty in the wrong kind of brackets.

use crate::json::tree::Kind;
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::guide::Types;
use crate::shape::mismatch::{Change, Expectation, Mismatch, SchemaMismatch, TypeMismatch};

use super::embedded_json;

/// `"[1,2]"` to `[1,2]`. A string that is the whole document is a matter of syntax.
pub(super) fn string_to_container(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::ARRAY) || mismatch.wants(Types::OBJECT);
    if !wanted || mismatch.node().parent.is_none() {
        return None;
    }
    let embedded = embedded_json::read_container(&mismatch.string()?, mismatch.context.policy)?;
    let change = mismatch.replace(embedded.text, RepairKind::StringToContainer);
    Some(Change { within: embedded.layers, ..change })
}

/// `"[1,2]"` to `[1,2]`, for the kind of container that the type expects.
pub(super) fn string_to_expected_container(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let opener = match mismatch.expected {
        Expectation::List(_) => '[',
        Expectation::Map | Expectation::Struct(_) => '{',
        _ => return None,
    };
    let string = mismatch.string().filter(|string| string.trim_start().starts_with(opener))?;
    let embedded = embedded_json::read_container(&string, &Policy::default())?;
    let text = embedded.layers.iter().fold(embedded.text, |text, patch| patch.apply(&text));
    Some(mismatch.replace(text, RepairKind::StringToContainer))
}

/// `{}` to `[]`.
pub(super) fn empty_object_to_array(mismatch: &Mismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::ARRAY) && mismatch.wanted_length().is_none();
    (wanted && mismatch.is_empty(Kind::Object))
        .then(|| mismatch.replace("[]", RepairKind::EmptyObjectToArray))
}

/// `[]` to `{}`.
pub(super) fn empty_array_to_object(mismatch: &Mismatch<'_>) -> Option<Change> {
    let fits = mismatch.wants(Types::OBJECT) && mismatch.is_empty(Kind::Array);
    fits.then(|| mismatch.replace("{}", RepairKind::EmptyArrayToObject))
}
