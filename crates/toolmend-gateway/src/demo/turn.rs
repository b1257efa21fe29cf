//! What the demo model answers: a call of a declared tool, broken the way models break them.

use serde_json::{Map, Value, json};

/// One turn of the demo model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DemoTurn {
    /// Text; it may hold a call that the server did not recognise.
    Text(String),
    /// A call that the server recognised, with its arguments as text.
    Call(String, String),
}

/// Breaks the arguments of a call, its name, or both.
type Damage = fn(&str, &Value) -> DemoTurn;

const DAMAGES: [Damage; 7] = [
    // A trailing comma.
    |name, arguments| DemoTurn::Call(name.to_owned(), arguments.to_string().replacen('}', ", }", 1)),
    // Python instead of JSON.
    |name, arguments| {
        DemoTurn::Call(name.to_owned(), arguments.to_string().replace('"', "'").replace("true", "True"))
    },
    // A call that the server did not recognise.
    |name, arguments| {
        let call = json!({"name": name, "arguments": arguments});
        DemoTurn::Text(format!("Let me look that up.\n<tool_call>\n{call}\n</tool_call>"))
    },
    // Keys without quotes, and one closing bracket too many.
    |name, arguments| DemoTurn::Call(name.to_owned(), write_with_bare_keys(arguments) + "}"),
    // Another spelling of the name, and prose around the arguments.
    |name, arguments| {
        DemoTurn::Call(name.to_ascii_uppercase(), format!("Sure! Here you go:\n```json\n{arguments}\n```"))
    },
    // Encoded twice.
    |name, arguments| DemoTurn::Call(name.to_owned(), Value::from(arguments.to_string()).to_string()),
    // Nothing is wrong.
    |name, arguments| DemoTurn::Call(name.to_owned(), arguments.to_string()),
];

impl DemoTurn {
    /// Converts the turn to text, with a call in the dialect of the model.
    pub(super) fn into_text(self) -> String {
        match self {
            DemoTurn::Text(text) => text,
            DemoTurn::Call(name, arguments) => {
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
            }
        }
    }

    /// Returns the turn that answers a request. `number` chooses how a call is broken.
    pub(super) fn for_request(request: &Value, number: usize) -> DemoTurn {
        let messages = request.get("messages").or_else(|| request.get("input")).and_then(Value::as_array);
        if let Some(last) = messages.and_then(|messages| messages.last()).filter(|last| is_result(last)) {
            let text = result_text(last);
            return DemoTurn::Text(format!("The tool says: {text}"));
        }
        let declared = request["tools"].as_array().and_then(|tools| tools.iter().find_map(read_tool));
        let Some((name, schema)) =
            declared.or_else(|| request["prompt"].as_str().and_then(find_tool_in_prompt))
        else {
            return DemoTurn::Text(
                "Hello from toolmend's demo server. Send a request with tools, and I will call one of them."
                    .to_owned(),
            );
        };
        DAMAGES[number % DAMAGES.len()](&name, &sample_arguments(&schema))
    }
}

fn is_result(message: &Value) -> bool {
    let block = message["content"].as_array().and_then(|blocks| blocks.first()).map(|block| &block["type"]);
    message["role"] == "tool"
        || message["type"] == "function_call_output"
        || block == Some(&json!("tool_result"))
}

fn result_text(message: &Value) -> String {
    let content = message.get("output").unwrap_or(&message["content"]);
    let first = content
        .get(0)
        .and_then(|block| block.get("content").or_else(|| block.get("text")))
        .unwrap_or(content);
    first.as_str().map_or_else(|| first.to_string(), str::to_owned)
}

/// Returns the name and the schema of a tool in the form of any protocol.
fn read_tool(tool: &Value) -> Option<(String, Value)> {
    let tool = tool.get("function").unwrap_or(tool);
    let schema = tool.get("parameters").or_else(|| tool.get("input_schema")).cloned().unwrap_or_default();
    Some((tool["name"].as_str()?.to_owned(), schema))
}

/// Returns the first tool that a prompt describes.
fn find_tool_in_prompt(prompt: &str) -> Option<(String, Value)> {
    prompt.match_indices(['{', '[']).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&prompt[at..]).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let list = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        list.iter().find_map(|tool| read_tool(tool).filter(|(_, schema)| schema.is_object()))
    })
}

/// Returns arguments that fit a schema.
fn sample_arguments(schema: &Value) -> Value {
    let mut out = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = property["enum"].get(0).cloned().unwrap_or_else(|| match property["type"].as_str() {
            Some("integer" | "number") => json!(3),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => sample_arguments(property),
            _ if name == "city" || name == "location" => json!("Oslo"),
            _ => json!(format!("some {name}")),
        });
        out.insert(name.clone(), value);
    }
    Value::Object(out)
}

/// Writes an object with unquoted keys.
fn write_with_bare_keys(arguments: &Value) -> String {
    let members = arguments.as_object().into_iter().flatten();
    let members: Vec<String> = members.map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend::{Finish, Mender, TurnOptions};

    #[test]
    fn every_damage_is_mended() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "hourly": {"type": "boolean"}}, "required": ["city"]});
        let tools = json!([{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]);
        let mender = Mender::new(&tools).unwrap();
        for number in 0..DAMAGES.len() {
            let value = match DemoTurn::for_request(
                &json!({"tools": tools, "messages": [{"role": "user", "content": "hi"}]}),
                number,
            ) {
                DemoTurn::Text(text) => {
                    mender.turn(&text, &TurnOptions::new(), Finish::Stop).calls[0].verdict.value()
                }
                DemoTurn::Call(name, arguments) => mender.mend(&name, &arguments).value(),
            };
            assert_eq!(value, Some(json!({"city": "Oslo", "days": 3, "hourly": true})), "damage {number}");
        }
    }

    #[test]
    fn every_damage_is_mended_in_text() {
        let tools = json!([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}]);
        let mender = Mender::new(&tools).unwrap();
        for number in 0..DAMAGES.len() {
            let text = DemoTurn::for_request(
                &json!({"prompt": format!("Hi [you]. Tools: {tools}\nCall one.")}),
                number,
            )
            .into_text();
            let turn = mender.turn(&text, &TurnOptions::new(), Finish::Stop);
            let value = turn.calls.first().and_then(|call| call.verdict.value());
            assert_eq!(value, Some(json!({"city": "Oslo", "days": 3})), "damage {number}: {text}");
        }
    }

    #[test]
    fn a_result_ends_the_conversation() {
        for last in [
            json!({"role": "tool", "tool_call_id": "a", "content": "12 degrees"}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "12 degrees"}]}),
            json!({"type": "function_call_output", "call_id": "a", "output": "12 degrees"}),
        ] {
            let turn = DemoTurn::for_request(&json!({"tools": [{"name": "a"}], "messages": [last]}), 0);
            assert_eq!(turn, DemoTurn::Text("The tool says: 12 degrees".to_owned()));
        }
    }
}
