//! The declarative `response_template` of transformers 5: which markers are around calls and reasoning.
//!
//! It describes the answers of a model as fields between markers, so it says directly what a row needs. Its markers are
//! literals or patterns. A pattern that is a literal around named groups can be written; others are refused. What the
//! description says is then written for every probe, and proved like the turns of a chat template.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::derive::DerivedRow;
use super::probes::{self, NoContent, Probe, Shape};
use super::reasoning::{Reasoning, Start};
use super::turns::{ProbeTurn, Turns};

/// The fields that hold reasoning, by the names that templates use.
const REASONING_FIELDS: &[&str] = &["reasoning_content", "thinking", "reasoning"];

/// How the answers of a model are written.
#[derive(Debug)]
pub(super) struct ResponseTemplate {
    row: DerivedRow,
    /// The tokens around strings, if they are not quotes.
    quotes: Option<(String, String)>,
    stop: String,
}

impl ResponseTemplate {
    /// Reads the description.
    ///
    /// # Errors
    /// If it has no calls, or describes them in a way that cannot be written. The message names the field.
    pub(super) fn read(template: &Value) -> Result<Self, String> {
        let fields = &template["fields"];
        let calls =
            fields.get("tool_calls").ok_or("expected the field `tool_calls` in `response_template`")?;
        let (open, close) = (marker(calls, "open")?, marker(calls, "close")?);
        let args = &calls["content_args"];
        let mut row = match calls["content"].as_str() {
            Some("json") => json_row(&open, &close, calls)?,
            Some("xml-inline") => DerivedRow {
                call: format!("{open}{{parameters}}{close}"),
                parameter: literal(args["tag_pattern"].as_str().unwrap_or_default())?,
                ..DerivedRow::default()
            },
            other => {
                let found = other.unwrap_or("text");
                return Err(format!(
                    "expected `json` or `xml-inline` as the content of `tool_calls`, found {found:?}"
                ));
            }
        };
        if let Some(field) = REASONING_FIELDS.iter().find_map(|name| fields.get(name)) {
            row.reasoning =
                (marker(field, "open")?.trim().to_owned(), marker(field, "close")?.trim().to_owned());
        }
        let pair = args["string_delims"].get(0);
        let quote = |at: usize| pair.and_then(|pair| pair[at].as_str()).map(str::to_owned);
        let stop = marker(&fields["content"], "close").unwrap_or_default().trim().to_owned();
        Ok(ResponseTemplate { row, quotes: quote(0).zip(quote(1)), stop })
    }

    /// Writes every probe as the description says.
    pub(super) fn turns(&self) -> Turns {
        let written = probes::probes().into_iter().map(|probe| {
            let text = self.write(&probe);
            ProbeTurn {
                whole: text.clone(),
                text,
                probe,
                continues_prompt: false,
                starts_in_reasoning: false,
            }
        });
        let (open, close) = self.row.reasoning.clone();
        let markers = (!open.is_empty()).then_some((open, close));
        Turns {
            shape: Shape { text_arguments: false, no_content: NoContent::Empty, named_ids: false },
            written: written.filter(|turn| markers.is_some() || turn.probe.reasoning.is_empty()).collect(),
            reasoning: Reasoning { markers, start: Start::Anything },
            stop: self.stop.clone(),
            unwritten: Vec::new(),
        }
    }

    fn write(&self, probe: &Probe) -> String {
        let mut out = String::new();
        if !probe.reasoning.is_empty() {
            let (open, close) = &self.row.reasoning;
            let _ = write!(out, "{open}\n{}\n{close}\n", probe.reasoning);
        }
        out.push_str(probe.content);
        out.push_str(&self.row.section.0);
        for (index, call) in probe.calls.iter().enumerate() {
            if index > 0 {
                out.push_str(&self.row.join);
            }
            let mut parameters = String::new();
            for (key, value) in call.arguments.as_object().into_iter().flatten() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                parameters.push_str(&self.row.parameter.replace("{key}", key).replace("{value}", &value));
            }
            let text = self.row.call.replace("{name}", call.name).replace("{parameters}", &parameters);
            let arguments = match &self.quotes {
                Some(quotes) => with_quotes(&call.arguments, quotes),
                None => call.arguments.to_string(),
            };
            out.push_str(&text.replace("{arguments}", &arguments));
        }
        out.push_str(&self.row.section.1);
        out
    }
}

