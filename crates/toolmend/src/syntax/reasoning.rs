//! Reasoning that a model wrote before its arguments, between the tags of its template.
//!
//! What a model considers is not what it decides, so reasoning is set aside as a whole, with every value in it. Only
//! tags at the start of the text count: inside a value they are text.

use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// The tags that reasoning is written between.
const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
];

/// A patch that removes the reasoning at the start of a text. A closing tag without its opening tag ends reasoning that the
/// prompt opened.
// Case: syntax/reasoning-with-a-value
// Case: syntax/reasoning-opened-by-the-prompt
pub(super) fn peel(text: &str) -> Option<Patch> {
    // Words may come before the first tag, but nothing that could be a value.
    let first = TAGS.iter().filter_map(|(open, _)| text.find(open)).min().unwrap_or(text.len());
    let lead = text.find(['{', '[', '"']).unwrap_or(text.len());
    let opened = first <= lead;
    let start = if opened { first } else { 0 };
    let rest = &text[start..];
    if !opened && text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[', '"', '\'']) {
        return None;
    }
    let end = TAGS.iter().find_map(|(open, close)| {
        let body = match rest.strip_prefix(open) {
            Some(body) => body,
            None if opened => return None,
            None => rest,
        };
        let closes = memchr::memmem::find(body.as_bytes(), close.as_bytes())?;
        // A value after another opening tag is not part of this reasoning.
        let again = memchr::memmem::find(&body.as_bytes()[..closes], open.as_bytes()).is_some();
        (opened || !again).then(|| text.len() - body.len() + closes + close.len())
    })?;
    Some(Patch::new(vec![Edit::new(start..end, "", RepairKind::ReasoningRemoved)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_set_aside_as_a_whole() {
        let left = |text: &str| peel(text).map(|patch| patch.apply(text));
        assert_eq!(left("<think>{\"a\": 1}?</think> {\"a\": 2}").as_deref(), Some(" {\"a\": 2}"));
        assert_eq!(left("no, {\"a\": 1}</think>{\"a\": 2}").as_deref(), Some("{\"a\": 2}"));
        assert_eq!(left("{\"a\": \"x</think>y\"}"), None);
        assert_eq!(left("plain text"), None);
        assert_eq!(left("<think>never closed {\"a\": 1}"), None);
    }
}
