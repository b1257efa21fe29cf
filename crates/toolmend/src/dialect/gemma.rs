//! Calls in Gemma's notation: `call:name{key:<|"|>text<|"|>,other:3}`.
//!
//! This module finds the parts of a call. Reading single values is left to `value_literals`, and typing them to the
//! schema.

use super::custom::CustomTable;
use super::input::{Input, Step};
use super::json_extent::{self, Extent};
use super::marker_remains;
use super::python;
use super::raw_call::{Ending, RawArguments, RawCall};
use super::table::Dialect;
use super::token;
use super::value_literals::{self, GEMMA, Style};
use crate::json::strict;

/// The word before the name of a call.
pub(crate) const WORD: &str = "call:";

/// Reads the call at `at`, with or without its word.
pub(crate) fn read_call(input: Input<'_>, at: usize, dialect: &'static Dialect) -> Step<RawCall> {
    let rest = input.rest(at);
    if !input.done && rest.len() < WORD.len() && WORD.starts_with(rest) {
        return Step::More;
    }
    let name_at = at + if rest.starts_with(WORD) { WORD.len() } else { 0 };
    let rest = input.rest(name_at);
    let Some(length) = rest.find(['{', '(', '\n', '<', '>']) else {
        return if input.done || rest.len() > 160 { Step::No } else { Step::More };
    };
    let open = name_at + length;
    let name = rest[..length].trim().trim_end_matches(':').to_owned();
    if name.is_empty() || name.len() > 160 || name.contains(char::is_whitespace) {
        return Step::No;
    }
    let call = |arguments, end, ending, damaged| RawCall {
        name,
        id: None,
        arguments,
        at: at..end,
        ending,
        dialect,
        damaged,
        open: None,
    };
    match input.byte(open) {
        Some(b'{') => read_body(input, open)
            .map(|(arguments, end, ending, damaged)| call(arguments, end, ending, damaged)),
        Some(b'(') => {
            let style = Style { close: b')', ..GEMMA };
            let colon = read_fields(input, open + 1, style);
            let found = if colon == Step::No {
                read_fields(input, open + 1, super::value_literals::PYTHON)
            } else {
                colon
            };
            found.map(|(arguments, end, ending, _)| call(arguments, end, ending, true))
        }
        _ => Step::No,
    }
}

/// Where a call really ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissedEnd {
    /// At the marker that closes it, at this position.
    Marker(usize),
    /// Nobody knows: the output ends without that marker.
    Unknown,
}

/// Whether a call after a marker ends at `end`. If anything but another call or markup follows, a brace of an unquoted value
/// may have been taken for the end.
// Case: dialects/gemma4/brace-in-bare-value
// Case: dialects/gemma4/brace-in-bare-value-before-markup
// Case: dialects/gemma4/brace-in-bare-value-unclosed
pub(crate) fn misses_its_end(input: Input<'_>, end: usize) -> Step<MissedEnd> {
    let mut next = input.skip_whitespace(end);
    while let Some(b']' | b'}' | b',' | b';') = input.byte(next) {
        next = input.skip_whitespace(next + 1);
    }
    let rest = input.rest(next);
    if rest.is_empty() {
        return if input.done { Step::No } else { Step::More };
    }
    if !input.done && WORD.starts_with(rest) {
        return Step::More;
    }
    let is_delimiter = GEMMA.delimiters.iter().any(|delimiter| rest.starts_with(delimiter));
    match input.markup(next) {
        Step::More => return Step::More,
        Step::Got(_) if !is_delimiter => return Step::No,
        _ if rest.starts_with(WORD) => return Step::No,
        Step::Got(_) | Step::No => {}
    }
    match value_literals::find_closer(input, next) {
        Some(at) => Step::Got(MissedEnd::Marker(at)),
        None if input.done => Step::Got(MissedEnd::Unknown),
        None => Step::More,
    }
}

/// Whether an argument contains a delimiter, or swallowed the next argument because a delimiter was lost. In both cases
/// the end of its text is ambiguous. `declared` says whether the tool declares a key, if that is known.
// Case: dialects/gemma4/delimiter-in-nested-value
// Case: dialects/gemma4/swallowed-argument
pub(crate) fn is_ambiguous(call: &RawCall, declared: impl Fn(&str) -> Option<bool>) -> bool {
    // The second spelling is how a delimiter looks in the JSON of a nested value.
    const DELIMITERS: [&str; 4] = ["<|\"|>", "<|\\\"|>", "<escape", "escape>"];
    let RawArguments::Fields(fields) = &call.arguments else { return false };
    let swallows = |text: &str| {
        text.match_indices(',').any(|(at, _)| {
            let rest = text[at + 1..].trim_start();
            let length = rest.bytes().take_while(|&byte| value_literals::is_key_byte(byte)).count();
            length > 0
                && rest[length..].trim_start().starts_with(':')
                && declared(&rest[..length]) == Some(true)
        })
    };
    fields.iter().any(|field| {
        let text = field.value.text();
        let torn = swallows(text)
            || declared(&field.key) == Some(false)
            || begins_in_delimiter_remains(text)
            || !ends_in_closing_tag(text) && marker_remains::ends_in(text, CustomTable::empty());
        DELIMITERS.iter().any(|mark| text.contains(mark)) || call.damaged && torn
    })
}

