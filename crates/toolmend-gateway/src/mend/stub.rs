//! Stubs: what a client gets in place of a call whose arguments nobody can read.
//!
//! A stub is strict JSON that the tool's own schema rejects. The client refuses it by itself and tells the model on the channel
//! for tool results, which is where agents recover. It carries what the model wrote, and comes back in the history of the next
//! request, where the model is shown what it wrote and not the stub.

use serde_json::{Value, json};
use toolmend::Tool;
use toolmend_json::quote;
use toolmend_protocol::{UNPARSED_INPUT, UNREADABLE_ARGUMENTS};

use super::assembly::is_object;

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

/// Writes a stub that begins with arguments that were already sent. Members that are there may not be what the schema needs to
/// reject it, so one of them is repeated as an object if there is no other way: the last one counts for clients. `None` if the
/// schema does not provably reject it.
pub(crate) fn continue_as_stub(sent: &str, written: &str, tool: &Tool) -> Option<String> {
    if sent.is_empty() {
        return write_stub(written, tool);
    }
    let schema = tool.schema()?;
    let properties = schema.source()["properties"].as_object();
    let plain = properties
        .into_iter()
        .flatten()
        .filter(|(_, property)| PLAIN_TYPES.iter().any(|wanted| property["type"] == *wanted));
    let (used, unused): (Vec<&str>, Vec<&str>) =
        plain.map(|(name, _)| name.as_str()).partition(|name| sent.contains(&quote(name)));
    let stub = json!({UNPARSED_INPUT: {"raw": clip(written), "len": written.len()}});
    let names = [None].into_iter().chain(unused.into_iter().chain(used).map(Some));
    for name in names {
        let member = match name {
            Some(name) => format!("{}:{stub}", quote(name)),
            None => stub.to_string().trim_matches(['{', '}']).to_owned() + "}",
        };
        let Some((text, mut value)) = close_arguments(sent, &member) else { continue };
        let is_rejected = !schema.accepts(&value);
        // Some clients ignore members that they do not know.
        if let Some(members) = value.as_object_mut() {
            members.remove(UNPARSED_INPUT);
        }
        if is_rejected && !schema.accepts(&value) {
            return Some(text);
        }
    }
    None
}

/// Ends arguments that were cut anywhere, with one more member.
fn close_arguments(sent: &str, member: &str) -> Option<(String, Value)> {
    let (mut closers, mut in_string, mut escaped) = (Vec::new(), false, false);
    for byte in sent.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => closers.push('}'),
            b'[' if !in_string => closers.push(']'),
            b'}' | b']' if !in_string => {
                closers.pop();
            }
            _ => {}
        }
    }
    let quote = if in_string { "\"" } else { "" };
    // The cut is after a value, after a key, before a value, or before a member.
    for (end, gap) in [("", ","), (":null", ","), ("null", ","), ("", "")] {
        let inner: String = closers.iter().skip(1).rev().collect();
        let text = format!("{sent}{quote}{end}{inner}{gap}{member}}}");
        if let Ok(value @ Value::Object(_)) = serde_json::from_str(&text) {
            return Some((text, value));
        }
    }
    None
}

/// What a name ends with that no tool has.
const NO_TOOL: &str = "_unreadable";
/// The longest name that all servers accept in a conversation.
const MAX_NAME: usize = 64;

/// Returns a name that no tool has, for a call of a tool that rejects nothing: clients report unknown tools to the model just as they
/// report wrong arguments. `None` if there is no such name.
pub(crate) fn name_without_tool(tool: &str, is_declared: impl Fn(&str) -> bool) -> Option<String> {
    let name = format!("{tool}{NO_TOOL}");
    (name.len() <= MAX_NAME && !is_declared(&name)).then_some(name)
}

/// Returns a name as the model knows it.
pub(crate) fn without_stub_name(name: &str) -> &str {
    name.strip_suffix(NO_TOOL).unwrap_or(name)
}

/// Returns the tool that a call means which was sent under a name that no tool has.
pub(crate) fn tool_of_name(name: &str, is_declared: impl Fn(&str) -> bool) -> Option<&str> {
    name.strip_suffix(NO_TOOL).filter(|tool| is_declared(tool) && !is_declared(name))
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

/// Writes the arguments of a call that failed the way a model is shown them. `is_text`: `written` is the whole call.
pub(crate) fn arguments_to_show(written: &str, is_text: bool) -> String {
    if is_object(written) && !is_text { written.to_owned() } else { show_unreadable(written) }
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
    fn arguments_that_were_begun_end_as_a_stub() {
        let string = json!({"type": "string"});
        let both = json!({"type": "object", "properties": {"path": string, "content": string}, "required": ["path", "content"]});
        let free = json!({"type": "object", "properties": {"path": string, "content": string, "mode": {"type": "integer"}}});
        for (schema, begun) in [
            (
                &both,
                vec![
                    "",
                    "{",
                    r#"{"path": "a"#,
                    r#"{"path": "a", "content": "b\n"#,
                    r#"{"path": "a","#,
                    r#"{"path": ["#,
                ],
            ),
            (
                &free,
                vec![
                    "",
                    r#"{"path": "a"#,
                    r#"{"pa"#,
                    r#"{"path":"#,
                    r#"{"path"#,
                    r#"{"path": "a", "mode": 1"#,
                ],
            ),
        ] {
            let tool = Tool::new("t", schema).unwrap();
            for sent in begun {
                let stub = continue_as_stub(sent, "{x", &tool).unwrap_or_else(|| panic!("{sent}: no stub"));
                assert!(stub.starts_with(sent), "{stub}");
                let mut value: Value = serde_json::from_str(&stub).unwrap();
                assert_eq!(read_stub(&stub).as_deref(), Some("{x"), "{stub}");
                value.as_object_mut().unwrap().remove(UNPARSED_INPUT);
                assert!(!tool.schema().unwrap().accepts(&value), "{stub}");
            }
        }
        let open =
            Tool::new("t", &json!({"type": "object", "properties": {"o": {"type": "object"}}})).unwrap();
        assert_eq!(continue_as_stub(r#"{"o": {"a": "b"#, "{x", &open), None);
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
