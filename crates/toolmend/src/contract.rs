//! Sentences for the descriptions of tools that prevent mistakes which models are known to make.
//!
//! Only descriptions are changed, never names or schemas.

use serde_json::Value;

use crate::json::pointer;
use crate::spelling::fold_name;
use crate::tools::{ToolDeclaration, ToolHints, read_declarations};

/// Tools that have similar names everywhere, and the advice that their callers need.
struct ToolFamily {
    /// The names, without case and separators.
    names: &'static [&'static str],
    advice: &'static str,
}

const FAMILIES: &[ToolFamily] = &[
    ToolFamily {
        names: &["read", "readfile", "viewfile", "openfile", "cat"],
        advice: "Give the path as plain text, not as a Markdown link, and numbers such as offsets without quotes.",
    },
    ToolFamily {
        names: &["write", "writefile", "createfile", "savefile"],
        advice: "The content is one plain string with the whole text of the file, without a code fence and not as a JSON object.",
    },
    ToolFamily {
        names: &["edit", "editfile", "applypatch", "patch", "patchfile", "strreplace", "multiedit"],
        advice: "Copy the text to find from the file exactly, including its indentation; after a failed edit, read the file again before the next edit.",
    },
    ToolFamily {
        names: &["bash", "shell", "exec", "runcommand", "runshell", "executecommand", "terminal"],
        advice: "The command is one string as typed in a shell, not an array of words; do not send a failed command again unchanged.",
    },
    ToolFamily {
        names: &["grep", "find", "findfiles", "glob", "search", "searchfiles", "ripgrep"],
        advice: "Give the pattern as plain text without quotes or slashes around it, and a list of paths as a JSON array of strings.",
    },
    ToolFamily {
        names: &["ls", "listdir", "listdirectory", "listfiles", "tree"],
        advice: "The path is one directory as plain text; omit optional fields instead of sending null.",
    },
    ToolFamily {
        names: &["webfetch", "fetch", "fetchurl", "readurl"],
        advice: "Each address is a full URL that starts with its scheme, not a Markdown link; several addresses are a JSON array of strings.",
    },
    ToolFamily {
        names: &["websearch", "searchweb"],
        advice: "The query is one plain string; use a separate call for each search.",
    },
];

/// Returns the built-in advice for a tool with a well-known name, in any case and with any separators.
///
/// ```
/// assert_eq!(toolmend::contract_hint_for("ReadFile"), toolmend::contract_hint_for("read_file"));
/// assert_eq!(toolmend::contract_hint_for("deploy"), None);
/// ```
pub fn contract_hint_for(name: &str) -> Option<&'static str> {
    let folded = fold_name(name);
    FAMILIES.iter().find(|family| family.names.contains(&folded.as_str())).map(|family| family.advice)
}

/// Returns the tools with advice appended to their descriptions: built-in advice for tools with well-known names, and
/// the advice that the author of a tool gives under `contract` in its hints. Applying it twice changes nothing.
///
/// ```
/// use serde_json::json;
/// let tools = json!([{"name": "deploy", "description": "Deploys.", "input_schema": {
///     "type": "object", "x-toolmend": {"contract": "Name one environment."}}}]);
/// let advised = toolmend::with_contract_hints(&tools);
/// assert_eq!(advised[0]["description"], "Deploys. Name one environment.");
/// assert_eq!(toolmend::with_contract_hints(&advised), advised);
/// ```
#[must_use]
pub fn with_contract_hints(tools: &Value) -> Value {
    let mut out = tools.clone();
    for tool in read_declarations(tools).0 {
        if let Some(definition) = definition_at(&mut out, &tool.definition_path) {
            let mut text =
                definition.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
            let length = text.len();
            for sentence in advice_for(&tool) {
                append_sentence(&mut text, &sentence);
            }
            if text.len() > length {
                definition.insert("description".to_owned(), text.into());
            }
        }
    }
    out
}

fn advice_for(tool: &ToolDeclaration<'_>) -> impl Iterator<Item = String> + use<> {
    contract_hint_for(&tool.name).map(str::to_owned).into_iter().chain(ToolHints::of(tool).contract)
}

fn append_sentence(text: &mut String, sentence: &str) {
    if text.contains(sentence) {
        return;
    }
    if !text.is_empty() && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    text.push_str(sentence);
}

/// Returns the object with the description. A tool that is given by its name alone has none.
fn definition_at<'v>(document: &'v mut Value, path: &str) -> Option<&'v mut serde_json::Map<String, Value>> {
    pointer::tokens(path)
        .try_fold(document, |value, token| match value {
            Value::Array(list) => list.get_mut(token.parse::<usize>().ok()?),
            other => other.get_mut(&token),
        })?
        .as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn advice_goes_where_each_format_has_its_description() {
        let schema = json!({"type": "object"});
        for (tools, place) in [
            (
                json!([{"type": "function", "function": {"name": "Read", "parameters": schema}}]),
                "/0/function",
            ),
            (json!([{"type": "function", "name": "apply_patch", "parameters": schema}]), "/0"),
            (json!([{"name": "Bash", "description": "Runs.", "input_schema": schema}]), "/0"),
            (json!({"tools": [{"name": "list-dir", "inputSchema": schema}]}), "/tools/0"),
            (json!({"webFetch": schema}), "/webFetch"),
        ] {
            let advised = with_contract_hints(&tools);
            let text =
                advised.pointer(place).and_then(|tool| tool.get("description")?.as_str()).unwrap_or_default();
            assert!(FAMILIES.iter().any(|family| text.ends_with(family.advice)), "{advised}");
            assert_eq!(with_contract_hints(&advised), advised, "twice");
        }
    }

    #[test]
    fn other_tools_are_left_alone() {
        for tools in
            [json!([{"name": "deploy", "parameters": {"type": "object"}}]), json!(["read"]), json!(3)]
        {
            assert_eq!(with_contract_hints(&tools), tools);
        }
    }

    #[test]
    fn no_name_is_in_two_families() {
        let mut names: Vec<_> = FAMILIES.iter().flat_map(|family| family.names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
