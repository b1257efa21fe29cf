//! Reads tool declarations in the formats of all common APIs.
//!
//! Chat completions, Responses, Anthropic, MCP, Gemini, Bedrock and Ollama differ in the names of two keys and in what
//! they wrap around the list. The tables below hold everything that is known about them. Schemas are only located here,
//! never compiled.

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
/// The most lists around a tool.
const MAX_NESTING: usize = 8;

/// The declaration of one tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolDeclaration<'v> {
    /// Empty if only a schema was given.
    pub(crate) name: String,
    pub(crate) schema: Option<&'v Value>,
    /// JSON pointer of the schema in the document.
    pub(crate) schema_path: String,
    /// The object with the name, the description and the annotations.
    pub(crate) definition: Option<&'v Value>,
    /// JSON pointer of the object with the description.
    pub(crate) definition_path: String,
}

impl<'v> ToolDeclaration<'v> {
    /// A schema with a name from elsewhere.
    pub(crate) fn from_schema(name: &str, schema: &'v Value) -> Self {
        ToolDeclaration {
            name: name.to_owned(),
            schema: Some(schema),
            schema_path: String::new(),
            definition: None,
            definition_path: String::new(),
        }
    }
}

/// Reads every tool in the document, in order. The errors name every position that should be a tool and is not.
pub(crate) fn read_declarations(tools: &Value) -> (Vec<ToolDeclaration<'_>>, Vec<ToolsError>) {
    let mut reader = DeclarationReader { tools: Vec::new(), errors: Vec::new() };
    reader.read_document(tools, String::new(), 0);
    (reader.tools, reader.errors)
}

struct DeclarationReader<'v> {
    tools: Vec<ToolDeclaration<'v>>,
    errors: Vec<ToolsError>,
}

impl<'v> DeclarationReader<'v> {
    fn read_document(&mut self, value: &'v Value, path: String, nesting: usize) {
        match value {
            _ if nesting > MAX_NESTING => self.report("", &path, "lists of tools are nested too deeply"),
            Value::Array(list) => {
                for (index, entry) in list.iter().enumerate() {
                    self.read_entry(entry, child_path(&path, &index.to_string()), nesting);
                }
            }
            Value::Object(map) if is_definition(map) => self.read_entry(value, path, nesting),
            Value::Object(map) if is_schema(map) => {
                self.tools.push(ToolDeclaration {
                    schema_path: path.clone(),
                    definition_path: path,
                    ..ToolDeclaration::from_schema("", value)
                });
            }
            Value::Object(map) => match first_present(map, LISTS) {
                // A schema under such a key means a tool of that name.
                Some((key, inner)) if !inner.as_object().is_some_and(is_schema) => {
                    self.read_document(inner, child_path(&path, key), nesting + 1);
                }
                _ => self.read_map(map, &path),
            },
            Value::Bool(_) => self.tools.push(ToolDeclaration::from_schema("", value)),
            other => {
                let message =
                    format!("expected a list of tools or a JSON Schema, found {}", describe_type(other));
                self.report("", &path, message);
            }
        }
    }

    /// Reads an element of a list.
    fn read_entry(&mut self, entry: &'v Value, path: String, nesting: usize) {
        let map = match entry {
            Value::Object(map) => map,
            Value::String(name) if !name.is_empty() => {
                return self.tools.push(ToolDeclaration {
                    name: name.clone(),
                    schema: None,
                    schema_path: String::new(),
                    definition: None,
                    definition_path: path,
                });
            }
            other => {
                let message = format!("expected the definition of a tool, found {}", describe_type(other));
                return self.report("", &path, message);
            }
        };
        if let Some((key, definition @ Value::Object(inner))) = first_present(map, WRAPPERS) {
            let path = child_path(&path, key);
            match name_in(inner) {
                Some(name) => self.read_definition(name, inner, definition, path),
                None => self.report("", &path, "expected a tool with a name, found one without a name"),
            }
        } else if let Some(name) = name_in(map) {
            self.read_definition(name, map, entry, path);
        } else if let Some((key, inner)) = first_present(map, LISTS) {
            self.read_document(inner, child_path(&path, key), nesting + 1);
        } else if !runs_on_server(map) {
            self.report("", &path, "expected a tool with a name, found one without a name");
        }
    }

