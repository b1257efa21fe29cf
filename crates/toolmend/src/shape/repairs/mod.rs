//! The repairs in the order in which they are tried at a place: the surest reading first, unwrapping before
//! wrapping, what moves the model's words before what drops them or adds the author's.

mod container;
pub(crate) mod embedded;
pub(crate) mod envelope;
mod flat;
mod keys;
mod lift;
pub(super) mod link;
pub(crate) mod listed;
mod member;
pub(crate) mod number;
pub(super) mod quotes;
pub(super) mod relation;
pub(crate) mod scalar;
pub(crate) mod surgery;
mod swallowed;

use crate::repair::RepairKind;

use super::site::{Change, Site};

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
    settles(RepairKind::LinkUnwrapped, link::link_unwrapped),
    settles(RepairKind::CodeQuotesNormalised, quotes::code_quotes_normalised),
    // One value.
    settles(RepairKind::EnumMatched, listed::enum_matched),
    settles(RepairKind::StringToNumber, scalar::string_to_number),
    settles(RepairKind::StringToBoolean, scalar::string_to_boolean),
    settles(RepairKind::NumberToBoolean, scalar::number_to_boolean),
    settles(RepairKind::FloatToInteger, scalar::float_to_integer),
    opens(RepairKind::StringToContainer, container::string_to_container),
    opens(RepairKind::StringToNull, scalar::string_to_null),
    opens(RepairKind::ScalarToString, scalar::scalar_to_string),
    settles(RepairKind::NullDropped, member::null_dropped),
    settles(RepairKind::EmptyStringDropped, member::empty_string_dropped),
    settles(RepairKind::EmptyObjectToArray, container::empty_object_to_array),
    settles(RepairKind::EmptyArrayToObject, container::empty_array_to_object),
    opens(RepairKind::PlaceholderUnwrapped, container::placeholder_unwrapped),
    opens(RepairKind::ValueToArray, container::value_to_array),
    settles(RepairKind::PlaceholderUnwrapped, container::member_to_array),
    // The members of an object.
    opens(RepairKind::KeyRespelled, keys::key_respelled).about(About::Object),
    opens(RepairKind::PathsUnflattened, flat::paths_unflattened).about(About::Object),
    opens(RepairKind::EnvelopeRemoved, envelope::envelope_removed).about(About::Object),
    opens(RepairKind::SwallowedParameterSplit, swallowed::swallowed_parameter_split).about(About::Member),
    settles(RepairKind::ValueLifted, lift::value_lifted).about(About::Member),
    settles(RepairKind::KeyRenamed, keys::key_renamed).about(About::Member),
    settles(RepairKind::DefaultFilled, member::defaults_filled).about(About::Member),
    settles(RepairKind::UnknownKeyDropped, member::unknown_key_dropped).about(About::Member),
];
