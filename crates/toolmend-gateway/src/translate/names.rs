//! The names of tools on both sides: servers take fewer characters, and know no groups.

use std::collections::HashMap;

use super::fit::Can;
use super::request::{Block, Form, Request, Tool};
use crate::turn::ReadyCall;

/// The tools of a request, by both names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Names {
    forward: HashMap<(String, Option<String>), String>,
    back: HashMap<String, (String, Form)>,
    /// Tools that take free text, and have to be called as functions.
    unpacked: bool,
}

impl Names {
    /// Names for every tool, and for those that only earlier turns know.
    pub(crate) fn new(request: &Request, can: &Can) -> Names {
        let mut names = Names { unpacked: !can.custom, ..Names::default() };
        for tool in &request.tools {
            match tool {
                Tool::Function { name, group: None, .. } => names.add(name, Form::Function, can),
                Tool::Function { name, group: Some(group), .. } => {
                    names.add(name, Form::Grouped(group.name.clone()), can);
                }
                Tool::Custom { name, .. } => names.add(name, Form::Custom, can),
                Tool::Hosted { .. } => {}
            }
        }
        for block in request.messages.iter().flat_map(|message| &message.blocks) {
            if let Block::Call(call) = block {
                names.add(&call.name, call.form.clone(), can);
            }
        }
        names
    }

    fn add(&mut self, name: &str, form: Form, can: &Can) {
        let group = match &form {
            Form::Grouped(group) => Some(group.clone()),
            _ => None,
        };
        let key = (name.to_owned(), group);
        if self.forward.contains_key(&key) {
            return;
        }
        let wanted = match &key.1 {
            Some(group) if !can.groups => format!("{group}__{name}"),
            _ => name.to_owned(),
        };
        let mut wire = plain(&wanted, can.name_length);
        let mut number = 2;
        // Inside of groups the same name may stand twice.
        while self.back.contains_key(&wire) && !(can.groups && key.1.is_some()) {
            wire = plain(&format!("{wanted}_{number}"), can.name_length);
            number += 1;
        }
        self.back.entry(wire.clone()).or_insert_with(|| (name.to_owned(), form));
        self.forward.insert(key, wire);
    }

    /// The server's name.
    pub(crate) fn forward(&self, name: &str, group: Option<&str>) -> String {
        let key = (name.to_owned(), group.map(str::to_owned));
        self.forward.get(&key).cloned().unwrap_or(key.0)
    }

    /// A call as the client declared its tool.
    pub(crate) fn back(&self, mut call: ReadyCall) -> ReadyCall {
        let Some((name, form)) = self.back.get(&call.name) else { return call };
        call.name.clone_from(name);
        if *form == Form::Custom && self.unpacked {
            let value: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            if let Some(text) = value.get("input").and_then(serde_json::Value::as_str) {
                text.clone_into(&mut call.arguments);
                call.form = Form::Custom;
            }
        } else if call.form == Form::Function {
            call.form = form.clone();
        }
        call
    }
}

/// A name that servers take: letters, digits, `_` and `-`.
fn plain(name: &str, most: usize) -> String {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut out: String =
        name.chars().map(|char| if u8::try_from(char).is_ok_and(fits) { char } else { '_' }).collect();
    if out.is_empty() {
        out.push('_');
    }
    if out.len() > most {
        // The rest of a long name tells tools apart, so something of it stays.
        let tail = crate::history::short_id(name);
        out.truncate(most - tail.len() - 1);
        out.push('_');
        out.push_str(&tail);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::Wire;
    use crate::translate::request::Group;

    fn tool(name: &str, group: Option<&str>) -> Tool {
        let group = group.map(|name| Group { name: name.to_owned(), description: None });
        Tool::Function { name: name.into(), group, description: None, schema: "{}".into(), strict: None }
    }

    #[test]
    fn every_name_finds_its_way_back() {
        let long = "mcp__a_server_with_a_long_name__a_tool_with_a_name_that_is_even_longer_than_that";
        let custom = Tool::Custom { name: "patch".into(), description: None, format: None };
        let list = vec![
            tool("read", None),
            tool("read", Some("files")),
            tool("files__read", None),
            tool(long, None),
            tool(&format!("{long}_2"), None),
            tool("a.b", None),
            tool("a b", None),
            custom,
        ];
        let request = Request { tools: list.clone(), ..Request::default() };
        let can = Can::of(Wire::Chat);
        let names = Names::new(&request, &can);
        let mut seen = std::collections::HashSet::new();
        for tool in &list {
            let (name, group) = match tool {
                Tool::Function { name, group, .. } => (name, group.as_ref().map(|group| group.name.as_str())),
                Tool::Custom { name, .. } | Tool::Hosted { name, .. } => (name, None),
            };
            let wire = names.forward(name, group);
            assert!(wire.len() <= 64 && seen.insert(wire.clone()), "{wire}");
            let arguments = r#"{"input":"x"}"#.to_owned();
            let call = names.back(ReadyCall { name: wire, arguments, ..ReadyCall::default() });
            assert_eq!(call.name, *name);
            assert_eq!(call.form == Form::Custom, name == "patch");
            assert_eq!(matches!(&call.form, Form::Grouped(name) if name == "files"), group.is_some());
        }
    }
}
