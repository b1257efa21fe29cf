//! Text that names the field that its value is for.
//!
//! `command ls`, `command -> ls`, `f(command='ls')`: whoever writes the name of a field writes a notation, even one that no
//! reader knows. Such a text is not the bare value of that field.

use crate::schema::guide::fold;

/// Marks before a key at the start of a line: list items, tables, symbols, quotes.
const BEFORE_KEY: &[char] = &[' ', '\t', '-', '*', '•', '|', ':', '@', '"', '\'', '`', '(', '_'];

/// Marks between a key and its value.
const ASSIGNMENTS: &[&str] = &["=", ":", "->", "→", "|", "：", "«", "<-"];

/// How many lines are looked at.
const MAX_LINES: usize = 64;

/// Whether a text names this field, as a member of some notation. `is_key` knows the other fields of the tool.
// Case: syntax/main-field-named-in-lines
// Case: syntax/main-field-named-by-arrows
// Case: syntax/main-field-named-in-a-call
// Case: syntax/main-field-assigned-without-schema
pub(crate) fn is_spelled_out(text: &str, field: &str, is_key: impl Fn(&str) -> bool) -> bool {
    let folded = fold(field);
    let is_field = |word: &str| fold(word) == folded;
    let lines: Vec<Line<'_>> =
        text.lines().filter(|line| !line.trim().is_empty()).take(MAX_LINES).map(Line::read).collect();
    let Some(first) = lines.first() else { return false };
    let names_field = |line: &Line<'_>| line.is_member && is_field(line.word);
    let begins_with_key = first.is_member && (is_field(first.word) || is_key(first.word));
    let all_assign = lines.iter().all(|line| line.assigns);
    (begins_with_key || all_assign) && lines.iter().any(names_field) || is_call_with(text, is_field)
}

/// The first word of a line, and what follows it.
struct Line<'t> {
    word: &'t str,
    /// A blank or a mark separates the word from more text.
    is_member: bool,
    /// The mark is one that assigns.
    assigns: bool,
}

impl<'t> Line<'t> {
    fn read(line: &'t str) -> Self {
        let start = line.trim_start_matches(BEFORE_KEY);
        let end = start.find(|ch: char| !is_word_char(ch)).unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        let rest = rest.trim_end();
        let value = rest.trim_start_matches([' ', '\t', '"', '\'', '`', '*', '_']);
        let assigns = !word.is_empty() && ASSIGNMENTS.iter().any(|mark| value.starts_with(mark));
        let is_apart = rest.starts_with([' ', '\t']) && !value.is_empty();
        Line { word, is_member: !word.is_empty() && (assigns || is_apart), assigns }
    }
}

/// Whether the text is `name(…)` with this field as one of the arguments.
fn is_call_with(text: &str, is_field: impl Fn(&str) -> bool) -> bool {
    let text = text.trim().trim_end_matches(';');
    let name = text.find(|ch: char| !is_word_char(ch) && ch != '.').unwrap_or(text.len());
    let Some(arguments) = text[name..].strip_prefix('(').filter(|_| name > 0 && text.ends_with(')')) else {
        return false;
    };
    arguments.split([',', '(', '{']).any(|argument| {
        let word = argument.trim_start().trim_start_matches(['"', '\'', '$', ':', '@', '-']);
        let end = word.find(|ch: char| !is_word_char(ch)).unwrap_or(word.len());
        let after = word[end..].trim_start_matches(['"', '\'', ' ']);
        after.starts_with(['=', ':']) && is_field(&word[..end])
    })
}

fn is_word_char(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_names_its_field_is_not_its_value() {
        let is_key = |word: &str| matches!(word, "command" | "timeout");
        for text in [
            "command ls -la\ntimeout 30",
            "timeout 30\ncommand ls -la",
            "command -> ls",
            "| command | ls |",
            "- **command**: ls",
            "run(timeout=3, command='ls')",
            ":command => 'ls'",
        ] {
            assert!(is_spelled_out(text, "command", is_key), "{text}");
        }
        for text in
            ["ls -la", "timeout 30 make", "echo command", "/command/x", "git commit -m 'command: x'", "f(x)"]
        {
            assert!(!is_spelled_out(text, "command", is_key), "{text}");
        }
        assert!(is_spelled_out("timeout = 3\ncommand = 'ls'", "command", |_| false));
        assert!(!is_spelled_out("export A=1\nls", "command", |_| false));
    }
}
