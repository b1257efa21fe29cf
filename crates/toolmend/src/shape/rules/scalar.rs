//! Scalars of the wrong type, both ways, from their text.

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::Types;

use super::number;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Site};

const TRUE: [&str; 4] = ["true", "yes", "on", "1"];
const FALSE: [&str; 4] = ["false", "no", "off", "0"];
const NULL: [&str; 2] = ["null", "none"];

/// `"42"` to `42`.
pub(in crate::shape) fn string_to_number(site: &Site<'_>) -> Option<Change> {
    let Wants::Type { types, fraction } = site.fault.wants else { return None };
    if !types.has(Types::NUMBER) {
        return None;
    }
    let number = number::from_text(&site.string()?, fraction)?;
    Some(site.replace(number, RepairKind::StringToNumber))
}

/// `"true"`, `"Yes"`, `"on"` to `true`.
pub(in crate::shape) fn string_to_boolean(site: &Site<'_>) -> Option<Change> {
    if !site.wanted().has(Types::BOOLEAN) {
        return None;
    }
    Some(site.replace(boolean(&site.string()?)?, RepairKind::StringToBoolean))
}

/// The boolean that a word means.
pub(crate) fn boolean(word: &str) -> Option<&'static str> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|known| known.eq_ignore_ascii_case(word.trim()));
    if is_one_of(TRUE) { Some("true") } else { is_one_of(FALSE).then_some("false") }
}

/// `1` or `0.0` to a boolean.
pub(in crate::shape) fn number_to_boolean(site: &Site<'_>) -> Option<Change> {
    if !site.wanted().has(Types::BOOLEAN) || site.kind() != Kind::Number {
        return None;
    }
    let word = match number::whole(site.source())?.as_str() {
        "1" => "true",
        "0" => "false",
        _ => return None,
    };
    Some(site.replace(word, RepairKind::NumberToBoolean))
}

/// `42.0` to `42`, for the drafts and types that tell them apart.
pub(in crate::shape) fn float_to_integer(site: &Site<'_>) -> Option<Change> {
    if !site.wanted().has(Types::NUMBER) || site.kind() != Kind::Number {
        return None;
    }
    let whole = number::whole(site.source())?;
    (whole != site.source()).then(|| site.replace(whole, RepairKind::FloatToInteger))
}

/// `42` to `"42"`, `1.10` to `"1.10"`.
pub(in crate::shape) fn scalar_to_string(site: &Site<'_>) -> Option<Change> {
    let fits = site.wanted().has(Types::STRING) && matches!(site.kind(), Kind::Number | Kind::Bool);
    fits.then(|| site.replace(quote(site.source()), RepairKind::ScalarToString))
}

/// `"null"` to `null` where a string is wrong.
pub(in crate::shape) fn string_to_null(site: &Site<'_>) -> Option<Change> {
    let Wants::Type { .. } = site.fault.wants else { return None };
    let text = site.string()?;
    let is_null = NULL.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    is_null.then(|| site.replace("null", RepairKind::StringToNull))
}
