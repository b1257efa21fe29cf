//! Conversations for training: turns of text, calls written in the text.

use serde_json::value::RawValue;
use toolmend::Finish;
use toolmend_json::{Edits, ValueRef as View, array};

use super::{Found, listed, output, row};
use crate::judge::Desk;

/// Who speaks in the turns that may hold calls.
const SPEAKERS: &[&str] = &["gpt", "assistant", "model", "chatgpt", "bot", "function_call", "tool_call"];
/// Turns that are nothing but one call, as JSON with a name and arguments.
const CALLERS: &[&str] = &["function_call", "tool_call"];

/// Judges every call in every turn of a model.
pub(super) fn mend(found: Found<'_>, desk: &mut Desk<'_>, edits: &mut Edits) {
    let root = found.root;
    let (list, turns) = match (root.get("conversations"), root.get("messages")) {
        (Some(turns), _) => ("conversations", turns),
        (None, Some(turns)) => ("messages", turns),
        (None, None) => return,
    };
    if !turns.is_array() {
        return;
    }
    let told = root.some("tools").and_then(|tools| listed(tools, desk));
    let system = turns.items().find(|turn| speaker(*turn).as_deref() == Some("system"));
    let told = told.or_else(|| {
        let prompt = system.and_then(said).or_else(|| root.get("system"))?.text()?;
        let list = desk.lists.get(&prompt, || std::sync::Arc::new(in_prompt(&prompt)));
        list.as_ref().clone().map(std::borrow::Cow::Owned)
    });
    let mut row = row(found, desk, edits, root.get("model"), (told.as_deref(), None));
    for (index, turn) in turns.items().enumerate() {
        let Some(speaker) = speaker(turn).filter(|speaker| SPEAKERS.contains(&speaker.as_ref())) else {
            continue;
        };
        let Some(text) = said(turn) else { continue };
        let place = || format!("/{list}/{index}/{}", text.key());
        if CALLERS.contains(&speaker.as_ref()) {
            output::mend_call(&mut row, text, &place);
        } else {
            output::mend(&mut row, text, Finish::Unknown, &place);
        }
    }
}

fn speaker(turn: View<'_>) -> Option<std::borrow::Cow<'_, str>> {
    turn.get_text("from").or_else(|| turn.get_text("role"))
}

fn said(turn: View<'_>) -> Option<View<'_>> {
    turn.get("value").or_else(|| turn.get("content"))
}

/// The tools in a system prompt: what stands between `<tools>` and `</tools>`. Prompts also speak of these tags, so
/// the first pair that holds JSON counts.
fn in_prompt(prompt: &str) -> Option<String> {
    let mut rest = prompt;
    while let Some(start) = rest.find("<tools>") {
        rest = &rest[start + "<tools>".len()..];
        let inner = &rest[..rest.find("</tools>")?];
        if let Some(list) = as_list(inner) {
            return Some(list);
        }
    }
    None
}

/// A list of tools as one JSON array: it may be one, or JSON objects one after the other, or nearly one of them.
pub(super) fn as_list(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let several: Result<Vec<&RawValue>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    match several.as_deref() {
        Ok([one]) if one.get().starts_with('[') => return Some(one.get().to_owned()),
        Ok(objects) if !objects.is_empty() => return Some(array(objects.iter().map(|one| one.get()))),
        _ => {}
    }
    let verdict = toolmend::fix(text);
    match verdict.json() {
        Some(json) if json.starts_with('[') => Some(json.to_owned()),
        Some(json) => Some(array([json])),
        None if verdict.values().is_empty() => None,
        None => Some(array(verdict.values())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_prompts_are_found() {
        let prompt = "You have functions within <tools></tools> XML tags. Here: <tools> [{\"name\": \"f\"}] </tools> Go.";
        assert_eq!(in_prompt(prompt).as_deref(), Some(r#"[{"name": "f"}]"#));
        assert_eq!(
            in_prompt("<tools>\n{\"name\": \"f\"}\n{\"name\": \"g\"}\n</tools>").as_deref(),
            Some(r#"[{"name": "f"},{"name": "g"}]"#)
        );
        assert_eq!(in_prompt("<tools>[{'name': 'f'}]</tools>").as_deref(), Some(r#"[{"name": "f"}]"#));
        assert_eq!(in_prompt("<tools>none</tools>"), None);
        assert_eq!(in_prompt("<tools>[1"), None);
    }
}
