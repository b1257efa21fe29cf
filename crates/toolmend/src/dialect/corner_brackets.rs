//! Pairs between corner brackets: `tool_name:「始」f「末」,` and one such line for each argument.
//!
//! One family's prompt teaches this form. The module reads nothing else.

use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};
use crate::verdict::Reason;

const OPEN: &str = "「始」";
const CLOSE: &str = "「末」";

/// Reads the pairs at `at`, in a call that begins at `start`.
// Case: dialects/vcp/malformed
pub(crate) fn read(input: Input<'_>, at: usize, start: usize) -> Step<RawCall> {
    const NAME: &str = "tool_name:";
    const NAME_KEY: &str = "tool_name";
    const BROKEN: &str = "the brackets around a value are broken, so its end is not known";
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
    let mut fields: Vec<Field> = Vec::new();
    let mut from = 0;
    let mut ending = if end.is_some() { Ending::Complete } else { Ending::Open };
    let mut refused = None;
    while let Some(open) = body[from..].find(OPEN).map(|offset| from + offset) {
        let key = body[from..open].trim_matches([',', '\n', '\r', ' ', ':', '\t']).to_owned();
        // Another call between two pairs means that the end of this one was lost.
        if key.contains(['<', '\n']) {
            return Step::No;
        }
        let value_at = open + OPEN.len();
        let close = match find_close(body, value_at) {
            Close::At(close) => close,
            // Without its end, the text may still be going on.
            Close::Missing | Close::Unclear if end.is_none() => {
                ending = Ending::Cut;
                from = body.len();
                break;
            }
            Close::Missing | Close::Unclear => {
                refused = Some(BROKEN);
                break;
            }
        };
        let text = body[value_at..close].to_owned();
        // Half of a bracket that was written twice.
        if text.starts_with(['」', '始', '末']) && !text.starts_with("「") || text.ends_with('「') {
            refused = Some(BROKEN);
        }
        let value = RawValue::Untyped(text);
        if fields.iter().any(|known| known.key == key && known.value != value) {
            refused = Some("an argument is there twice, with different values");
        }
        fields.push(Field { key, value, at: at + value_at..at + close });
        from = close + CLOSE.len();
    }
    // What is left began another pair.
    // Case: dialects/vcp/half-a-pair
    let left = body[from..].trim_matches([',', '\n', '\r', ' ', '\t']);
    if !left.is_empty() && refused.is_none() && ending != Ending::Cut && !END.starts_with(left) {
        if end.is_some() {
            refused = Some(BROKEN);
        } else {
            ending = Ending::Cut;
        }
    }
    let Some(index) = fields.iter().position(|field| field.key == NAME_KEY) else { return Step::No };
    let name = fields.remove(index).value.text().trim().to_owned();
    fields.retain(|field| field.key != NAME_KEY);
    let arguments = match refused {
        Some(why) if !input.stable_only => RawArguments::Refused(Reason::Ambiguous, why),
        _ => RawArguments::Fields(fields),
    };
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

/// Where a value ends.
enum Close {
    At(usize),
    Missing,
    /// What follows the closing bracket cannot follow it, or a pair begins inside the value.
    Unclear,
}

/// Finds the bracket that closes the value at `from`. Brackets that are opened inside it are closed inside it.
// Case: dialects/vcp/brackets-in-a-value
// Case: dialects/vcp/half-a-closing-bracket
fn find_close(body: &str, from: usize) -> Close {
    let (mut depth, mut at) = (0usize, from);
    loop {
        let rest = &body[at..];
        let (open, close) = (rest.find(OPEN), rest.find(CLOSE));
        let Some(close) = close else { return Close::Missing };
        if let Some(open) = open.filter(|open| *open < close) {
            if ends_in_key(&body[from..at + open]) {
                return Close::Unclear;
            }
            depth += 1;
            at += open + OPEN.len();
            continue;
        }
        at += close;
        if depth == 0 {
            break;
        }
        depth -= 1;
        at += CLOSE.len();
    }
    let next = body[at + CLOSE.len()..].trim_start_matches([',', '\n', '\r', ' ', '\t']);
    // Only the next pair, the end, or the half of either can follow.
    let head = next.find(OPEN).map_or(next, |open| &next[..open]);
    let is_key = !head.contains(['「', '」', '\n']) && head.trim_end().ends_with(':');
    if next.is_empty() || is_key || !next.contains('」') { Close::At(at) } else { Close::Unclear }
}

/// Whether a text ends in a key on a line of its own.
fn ends_in_key(text: &str) -> bool {
    let Some((_, line)) = text.rsplit_once('\n') else { return false };
    line.trim_end().strip_suffix(':').is_some_and(|key| {
        let key = key.trim();
        !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
    })
}
