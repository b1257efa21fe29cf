//! Tools in the shapes that people have them in, read into one.
//!
//! Chat completions, Responses, Anthropic, MCP, Gemini, Bedrock and Ollama differ in the names of two keys and in
//! what they wrap around the list. The tables below are all that is known about them.

use serde_json::{Map, Value};

use super::ToolsError;
use crate::json::pointer;

/// Keys that hold the list in a response or a request body.
const LISTS: &[&str] = &["tools", "functions", "functionDeclarations", "function_declarations", "result"];
/// Keys that wrap one definition.
const WRAPPERS: &[&str] = &["function", "toolSpec"];
/// Keys that hold the schema of the arguments.
const SCHEMAS: &[&str] = &["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "schema"];
const JSON_TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
/// Lists in lists in lists are no tools any more.
const MAX_NESTING: usize = 8;

/// One tool as it was declared.
#[derive(Debug, Clone)]
pub(crate) struct Declared<'v> {
    /// Empty where only a schema was given.
    pub(crate) name: String,
    pub(crate) schema: Option<&'v Value>,
    /// JSON pointer of the schema in the document.
    pub(crate) schema_place: String,
    /// The object that holds the name, the description and the annotations.
    pub(crate) about: Option<&'v Value>,
    /// JSON pointer of the object that holds the description.
    pub(crate) about_place: String,
}

impl<'v> Declared<'v> {
    /// A schema and the name that somebody else knows.
    pub(crate) fn bare(name: &str, schema: &'v Value) -> Self {
        Declared {
            name: name.to_owned(),
            schema: Some(schema),
            schema_place: String::new(),
            about: None,
            about_place: String::new(),
        }
    }
}

/// Every tool in the document, in order, and every place that is none.
pub(crate) fn declared(tools: &Value) -> (Vec<Declared<'_>>, Vec<ToolsError>) {
    let mut reader = Reader { tools: Vec::new(), errors: Vec::new() };
    reader.document(tools, String::new(), 0);
    (reader.tools, reader.errors)
}

struct Reader<'v> {
    tools: Vec<Declared<'v>>,
    errors: Vec<ToolsError>,
}

impl<'v> Reader<'v> {
    fn document(&mut self, value: &'v Value, place: String, nesting: usize) {
        match value {
            _ if nesting > MAX_NESTING => self.fail("", &place, "lists of tools are nested too deep"),
            Value::Array(list) => {
                for (index, entry) in list.iter().enumerate() {
                    self.entry(entry, below(&place, &index.to_string()), nesting);
                }
            }
            Value::Object(map) if is_definition(map) => self.entry(value, place, nesting),
            Value::Object(map) if is_schema(map) => {
                self.tools.push(Declared {
                    schema_place: place.clone(),
                    about_place: place,
                    ..Declared::bare("", value)
                });
            }
            Value::Object(map) => match wrapped(map, LISTS) {
                // A schema under such a key means a tool of that name.
                Some((key, inner)) if !inner.as_object().is_some_and(is_schema) => {
                    self.document(inner, below(&place, key), nesting + 1);
                }
                _ => self.map(map, &place),
            },
            Value::Bool(_) => self.tools.push(Declared::bare("", value)),
            other => {
                let message = format!("expected a list of tools or a JSON Schema, found {}", kind_of(other));
                self.fail("", &place, message);
            }
        }
    }

    /// An element of a list.
    fn entry(&mut self, entry: &'v Value, place: String, nesting: usize) {
        let map = match entry {
            Value::Object(map) => map,
            Value::String(name) if !name.is_empty() => {
                return self.tools.push(Declared {
                    name: name.clone(),
                    schema: None,
                    schema_place: String::new(),
                    about: None,
                    about_place: place,
                });
            }
            other => {
                let message = format!("expected a tool, an object, found {}", kind_of(other));
                return self.fail("", &place, message);
            }
        };
        if let Some((key, about @ Value::Object(inner))) = wrapped(map, WRAPPERS) {
            let place = below(&place, key);
            match name_in(inner) {
                Some(name) => self.definition(name, inner, about, place),
                None => self.fail("", &place, "a tool without a name"),
            }
        } else if let Some(name) = name_in(map) {
            self.definition(name, map, entry, place);
        } else if let Some((key, inner)) = wrapped(map, LISTS) {
            self.document(inner, below(&place, key), nesting + 1);
        } else if !runs_elsewhere(map) {
            self.fail("", &place, "a tool without a name");
        }
    }

    /// Names as keys; the values are schemas, or definitions that leave the name to the key.
    fn map(&mut self, map: &'v Map<String, Value>, place: &str) {
        for (name, value) in map {
            let place = below(place, name);
            match value {
                Value::Object(inner) if wrapped(inner, SCHEMAS).is_some() && !is_schema(inner) => {
                    self.definition(name, inner, value, place);
                }
                Value::Object(_) => self.tools.push(Declared {
                    schema_place: place.clone(),
                    about_place: place,
                    about: Some(value),
                    ..Declared::bare(name, value)
                }),
                other => {
                    let message = format!("expected the schema of a tool, found {}", kind_of(other));
                    self.fail(name, &place, message);
                }
            }
        }
    }

    fn definition(&mut self, name: &str, map: &'v Map<String, Value>, about: &'v Value, place: String) {
        let (schema, schema_place) = match wrapped(map, SCHEMAS) {
            None => (None, String::new()),
            // Bedrock puts the schema one level deeper.
            Some((key, Value::Object(inner))) if inner.len() == 1 && inner.contains_key("json") => {
                (inner.get("json"), below(&below(&place, key), "json"))
            }
            Some((key, schema @ (Value::Object(_) | Value::Bool(_)))) => (Some(schema), below(&place, key)),
            Some((key, other)) => {
                let message = format!("expected a JSON Schema, found {}", kind_of(other));
                self.fail(name, &below(&place, key), message);
                (None, String::new())
            }
        };
        self.tools.push(Declared {
            name: name.to_owned(),
            schema,
            schema_place,
            about: Some(about),
            about_place: place,
        });
    }

