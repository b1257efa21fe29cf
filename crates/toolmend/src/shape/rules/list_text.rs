//! Lists written as text: `"1, 2, 3"` for an array of numbers, `"read,write"` for an array of listed words.
//!
//! A list of numbers or listed words has one reading. A list of other words has two, because a comma may be part of the
//! text, so it is refused. A sentence is one text, whatever commas it has.

use crate::json::text::quote;
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};
use crate::shape::mismatch::{Change, Mismatch, SchemaMismatch, TypeMismatch};
use crate::syntax::number::{self, Wanted};

/// The most elements of a list that is split.
const MAX_ELEMENTS: usize = 1024;
/// A part of a list has at most so many words. More are a sentence.
const MAX_WORDS: usize = 8;
/// Fields that hold a command with its arguments, folded. Spaces separate in them.
const COMMANDS: [&str; 7] = ["command", "cmd", "argv", "args", "arguments", "commandline", "flags"];
/// What stands for no element, or for elements that the model left out.
const NO_ELEMENT: [&str; 8] = ["...", "…", "[...]", "null", "none", "nil", "undefined", "n/a"];

/// `"1, 2"` to `[1, 2]` and `"read,write"` to `["read","write"]`, if each part is an element and the whole is not.
// Case: shape/number-list-in-string
pub(super) fn split_list(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if !mismatch.wants(Types::ARRAY) {
        return None;
    }
    let text = mismatch.string()?;
    let guide = mismatch.guide();
    let element = guide.element(mismatch.position(), 0);
    let types = guide.types(element);
    if guide.has_list(element) {
        let parts = parts(&text)?;
        let fits = parts.iter().all(|part| guide.lists(element, part)) && !guide.lists(element, text.trim());
        return fits.then(|| replace_by_list(mismatch, parts.iter().map(|part| quote(part))));
    }
    if types == Types::ALL || !types.has(Types::NUMBER) || types.has(Types::STRING) {
        return None;
    }
    split_numbers(mismatch, &text, mismatch.least_elements() > 1, types.has(Types::FRACTION))
}

/// The same for a list of a type that the type did not say yet.
pub(super) fn split_list_for_type(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let text = mismatch.string().filter(|_| mismatch.wants(Types::ARRAY))?;
    split_numbers(mismatch, &text, mismatch.wanted_length().is_some_and(|length| length > 1), true)
}

/// `fractions`: the elements need not be integers.
fn split_numbers(
    mismatch: &Mismatch<'_>,
    text: &str,
    wants_several: bool,
    fractions: bool,
) -> Option<Change> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    let parts = parts(text)?;
    // `1,000` may be one number, and so may `0,5`.
    // Case: shape/decimal-comma-or-list
    let is_decimal = fractions && parts.len() == 2 && !text.contains([' ', '.', ';']);
    // `1,5, 2,5` has two separators, and one of them is the decimal comma.
    // Case: shape/decimal-commas-in-a-list
    let spaced = text.matches(", ").count();
    let mixes_commas = spaced > 0 && spaced < text.matches(',').count();
    let is_clear = !mixes_commas && (wants_several || !number::is_grouped(text) && !is_decimal);
    let numbers: Option<Vec<String>> =
        parts.iter().map(|part| number::from_text(part, Wanted::Number)).collect();
    let numbers = numbers.filter(|_| is_clear)?;
    Some(replace_by_list(mismatch, numbers.into_iter()))
}

fn replace_by_list(mismatch: &Mismatch<'_>, elements: impl Iterator<Item = String>) -> Change {
    let elements: Vec<String> = elements.collect();
    mismatch.replace(format!("[{}]", elements.join(",")), RepairKind::ListTextSplit)
}

/// The parts of a list, separated by commas or by semicolons. `None` if there are fewer than two.
fn parts(text: &str) -> Option<Vec<&str>> {
    let separator = if text.contains(';') { ';' } else { ',' };
    let parts: Vec<&str> = text.split(separator).map(str::trim).take(MAX_ELEMENTS + 1).collect();
    let is_list = (2..=MAX_ELEMENTS).contains(&parts.len()) && parts.iter().all(|part| !part.is_empty());
    is_list.then_some(parts)
}

/// Whether a string can be the only element of an array. Blank text and an ellipsis are no element; lines, bullets and
/// short parts between separators may be several; and so may be the words of a command.
// Case: shape/word-list-in-string, shape/sentence-for-list
pub(super) fn is_one_element(text: &str, field: &str) -> bool {
    let trimmed = text.trim();
    if trimmed.is_empty() || NO_ELEMENT.contains(&trimmed.to_lowercase().as_str()) {
        return false;
    }
    let lines = trimmed.lines().filter(|line| !line.trim().is_empty()).count();
    let is_command = COMMANDS.contains(&fold(field).as_str()) && trimmed.contains(char::is_whitespace);
    lines == 1 && !is_command && !is_word_list(trimmed) && !holds_marked_items(trimmed)
}

/// Whether a text holds things of which each is one element: addresses, numbered items, items of HTML, an element with its quotes.
// Case: shape/addresses-in-one-string
// Case: shape/numbered-list-in-a-string
fn holds_marked_items(text: &str) -> bool {
    let is_address = |word: &&str| {
        let name = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
        name || word.contains("://")
    };
    let is_second =
        |mark: &str| text.match_indices(mark).any(|(at, _)| text[..at].ends_with(char::is_whitespace));
    let is_numbered = [("1. ", "2. "), ("1) ", "2) "), ("(1) ", "(2) ")];
    let is_quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    is_quoted
        || text.split_whitespace().filter(is_address).count() > 1
        || is_numbered.iter().any(|(first, second)| text.starts_with(first) && is_second(second))
        || text.matches("<li>").count() > 1
}

/// Whether separators outside of brackets and quotes divide a text into parts that are short enough for a list.
fn is_word_list(text: &str) -> bool {
    let mut parts: Vec<usize> = Vec::new();
    let mut starts = 0;
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, ch) in text.char_indices() {
        match ch {
            '"' | '`' => quoted = !quoted,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | ';' | '|' | '、' | '，' if depth == 0 && !quoted => {
                parts.push(text[starts..at].split_whitespace().count());
                starts = at + ch.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[starts..].split_whitespace().count());
    parts.len() > 1 && parts.iter().all(|&words| words <= MAX_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_not_one_element() {
        for text in [
            "ann@example.com, bob@example.org",
            "a,b",
            "a; b",
            "- a\n- b",
            "a\nb",
            "...",
            " ",
            "red|green",
            "a@x.org and b@y.org",
            "1. read 2. write",
            "<li>a</li><li>b</li>",
        ] {
            assert!(!is_one_element(text, "tags"), "{text:?}");
        }
        for text in [
            "one",
            "two words",
            "src/**/*.{ts,tsx}",
            "version 1. 2 of them",
            "write to a@x.org",
            "f(a, b)",
            "He said \"yes, please\"",
            "Read the whole file that the user named before, and then answer.",
        ] {
            assert!(is_one_element(text, "tags"), "{text:?}");
        }
        assert!(!is_one_element("ls -la", "command"));
        assert!(is_one_element("ls", "command"));
    }
}
