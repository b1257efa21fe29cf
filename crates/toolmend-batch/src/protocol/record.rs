//! Parses one line of the batch protocol. Values are kept as the text that they are in the line.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolmend::{Calls, ToolChoice, TurnOptions};

/// A line that is not a record: its id, if it has one, and what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadRecord<'l> {
    pub(crate) id: Option<&'l str>,
    pub(crate) message: String,
}

/// A record. Its values are the text that is in the line.
#[derive(Debug)]
pub(crate) struct Record<'l> {
    /// JSON text of the id.
    pub(crate) id: Option<&'l str>,
    pub(crate) task: Task<'l>,
    /// JSON text of the tools.
    pub(crate) tools: Option<&'l str>,
    /// JSON text of the schema.
    pub(crate) schema: Option<&'l str>,
    pub(crate) finish_reason: Option<Cow<'l, str>>,
    pub(crate) dialect: Option<Cow<'l, str>>,
    pub(crate) model: Option<Cow<'l, str>>,
    pub(crate) reasoning_open: Option<bool>,
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) response_format: Option<Value>,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) calls: Option<Calls>,
}

/// What a record asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task<'l> {
    /// Mend JSON text.
    Json(Cow<'l, str>),
    /// Mend the arguments of a call.
    Arguments { tool: Option<Cow<'l, str>>, text: Cow<'l, str>, from_value: bool },
    /// Find the calls in the output of a model, which arrived in these pieces.
    Text(Vec<String>),
}

/// The fields of a record. Unknown fields are ignored, so that records of later versions can be answered.
#[derive(Deserialize)]
struct Fields<'l> {
    #[serde(borrow, default, deserialize_with = "keep_null")]
    id: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    json: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    arguments: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    text: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    chunks: Option<&'l RawValue>,
    #[serde(borrow, default)]
    tool: Option<&'l RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'l RawValue>,
    #[serde(borrow, default)]
    schema: Option<&'l RawValue>,
    #[serde(borrow, default)]
    finish_reason: Option<&'l RawValue>,
    #[serde(borrow, default)]
    dialect: Option<&'l RawValue>,
    #[serde(borrow, default)]
    model: Option<&'l RawValue>,
    #[serde(default)]
    reasoning_open: Option<bool>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    response_format: Option<Value>,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    calls: Option<Calls>,
}

/// Keeps a field that is `null`: `"arguments": null` is a call without arguments.
fn keep_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

impl<'l> Record<'l> {
    pub(crate) fn parse(line: &'l [u8]) -> Result<Self, BadRecord<'l>> {
        let without_id = |message| BadRecord { id: None, message };
        let line = std::str::from_utf8(line)
            .map_err(|error| without_id(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
        if !line.trim_start().starts_with('{') {
            return Err(without_id(format!("expected a JSON object, found {}", describe_kind(line))));
        }
        let fields: Fields<'l> = serde_json::from_str(line)
            .map_err(|error| without_id(format!("expected a JSON object: {error}")))?;
        let id = fields.id.map(RawValue::get);
        Record::from_fields(&fields).map_err(|message| BadRecord { id, message })
    }

    fn from_fields(fields: &Fields<'l>) -> Result<Self, String> {
        Ok(Record {
            id: fields.id.map(RawValue::get),
            task: fields.parse_task()?,
            tools: fields.tools.map(RawValue::get),
            schema: fields.schema.map(RawValue::get),
            finish_reason: parse_optional_string("finish_reason", fields.finish_reason)?,
            dialect: parse_optional_string("dialect", fields.dialect)?,
            model: parse_optional_string("model", fields.model)?,
            reasoning_open: fields.reasoning_open,
            tool_choice: fields.parse_tool_choice()?,
            response_format: fields.response_format.clone(),
            parallel_tool_calls: fields.parallel_tool_calls,
            calls: fields.calls,
        })
    }
}

impl Record<'_> {
    /// What the record says about an output apart from its text.
    pub(crate) fn turn_options(&self) -> TurnOptions {
        let mut options = TurnOptions::new();
        if let Some(dialect) = &self.dialect {
            options = options.dialect(dialect.as_ref());
        }
        if let Some(model) = &self.model {
            options = options.model(model.as_ref());
        }
        if let Some(open) = self.reasoning_open {
            options = options.reasoning_open(open);
        }
        if let Some(choice) = &self.tool_choice {
            options = options.tool_choice(choice.clone());
        }
        if let Some(format) = &self.response_format {
            options = options.response_format(format);
        }
        if let Some(allowed) = self.parallel_tool_calls {
            options = options.parallel_tool_calls(allowed);
        }
        match self.calls {
            Some(lowest) => options.calls(lowest),
            None => options,
        }
    }
}

impl<'l> Fields<'l> {
    fn parse_tool_choice(&self) -> Result<Option<ToolChoice>, String> {
        let Some(value) = &self.tool_choice else { return Ok(None) };
        let choice = ToolChoice::from_value(value).ok_or_else(|| {
            format!(
                "`tool_choice` must be \"none\", \"auto\", \"required\" or name a function, found {value}"
            )
        })?;
        Ok(Some(choice))
    }

    fn parse_task(&self) -> Result<Task<'l>, String> {
        match (self.json, self.arguments, self.text, self.chunks) {
            (Some(json), None, None, None) => Ok(Task::Json(parse_string("json", json)?)),
            (None, Some(arguments), None, None) => {
                let from_value = !arguments.get().starts_with('"');
                Ok(Task::Arguments {
                    tool: parse_optional_string("tool", self.tool)?,
                    text: if from_value {
                        Cow::Borrowed(arguments.get())
                    } else {
                        parse_string("arguments", arguments)?
                    },
                    from_value,
                })
            }
            (None, None, Some(text), None) => Ok(Task::Text(vec![parse_string("text", text)?.into_owned()])),
            (None, None, None, Some(chunks)) => {
                let pieces: Vec<String> = serde_json::from_str(chunks.get())
                    .map_err(|error| format!("`chunks` must be an array of strings: {error}"))?;
                Ok(Task::Text(pieces))
            }
            (None, None, None, None) => {
                Err("expected one of `json`, `arguments`, `text` or `chunks`, found none".to_owned())
            }
            _ => Err("expected one of `json`, `arguments`, `text` or `chunks`, found several".to_owned()),
        }
    }
}

fn parse_optional_string<'l>(name: &str, raw: Option<&'l RawValue>) -> Result<Option<Cow<'l, str>>, String> {
    raw.map(|raw| parse_string(name, raw)).transpose()
}