/// The row of calls whose content is JSON.
fn json_row(open: &str, close: &str, calls: &Value) -> Result<DerivedRow, String> {
    if open.contains("{name}") {
        return Ok(DerivedRow { call: format!("{open}{{arguments}}{close}"), ..DerivedRow::default() });
    }
    // What the description makes of the content shows the members that the content has.
    let function = &calls["transform"]["function"];
    let member = |field: &'static str| match function[field].as_str() {
        Some(path) => path.strip_prefix("{content.").and_then(|path| path.strip_suffix('}')),
        None => Some(field),
    };
    let unknown =
        || format!("expected the name and arguments of the content in `transform`, found {function}");
    let (name, arguments) = (member("name").ok_or_else(unknown)?, member("arguments").ok_or_else(unknown)?);
    let call = format!("{{\"{name}\": \"{{name}}\", \"{arguments}\": {{arguments}}}}");
    if calls["transform_each"] == true {
        let section = (format!("{open}["), format!("]{close}"));
        return Ok(DerivedRow { section, call, join: ", ".to_owned(), ..DerivedRow::default() });
    }
    Ok(DerivedRow { call: format!("{open}{call}{close}"), ..DerivedRow::default() })
}

/// The text of a marker: a literal, the first of several, or a pattern that can be written.
fn marker(field: &Value, name: &str) -> Result<String, String> {
    let given = &field[name];
    match given.as_str().or(given[0].as_str()) {
        Some(text) => Ok(text.to_owned()),
        None => literal(field[format!("{name}_pattern")].as_str().unwrap_or_default()),
    }
}

/// A text that a pattern matches, with holes for its named groups.
///
/// # Errors
/// If something other than literals, white space and alternatives is outside the groups.
fn literal(pattern: &str) -> Result<String, String> {
    let refuse =
        |part: &str| Err(format!("expected literals around named groups, found {part:?} in {pattern:?}"));
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => {
                let escaped = rest[1..].chars().next().unwrap_or('\\');
                match escaped {
                    // Optional white space is left out.
                    's' => {}
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    ch if ch.is_alphanumeric() => return refuse(&rest[..2]),
                    ch => out.push(ch),
                }
                let after = &rest[(1 + escaped.len_utf8()).min(rest.len())..];
                let repeats = after.len() - after.trim_start_matches(['*', '+', '?']).len();
                if repeats > 0 && escaped != 's' {
                    return refuse(&rest[..2]);
                }
                1 + escaped.len_utf8() + repeats
            }
            '(' => {
                let Some(length) = group_length(rest) else { return refuse(rest) };
                let inner = &rest[1..length - 1];
                match inner.strip_prefix("?P<").and_then(|inner| inner.split_once('>')) {
                    Some((name @ ("name" | "key" | "value"), _)) => {
                        let _ = write!(out, "{{{name}}}");
                    }
                    Some((name, _)) => return refuse(name),
                    None => {
                        let inner = inner.strip_prefix("?:").unwrap_or(inner);
                        out.push_str(&literal(first_alternative(inner))?);
                    }
                }
                length
            }
            '[' | ']' | '.' | '*' | '+' | '?' | '|' | '^' | '$' | ')' => return refuse(&rest[..1]),
            ch => {
                out.push(ch);
                ch.len_utf8()
            }
        };
        rest = &rest[length.min(rest.len())..];
    }
    Ok(out)
}

/// The length of the group at the start of a pattern.
fn group_length(pattern: &str) -> Option<usize> {
    let (mut depth, mut in_class, mut escaped) = (0_usize, false, false);
    for (at, ch) in pattern.char_indices() {
        match ch {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn first_alternative(pattern: &str) -> &str {
    let mut escaped = false;
    for (at, ch) in pattern.char_indices() {
        match ch {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '|' => return &pattern[..at],
            _ => {}
        }
    }
    pattern
}

/// JSON with other quotes around strings, and none around keys. The values are those of probes, which are shallow.
fn with_quotes(value: &Value, quotes: &(String, String)) -> String {
    let list = |items: Vec<String>| items.join(",");
    match value {
        Value::String(text) => format!("{}{text}{}", quotes.0, quotes.1),
        Value::Array(items) => {
            format!("[{}]", list(items.iter().map(|item| with_quotes(item, quotes)).collect()))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| format!("{key}:{}", with_quotes(value, quotes));
            format!("{{{}}}", list(Map::iter(members).map(member).collect()))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_around_groups_can_be_written() {
        for (pattern, expected) in [
            (r"\s*<tool_call>", Some("<tool_call>")),
            (r"<call>\s*<function=(?P<name>[^>\n]+)>", Some("<call><function={name}>")),
            (r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>", Some("<p={key}>{value}</p>")),
            (r"\s*(?:<\|im_end\|>|<\|eot\|>)", Some("<|im_end|>")),
            (r"<call>.*?</call>", None),
            (r"<call(?P<kind>\w+)>", None),
            (r"[<(]call", None),
        ] {
            assert_eq!(literal(pattern).ok().as_deref(), expected, "{pattern}");
        }
    }
}
