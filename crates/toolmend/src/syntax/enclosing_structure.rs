//! Whether a value is only a part of a larger structure that no reader understood.
//!
//! A table, an INI file or a command line may hold an object in one of its values. Taking that object for the whole call would
//! drop the members around it. Prose may mention a parameter, but it does not assign one: a line `key = value`, a flag, a
//! cell of a table or a pair of quotes around words and the value are structure.

use std::ops::Range;

use super::enclosing_members;
use crate::schema::guide::{Guide, Types};
use crate::text_parts::{first_part, last_part};

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
    if line_before.trim() == "return" {
        return Some("it is part of a program");
    }
    if is_section_heading(&text[value.clone()], line_before, after) {
        return Some("it is the heading of a section");
    }
    if count_headings(before) + count_headings(after) > 1 {
        return Some("it is under one of several headings");
    }
    let declares = guide.declares(guide.root());
    if follows_key(before, &text[value.clone()], guide) {
        return Some("it may be the value of the key before it");
    }
    if !declares && let Some(why) = enclosing_members::find_members(text, value) {
        return Some(why);
    }
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
        let bare = member.value.trim_matches(['"', '\'', ',', '.', ';', ' ']);
        let is_empty = matches!(member.value.trim_end_matches(','), "\"\"" | "''");
        let is_said_again = is_empty || !bare.is_empty() && own.contains(bare);
        if (declares || is_own_member) && !is_said_again {
            return Some("the lines beside it assign other members");
        }
    }
    if own_line.as_ref().is_some_and(|member| !is_block_or_empty(member.value)) && declares {
        return Some("it is in the value of a member");
    }
    // Case: syntax/list-with-a-key-before-it
    if own_line.is_some_and(|member| member.value.is_empty()) && !declares && own.starts_with('[') {
        return Some("it may be the value of the key before it");
    }
    // Case: syntax/object-in-a-tag
    if let Some(tag) = tag_around(before, after)
        && (if declares { guide.declares_key(guide.root(), tag) } else { has_other_tag(before, after, tag) })
    {
        return Some("it is in the value of a member");
    }
    // Without a schema, a flag after the value shows that the line is a command.
    // Case: syntax/flag-after-an-object
    if !declares && flag_keys(line_after).next().is_some() {
        return Some("it is in the arguments of a command");
    }
    let flags = |text: &str| flag_keys(text).any(|key| declares && guide.declares_key(guide.root(), key));
    (flags(line_before) || flags(line_after)).then_some("it is in the arguments of a command")
}

/// Whether the word before a value is a declared key that takes such a value, and that the value does not have itself:
/// `--matrix [[1, 2]]`, `with value {…}`.
// Case: syntax/value-after-its-key
fn follows_key(before: &str, value: &str, guide: &Guide) -> bool {
    const NEARBY_MARKS: usize = 8;
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    let lead = before.trim_end_matches(|ch: char| !is_word(ch));
    let word = lead.rsplit(|ch: char| !is_word(ch)).next().unwrap_or_default();
    let root = guide.root();
    if word.is_empty() || before.len() - lead.len() > NEARBY_MARKS || !guide.declares_key(root, word) {
        return false;
    }
    let wanted = if value.starts_with('[') { Types::ARRAY } else { Types::OBJECT };
    let types = guide.types(guide.member(root, word));
    let has_itself = value.contains(&format!("\"{word}\"")) || value.contains(&format!("'{word}'"));
    types.has(wanted) && types != Types::ALL && !has_itself
}

/// The name of the tag that is directly around the value.
fn tag_around<'t>(before: &'t str, after: &str) -> Option<&'t str> {
    let open = before.trim_end().strip_suffix('>')?;
    let tag = &open[open.rfind('<')? + 1..];
    // `<parameter=path>` is closed by `</parameter>`, and what it says is the key.
    let (name, key) = tag.split_once('=').unwrap_or((tag, tag));
    let name = name.split_whitespace().next().unwrap_or_default();
    let key = if key == tag { name } else { key.trim_matches('"') };
    let closer = after.trim_start().strip_prefix("</")?;
    (!name.is_empty() && closer.starts_with(name) && closer[name.len()..].starts_with('>')).then_some(key)
}

