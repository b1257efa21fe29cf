//! How answers are written: the detailed encoding, which the classes in `verdict.cjs` of the Node package read.

use serde::Serialize;
use toolmend::Encoding;

/// The encoding of answers. JSON values stay text until they are asked for. Arguments that came as a value have no positions.
pub(crate) fn encoding<'a>(is_text: bool) -> Encoding<'a> {
    let encoding = Encoding::detailed().value_field("json");
    if is_text { encoding } else { encoding.without_positions() }
}

/// Writes a verdict, a turn, events or a table. All of them have a JSON form, so this does not fail.
pub(crate) fn to_json<T: Serialize + ?Sized>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}
