//! Scalars of the wrong type, in both directions, from their text.
//!
//! A number is never read into a float: see [`number`].

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::schema::guide::Types;
use crate::shape::mismatch::{Change, Mismatch, SchemaMismatch, TypeMismatch};

use super::number;

const TRUE: [&str; 4] = ["true", "yes", "on", "1"];
const FALSE: [&str; 4] = ["false", "no", "off", "0"];
const NULL: [&str; 2] = ["null", "none"];

/// A float keeps every integer of so many digits.
const EXACT_DIGITS: usize = 15;

/// `"42"` to `42`.
pub(super) fn string_to_number(mismatch: &Mismatch<'_>) -> Option<Change> {
    if !mismatch.wants(Types::NUMBER) {
        return None;
    }
    let number = number::from_text(&mismatch.string()?, mismatch.takes_fraction())?;
    Some(mismatch.replace(number, RepairKind::StringToNumber))
}

/// `"true"`, `"Yes"` and `"on"` to `true`.
pub(super) fn string_to_boolean(mismatch: &Mismatch<'_>) -> Option<Change> {
    if !mismatch.wants(Types::BOOLEAN) {
        return None;
    }
    Some(mismatch.replace(boolean(&mismatch.string()?)?, RepairKind::StringToBoolean))
}

/// The boolean that a word means.
fn boolean(word: &str) -> Option<&'static str> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|known| known.eq_ignore_ascii_case(word.trim()));
    if is_one_of(TRUE) { Some("true") } else { is_one_of(FALSE).then_some("false") }
}

/// `1` or `0.0` to a boolean.
pub(super) fn number_to_boolean(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if mismatch.kind() != Kind::Number {
        return None;
    }
    replace_digit(mismatch, &number::whole(mismatch.source())?)
}

/// `1` or `0` to a boolean. Nothing here shows how the field is documented, so `1.0` stays a number.
pub(super) fn digit_to_boolean(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    replace_digit(mismatch, mismatch.source())
}

fn replace_digit(mismatch: &Mismatch<'_>, digit: &str) -> Option<Change> {
    let word = match digit {
        "1" => "true",
        "0" => "false",
        _ => return None,
    };
    mismatch.wants(Types::BOOLEAN).then(|| mismatch.replace(word, RepairKind::NumberToBoolean))
}

/// `42.0` to `42`, for the drafts and types that distinguish them.
pub(super) fn float_to_integer(mismatch: &Mismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::NUMBER) && !mismatch.takes_fraction();
    if !wanted || mismatch.kind() != Kind::Number {
        return None;
    }
    let whole = number::whole(mismatch.source()).filter(|whole| whole != mismatch.source())?;
    // A parsed float of more digits may not be the number that the model wrote.
    let exact = mismatch.is_as_written() || whole.len() <= EXACT_DIGITS;
    exact.then(|| mismatch.replace(whole, RepairKind::FloatToInteger))
}

/// `42` to `"42"`, `1.10` to `"1.10"`.
pub(super) fn scalar_to_string(mismatch: &Mismatch<'_>) -> Option<Change> {
    let source = mismatch.source();
    let fits = match mismatch.kind() {
        Kind::Bool => true,
        // A parsed fraction may have been written differently: 1.10 is not 1.1 if it names a version.
        Kind::Number => mismatch.is_as_written() || !source.contains(['.', 'e', 'E']),
        _ => false,
    };
    (fits && mismatch.wants(Types::STRING))
        .then(|| mismatch.replace(quote(source), RepairKind::ScalarToString))
}

/// `"null"` to `null`, if a string is wrong.
pub(super) fn string_to_null(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Type { .. } = mismatch.fault.wants else { return None };
    let text = mismatch.string()?;
    let is_null = NULL.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    is_null.then(|| mismatch.replace("null", RepairKind::StringToNull))
}
