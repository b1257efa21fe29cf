//! What is beside the arguments of a call: members that belong to them, parts of the envelope, other calls.
//!
//! A bracket that comes too early puts an argument beside the others, and one that is missing puts the next call, or a part
//! of the envelope, where this call goes on. Nothing of that is dropped: an argument goes back to the others, the next call
//! is read on its own, and everything else is refused. This module looks, and never decides what a call means.

use super::envelope::{
    ENVELOPE_KEYS, NAME_KEYS, RECORD_KEYS, SIDE_KEYS, names_tool, read_key, read_simple_value,
};
use super::input::Step;
use crate::json::strict;
use crate::json::tree::{Kind, Tree};
use crate::text_parts::first_part;

/// What the members beside the arguments are, in strict JSON.
pub(super) enum Beside {
    /// None of them is an argument.
    Nothing,
    /// The arguments with those of them that the tool declares.
    Arguments(String),
    /// An argument has one value among the arguments and another one beside them.
    Contradiction,
}

/// Looks at the members of a call beside its arguments. `is_argument` says what the tool declares.
// Case: dialects/hermes_json/argument-beside-the-arguments
pub(super) fn look(
    tree: &Tree<'_>,
    call: usize,
    called: &str,
    arguments: usize,
    is_argument: impl Fn(&str) -> bool,
) -> Beside {
    let is_message = tree.member(call, "role").is_some();
    let is_apart = |key: &str| SIDE_KEYS.contains(&key) || RECORD_KEYS.contains(&key);
    let outside = tree.children(call).filter(|&child| child != arguments).filter(|&child| {
        let key = tree.key(child).unwrap_or_default();
        let names_call = NAME_KEYS.contains(&&*key) && tree.string(child).is_some_and(|name| name == called);
        let of_envelope = ENVELOPE_KEYS.contains(&&*key) || is_message && SIDE_KEYS.contains(&&*key);
        !(names_call || of_envelope) && is_argument(&key)
    });
    let outside: Vec<usize> = outside.collect();
    if outside.is_empty() {
        return Beside::Nothing;
    }
    let own = match tree.nodes[arguments].kind {
        Kind::String => tree.string(arguments).unwrap_or_default().trim().to_owned(),
        Kind::Null => "{}".to_owned(),
        _ => tree.source(arguments).to_owned(),
    };
    let Ok(inner) = Tree::parse(&own, strict::MAX_DEPTH) else { return Beside::Contradiction };
    if inner.nodes[0].kind != Kind::Object {
        return Beside::Contradiction;
    }
    let mut joined = own.trim_end().strip_suffix('}').unwrap_or_default().trim_end().to_owned();
    let before = joined.len();
    for child in outside {
        let key = tree.key(child).unwrap_or_default();
        match inner.member(0, &key) {
            Some(same) if inner.source(same) == tree.source(child) || is_apart(&key) => {}
            Some(_) => return Beside::Contradiction,
            None => {
                joined.push_str(if joined.ends_with('{') { "" } else { ", " });
                joined.push_str(&tree.text[tree.start(child)..tree.nodes[child].span.end]);
            }
        }
    }
    if joined.len() == before {
        return Beside::Nothing;
    }
    joined.push('}');
    Beside::Arguments(joined)
}

/// What comes after the arguments of an envelope that is not strict.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Closing brackets, and parts that every envelope has. Whether the envelope is closed.
    End { closed: bool },
    /// Another call, after the envelope has ended at this position.
    Call(usize),
    /// A quote: the brackets are part of a text.
    Quote,
    /// Anything else that a call can have.
    Other,
}

/// Looks at what comes after the arguments of an envelope that is not strict.
// Case: dialects/tool_calls_array/brace-lost-before-the-next-call
pub(super) fn look_after(text: &str, is_tool: &dyn Fn(&str) -> bool) -> After {
    let (mut at, mut end, mut closed) = (0, 0, false);
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        match rest.as_bytes().first() {
            None => return After::End { closed },
            Some(b'}') => {
                at += 1;
                end = if closed { end } else { at };
                closed = true;
            }
            Some(b']' | b',' | b';') => at += 1,
            Some(b'{') if names_tool(&rest[1..], is_tool) => return After::Call(end),
            Some(b'{' | b'[') => return After::Other,
            Some(_) => {
                let Some((key, value)) = read_key(rest, 0) else {
                    return if rest.starts_with('"') { After::Quote } else { After::End { closed } };
                };
                // A part of the envelope comes before its closing brace.
                let is_part = ENVELOPE_KEYS.contains(&key) && !closed;
                match read_simple_value(rest, value).filter(|_| is_part) {
                    Some((_, after)) => at += after,
                    None => return After::Other,
                }
                end = at;
            }
        }
    }
}

