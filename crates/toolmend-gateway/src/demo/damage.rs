//! What the demo model says: a call of a declared tool, broken the way models break them.

use serde_json::{Map, Value, json};

/// What the demo model says in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing but words.
    Words(String),
    /// A call that the server recognised, with its arguments as text.
    Call(String, String),
}

/// A way to break the arguments of a call, or its name, or both. Text without a call is a call in text.
type Damage = fn(&str, &Value) -> Turn;

const DAMAGES: [Damage; 7] = [
    // A trailing comma.
    |name, arguments| Turn::Call(name.to_owned(), arguments.to_string().replacen('}', ", }", 1)),
    // Python in place of JSON.
    |name, arguments| {
        Turn::Call(name.to_owned(), arguments.to_string().replace('"', "'").replace("true", "True"))
    },
    // A call that the server did not recognise.
    |name, arguments| {
        let call = json!({"name": name, "arguments": arguments});
        Turn::Words(format!("Let me look that up.\n<tool_call>\n{call}\n</tool_call>"))
    },
    // Keys without quotes, and the last bracket forgotten.
    |name, arguments| {
        let text = bare_keys(arguments);
        Turn::Call(name.to_owned(), text.trim_end_matches('}').to_owned())
    },
    // Another spelling of the name, and words around the arguments.
    |name, arguments| {
        Turn::Call(name.to_ascii_uppercase(), format!("Sure! Here you go:\n```json\n{arguments}\n```"))
    },
    // Packed twice.
    |name, arguments| Turn::Call(name.to_owned(), Value::from(arguments.to_string()).to_string()),
    // Nothing wrong: this passes as it is.
    |name, arguments| Turn::Call(name.to_owned(), arguments.to_string()),
];

impl Turn {
    /// What is written where there is nothing but text: a call as the model itself writes it.
    pub(super) fn into_text(self) -> String {
        match self {
            Turn::Words(text) => text,
            Turn::Call(name, arguments) => {
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
            }
        }
    }

    /// The answer to a request, the how-manieth it may be.
    pub(crate) fn answer(asked: &Value, number: usize) -> Turn {
        let said = asked.get("messages").or_else(|| asked.get("input")).and_then(Value::as_array);
        if let Some(last) = said.and_then(|said| said.last()).filter(|last| is_result(last)) {
            let heard = words_of(last);
            return Turn::Words(format!("The tool says: {heard}"));
        }
        let Some((name, schema)) =
            asked["tools"].as_array().and_then(|tools| tools.iter().find_map(declared))
        else {
            return Turn::Words(
                "Hello from toolmend's demo server. Send a request with tools, and I will call one of them."
                    .to_owned(),
            );
        };
        DAMAGES[number % DAMAGES.len()](&name, &sample(&schema))
    }
}

fn is_result(message: &Value) -> bool {
    let block = message["content"].as_array().and_then(|blocks| blocks.first()).map(|block| &block["type"]);
    message["role"] == "tool"
        || message["type"] == "function_call_output"
        || block == Some(&json!("tool_result"))
}

fn words_of(message: &Value) -> String {
    let content = message.get("output").unwrap_or(&message["content"]);
    let first = content
        .get(0)
        .and_then(|block| block.get("content").or_else(|| block.get("text")))
        .unwrap_or(content);
    first.as_str().map_or_else(|| first.to_string(), str::to_owned)
}

/// The name and the schema of a tool in any of the shapes of the surfaces.
fn declared(tool: &Value) -> Option<(String, Value)> {
    let tool = tool.get("function").unwrap_or(tool);
    let schema = tool.get("parameters").or_else(|| tool.get("input_schema")).cloned().unwrap_or_default();
    Some((tool["name"].as_str()?.to_owned(), schema))
}

/// Arguments that fit a schema.
fn sample(schema: &Value) -> Value {
    let mut out = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = property["enum"].get(0).cloned().unwrap_or_else(|| match property["type"].as_str() {
            Some("integer" | "number") => json!(3),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => sample(property),
            _ if name == "city" || name == "location" => json!("Oslo"),
            _ => json!(format!("some {name}")),
        });
        out.insert(name.clone(), value);
    }
    Value::Object(out)
}

/// The object with keys that have no quotes.
fn bare_keys(arguments: &Value) -> String {
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
            let value = match Turn::answer(
                &json!({"tools": tools, "messages": [{"role": "user", "content": "hi"}]}),
                number,
            ) {
                Turn::Words(text) => {
                    mender.turn(&text, &TurnOptions::new(), Finish::Stop).calls[0].verdict.value()
                }
                Turn::Call(name, arguments) => mender.mend(&name, &arguments).value(),
            };
            assert_eq!(value, Some(json!({"city": "Oslo", "days": 3, "hourly": true})), "damage {number}");
        }
    }

    #[test]
    fn every_damage_is_mended_in_text() {
        let tools = json!([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}]);
        let mender = Mender::new(&tools).unwrap();
        for number in 0..DAMAGES.len() {
            let text = Turn::answer(&json!({"tools": tools, "prompt": "hi"}), number).into_text();
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
            let said = Turn::answer(&json!({"tools": [{"name": "a"}], "messages": [last]}), 0);
            assert_eq!(said, Turn::Words("The tool says: 12 degrees".to_owned()));
        }
    }
}
