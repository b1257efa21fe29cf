//! Stubs: what a client gets in place of a call whose arguments nobody can read.
//!
//! A stub is strict JSON that the tool's own schema rejects. The client refuses it by itself and tells the model on the channel
//! for tool results, which is where agents recover. It carries what the model wrote, and comes back in the history of the next
//! request, where the model is shown what it wrote and not the stub.

use serde_json::{Value, json};
use toolmend::Tool;
use toolmend_json::quote;
use toolmend_protocol::{UNPARSED_INPUT, UNREADABLE_ARGUMENTS};

/// How many bytes of the written text a stub keeps at its beginning, and at its end.
const KEPT: (usize, usize) = (6 << 10, 2 << 10);
/// Types that are no objects. Those that no client converts an object to come first.
const PLAIN_TYPES: [&str; 5] = ["integer", "number", "array", "string", "boolean"];

/// Writes a stub for a call of this tool. `None` if its schema does not provably reject it.
pub(crate) fn write_stub(written: &str, tool: &Tool) -> Option<String> {
    let schema = tool.schema()?;
    let source = schema.source();
    let stub = json!({UNPARSED_INPUT: {"raw": clip(written), "len": written.len()}});
    // Some clients ignore members that they do not know, so it is not enough that the schema forbids them.
    let is_missed = |name: &Value| name.as_str().is_some_and(|name| name != UNPARSED_INPUT);
    let misses_a_member =
        source["required"].as_array().is_some_and(|required| required.iter().any(is_missed));
    let stub = if misses_a_member {
        stub
    } else {
        let name = PLAIN_TYPES.iter().find_map(|wanted| {
            let mut properties = source["properties"].as_object()?.iter();
            properties.find(|(_, property)| property["type"] == *wanted).map(|(name, _)| name)
        })?;
        json!({name.as_str(): stub})
    };
    (!schema.accepts(&stub)).then(|| stub.to_string())
}

/// Writes a stub for a call of a tool that the client does not have.
pub(crate) fn write_stub_for_unknown_tool(written: &str) -> String {
    json!({UNPARSED_INPUT: {"raw": clip(written), "len": written.len()}}).to_string()
}

/// Returns what the model wrote, if these arguments are a stub or what a stub is shown as.
pub(crate) fn read_stub(arguments: &str) -> Option<String> {
    if ![UNPARSED_INPUT, UNREADABLE_ARGUMENTS].iter().any(|mark| arguments.contains(mark)) {
        return None;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(arguments) else { return None };
    if let (1, Some(Value::String(raw))) = (members.len(), members.get(UNREADABLE_ARGUMENTS)) {
        return Some(raw.clone());
    }
    let nested = || members.values().find_map(|member| member.get(UNPARSED_INPUT));
    let unparsed = members.get(UNPARSED_INPUT).or_else(nested)?;
    unparsed["raw"].as_str().or(unparsed.as_str()).map(str::to_owned)
}

/// Writes arguments that nobody can read the way a model is shown them.
pub(crate) fn show_unreadable(written: &str) -> String {
    format!(r#"{{"{UNREADABLE_ARGUMENTS}":{}}}"#, quote(written))
}

/// Calls that were refused in earlier turns of a conversation.
#[derive(Debug, Default)]
pub(crate) struct EarlierRefusals(Vec<(String, String)>);

impl EarlierRefusals {
    /// Adds a call: its tool, and what the model wrote.
    pub(crate) fn add(&mut self, tool: &str, written: String) {
        self.0.push((tool.to_owned(), written));
    }

    /// Returns how often the same call was refused.
    pub(crate) fn count(&self, tool: &str, written: &str) -> usize {
        if self.0.is_empty() {
            return 0;
        }
        let written = clip(written);
        self.0.iter().filter(|(its_tool, its_text)| its_tool == tool && *its_text == written).count()
    }
}

/// Returns a long text without its middle.
fn clip(text: &str) -> String {
    let (head, tail) = KEPT;
    if text.len() <= head + tail {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(head);
    let tail = text.ceil_char_boundary(text.len() - tail);
    format!("{}\n[{} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stub(schema: &Value) -> Option<Value> {
        let tool = Tool::new("t", schema).unwrap();
        write_stub("{x", &tool).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn the_schema_of_the_tool_rejects_its_stub() {
        let plain = json!({UNPARSED_INPUT: {"raw": "{x", "len": 2}});
        let string = json!({"type": "string"});
        for (schema, expected) in [
            (json!({"type": "object", "properties": {"a": string}, "required": ["a"]}), Some(plain.clone())),
            (
                json!({"type": "object", "properties": {"a": string, "n": {"type": "integer"}}}),
                Some(json!({"n": plain})),
            ),
            (json!({"type": "object", "properties": {"a": string}}), Some(json!({"a": plain}))),
            // Nothing in these says no to an object.
            (json!({"type": "object", "properties": {}}), None),
            (json!({"type": "object", "properties": {}, "additionalProperties": false}), None),
            (json!({"type": "object", "properties": {"a": {}, "o": {"type": "object"}}}), None),
            (json!({"type": "object", "properties": {"a": {"type": ["string", "object"]}}}), None),
        ] {
            assert_eq!(stub(&schema), expected, "{schema}");
        }
        assert_eq!(write_stub("{x", &Tool::unconstrained("t")), None);
    }

    #[test]
    fn stubs_are_recognised_later() {
        let tool =
            Tool::new("t", &json!({"type": "object", "properties": {"n": {"type": "integer"}}})).unwrap();
        let long = "é".repeat(10_000);
        for written in ["{x", "", &long] {
            let stub = write_stub(written, &tool).unwrap();
            let raw = read_stub(&stub).unwrap();
            assert_eq!(raw, clip(written));
            assert_eq!(read_stub(&show_unreadable(&raw)), Some(raw.clone()));
            let mut earlier = EarlierRefusals::default();
            earlier.add("t", raw);
            assert_eq!(earlier.count("t", written), 1);
            assert_eq!(earlier.count("u", written), 0);
        }
        assert_eq!(read_stub(r#"{"text":"about __unparsedToolInput"}"#), None);
    }
}
