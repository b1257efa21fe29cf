//! Text in the position of arguments that may be the main value of its tool.
//!
//! An empty text, a word for nothing, or the remains of JSON are no values, however the tool is called.

/// Words that say that there are no arguments.
const NOTHING: &[&str] = &[
    "n/a",
    "na",
    "none",
    "null",
    "nil",
    "nothing",
    "not applicable",
    "no input",
    "empty",
    "undefined",
    "tbd",
    "-",
];

/// Whether the text is empty, or the remains of JSON.
pub(crate) fn is_no_value(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || begins_with_member(text) || closes_too_much(text)
}

/// Whether the text says that there are no arguments, perhaps with a remark: `N/A (ask the user first)`.
// Case: dialects/react/word-for-nothing
pub(crate) fn says_nothing(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let is_mark = |ch: char| matches!(ch, '.' | '…');
    !text.is_empty() && text.chars().all(is_mark)
        || NOTHING.iter().any(|word| {
            text.strip_prefix(word).is_some_and(|rest| {
                let rest = rest.trim_start();
                rest.is_empty() || rest.starts_with(['(', '.', ',', ';', ':']) && *word != "-"
            })
        })
}

/// Whether the text begins with a quoted key: `"command": …`.
// Case: dialects/react/members-without-brace
fn begins_with_member(text: &str) -> bool {
    let Some(quote) = text.chars().next().filter(|ch| matches!(ch, '"' | '\'')) else { return false };
    let Some((key, after)) = text[1..].split_once(quote) else { return false };
    !key.is_empty()
        && key.len() <= 64
        && key.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '$'))
        && after.trim_start().starts_with(':')
}

/// Whether the text ends in a bracket that it did not open.
fn closes_too_much(text: &str) -> bool {
    let count = |mark| text.bytes().filter(|byte| *byte == mark).count();
    match text.as_bytes().last() {
        Some(b'}') => count(b'}') > count(b'{'),
        Some(b']') => count(b']') > count(b'['),
        _ => false,
    }
}