/// Whether a value ends in a closing tag. No delimiter has a slash, so it is text.
fn ends_in_closing_tag(text: &str) -> bool {
    text.rfind('<').is_some_and(|at| text[at..].starts_with("</"))
}

/// Whether a value begins with what is left of a delimiter.
// Case: dialects/functiongemma/misspelt-delimiter
fn begins_in_delimiter_remains(text: &str) -> bool {
    // A bracket without its partner.
    let partner = text.get(1..).and_then(|rest| rest.find(['<', '>']).map(|at| rest.as_bytes()[at]));
    if text.starts_with('<') && partner != Some(b'>') {
        return true;
    }
    text.find('>').is_some_and(|close| {
        let head = &text[..=close];
        let is_rest = |delimiter: &str| {
            delimiter.ends_with(head) || token::is_slip(head.as_bytes(), delimiter.as_bytes())
        };
        GEMMA.delimiters.iter().any(|delimiter| is_rest(delimiter))
    })
}

type Body = (RawArguments, usize, Ending, bool);

/// Reads the braces at `open`: as JSON if the content is JSON, otherwise as keys and values in Gemma's notation.
// Case: dialects/gemma4/malformed
fn read_body(input: Input<'_>, open: usize) -> Step<Body> {
    let inner = input.skip_whitespace(open + 1);
    match input.byte(inner) {
        None if !input.done => return Step::More,
        Some(b'"') => match json_extent::measure(input.text, open) {
            Extent::Whole(end) if strict::check(&input.text[open..end], strict::MAX_DEPTH).is_ok() => {
                return Step::Got((RawArguments::Text(open..end), end, Ending::Complete, false));
            }
            Extent::Open if !input.done => return Step::More,
            _ => {}
        },
        // `{{…}}`: the braces are doubled.
        // Case: dialects/gemma4/double-braces
        Some(b'{') => {
            return match read_fields(input, inner + 1, GEMMA) {
                Step::Got((arguments, end, ending, _)) => {
                    let close = input.skip_whitespace(end);
                    let end = if input.byte(close) == Some(b'}') { close + 1 } else { end };
                    Step::Got((arguments, end, ending, true))
                }
                other => other,
            };
        }
        _ => {}
    }
    let style = match equals_follows(input, inner) {
        Step::Got(()) => Style { equals: b'=', separator: b'=', ..GEMMA },
        Step::More => return Step::More,
        Step::No => GEMMA,
    };
    match read_fields(input, open + 1, style) {
        Step::Got((arguments, end, ending, _)) if style.equals == b'=' => {
            Step::Got((arguments, end, ending, true))
        }
        Step::No | Step::Got((_, _, Ending::Cut, _)) if input.byte(inner) == Some(b'"') => {
            read_broken_json(input, open)
        }
        Step::No => read_without_delimiter(input, open),
        other => other,
    }
}

/// Whether an equals sign follows the first key, instead of a colon.
// Case: dialects/functiongemma/malformed-equals
fn equals_follows(input: Input<'_>, at: usize) -> Step<()> {
    let rest = input.rest(at);
    let length = rest.bytes().take_while(|&byte| value_literals::is_key_byte(byte)).count();
    match rest.as_bytes().get(length) {
        None if !input.done => Step::More,
        Some(b'=') if length > 0 => Step::Got(()),
        _ => Step::No,
    }
}

fn read_fields(input: Input<'_>, from: usize, style: Style) -> Step<Body> {
    match python::read_arguments(input, from, style) {
        // Fields that cannot be read go up to the closing marker.
        Step::Got(read) if read.ending == Ending::Cut && !read.swallows => find_limit(input, from)
            .map(|end| (RawArguments::Fields(read.fields), end, Ending::Cut, read.damaged)),
        Step::Got(read) if read.damaged && !input.done => Step::More,
        Step::Got(read) => {
            // If a delimiter was lost, what looks like the closing brace may be part of a truncated text.
            // Case: dialects/gemma4/lost-closing-delimiter
            let guessed = read.damaged && read.ending == Ending::Complete;
            let ending = if guessed { Ending::Open } else { read.ending };
            Step::Got((RawArguments::Fields(read.fields), read.end, ending, read.damaged))
        }
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// The position of the first closing marker from `from` on, or the end of the text.
fn find_limit(input: Input<'_>, from: usize) -> Step<usize> {
    match value_literals::find_closer(input, from) {
        Some(at) => Step::Got(at),
        None if input.done => Step::Got(input.text.len()),
        None => Step::More,
    }
}

/// JSON with broken quotes. The syntax layer reads it, up to the closing marker.
fn read_broken_json(input: Input<'_>, open: usize) -> Step<Body> {
    find_limit(input, open).map(|end| (RawArguments::Text(open..end), end, Ending::Open, false))
}

/// The end of a value is unknown, so the call is treated as cut off there.
fn read_without_delimiter(input: Input<'_>, open: usize) -> Step<Body> {
    find_limit(input, open).map(|end| (RawArguments::Fields(Vec::new()), end, Ending::Cut, false))
}
