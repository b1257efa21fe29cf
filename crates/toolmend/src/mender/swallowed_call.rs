//! Strings that took in the next call.
//!
//! If the last quote of a string is lost, the string goes on to the first quote of what follows: the marker of the next call,
//! or its object. The result is valid JSON and often fits, but it has a second reading, and so it is refused. Strings that the
//! model wrote as strict JSON say where they end and may contain anything.

use crate::dialect::envelope;
use crate::dialect::table::Dialect;
use crate::json::tree::Tree;

/// Why such a call is refused.
pub(super) const SWALLOWED: &str = "a text contains the beginning of another call, so its end is not known";
/// A longer name is text.
const MAX_NAME: usize = 160;
/// How many strings with such text are looked up in the source. No call has more.
const MAX_LOOKUPS: usize = 16;

/// Whether a string of the mended arguments holds a marker of the dialect or the head of another call, and was not written as
/// a strict string.
// Case: dialects/bare_json/lost-quote-before-a-call
// Case: dialects/react/lost-quote-before-a-call
pub(super) fn holds_next_call(
    source: &str,
    mended: &str,
    row: &Dialect,
    is_tool: &dyn Fn(&str) -> bool,
) -> bool {
    let tree = Tree::of_strict(mended);
    let markers = opening_markers(row);
    let mut lookups = 0;
    (0..tree.nodes.len()).any(|id| {
        let Some(text) = tree.string(id) else { return false };
        if !markers.iter().any(|marker| text.contains(marker)) && !holds_head(&text, is_tool) {
            return false;
        }
        lookups += 1;
        lookups > MAX_LOOKUPS || !is_written(source, tree.source(id))
    })
}

/// Whether the arguments have the marker of another call outside of their strings, which mending dropped. What comes after it
/// belongs to another call.
// Case: dialects/mistral_name_args/call-inside-of-the-arguments
pub(super) fn drops_next_call<'m>(
    source: &str,
    mended: &(impl Iterator<Item = &'m str> + Clone),
    row: &Dialect,
) -> bool {
    opening_markers(row).iter().any(|marker| {
        let written = source.matches(marker).count();
        written > 0 && mended.clone().map(|json| json.matches(marker).count()).sum::<usize>() < written
    })
}

/// Whether a string in Python's notation goes on after a quote of its own kind, and holds a marker of the dialect or the head of
/// a call after it. `literal` is the string as it was written, and may have anything around it.
// Case: dialects/lfm2/begun-again
// Case: dialects/pythonic/call-inside-of-a-string
pub(super) fn spans_next_call(literal: &str, row: &Dialect, is_tool: &dyn Fn(&str) -> bool) -> bool {
    let literal = literal.trim();
    let Some(open) = literal.find(['"', '\'']) else { return false };
    let mark = literal.as_bytes()[open];
    let Some(inner) = literal[open..].get(1..literal.len() - open - 1) else { return false };
    let mut escaped = false;
    let quote = inner.bytes().position(|byte| {
        let ends = byte == mark && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    quote.is_some_and(|quote| {
        let after = &inner[quote + 1..];
        opening_markers(row).iter().any(|marker| after.contains(marker)) || holds_python_head(after, is_tool)
    })
}

/// Whether the arguments begin with the head of a call in Python's notation that is not the head of this call: it names another
/// tool, or the name of this call already has arguments of its own.
// Case: dialects/lfm2/call-inside-of-the-arguments
pub(super) fn begins_as_next_call(
    arguments: &str,
    written_name: &str,
    called: Option<&str>,
    resolve: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let Some((head, _)) = arguments.trim_start().split_once('(') else { return false };
    let head = head.trim_end();
    let is_name = !head.is_empty()
        && head.len() <= MAX_NAME
        && head.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-:/".contains(&byte));
    is_name
        && resolve(head)
            .is_some_and(|tool| written_name.contains('(') || called.is_some_and(|name| name != tool))
}

/// Whether the name of a tool and a bracket are in the text, where a call can begin.
fn holds_python_head(text: &str, is_tool: &dyn Fn(&str) -> bool) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end_matches(' ');
        let length = before
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-:/".contains(byte))
            .count();
        let (around, name) = before.split_at(before.len() - length);
        let begins = around.ends_with('\n') || {
            let around = around.trim_end();
            around.is_empty() || around.ends_with(|ch: char| ",;()[]{}<>|\"'".contains(ch))
        };
        begins && !name.is_empty() && name.len() <= MAX_NAME && is_tool(name)
    })
}

