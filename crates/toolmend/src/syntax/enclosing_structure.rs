//! Whether a value is only a part of a larger structure that no reader understood.
//!
//! A table, an INI file or a command line may hold an object in one of its values. Taking that object for the whole call would
//! drop the members around it. Prose may mention a parameter, but it does not assign one: a line `key = value`, a flag, a
//! cell of a table or a pair of quotes around words and the value are structure.

use std::ops::Range;

use super::withdrawn_call::{first_part, last_part};
use crate::schema::guide::Guide;

/// More text than this on either side of a value is not searched.
const NEARBY: usize = 4096;

/// What the text around the value at `value` says that makes it a part of something else; `own` is the value as text.
// Case: syntax/object-in-a-value-of-an-ini-file
// Case: syntax/object-in-a-table-cell
// Case: syntax/object-in-a-quoted-argument
pub(super) fn find_structure(
    text: &str,
    value: &Range<usize>,
    own: &str,
    guide: &Guide,
) -> Option<&'static str> {
    let before = last_part(&text[..value.start], NEARBY);
    let after = first_part(&text[value.end..], NEARBY);
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let line_after = after.split('\n').next().unwrap_or_default();
    if line_before.trim_start().starts_with('|') && line_before.matches('|').count() > 1 {
        return Some("it is in a cell of a table");
    }
    if is_in_quoted_words(line_before, line_after) {
        return Some("it is in quotes, with other words");
    }
    let declares = guide.declares(guide.root());
    let is_key =
        |key: &str| if declares { guide.declares_key(guide.root(), key) } else { is_member_word(key) };
    let own_line = member_on_line(line_before).filter(|member| is_key(member.key));
    let is_own_member = own_line.as_ref().is_some_and(|member| is_block_or_empty(member.value))
        || before.trim_end().ends_with(['|', '>']) && ends_with_block_key(before);
    let others = before.lines().chain(after.lines()).filter(|line| !std::ptr::eq(*line, line_before));
    for line in others {
        let Some(member) = member_on_line(line).filter(|member| is_key(member.key)) else { continue };
        if is_block_or_empty(member.value) {
            continue;
        }
        // Without a schema only a second member beside the value's own shows that the lines are members.
        let is_said_again = own.contains(member.value.trim_matches(['"', '\'', ',', '.', ';', ' ']));
        if (declares || is_own_member) && !is_said_again {
            return Some("the lines beside it assign other members");
        }
    }
    if own_line.is_some_and(|member| !is_block_or_empty(member.value)) && declares {
        return Some("it is in the value of a member");
    }
    let flags = |text: &str| flag_keys(text).any(|key| declares && guide.declares_key(guide.root(), key));
    (flags(line_before) || flags(line_after)).then_some("it is in the arguments of a command")
}

/// Whether a word is written like a key. Labels such as `Note:` are capitalised, and `arguments:` announces the value.
fn is_member_word(word: &str) -> bool {
    const LABELS: &[&str] =
        &["arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "call", "json"];
    word.starts_with(char::is_lowercase) && !LABELS.contains(&word)
}

/// A key, and what follows its separator on the line.
struct Member<'t> {
    key: &'t str,
    value: &'t str,
}

/// The member that a line is: one word, `:` or `=`, and the rest. A web address or a time is none.
fn member_on_line(line: &str) -> Option<Member<'_>> {
    let body = line.trim_start().trim_start_matches(['-', '*', '•']).trim_start();
    let body = body.trim_start_matches(['"', '\'', '`', '*']);
    let end = body.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.')))?;
    let rest = body[end..].trim_start_matches(['"', '\'', '`', '*', ' ']);
    let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix(':').filter(|rest| is_spaced(rest)))?;
    let is_name = body[..end].starts_with(|ch: char| ch.is_alphabetic() || ch == '_');
    is_name.then(|| Member { key: &body[..end], value: value.trim_matches([' ', '\t', '\r', '*', '`']) })
}

fn is_spaced(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\r', '*', '`'])
}

fn is_block_or_empty(value: &str) -> bool {
    matches!(value, "" | "|" | ">" | "|-" | ">-" | "'" | "\"")
}

/// Whether the last line with text is a key with a block of text: `content: |`.
fn ends_with_block_key(before: &str) -> bool {
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    member_on_line(line).is_some_and(|member| matches!(member.value, "|" | ">"))
}

/// The names of the flags in a command line: `--path a --limit=3`.
fn flag_keys(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter_map(|word| {
        let name = word.trim_start_matches(['\'', '"']).strip_prefix("--")?;
        Some(name.split('=').next().unwrap_or(name)).filter(|name| !name.is_empty())
    })
}

/// Whether the value is inside quotes together with words, after something else on the line: `post('a', 'use {…} now')`.
fn is_in_quoted_words(before: &str, after: &str) -> bool {
    ['\'', '"'].into_iter().any(|quote| {
        let Some(open) = open_quote(before, quote) else { return false };
        let words = before[open + 1..].contains(char::is_alphabetic);
        let led = !before[..open].trim().is_empty();
        let closes = after
            .char_indices()
            .any(|(at, ch)| ch == quote && !after[at + 1..].starts_with(char::is_alphanumeric));
        words && led && closes
    })
}

/// Where the last quote is that opens and is not closed. An apostrophe in a word opens nothing.
fn open_quote(text: &str, quote: char) -> Option<usize> {
    let mut open = None;
    for (at, ch) in text.char_indices() {
        if ch != quote {
            continue;
        }
        let after_word = text[..at].ends_with(char::is_alphanumeric);
        let before_word = text[at + 1..].starts_with(char::is_alphanumeric);
        open = match open {
            None if !after_word => Some(at),
            Some(_) if !(after_word && before_word) => None,
            other => other,
        };
    }
    open
}
