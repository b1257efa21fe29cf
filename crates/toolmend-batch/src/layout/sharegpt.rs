//! The layout `sharegpt`: conversations for training, whose turns are text. Calls are written in the text.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use toolmend::Finish;
use toolmend_json::{Edits, ValueRef, array};

use super::{SourceRow, begin_row, model_output, read_tool_list};
use crate::judge::WorkerState;

/// The roles of turns that may hold calls.
const MODEL_ROLES: &[&str] = &["gpt", "assistant", "model", "chatgpt", "bot", "function_call", "tool_call"];
/// The roles of turns that are a single call, as JSON with a name and arguments.
const CALL_ROLES: &[&str] = &["function_call", "tool_call"];

/// Judges every call in every turn of a model.
pub(super) fn mend_row(source: SourceRow<'_>, worker: &mut WorkerState<'_>, edits: &mut Edits) {
    let root = source.root;
    let (list, turns) = match (root.get("conversations"), root.get("messages")) {
        (Some(turns), _) => ("conversations", turns),
        (None, Some(turns)) => ("messages", turns),
        (None, None) => return,
    };
    if !turns.is_array() {
        return;
    }
    let tools = root.get_non_null("tools").and_then(|tools| read_tool_list(tools, worker));
    let system = turns.items().find(|turn| role(*turn).as_deref() == Some("system"));
    let tools = tools.or_else(|| {
        let prompt = system.and_then(content).or_else(|| root.get("system"))?.text()?;
        let list = worker.tool_lists.get_or_insert(&prompt, || Arc::new(find_tool_list(&prompt)));
        list.as_ref().clone().map(Cow::Owned)
    });
    let mut row = begin_row(source, worker, edits, root.get("model"), (tools.as_deref(), None));
    for (index, turn) in turns.items().enumerate() {
        let Some(role) = role(turn).filter(|role| MODEL_ROLES.contains(&role.as_ref())) else {
            continue;
        };
        let Some(text) = content(turn) else { continue };
        let pointer = || format!("/{list}/{index}/{}", text.key());
        if CALL_ROLES.contains(&role.as_ref()) {
            model_output::mend_single_call(&mut row, text, &pointer);
        } else {
            model_output::mend_output(&mut row, text, Finish::Unknown, &pointer);
        }
    }
}

fn role(turn: ValueRef<'_>) -> Option<Cow<'_, str>> {
    turn.get_text("from").or_else(|| turn.get_text("role"))
}

fn content(turn: ValueRef<'_>) -> Option<ValueRef<'_>> {
    turn.get("value").or_else(|| turn.get("content"))
}

/// Finds the tools in a system prompt: the JSON between `<tools>` and `</tools>`. Prompts also mention these tags in
/// sentences, so the first pair with JSON counts.
fn find_tool_list(prompt: &str) -> Option<String> {
    let mut rest = prompt;
    while let Some(start) = rest.find("<tools>") {
        rest = &rest[start + "<tools>".len()..];
        let content = &rest[..rest.find("</tools>")?];
        if let Some(list) = parse_tool_list(content) {
            return Some(list);
        }
    }
    None
}

/// Parses a list of tools and returns it as a JSON array. The text may be an array, or several objects, or either of them
/// with defects that can be mended.
pub(super) fn parse_tool_list(text: &str) -> Option<String> {
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
    fn tools_are_found_in_prompts() {
        let prompt = "You have functions within <tools></tools> XML tags. Here: <tools> [{\"name\": \"f\"}] </tools> Go.";
        assert_eq!(find_tool_list(prompt).as_deref(), Some(r#"[{"name": "f"}]"#));
        assert_eq!(
            find_tool_list("<tools>\n{\"name\": \"f\"}\n{\"name\": \"g\"}\n</tools>").as_deref(),
            Some(r#"[{"name": "f"},{"name": "g"}]"#)
        );
        assert_eq!(find_tool_list("<tools>[{'name': 'f'}]</tools>").as_deref(), Some(r#"[{"name": "f"}]"#));
        assert_eq!(find_tool_list("<tools>none</tools>"), None);
        assert_eq!(find_tool_list("<tools>[1"), None);
    }
}
