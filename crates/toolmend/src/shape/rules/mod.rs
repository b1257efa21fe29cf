//! The table of shape rules, for the schema-driven and the typed entry points alike.
//!
//! | given | wanted | answer |
//! |---|---|---|
//! | text that spells a number, boolean or null | that | guided |
//! | a number or boolean | text | lossless: its own text |
//! | `"[1]"`, `"{..}"` | a container | guided, if it reads as one |
//! | `"1, 2"`, `"read, write"` | an array of numbers or listed words | guided |
//! | `"a, b"`, lines, bullets, an ellipsis | an array of text | refused: one element or several |
//! | any other single value | an array | guided: an array of one |
//! | one of several elements of an array | an array | refused: one list or several |
//! | `["x"]`, `[["x", "y"]]` | `"x"`, `["x", "y"]` | guided |
//! | `["x", "y"]` | `"x"` | refused |
//! | `{"value": 1}`, `{"type": "integer", "value": 1}` | `1` | guided: the key says nothing, or repeats the field |
//! | `{"old": "x"}` | `"x"` | refused: the key has a meaning |
//! | an object or array | the text of a JSON file or request | guided: its own text |
//! | an object or array | other text | refused |
//! | `{"0": "a", "1": "b"}` | an array | guided |
//! | `[{"name": "a", "value": 1}]` | an object of any keys | the entry, never the element |
//! | pairs, named values, objects of one member | an object | guided, if no name occurs twice |
//! | objects of one member | an array of objects that need several | guided: one element, if no name occurs twice |
//! | `[{"edits": [..]}]` | the array `edits` | guided: the key repeats the name of the array |
//! | a key with other case, separators or marks; its plural; a typing error; a synonym | a declared key | renamed, if nothing else resembles either |
//! | any other key | a declared key | refused, even if only one is missing |
//!
//! The order is the meaning: the surest reading first, unwrapping before wrapping, what moves the model's words before
//! what drops them or adds the author's. A rule only proposes a change. Whether the change helped is decided by the
//! validator or by the Rust type, never here.

pub(super) mod code_quotes;
mod container;
mod container_text;
mod elements;
mod embedded_json;
mod enum_match;
pub(crate) mod envelope;
mod flattened_paths;
mod key_names;
pub(crate) mod keys;
mod lifted_value;
mod list_text;
pub(super) mod markdown_link;
mod member_edits;
mod member_lists;
mod members;
pub(super) mod relation;
mod scalar;
mod single_element;
mod swallowed_parameter;
mod wrapper;

pub(super) use self::enum_match::OptionIndexes;
use crate::repair::RepairKind;

use super::mismatch::{Change, Mismatch, SchemaMismatch, TypeMismatch};

use self::Proposal::{Each, Schema, Shared};

/// One rule.
pub(crate) struct Rule {
    pub(crate) kind: RepairKind,
    /// Whether what the change uncovers may need repairs of its own. Any other rule must settle its fault by itself.
    pub(super) opens: bool,
    pub(super) about: About,
    proposal: Proposal,
}