/// Whether another tag is closed before the value, or opened after it.
fn has_other_tag(before: &str, after: &str, tag: &str) -> bool {
    let closes = before.rfind("</").is_some_and(|at| !before[at + 2..].starts_with(tag));
    let rest = after.trim_start().get(tag.len() + 3..).unwrap_or_default();
    closes && !before.contains("</think")
        || rest.trim_start().starts_with('<') && !rest.trim_start().starts_with("</")
}

/// Whether a word is written like a key. Labels such as `Note:` are capitalised, and `arguments:` announces the value.
pub(super) fn is_member_word(word: &str) -> bool {
    const LABELS: &[&str] = &[
        "arguments",
        "args",
        "parameters",
        "params",
        "input",
        "tool_input",
        "action_input",
        "call",
        "calls",
        "json",
        "tool_calls",
        "result",
        "results",
        "output",
        "answer",
        "response",
        "final",
    ];
    word.starts_with(char::is_lowercase) && !LABELS.contains(&word)
}

/// A key, and what follows its separator on the line.
pub(super) struct Member<'t> {
    pub(super) key: &'t str,
    pub(super) value: &'t str,
}

/// The member that a line is: one word, `:` or `=`, and the rest. A web address or a time is none.
pub(super) fn member_on_line(line: &str) -> Option<Member<'_>> {
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
    // An anchor or a tag of YAML comes before the value.
    let is_anchor = value.starts_with(['&', '!']) && !value.contains(' ');
    is_anchor || matches!(value, "" | "|" | ">" | "|-" | ">-" | "'" | "\"")
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

/// Whether the value is between round brackets, with a comma or a name beside it: `search('x', {…}, 5)`, `write(text='{…}')`.
// Case: syntax/object-among-arguments
// Case: syntax/object-as-an-argument
pub(super) fn is_argument(text: &str, value: &Range<usize>) -> bool {
    let before = last_part(&text[..value.start], NEARBY);
    let after = first_part(&text[value.end..], NEARBY);
    let lead = before.trim_end();
    // `write(amount: 5, items: […])` is a call, too.
    // Case: syntax/list-among-named-arguments
    let is_call = || {
        before
            .find('(')
            .is_some_and(|at| before[..at].ends_with(|ch: char| ch.is_alphanumeric() || ch == '_'))
    };
    let named = lead.trim_end_matches(['"', '\'', '`']).ends_with('=') || lead.ends_with(':') && is_call();
    let beside = before.trim_end().ends_with(',') || after.trim_start().starts_with(',') || named;
    let open = before.bytes().fold(0i32, |open, byte| match byte {
        b'(' => open + 1,
        b')' => (open - 1).max(0),
        _ => open,
    });
    beside && open > 0
}

/// Whether the value is a word in square brackets on a line of its own, and the next line assigns something.
// Case: syntax/heading-of-an-ini-file
fn is_section_heading(value: &str, line_before: &str, after: &str) -> bool {
    let word = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let is_word = !word.is_empty() && word.chars().all(|ch| ch.is_alphanumeric() || "_-.".contains(ch));
    let mut lines = after.lines();
    let alone = line_before.trim().is_empty() && lines.next().is_some_and(|line| line.trim().is_empty());
    is_word && alone && lines.find(|line| !line.trim().is_empty()).and_then(member_on_line).is_some()
}

/// How many headings of Markdown are one word in lower case: `## path`.
fn count_headings(text: &str) -> usize {
    let is_heading = |line: &&str| {
        let word = line.trim_start_matches('#');
        let name = word.trim();
        word.len() < line.len()
            && word.starts_with(' ')
            && name.starts_with(char::is_lowercase)
            && name.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
    };
    text.lines().filter(is_heading).count()
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