/// Whether the text of a literal is in the source, with its quotes escaped. Line breaks and tabs need not be, and between
/// single quotes, double ones neither.
fn is_written(source: &str, literal: &str) -> bool {
    let inner = &literal[1..literal.len() - 1];
    let plain = || inner.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r");
    let single = || format!("'{}'", inner.replace("\\\"", "\""));
    source.contains(inner) || source.contains(&plain()) || source.contains(&single())
}

/// The texts that begin a call of this row, as far as they are markers.
fn opening_markers(row: &Dialect) -> Vec<&'static str> {
    let head = |template: &'static str| template.split('{').next().unwrap_or_default().trim();
    let is_marker = |text: &&str| text.len() > 4 && text.contains(|ch: char| !ch.is_alphanumeric());
    [head(row.section.0), head(row.call)]
        .into_iter()
        .chain(row.marks.iter().copied())
        .filter(is_marker)
        .collect()
}

/// Whether the text contains the head of a call: an object that names a tool, or a tool's name before an object.
fn holds_head(text: &str, is_tool: &dyn Fn(&str) -> bool) -> bool {
    let (mut open, mut closed) = (0usize, false);
    text.match_indices(['{', '}']).any(|(at, brace)| {
        if brace == "}" {
            closed |= open == 0;
            open = open.saturating_sub(1);
            return false;
        }
        open += 1;
        // A text does not close what it did not open, and then open an object.
        let is_next = closed && text[at + 1..].trim_start().starts_with(['"', '\'']);
        is_next || envelope::names_tool(&text[at + 1..], is_tool) || {
            let before =
                text[..at].trim_end().trim_end_matches("[ARGS]").trim_end_matches([':', '(', '>', ' ']);
            let start = before
                .rfind(|ch: char| ch.is_whitespace() || "<>]|,;".contains(ch))
                .map_or(0, |space| space + before[space..].chars().next().map_or(1, char::len_utf8));
            let name = &before[start..];
            !name.is_empty() && name.len() <= MAX_NAME && is_tool(name)
        }
    })
}

/// Whether an escape of the string around the arguments took a letter of a word that lost its quote: `\foxtrot"`.
// Case: dialects/wire_json/escape-in-place-of-a-quote
pub(super) fn lost_letter(decoded: &str) -> bool {
    let bytes = decoded.as_bytes();
    let is_outside = |at: usize| {
        let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
        matches!(before, None | Some(b':' | b',' | b'{' | b'['))
    };
    bytes.windows(2).enumerate().any(|(at, pair)| {
        matches!(pair[0], 8 | 9 | 10 | 12 | 13) && pair[1].is_ascii_alphabetic() && is_outside(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_calls_are_found() {
        let is_tool = |name: &str| matches!(name, "get_time" | "functions.get_time:1");
        for text in [
            "b}}\n{\"name\": \"get_time",
            "b}}, {\"name\": \"other\", \"arguments\": {",
            "b}\nget_time\n{",
            "b}\nfunctions.get_time:1{",
        ] {
            assert!(holds_head(text, &is_tool), "{text}");
        }
        for text in ["{\"name\": \"x\", \"version\": \"1\"}", "fn main() {", "get_time"] {
            assert!(!holds_head(text, &is_tool), "{text}");
        }
    }

    #[test]
    fn heads_of_python_calls_are_found() {
        let is_tool = |name: &str| name == "get_time";
        for text in [", get_time(zone=", "<mark>[get_time(", ")\n get_time (", "get_time("] {
            assert!(holds_python_head(text, &is_tool), "{text}");
        }
        for text in ["call get_time(", ", time(", ", forget_time(", "get_time"] {
            assert!(!holds_python_head(text, &is_tool), "{text}");
        }
    }

    #[test]
    fn escapes_do_not_stand_for_quotes() {
        assert!(lost_letter("{\"a\": \u{c}oxtrot\"}"));
        assert!(lost_letter("{\"a\": \totes\"}"));
        assert!(!lost_letter("{\n  \"a\": \"x\ny\"}"));
    }
}
