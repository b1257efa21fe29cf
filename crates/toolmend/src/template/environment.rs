//! Renders chat templates as transformers does.
//!
//! Templates are written for Jinja2 in the environment of transformers. What that environment adds or changes is here:
//! trimmed blocks, loop controls, `tojson` as `json.dumps`, Python's methods, `raise_exception`, a clock.

use std::fmt::Write;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde_json::json;

use super::json_dumps::{Layout, dumps};
use super::python_methods::call_method;

/// How many instructions one rendering may take. Real templates need a few thousand for a probe.
const FUEL: u64 = 1_000_000;

/// What the clock of templates shows. The library has no clock, and what a probe proves must not depend on the day.
const CLOCK: &[(&str, &str)] = &[
    ("%Y", "2026"),
    ("%m", "07"),
    ("%d", "26"),
    ("%B", "July"),
    ("%b", "Jul"),
    ("%A", "Sunday"),
    ("%a", "Sun"),
    ("%H", "12"),
    ("%I", "12"),
    ("%M", "00"),
    ("%S", "00"),
    ("%p", "PM"),
    ("%y", "26"),
];

/// A chat template that can be rendered.
#[derive(Debug)]
pub(super) struct Renderer {
    environment: Environment<'static>,
    /// Variables that every rendering gets: the special tokens of the tokenizer.
    tokens: Vec<(String, String)>,
}

impl Renderer {
    /// Compiles a template.
    ///
    /// # Errors
    /// If the template is not valid Jinja, or uses something that only Python can do. The message names the line.
    pub(super) fn new(source: &str, tokens: &[(String, String)]) -> Result<Self, String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| describe(&error))?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(call_method);
        environment.add_filter("tojson", tojson);
        environment.add_filter("from_json", from_json);
        environment.add_filter("fromjson", from_json);
        environment.add_function("from_json", from_json);
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        environment
            .add_template_owned("chat_template", translate_tags(source))
            .map_err(|error| describe(&error))?;
        Ok(Renderer { environment, tokens: tokens.to_vec() })
    }

    /// Renders a conversation.
    ///
    /// # Errors
    /// If the template raises an exception, or does something that the environment does not have.
    pub(super) fn render(&self, conversation: &serde_json::Value) -> Result<String, String> {
        let mut variables = json!({"bos_token": "", "eos_token": "", "unk_token": "", "pad_token": ""});
        for (name, token) in &self.tokens {
            variables[name] = json!(token);
        }
        if let (Some(variables), Some(given)) = (variables.as_object_mut(), conversation.as_object()) {
            variables.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let template = self.environment.get_template("chat_template").map_err(|error| describe(&error))?;
        template.render(Value::from(Serde(&variables))).map_err(|error| describe(&error))
    }
}

/// The error and what caused it, in one line.
fn describe(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    message
}

/// Rewrites the tags that only the environment of transformers has.
///
/// `generation` and `endgeneration` mark the text to train on and write nothing. `set x = a.b.append(c)` changes a list
/// in place, which values here cannot.
fn translate_tags(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find("{%") {
        let Some(length) = rest[open..].find("%}").map(|end| end + 2) else { break };
        let tag = &rest[open..open + length];
        let body = tag[2..length - 2].trim_matches(|ch: char| ch == '-' || ch == '+' || ch.is_whitespace());
        let left = if tag.starts_with("{%-") { "{%-" } else { "{%" };
        let right = if tag.ends_with("-%}") { "-%}" } else { "%}" };
        out.push_str(&rest[..open]);
        if matches!(body, "generation" | "endgeneration") {
            // An empty block takes the same white space with it as the tag did.
            let _ = write!(out, "{left} if true %}}{{% endif {right}");
        } else if let Some((list, item)) = appended(body) {
            let _ = write!(out, "{left} set {list} = {list} + [{item}] {right}");
        } else {
            out.push_str(tag);
        }
        rest = &rest[open + length..];
    }
    out.push_str(rest);
    out
}

/// The attribute and the item of `set x = namespace.attribute.append(item)`.
fn appended(body: &str) -> Option<(&str, &str)> {
    let (_, value) = body.strip_prefix("set ")?.split_once('=')?;
    let (list, item) = value.trim().strip_suffix(')')?.split_once(".append(")?;
    let is_name = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '.');
    (list.contains('.') && list.chars().all(is_name)).then_some((list, item))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of a filter")]
fn tojson(value: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let separators: Option<Vec<String>> = kwargs.get("separators")?;
    let layout = Layout {
        ensure_ascii: kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        indent: kwargs.get("indent")?,
        sort_keys: kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        separators: separators.and_then(|pair| <[String; 2]>::try_from(pair).ok()),
    };
    kwargs.assert_all_used()?;
    Ok(Value::from_safe_string(dumps(value, &layout)?))
}

fn from_json(text: &str) -> Result<Value, Error> {
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("from_json: {error}")))?;
    Ok(Value::from(Serde(&value)))
}

fn raise_exception(message: &str) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, format!("the template raises: {message}")))
}

fn strftime_now(format: &str) -> String {
    CLOCK.iter().fold(format.to_owned(), |text, (code, value)| text.replace(code, value))
}