    /// Reads a map from names to schemas, or to definitions without a name.
    fn read_map(&mut self, map: &'v Map<String, Value>, path: &str) {
        for (name, value) in map {
            let path = child_path(path, name);
            match value {
                Value::Object(inner) if first_present(inner, SCHEMAS).is_some() && !is_schema(inner) => {
                    self.read_definition(name, inner, value, path);
                }
                Value::Object(_) => self.tools.push(ToolDeclaration {
                    schema_path: path.clone(),
                    definition_path: path,
                    definition: Some(value),
                    ..ToolDeclaration::from_schema(name, value)
                }),
                other => {
                    let message = format!("expected the schema of a tool, found {}", describe_type(other));
                    self.report(name, &path, message);
                }
            }
        }
    }

    fn read_definition(
        &mut self,
        name: &str,
        map: &'v Map<String, Value>,
        definition: &'v Value,
        path: String,
    ) {
        let (schema, schema_path) = match first_present(map, SCHEMAS) {
            None => (None, String::new()),
            // Bedrock puts the schema one level deeper.
            Some((key, Value::Object(inner))) if inner.len() == 1 && inner.contains_key("json") => {
                (inner.get("json"), child_path(&child_path(&path, key), "json"))
            }
            Some((key, schema @ (Value::Object(_) | Value::Bool(_)))) => {
                (Some(schema), child_path(&path, key))
            }
            Some((key, other)) => {
                let message = format!("expected a JSON Schema, found {}", describe_type(other));
                self.report(name, &child_path(&path, key), message);
                (None, String::new())
            }
        };
        self.tools.push(ToolDeclaration {
            name: name.to_owned(),
            schema,
            schema_path,
            definition: Some(definition),
            definition_path: path,
        });
    }

    fn report(&mut self, tool: &str, path: &str, message: impl Into<String>) {
        self.errors.push(ToolsError::new(tool, path, message));
    }
}

fn child_path(path: &str, token: &str) -> String {
    let mut path = path.to_owned();
    pointer::push(&mut path, token);
    path
}

fn name_in(map: &Map<String, Value>) -> Option<&str> {
    map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
}

/// Returns the first of these keys that has a value.
fn first_present<'v>(
    map: &'v Map<String, Value>,
    keys: &[&'static str],
) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|&key| map.get(key).filter(|value| !value.is_null()).map(|value| (key, value)))
}

fn is_definition(map: &Map<String, Value>) -> bool {
    name_in(map).is_some()
        || (map.get("type").is_some_and(|name| name == "function"))
        || matches!(first_present(map, WRAPPERS), Some((_, Value::Object(inner))) if name_in(inner).is_some())
}

/// Returns whether an object is a JSON Schema. A map of tools could contain a tool called `type`, but its value would be an
/// object, and the value of the keyword is a string.
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

/// Returns whether the model's server runs the tool itself, as for `{"type": "web_search"}`. Such tools are never called
/// by name.
fn runs_on_server(map: &Map<String, Value>) -> bool {
    map.get("type")
        .and_then(Value::as_str)
        .is_some_and(|name| name != "function" && !JSON_TYPES.contains(&name))
}

fn describe_type(value: &Value) -> &'static str {
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

    /// Expects tools with this name, path of the schema and path of the description.
    fn check(tools: &Value, expected: &[(&str, &str, &str)]) {
        let (found, errors) = read_declarations(tools);
        assert!(errors.is_empty(), "{tools}: {errors:?}");
        let found: Vec<_> = found
            .iter()
            .map(|tool| (tool.name.as_str(), tool.schema_path.as_str(), tool.definition_path.as_str()))
            .collect();
        assert_eq!(found, expected, "{tools}");
        for (_, path, _) in found {
            assert!(tools.pointer(path).is_some(), "{path} in {tools}");
        }
    }

    #[test]
    fn every_format_is_read() {
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
    fn errors_name_the_position_that_is_not_a_tool() {
        for (tools, path, message) in [
            (json!(5), "", "found a number"),
            (json!([3]), "/0", "found a number"),
            (json!([{"type": "function"}]), "/0", "without a name"),
            (json!([{"type": "object"}]), "/0", "without a name"),
            (json!({"tools": [{"type": "function", "function": {}}]}), "/tools/0/function", "without a name"),
            (json!([{"name": "f", "parameters": "{}"}]), "/0/parameters", "found a string"),
            (json!({"f": 3}), "/f", "found a number"),
        ] {
            let (_, errors) = read_declarations(&tools);
            assert_eq!(errors.len(), 1, "{tools}");
            assert_eq!(errors[0].path, path, "{tools}");
            assert!(errors[0].message.contains(message), "{}", errors[0]);
        }
    }
}
