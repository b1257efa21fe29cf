//! The repairs in the order in which they are tried at a place: the surest reading first, unwrapping before
//! wrapping, what moves the model's words before what drops them or adds the author's.

pub(super) mod code_quotes;
mod container;
pub(crate) mod embedded_json;
pub(crate) mod enum_match;
pub(crate) mod envelope;
mod flattened_paths;
mod keys;
mod lifted_value;
pub(super) mod markdown_link;
pub(crate) mod member_edits;
mod members;
pub(crate) mod number;
pub(super) mod relation;
pub(crate) mod scalar;
mod swallowed_parameter;

use crate::repair::RepairKind;

use super::mismatch::{Change, Site};

/// One repair.
pub(super) struct Row {
    pub(super) kind: RepairKind,
    /// Whether what it uncovers may need repairs of its own. All else must settle its fault by itself.
    pub(super) opens: bool,
    pub(super) about: About,
    pub(super) attempt: fn(&Site<'_>) -> Option<Change>,
}

/// What a repair depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The value at the fault.
    Value,
    /// One member of the object at the fault.
    Member,
    /// The object at the fault, whichever of its members is wrong.
    Object,
}

const fn settles(kind: RepairKind, attempt: fn(&Site<'_>) -> Option<Change>) -> Row {
    Row { kind, opens: false, about: About::Value, attempt }
}

const fn opens(kind: RepairKind, attempt: fn(&Site<'_>) -> Option<Change>) -> Row {
    Row { kind, opens: true, about: About::Value, attempt }
}

impl Row {
    const fn about(self, about: About) -> Row {
        Row { about, ..self }
    }
}

pub(super) static TABLE: [Row; 26] = [
    // What hints ask for.
    settles(RepairKind::RelationalDefaultFilled, relation::relational_default_filled),
    settles(RepairKind::LinkUnwrapped, markdown_link::link_unwrapped),
    settles(RepairKind::CodeQuotesNormalised, code_quotes::code_quotes_normalised),
    // One value.
    settles(RepairKind::EnumMatched, enum_match::enum_matched),
    settles(RepairKind::StringToNumber, scalar::string_to_number),
    settles(RepairKind::StringToBoolean, scalar::string_to_boolean),
    settles(RepairKind::NumberToBoolean, scalar::number_to_boolean),
    settles(RepairKind::FloatToInteger, scalar::float_to_integer),
    opens(RepairKind::StringToContainer, container::string_to_container),
    opens(RepairKind::StringToNull, scalar::string_to_null),
    opens(RepairKind::ScalarToString, scalar::scalar_to_string),
    settles(RepairKind::NullDropped, members::null_dropped),
    settles(RepairKind::EmptyStringDropped, members::empty_string_dropped),
    settles(RepairKind::EmptyObjectToArray, container::empty_object_to_array),
    settles(RepairKind::EmptyArrayToObject, container::empty_array_to_object),
    opens(RepairKind::PlaceholderUnwrapped, container::placeholder_unwrapped),
    opens(RepairKind::ValueToArray, container::value_to_array),
    settles(RepairKind::PlaceholderUnwrapped, container::member_to_array),
    // The members of an object.
    opens(RepairKind::KeyRespelled, keys::key_respelled).about(About::Object),
    opens(RepairKind::PathsUnflattened, flattened_paths::paths_unflattened).about(About::Object),
    opens(RepairKind::EnvelopeRemoved, envelope::envelope_removed).about(About::Object),
    opens(RepairKind::SwallowedParameterSplit, swallowed_parameter::swallowed_parameter_split)
        .about(About::Member),
    settles(RepairKind::ValueLifted, lifted_value::value_lifted).about(About::Member),
    settles(RepairKind::KeyRenamed, keys::key_renamed).about(About::Member),
    settles(RepairKind::DefaultFilled, members::defaults_filled).about(About::Member),
    settles(RepairKind::UnknownKeyDropped, members::unknown_key_dropped).about(About::Member),
];
