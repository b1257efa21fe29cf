//! Hashes with arrows and flags: `{tool => "f", args => {--key "value"}}`.
//!
//! One family writes this on hosted APIs. The module reads nothing else, and gives up on the first sign of another
//! notation.

use super::inner_quotes::LOST;
use super::input::{Input, Step};
use super::json_extent::{self, Extent};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};
use crate::json::strict;
use crate::verdict::Reason;

/// Reads the hash at `at`, in a call that begins at `start`.
pub(crate) fn read(input: Input<'_>, at: usize, start: usize) -> Step<RawCall> {
    let rest = input.rest(at);
    let inner = rest.trim_start_matches(['{', ' ', '\n', '\r', '\t']);
    if !input.done && "tool".starts_with(inner) {
        return Step::More;
    }
    let Some(after) = inner.strip_prefix("tool").map(str::trim_start) else { return Step::No };
    if !input.done && "=>".starts_with(after) {
        return Step::More;
    }
    let Some(quoted) =
        after.strip_prefix("=>").map(|after| after.trim_start().trim_start_matches(['"', '\'']))
    else {
        return Step::No;
    };
    // The closing marker ends the call, so one brace too many or too few does not matter.
    // Case: dialects/perl_hash/malformed
    let end = rest
        .find("[/TOOL_CALL]")
        .or_else(|| rest.find("/TOOL_CALL").filter(|&at| !rest[..at].ends_with('[')));
    // If the next call begins first, the closing marker was lost.
    // Case: dialects/perl_hash/misspelt-closer
    let next = rest.find("[TOOL_CALL]").filter(|&next| end.is_none_or(|end| next < end));
    let stops = input.done || input.stable_only;
    let Some(length) = next.or(end).or_else(|| stops.then_some(rest.len())) else { return Step::More };
    let name: String = quoted.chars().take_while(|ch| !matches!(ch, '"' | '\'' | ',' | '}' | '\n')).collect();
    let is_lost = next.is_some() && !input.stable_only;
    let ending = if end.is_some() || is_lost { Ending::Complete } else { Ending::Cut };
    let body = &rest[..length];
    let arguments = match body
        .find("args")
        .filter(|_| !is_lost)
        .and_then(|from| body[from..].find('{').map(|open| from + open))
    {
        None if is_lost => {
            RawArguments::Refused(Reason::Ambiguous, "the marker that closes the call is missing")
        }
        None => RawArguments::Fields(Vec::new()),
        Some(open) => match body[open..].find("--") {
            Some(_) => RawArguments::Fields(flags(body, open, at, end.is_some())),
            // The arguments are JSON, which knows its own end.
            None => match json_extent::measure(body, open) {
                Extent::Whole(close) => RawArguments::Text(at + open..at + close),
                _ => RawArguments::Text(at + open..at + body.trim_end().len()),
            },
        },
    };
    Step::Got(RawCall {
        name: name.trim().to_owned(),
        id: None,
        arguments,
        at: start..at + length,
        ending,
        dialect: recognised(Recognition::ArrowHash),
        damaged: false,
        open: None,
    })
}

/// Reads `--key "value"` flags up to the closing braces. In a truncated call, a value that nothing follows may be
/// incomplete.
// Case: dialects/perl_hash/truncated
fn flags(body: &str, from: usize, offset: usize, ended: bool) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut at = from;
    while let Some(found) = body[at..].find("--") {
        let key_at = at + found + 2;
        let length =
            body[key_at..].find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-')).unwrap_or(0);
        let key = &body[key_at..key_at + length];
        let gap = body[key_at + length..].trim_start_matches([':', '=', ' ', '\t', '\n']);
        let value_at = body.len() - gap.len();
        let close = match gap.as_bytes().first() {
            Some(b'"') => strict::check_string(gap.as_bytes(), 0).ok(),
            Some(b'[' | b'{') => match json_extent::measure(gap, 0) {
                Extent::Whole(close) => Some(close),
                _ => None,
            },
            _ => None,
        };
        let (value, end) = if let Some(close) = close {
            (RawValue::Json(gap[..close].to_owned()), value_at + close)
        } else {
            let close = gap.find([',', '}', '\n']).unwrap_or(gap.len());
            let close = gap[..close].find(" --").unwrap_or(close);
            (RawValue::Untyped(gap[..close].trim().to_owned()), value_at + close)
        };
        // A quote without a partner, or text after a value: a mark was lost or doubled.
        // Case: dialects/perl_hash/lost-quote
        let next = body[end..].trim_start();
        let is_broken = match &value {
            RawValue::Untyped(text) => text.contains('"'),
            _ => !next.is_empty() && !next.starts_with([',', '}']) && !next.starts_with("--"),
        };
        let value = if is_broken && ended { RawValue::Doubtful(LOST) } else { value };
        let half = close.is_none() && gap.starts_with(['"', '[', '{']) || body[end..].trim().is_empty();
        if key.is_empty() || !ended && half {
            break;
        }
        fields.push(Field { key: key.to_owned(), value, at: offset + value_at..offset + end });
        at = end.max(key_at + length);
    }
    fields
}
