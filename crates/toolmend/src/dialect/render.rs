//! Writes calls in the notation of a dialect.
//!
//! Rendering fills the templates of a row. It never repairs arguments; it refuses what the notation cannot express.

use super::custom;
use super::table::{Dialect, Form, Values};
use crate::json::strict;
use crate::json::text;
use crate::json::tree::{Kind, Tree};

/// A call to render with [`Dialect::render`].
///
/// ```
/// let call = toolmend::CallToRender { name: "get_time", arguments: "{}", id: "call_1" };
/// let hermes = toolmend::dialects().iter().find(|row| row.name() == "hermes_json").unwrap();
/// assert!(hermes.render(&[call]).unwrap().contains(r#""name": "get_time""#));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallToRender<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The arguments as the JSON text of an object.
    pub arguments: &'a str,
    /// The id of the call, for the dialects that write one.
    pub id: &'a str,
}

/// The calls of [`Dialect::example`].
const EXAMPLE: &[CallToRender<'_>] = &[
    CallToRender { name: "get_weather", arguments: r#"{"city": "Oslo", "days": 3}"#, id: "call00000" },
    CallToRender { name: "get_time", arguments: "{}", id: "call00001" },
];

impl Dialect {
    /// Writes calls in this dialect.
    ///
    /// Returns `None` if there are no calls, if the dialect has no way to write them, or if the arguments of a call are
    /// not a JSON object.
    ///
    /// ```
    /// let dialect = toolmend::dialects().iter().find(|row| row.name() == "qwen3_xml").unwrap();
    /// let call = toolmend::CallToRender { name: "add", arguments: r#"{"a": 1}"#, id: "" };
    /// assert_eq!(
    ///     dialect.render(&[call]).unwrap(),
    ///     "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    /// );
    /// ```
    pub fn render(&self, calls: &[CallToRender<'_>]) -> Option<String> {
        if self.call.is_empty() || calls.is_empty() {
            return None;
        }
        let mut out = String::from(self.section.0);
        for (index, call) in calls.iter().enumerate() {
            if index > 0 {
                out.push_str(self.join);
            }
            self.render_call(&mut out, call, index)?;
        }
        out.push_str(self.section.1);
        Some(out)
    }

    /// Two calls in this dialect, or an empty text if it cannot be written.
    ///
    /// ```
    /// let kimi = toolmend::dialects().iter().find(|row| row.name() == "kimi_k2").unwrap();
    /// assert!(kimi.example().contains("functions.get_weather:0"));
    /// ```
    pub fn example(&self) -> String {
        self.render(EXAMPLE).unwrap_or_default()
    }

    fn render_call(&self, out: &mut String, call: &CallToRender<'_>, index: usize) -> Option<()> {
        let tree = Tree::parse(call.arguments, strict::MAX_DEPTH).ok()?;
        if tree.nodes.first()?.kind != Kind::Object {
            return None;
        }
        let says = |member: usize| {
            let text = text::unquote(tree.source(member));
            self.unsayable.iter().all(|part| !text.contains(part))
        };
        if !tree.children(0).filter(|&member| tree.nodes[member].kind == Kind::String).all(says) {
            return None;
        }
        let (number, count) = (index.to_string(), (index + 1).to_string());
        fill(self.call, out, |out, hole| match hole {
            "name" => out.push_str(call.name),
            // Attributes are the only place where markup is escaped.
            "arguments" if self.form == Form::Attributes => {
                out.push_str(&call.arguments.trim().replace('&', "&amp;").replace('\'', "&#39;"));
            }
            "arguments" => out.push_str(call.arguments.trim()),
            "id" => out.push_str(call.id),
            "index" => out.push_str(&number),
            "count" => out.push_str(&count),
            _ => self.render_parameters(out, &tree),
        });
        Some(())
    }

    fn render_parameters(&self, out: &mut String, tree: &Tree<'_>) {
        let between =
            if self.parameter.ends_with(['\n', '>']) || self.parameter.starts_with(' ') { "" } else { ", " };
        for (index, member) in tree.children(0).enumerate() {
            if index > 0 {
                out.push_str(between);
            }
            let key = tree.key(member).unwrap_or_default();
            let (kind, source) = (tree.nodes[member].kind, tree.source(member));
            fill(self.parameter, out, |out, hole| match hole {
                "key" => out.push_str(&key),
                "string" => out.push_str(if kind == Kind::String { "true" } else { "false" }),
                "type" => out.push_str(type_name(kind)),
                _ => self.render_value(out, kind, source),
            });
        }
    }

    fn render_value(&self, out: &mut String, kind: Kind, source: &str) {
        match self.values {
            Values::Raw | Values::Flagged | Values::Typed if kind == Kind::String => {
                out.push_str(&text::unquote(source));
            }
            Values::Quoted(token) => quoted(out, source, token),
            // The quotes are in the template.
            Values::Attribute if kind == Kind::String => out.push_str(&source[1..source.len() - 1]),
            Values::Attribute => out.push_str(&source.replace('\\', "\\\\").replace('"', "\\\"")),
            _ => out.push_str(source),
        }
    }
}

/// Writes a template and calls `hole` for every `{hole}` with a known name.
fn fill(template: &str, out: &mut String, mut hole: impl FnMut(&mut String, &str)) {
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(name) = custom::hole(rest) {
            hole(out, name);
            rest = &rest[name.len() + 2..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

/// Writes JSON with `token` in place of the quotes of values, and no quotes around keys.
fn quoted(out: &mut String, json: &str, token: &str) {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            let end = json[at..].find('"').map_or(bytes.len(), |offset| at + offset);
            out.push_str(&json[at..end]);
            at = end;
            continue;
        }
        let end = strict::check_string(bytes, at).unwrap_or(bytes.len());
        let meaning = text::unquote(&json[at..end]);
        let key = bytes[strict::skip_whitespace(bytes, end)..].first() == Some(&b':');
        if key {
            out.push_str(&meaning);
        } else {
            out.push_str(token);
            out.push_str(&meaning);
            out.push_str(token);
        }
        at = end;
    }
}