    fn fail(&mut self, tool: &str, place: &str, message: impl Into<String>) {
        self.errors.push(ToolsError::new(tool, place, message));
    }
}

fn below(place: &str, token: &str) -> String {
    let mut place = place.to_owned();
    pointer::push(&mut place, token);
    place
}

fn name_in(map: &Map<String, Value>) -> Option<&str> {
    map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
}

/// The first of these keys that holds something.
fn wrapped<'v>(map: &'v Map<String, Value>, keys: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|&key| map.get(key).filter(|value| !value.is_null()).map(|value| (key, value)))
}

fn is_definition(map: &Map<String, Value>) -> bool {
    name_in(map).is_some()
        || (map.get("type").is_some_and(|name| name == "function"))
        || matches!(wrapped(map, WRAPPERS), Some((_, Value::Object(inner))) if name_in(inner).is_some())
}

/// Whether an object speaks JSON Schema. A map of tools could have a tool called `type`, but its value would be an
/// object where the keyword has a string.
fn is_schema(map: &Map<String, Value>) -> bool {
    map.is_empty()
        || map.iter().any(|(key, value)| match key.as_str() {
            "type" => value.is_string() || value.is_array(),
            "properties" | "patternProperties" | "$defs" | "definitions" => value.is_object(),
            "required" | "enum" | "anyOf" | "oneOf" | "allOf" => value.is_array(),
            "additionalProperties" => value.is_boolean(),
            "$schema" | "$ref" | "$id" => value.is_string(),
            _ => false,
        })
}

/// Tools that the model's server runs itself, such as `{"type": "web_search"}`, are never called by name.
fn runs_elsewhere(map: &Map<String, Value>) -> bool {
    map.get("type")
        .and_then(Value::as_str)
        .is_some_and(|name| name != "function" && !JSON_TYPES.contains(&name))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Name, place of the schema, place of the description.
    fn check(tools: &Value, expected: &[(&str, &str, &str)]) {
        let (found, errors) = declared(tools);
        assert!(errors.is_empty(), "{tools}: {errors:?}");
        let found: Vec<_> = found
            .iter()
            .map(|tool| (tool.name.as_str(), tool.schema_place.as_str(), tool.about_place.as_str()))
            .collect();
        assert_eq!(found, expected, "{tools}");
        for (_, place, _) in found {
            assert!(tools.pointer(place).is_some(), "{place} in {tools}");
        }
    }

    #[test]
    fn every_shape_is_read() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let chat =
            json!({"type": "function", "function": {"name": "f", "parameters": schema, "strict": true}});
        let responses = json!({"type": "function", "name": "g", "parameters": schema});
        let anthropic = json!({"name": "h", "input_schema": schema});
        let mcp = json!({"name": "i", "inputSchema": schema, "annotations": {"readOnlyHint": true}});
        check(
            &json!([chat, responses, anthropic, mcp]),
            &[
                ("f", "/0/function/parameters", "/0/function"),
                ("g", "/1/parameters", "/1"),
                ("h", "/2/input_schema", "/2"),
                ("i", "/3/inputSchema", "/3"),
            ],
        );
        check(&json!({"tools": [mcp]}), &[("i", "/tools/0/inputSchema", "/tools/0")]);
        check(
            &json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [mcp]}}),
            &[("i", "/result/tools/0/inputSchema", "/result/tools/0")],
        );
        check(
            &json!([{"functionDeclarations": [{"name": "k", "parameters": schema}]}]),
            &[("k", "/0/functionDeclarations/0/parameters", "/0/functionDeclarations/0")],
        );
        check(
            &json!([{"toolSpec": {"name": "l", "inputSchema": {"json": schema}}}]),
            &[("l", "/0/toolSpec/inputSchema/json", "/0/toolSpec")],
        );
        check(&chat, &[("f", "/function/parameters", "/function")]);
        check(&schema, &[("", "", "")]);
        check(&json!({}), &[("", "", "")]);
        check(&json!({"a/b": schema, "n": {}}), &[("a/b", "/a~1b", "/a~1b"), ("n", "/n", "/n")]);
        check(&json!({"m": {"description": "d", "parameters": schema}}), &[("m", "/m/parameters", "/m")]);
        check(&json!(["x", {"type": "web_search"}]), &[("x", "", "/0")]);
        check(&json!([{"name": "y", "parameters": null}]), &[("y", "", "/0")]);
        check(&json!({"result": schema}), &[("result", "/result", "/result")]);
        check(&json!([]), &[]);
    }

    #[test]
    fn what_is_no_tool_is_named() {
        for (tools, path, message) in [
            (json!(5), "", "found a number"),
            (json!([3]), "/0", "found a number"),
            (json!([{"type": "function"}]), "/0", "without a name"),
            (json!([{"type": "object"}]), "/0", "without a name"),
            (json!({"tools": [{"type": "function", "function": {}}]}), "/tools/0/function", "without a name"),
            (json!([{"name": "f", "parameters": "{}"}]), "/0/parameters", "found a string"),
            (json!({"f": 3}), "/f", "found a number"),
        ] {
            let (_, errors) = declared(&tools);
            assert_eq!(errors.len(), 1, "{tools}");
            assert_eq!(errors[0].path, path, "{tools}");
            assert!(errors[0].message.contains(message), "{}", errors[0]);
        }
    }
}