/// How a rule finds its change.
enum Proposal {
    /// In the same way for schemas and Rust types.
    Shared(fn(&Mismatch<'_>) -> Option<Change>),
    /// By one function for each: they know different things about the value.
    Each { schema: fn(&SchemaMismatch<'_>) -> Option<Change>, typed: fn(&TypeMismatch<'_>) -> Option<Change> },
    /// Only for schemas. A Rust type does not say enough, or `serde` has its own answer, such as defaults.
    Schema(fn(&SchemaMismatch<'_>) -> Option<Change>),
}

/// What a rule depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The value at the fault.
    Value,
    /// One member of the object at the fault.
    Member,
    /// The object at the fault, whichever of its members is wrong.
    Object,
}

impl Rule {
    /// The change that this rule proposes for a value that violates its schema.
    pub(super) fn propose_for_schema(&self, mismatch: &SchemaMismatch<'_>) -> Option<Change> {
        match self.proposal {
            Shared(propose) => propose(mismatch),
            Each { schema, .. } => schema(mismatch),
            Schema(schema) => schema(mismatch),
        }
    }

    /// The change that this rule proposes for a value that a Rust type refused.
    pub(crate) fn propose_for_type(&self, mismatch: &TypeMismatch<'_>) -> Option<Change> {
        match self.proposal {
            Shared(propose) => propose(mismatch),
            Each { typed, .. } => typed(mismatch),
            Schema(_) => None,
        }
    }

    const fn about(self, about: About) -> Rule {
        Rule { about, ..self }
    }
}

const fn settles(kind: RepairKind, proposal: Proposal) -> Rule {
    Rule { kind, opens: false, about: About::Value, proposal }
}

const fn opens(kind: RepairKind, proposal: Proposal) -> Rule {
    Rule { kind, opens: true, about: About::Value, proposal }
}

pub(crate) static RULES: [Rule; 34] = [
    // What hints ask for.
    settles(RepairKind::RelationalDefaultFilled, Schema(relation::fill_relational_defaults)),
    settles(RepairKind::LinkUnwrapped, Schema(markdown_link::unwrap_link)),
    settles(RepairKind::CodeQuotesNormalised, Schema(code_quotes::normalise_code_quotes)),
    // One value.
    settles(
        RepairKind::EnumMatched,
        Each { schema: enum_match::match_option, typed: enum_match::match_variant },
    ),
    settles(RepairKind::StringToNumber, Shared(scalar::string_to_number)),
    settles(RepairKind::StringToBoolean, Shared(scalar::string_to_boolean)),
    settles(RepairKind::NumberToBoolean, Shared(scalar::number_to_boolean)),
    settles(RepairKind::FloatToInteger, Shared(scalar::float_to_integer)),
    opens(
        RepairKind::StringToContainer,
        Each { schema: container::string_to_container, typed: container::string_to_expected_container },
    ),
    opens(
        RepairKind::StringToNull,
        Each { schema: scalar::string_to_null, typed: scalar::null_word_for_type },
    ),
    opens(
        RepairKind::ListTextSplit,
        Each { schema: list_text::split_list, typed: list_text::split_list_for_type },
    ),
    opens(RepairKind::ScalarToString, Shared(scalar::scalar_to_string)),
    settles(RepairKind::NullDropped, Each { schema: members::drop_null, typed: members::drop_null_field }),
    settles(
        RepairKind::EmptyStringDropped,
        Each { schema: members::drop_empty_string, typed: members::drop_empty_string_field },
    ),
    settles(RepairKind::EmptyObjectToArray, Shared(container::empty_object_to_array)),
    settles(RepairKind::EmptyArrayToObject, Shared(container::empty_array_to_object)),
    settles(RepairKind::ContainerToText, Shared(container_text::container_to_text)),
    opens(RepairKind::PlaceholderUnwrapped, Shared(wrapper::unwrap_placeholder)),
    opens(
        RepairKind::ElementUnwrapped,
        Each { schema: single_element::unwrap_element, typed: single_element::unwrap_element_for_type },
    ),
    opens(RepairKind::IndexedObjectToArray, Shared(member_lists::indexed_object_to_array)),
    opens(
        RepairKind::ValueToArray,
        Each { schema: single_element::value_to_array, typed: single_element::value_to_list },
    ),
    opens(RepairKind::ListToObject, Schema(member_lists::list_to_object)),
    opens(RepairKind::PlaceholderUnwrapped, Schema(elements::unwrap_repeated_name)).about(About::Object),
    opens(RepairKind::ListToObject, Schema(elements::join_pieces)).about(About::Object),
    // The members of an object.
    opens(RepairKind::KeyRespelled, Each { schema: keys::respell_keys, typed: keys::respell_field })
        .about(About::Object),
    opens(RepairKind::PathsUnflattened, Schema(flattened_paths::unflatten_paths)).about(About::Object),
    settles(RepairKind::ToolLabelDropped, Schema(envelope::drop_tool_label)).about(About::Object),
    opens(RepairKind::EnvelopeRemoved, Schema(envelope::unwrap_schema_echo)).about(About::Object),
    opens(
        RepairKind::EnvelopeRemoved,
        Each { schema: envelope::remove_envelope, typed: envelope::remove_envelope_around_struct },
    )
    .about(About::Object),
    opens(RepairKind::SwallowedParameterSplit, Schema(swallowed_parameter::split_swallowed_parameters))
        .about(About::Member),
    settles(RepairKind::ValueLifted, Schema(lifted_value::lift_value)).about(About::Member),
    opens(RepairKind::KeyRenamed, Each { schema: keys::rename_key, typed: keys::rename_field })
        .about(About::Member),
    settles(RepairKind::DefaultFilled, Schema(members::fill_defaults)).about(About::Member),
    settles(RepairKind::UnknownKeyDropped, Schema(members::drop_unknown_key)).about(About::Member),
];
