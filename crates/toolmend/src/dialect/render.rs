//! Calls written back the way a family writes them.

use std::borrow::Cow;
use std::fmt::Write;

use super::table::{Dialect, Form, Values};
use crate::json::strict;
use crate::json::text::quote;
use crate::json::tree::{Kind, Tree};

/// The call that the tables show.
const EXAMPLE: (&str, &str) = ("get_weather", r#"{"city": "Oslo", "days": 3}"#);

impl Dialect {
    /// Writes calls the way these families do: name, arguments as JSON text, and the id where the call has one. Reading
    /// them again gives the same calls.
    ///
    /// Nothing comes back where the dialect has no way to say a call: arguments that are no strict JSON object, a name with
    /// brackets in it, a string with the delimiter of the dialect's strings in it.
    ///
    /// ```
    /// let hermes = &toolmend::dialects()[0];
    /// let text = hermes.render(&[("clock", "{}", None)]);
    /// assert_eq!(text.as_deref(), Some("<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>"));
    /// ```
    pub fn render(&self, calls: &[(&str, &str, Option<&str>)]) -> Option<String> {
        // Arguments without a name are one call at most.
        if calls.len() > 1 && !self.call.contains("{name}") {
            return None;
        }
        let mut out = self.section.0.to_owned();
        for (index, (name, arguments, id)) in calls.iter().enumerate() {
            if index > 0 {
                out.push_str(self.join);
            }
            out.push_str(&self.one(index, name, arguments, *id)?);
        }
        out.push_str(self.section.1);
        Some(out)
    }

    /// One call, as these families write it. Empty for the one form that is read as text only.
    pub fn example(&self) -> String {
        self.render(&[(EXAMPLE.0, EXAMPLE.1, None)]).unwrap_or_default()
    }

    fn one(&self, index: usize, name: &str, arguments: &str, id: Option<&str>) -> Option<String> {
        // The depth limit of the strict pass bounds the recursion over values.
        let tree = Tree::parse(arguments, strict::MAX_DEPTH).ok()?;
        let sayable = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
        if self.call.is_empty() || !sayable || tree.nodes.first()?.kind != Kind::Object {
            return None;
        }
        let parameters =
            if self.call.contains("{parameters}") { self.parameters(&tree, 0)? } else { String::new() };
        Some(fill(self.call, |slot| {
            Some(match slot {
                "name" => name.into(),
                "arguments" if self.form == Form::Attributes => arguments.replace('\'', "\\u0027").into(),
                "arguments" => arguments.trim().into(),
                "parameters" => parameters.as_str().into(),
                "index" => index.to_string().into(),
                "count" => (index + 1).to_string().into(),
                // As long as the ids of the families that have them.
                "id" => id.map_or_else(|| format!("call{index:05}").into(), Cow::Borrowed),
                _ => return None,
            })
        }))
    }

    /// The members of an object, each as an argument.
    fn parameters(&self, tree: &Tree<'_>, object: usize) -> Option<String> {
        let between = match self.values {
            Values::Python => ", ",
            Values::Quoted(_) => ",",
            Values::Json => " ",
            _ => "",
        };
        let mut out = String::new();
        for (index, member) in tree.children(object).enumerate() {
            if index > 0 {
                out.push_str(between);
            }
            out.push_str(&self.parameter(tree, &tree.key(member)?, member)?);
        }
        Some(out)
    }

    fn parameter(&self, tree: &Tree<'_>, key: &str, id: usize) -> Option<String> {
        let sayable = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-.$".contains(c));
        let value = match self.values {
            Values::Json => tree.source(id).to_owned(),
            Values::Raw | Values::Flagged | Values::Typed => self.raw(tree, id)?,
            Values::Nested => self.nested(tree, id)?,
            Values::Python => python(tree, id)?,
            Values::Quoted(mark) => quoted(tree, id, mark)?,
        };
        let kind = tree.nodes[id].kind;
        sayable.then(|| {
            fill(self.parameter, |slot| {
                Some(match slot {
                    "key" => key.into(),
                    "value" => value.as_str().into(),
                    "string" => if kind == Kind::String { "true" } else { "false" }.into(),
                    "type" => type_name(kind).into(),
                    _ => return None,
                })
            })
        })
    }

    /// Strings as they are. Where lines end a value, a string with a line break cannot be said.
    fn raw(&self, tree: &Tree<'_>, id: usize) -> Option<String> {
        let Some(text) = tree.string(id) else { return Some(tree.source(id).to_owned()) };
        let behind = self.parameter.split_once("{value}").map_or("", |(_, behind)| behind);
        let ends_early = match behind {
            "" | "\n" => text.contains('\n') || text.trim() != text,
            closer => text.contains(closer.trim()),
        };
        (!ends_early).then(|| text.into_owned())
    }

    /// Objects as elements in elements, arrays as items. What is empty has no type there, and null cannot be said.
    fn nested(&self, tree: &Tree<'_>, id: usize) -> Option<String> {
        match tree.nodes[id].kind {
            Kind::Object if tree.nodes[id].after > id + 1 => self.parameters(tree, id),
            Kind::Array if tree.nodes[id].after > id + 1 => {
                tree.children(id).map(|item| self.parameter(tree, "item", item)).collect()
            }
            Kind::Object | Kind::Array | Kind::Null => None,
            _ => self.raw(tree, id),
        }
    }
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

/// A value as a Python literal.
fn python(tree: &Tree<'_>, id: usize) -> Option<String> {
    Some(match tree.nodes[id].kind {
        Kind::Null => "None".to_owned(),
        Kind::Bool => if tree.source(id) == "true" { "True" } else { "False" }.to_owned(),
        Kind::Number => tree.source(id).to_owned(),
        Kind::String => python_string(&tree.string(id)?),
        Kind::Array => {
            let items: Option<Vec<_>> = tree.children(id).map(|item| python(tree, item)).collect();
            format!("[{}]", items?.join(", "))
        }
        Kind::Object => {
            let member =
                |member| Some(format!("{}: {}", python_string(&tree.key(member)?), python(tree, member)?));
            let members: Option<Vec<_>> = tree.children(id).map(member).collect();
            format!("{{{}}}", members?.join(", "))
        }
    })
}

fn python_string(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A string takes every write.
            c if c < ' ' => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A value in Gemma's notation: bare keys, and a token for quotes.
fn quoted(tree: &Tree<'_>, id: usize, mark: &str) -> Option<String> {
    Some(match tree.nodes[id].kind {
        Kind::String => {
            let text = tree.string(id).filter(|text| !text.contains(mark))?;
            format!("{mark}{text}{mark}")
        }
        Kind::Array => {
            let items: Option<Vec<_>> = tree.children(id).map(|item| quoted(tree, item, mark)).collect();
            format!("[{}]", items?.join(","))
        }
        Kind::Object => {
            let member = |member| {
                let key = tree.key(member)?;
                let bare = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
                let key = if bare { key } else { quote(&key).into() };
                Some(format!("{key}:{}", quoted(tree, member, mark)?))
            };
            let members: Option<Vec<_>> = tree.children(id).map(member).collect();
            format!("{{{}}}", members?.join(","))
        }
        _ => tree.source(id).to_owned(),
    })
}

/// Fills the slots of a template in one pass: what is filled in is not looked at again.
fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let slot = behind.split_once('}').and_then(|(slot, behind)| Some((value(slot)?, behind)));
        rest = match slot {
            Some((value, behind)) => {
                out.push_str(&value);
                behind
            }
            None => {
                out.push('{');
                behind
            }
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::dialects;
    use crate::{Finish, Mender, TurnOptions};

    #[test]
    fn a_template_is_filled_once() {
        let value = |slot: &str| (slot == "name").then_some("{name}".into());
        assert_eq!(fill("{a{name}{{name}}", value), "{a{name}{{name}}");
    }

    /// Forms that are written and not read yet.
    const UNREAD: [&str; 7] =
        ["gigachat3", "dsml_v41", "perl_hash", "slash_shorthand", "yaml", "vcp", "md_bold"];

    /// What every dialect writes, it reads.
    #[test]
    fn what_is_written_is_read_again() {
        let mender = Mender::new(&serde_json::json!([
            {"name": "save", "parameters": {"type": "object", "properties": {
                "path": {"type": "string"}, "text": {"type": "string"}, "times": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}}, "deep": {"type": "object"}},
                "required": ["path", "text"]}},
            {"name": "clock", "parameters": {"type": "object", "properties": {}}},
        ]))
        .unwrap();
        let one = r#"{"path":"C:\\new.txt","text":"it's \"so\", {x} & <b>","times":3}"#;
        let two = r#"{"path":"a","text":"b","tags":["x","y"],"deep":{"a":1.50}}"#;
        let mut wrong = Vec::new();
        for dialect in dialects().iter().filter(|dialect| !UNREAD.contains(&dialect.name())) {
            for calls in [&[("save", one, None)][..], &[("save", two, None), ("clock", "{}", None)]] {
                let Some(text) = dialect.render(calls) else {
                    let silent = ["code_agent", "guided_named", "args_only"].contains(&dialect.name());
                    assert!(silent, "{} says nothing", dialect.name());
                    continue;
                };
                let turn = mender.turn(&text, &TurnOptions::new().dialect(dialect.name()), Finish::Stop);
                let read: Vec<_> =
                    turn.calls.iter().map(|call| (call.name.as_str(), call.verdict.value())).collect();
                let written: Vec<_> =
                    calls.iter().map(|(name, json, _)| (*name, serde_json::from_str(json).ok())).collect();
                if read != written || !turn.content.trim().is_empty() {
                    wrong.push(format!("{}: {text}\n{read:?} {:?}", dialect.name(), turn.content));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}
