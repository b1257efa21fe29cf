//! Pairs between corner brackets: `tool_name:「始」f「末」,` and one such line for each argument.
//!
//! One family's prompt teaches this form. The module reads nothing else.

use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};

const OPEN: &str = "「始」";
const CLOSE: &str = "「末」";

/// Reads the pairs at `at`, in a call that begins at `start`.
// Case: dialects/vcp/malformed
pub(crate) fn read(input: Input<'_>, at: usize, start: usize) -> Step<RawCall> {
    const NAME: &str = "tool_name:";
    const END: &str = "<<<[END_TOOL_REQUEST]>>>";
    let rest = input.rest(at);
    if !input.done && rest.len() < NAME.len() && NAME.starts_with(rest) {
        return Step::More;
    }
    if !rest.starts_with(NAME) {
        return Step::No;
    }
    let end = rest.find(END);
    let stops = input.done || input.stable_only;
    let Some(length) = end.or_else(|| stops.then_some(rest.len())) else { return Step::More };
    let body = &rest[..length];
    let mut fields = Vec::new();
    let mut from = 0;
    let mut ending = if end.is_some() { Ending::Complete } else { Ending::Open };
    while let Some(open) = body[from..].find(OPEN).map(|offset| from + offset) {
        let key = body[from..open].trim_matches([',', '\n', '\r', ' ', ':', '\t']).to_owned();
        // Another call between two pairs means that the end of this one was lost.
        if key.contains(['<', '\n']) {
            return Step::No;
        }
        let value_at = open + OPEN.len();
        let Some(close) = body[value_at..].find(CLOSE).map(|offset| value_at + offset) else {
            ending = Ending::Cut;
            break;
        };
        let text = body[value_at..close].to_owned();
        fields.push(Field { key, value: RawValue::Untyped(text), at: at + value_at..at + close });
        from = close + CLOSE.len();
    }
    let name = match fields
        .iter()
        .position(|field| field.key == "tool_name")
        .map(|index| fields.remove(index).value)
    {
        Some(RawValue::Untyped(name)) => name.trim().to_owned(),
        _ => return Step::No,
    };
    let arguments = RawArguments::Fields(fields);
    Step::Got(RawCall {
        name,
        id: None,
        arguments,
        at: start..at + length,
        ending,
        dialect: recognised(Recognition::CornerBrackets),
        damaged: false,
        open: None,
    })
}