fn parse_string<'l>(name: &str, raw: &'l RawValue) -> Result<Cow<'l, str>, String> {
    let text = raw.get();
    if !text.starts_with('"') {
        return Err(format!("`{name}` must be a string, found {}", describe_kind(text)));
    }
    match text.get(1..text.len() - 1) {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Ok(Cow::Borrowed(plain)),
        _ => serde_json::from_str::<String>(text)
            .map(Cow::Owned)
            .map_err(|error| format!("`{name}` cannot be read: {error}")),
    }
}

/// Names the kind of a JSON text by its start, for messages.
fn describe_kind(text: &str) -> &'static str {
    let text = text.trim_ascii();
    match text.bytes().next() {
        None => "an empty line",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'-' | b'0'..=b'9') => "a number",
        _ if matches!(text, "true" | "false") => "a boolean",
        _ if text == "null" => "null",
        _ => "no JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_parses(line: &str, expected: &Task<'_>) {
        assert_eq!(&Record::parse(line.as_bytes()).unwrap().task, expected);
    }

    #[track_caller]
    fn assert_refuses(line: &str, id: Option<&str>, expected: &str) {
        let bad = Record::parse(line.as_bytes()).unwrap_err();
        assert_eq!(bad.id, id);
        assert!(bad.message.contains(expected), "{}", bad.message);
    }

    fn arguments(text: &str, from_value: bool) -> Task<'_> {
        Task::Arguments { tool: Some("t".into()), text: text.into(), from_value }
    }

    #[test]
    fn values_are_kept_as_text() {
        assert_parses(r#"{"json":"{\"a\":1"}"#, &Task::Json(r#"{"a":1"#.into()));
        assert_parses(r#"{"tool":"t","arguments":"{a:1}"}"#, &arguments("{a:1}", false));
        assert_parses(r#"{"tool":"t","arguments":{"a": 1.10}}"#, &arguments(r#"{"a": 1.10}"#, true));
        assert_parses(r#"{"tool":"t","arguments":null}"#, &arguments("null", true));
        assert_parses(r#"{"chunks":["a","b"]}"#, &Task::Text(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn lines_that_are_not_records_say_why() {
        assert_refuses("[1]", None, "found an array");
        assert_refuses("", None, "found an empty line");
        assert_refuses("nope", None, "found no JSON");
        assert_refuses(r#"{"id":"1","json":"x""#, None, "EOF");
        assert_refuses(r#"{"id":"1"}"#, Some(r#""1""#), "found none");
        assert_refuses(r#"{"id":7,"json":"","text":""}"#, Some("7"), "found several");
        assert_refuses(r#"{"id":"1","json":5}"#, Some(r#""1""#), "found a number");
        assert_refuses(r#"{"id":"1","json":"\ud800"}"#, Some(r#""1""#), "`json` cannot be read");
        assert_refuses(r#"{"id":"1","chunks":[1]}"#, Some(r#""1""#), "array of strings");
        assert_refuses(r#"{"id":"1","json":"","finish_reason":[]}"#, Some(r#""1""#), "`finish_reason`");
    }
}
