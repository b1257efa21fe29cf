//! Scalars of the wrong type, in both directions, from their text.
//!
//! What a spelling means as a number is decided in [`number`], for bare and for quoted ones alike.

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::Types;
use crate::shape::mismatch::{Change, Expectation, Mismatch, SchemaMismatch, TypeMismatch};
use crate::syntax::number::{self, Wanted};

const TRUE: [&str; 4] = ["true", "yes", "on", "1"];
const FALSE: [&str; 4] = ["false", "no", "off", "0"];
const NULL: [&str; 4] = ["null", "none", "nil", "undefined"];

/// A float keeps every integer of so many digits.
const EXACT_DIGITS: usize = 15;

/// `"42"` to `42`.
pub(super) fn string_to_number(mismatch: &Mismatch<'_>) -> Option<Change> {
    if !mismatch.wants(Types::NUMBER) {
        return None;
    }
    let wanted = if mismatch.takes_fraction() { Wanted::Number } else { Wanted::Integer };
    let number = number::from_text(&mismatch.string()?, wanted)?;
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
    let is_one_of = |words: [&str; 4]| words.iter().any(|known| known.eq_ignore_ascii_case(unquoted(word)));
    if is_one_of(TRUE) { Some("true") } else { is_one_of(FALSE).then_some("false") }
}

/// The text without white space around it and one pair of quotes inside the string.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'', '`'].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// `1` or `0.0` to a boolean.
pub(super) fn number_to_boolean(mismatch: &Mismatch<'_>) -> Option<Change> {
    if mismatch.kind() != Kind::Number || !mismatch.wants(Types::BOOLEAN) {
        return None;
    }
    let word = match number::as_whole(mismatch.source())?.as_str() {
        "1" => "true",
        "0" => "false",
        _ => return None,
    };
    Some(mismatch.replace(word, RepairKind::NumberToBoolean))
}

/// `42.0` to `42`, for the drafts and types that distinguish them.
pub(super) fn float_to_integer(mismatch: &Mismatch<'_>) -> Option<Change> {
    let wanted = mismatch.wants(Types::NUMBER) && !mismatch.takes_fraction();
    if !wanted || mismatch.kind() != Kind::Number {
        return None;
    }
    let whole = number::as_whole(mismatch.source()).filter(|whole| whole != mismatch.source())?;
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

/// `"null"` to `null`, if a string is wrong. Whether null fits, or may be dropped, is seen next.
// Case: shape/null-word-for-optional-list
pub(super) fn string_to_null(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if mismatch.wanted() == Types::NONE { None } else { null_word_to_null(mismatch) }
}

/// The same for a type that expects no text.
pub(super) fn null_word_for_type(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let is_known = mismatch.wanted() != Types::NONE || matches!(mismatch.expected, Expectation::Variant(_));
    if is_known { null_word_to_null(mismatch) } else { None }
}

fn null_word_to_null(mismatch: &Mismatch<'_>) -> Option<Change> {
    let text = mismatch.string().filter(|_| !mismatch.wants(Types::STRING))?;
    let is_null = NULL.iter().any(|word| word.eq_ignore_ascii_case(unquoted(&text)));
    is_null.then(|| mismatch.replace("null", RepairKind::StringToNull))
}
