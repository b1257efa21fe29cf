//! Short sentences in the descriptions of tools, against mistakes that models are known to make.

use serde_json::Value;

use crate::json::pointer;
use crate::spelling::fold_name;
use crate::tools::{Declared, Said, declared};

/// Tools that people give alike names to, and what their callers get wrong.
struct Family {
    /// Names without case and separators.
    names: &'static [&'static str],
    sentence: &'static str,
}

const FAMILIES: &[Family] = &[
    Family {
        names: &["read", "readfile", "viewfile", "openfile", "cat"],
        sentence: "Give the path as plain text, not as a Markdown link, and numbers such as offsets without quotes.",
    },
    Family {
        names: &["write", "writefile", "createfile", "savefile"],
        sentence: "The content is one plain string with the whole text of the file: no code fence around it, no JSON object in its place.",
    },
    Family {
        names: &["edit", "editfile", "applypatch", "patch", "patchfile", "strreplace", "multiedit"],
        sentence: "The text to find is copied from the file character by character, with its indentation; after a failed edit read the file again before the next one.",
    },
    Family {
        names: &["bash", "shell", "exec", "runcommand", "runshell", "executecommand", "terminal"],
        sentence: "The command is one string as it would be typed in a shell, not an array of words; a command that failed is not sent again unchanged.",
    },
    Family {
        names: &["grep", "find", "findfiles", "glob", "search", "searchfiles", "ripgrep"],
        sentence: "The pattern is plain text without quotes or slashes around it, and a list of paths is a JSON array of strings.",
    },
    Family {
        names: &["ls", "listdir", "listdirectory", "listfiles", "tree"],
        sentence: "The path is one directory as plain text; leave optional fields out and do not send null for them.",
    },
    Family {
        names: &["webfetch", "fetch", "fetchurl", "readurl"],
        sentence: "Each address is a full URL that starts with its scheme, not a Markdown link; several addresses are a JSON array of strings.",
    },
    Family {
        names: &["websearch", "searchweb"],
        sentence: "The query is one plain string; other words are another search, not a second query in the same string.",
    },
];

/// The tools with short sentences appended to their descriptions: ours for tools of well-known names, and those
/// that their authors leave under `contract` in the hints. Doing it again changes nothing.
///
/// ```
/// use serde_json::json;
/// let tools = json!([{"name": "deploy", "description": "Deploys.", "input_schema": {
///     "type": "object", "x-toolmend": {"contract": "Name one environment."}}}]);
/// let told = toolmend::with_contract_hints(&tools);
/// assert_eq!(told[0]["description"], "Deploys. Name one environment.");
/// assert_eq!(toolmend::with_contract_hints(&told), told);
/// ```
#[must_use]
pub fn with_contract_hints(tools: &Value) -> Value {
    let mut out = tools.clone();
    for tool in declared(tools).0 {
        if let Some(holder) = holder(&mut out, &tool.about_place) {
            let mut text = holder.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
            let before = text.len();
            for sentence in sentences(&tool) {
                append(&mut text, &sentence);
            }
            if text.len() > before {
                holder.insert("description".to_owned(), text.into());
            }
        }
    }
    out
}

fn sentences(tool: &Declared<'_>) -> impl Iterator<Item = String> + use<> {
    let folded = fold_name(&tool.name);
    let family = FAMILIES.iter().find(|family| family.names.contains(&folded.as_str()));
    family.map(|family| family.sentence.to_owned()).into_iter().chain(Said::about(tool).contract)
}

fn append(text: &mut String, sentence: &str) {
    if text.contains(sentence) {
        return;
    }
    if !text.is_empty() && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    text.push_str(sentence);
}

/// The object that holds the description. A tool given by its name alone has none.
fn holder<'v>(document: &'v mut Value, place: &str) -> Option<&'v mut serde_json::Map<String, Value>> {
    pointer::tokens(place)
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
    fn sentences_stand_where_each_shape_has_its_description() {
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
            let told = with_contract_hints(&tools);
            let text =
                told.pointer(place).and_then(|tool| tool.get("description")?.as_str()).unwrap_or_default();
            assert!(FAMILIES.iter().any(|family| text.ends_with(family.sentence)), "{told}");
            assert_eq!(with_contract_hints(&told), told, "twice");
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
    fn a_name_stands_in_one_family() {
        let mut names: Vec<_> = FAMILIES.iter().flat_map(|family| family.names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