/// Whether an object that seems to be complete goes on: a quote and a bracket come after it, or a comma and another member.
/// Then a quote or a bracket inside it was taken for one that ends something.
// `tests/call_reading.rs` has calls that go on.
pub(super) fn goes_on(rest: &str, done: bool) -> Step<()> {
    const REACH: usize = 128;
    let undecided = if done { Step::No } else { Step::More };
    let rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix('"') {
        return match after.trim_start().bytes().next() {
            None => undecided,
            Some(b'}' | b']') => Step::Got(()),
            Some(_) => Step::No,
        };
    }
    let next = rest.trim_start_matches(|ch: char| ch.is_whitespace() || "}]".contains(ch));
    let Some(member) = next.strip_prefix(',') else {
        return if next.is_empty() { undecided } else { Step::No };
    };
    let member = member.trim_start();
    let Some(key) = member.strip_prefix('"') else {
        return if member.is_empty() { undecided } else { Step::No };
    };
    let near = first_part(key, REACH);
    let Some(length) = near.find('"') else {
        return if near.len() < key.len() { Step::No } else { undecided };
    };
    let after = near[length + 1..].trim_start();
    match after.bytes().next() {
        None if near.len() == key.len() => undecided,
        Some(b':') => Step::Got(()),
        _ => Step::No,
    }
}

/// Whether these arguments, which are not known to end where the envelope says, have a part of the envelope among them.
// Case: dialects/mistral_array/id-among-the-arguments
pub(super) fn hold_part_of_envelope(arguments: &str, is_argument: impl Fn(&str) -> bool) -> bool {
    ENVELOPE_KEYS.iter().filter(|key| !is_argument(key)).any(|key| {
        arguments.match_indices(key).any(|(at, _)| {
            let before = arguments[..at].trim_end_matches(['"', '\'']).trim_end();
            let after = arguments[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
            before.ends_with(['{', ',']) && after.starts_with(':')
        })
    })
}

/// Where the heads of calls are in a text.
pub(super) fn find_calls<'t>(
    text: &'t str,
    is_tool: &'t dyn Fn(&str) -> bool,
) -> impl Iterator<Item = usize> + 't {
    let opens = text.match_indices('{').map(|(at, _)| at);
    opens.filter(move |&at| names_tool(&text[at + 1..], is_tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_arguments_is_told_apart() {
        let is_tool = |name: &str| name == "f";
        let after = |text: &str| look_after(text, &is_tool);
        for text in ["", "}", "}}]", ", \"id\": \"x\"}", "} and words", "]"] {
            assert!(matches!(after(text), After::End { .. }), "{text}");
        }
        assert_eq!(after("]"), After::End { closed: false });
        assert_eq!(after("}, {\"name\": \"f\"}]"), After::Call(1));
        assert_eq!(after(", {\"name\": \"f\"}}]"), After::Call(0));
        assert_eq!(after(", \"id\": \"x\", {\"name\": \"f\"}}]"), After::Call(11));
        assert_eq!(after("}\"}}"), After::Quote);
        for text in [", \"a\": 1}", "}}, \"id\": \"x\"", ", {\"a\": 1}", "}, \"name\": \"f\"}"] {
            assert_eq!(after(text), After::Other, "{text}");
        }
    }

    #[test]
    fn what_goes_on_is_not_complete() {
        for text in ["\"}", " \"\n]", ", \"a\": 1}", "}}, \"id\" : \"x\"}"] {
            assert_eq!(goes_on(text, false), Step::Got(()), "{text}");
        }
        for text in ["x", "\" x", "}</tool_call>", ", {", ", \"a\", \"b\"]", "{"] {
            assert_eq!(goes_on(text, false), Step::No, "{text}");
        }
        for text in ["", " ", "\"", "}", "},", ", \"", ", \"a", ", \"a\" "] {
            assert_eq!((goes_on(text, false), goes_on(text, true)), (Step::More, Step::No), "{text}");
        }
    }

    #[test]
    fn parts_of_envelopes_are_found_among_arguments() {
        let is_argument = |key: &str| key == "index";
        assert!(hold_part_of_envelope("{\"a\": 1, \"id\": \"x\"}]", is_argument));
        assert!(!hold_part_of_envelope("{\"a\": \"the id: 7\", \"index\": 3}]", is_argument));
    }
}
