//! The names of tools on both sides. Servers accept fewer characters and no groups, and calls come back as the client
//! declared the tool.

use std::collections::HashMap;

use toolmend_protocol::{Block, CallForm, Capabilities, ReadyCall, Request, Tool, short_id};

/// The tools of a request, by both names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ToolNames {
    /// The server's name by the client's name and group.
    to_server: HashMap<(String, Option<String>), String>,
    /// The client's name and form by the server's name.
    to_client: HashMap<String, (String, CallForm)>,
    /// The number to try next for names that are the same to the server.
    next_numbers: HashMap<String, usize>,
    /// Whether tools that take free text are called as functions.
    custom_as_functions: bool,
}

impl ToolNames {
    /// Names every tool of a request, and those that appear only in earlier turns.
    pub(crate) fn new(request: &Request, target: &Capabilities) -> ToolNames {
        let mut names = ToolNames { custom_as_functions: !target.custom_tools, ..ToolNames::default() };
        for tool in &request.tools {
            match tool {
                Tool::Function { name, group: None, .. } => names.add(name, CallForm::Function, target),
                Tool::Function { name, group: Some(group), .. } => {
                    names.add(name, CallForm::Grouped(group.name.clone()), target);
                }
                Tool::Custom { name, .. } => names.add(name, CallForm::Custom, target),
                Tool::Hosted { .. } => {}
            }
        }
        for block in request.messages.iter().flat_map(|message| &message.blocks) {
            if let Block::Call(call) = block {
                names.add(&call.name, call.form.clone(), target);
            }
        }
        names
    }

    fn add(&mut self, name: &str, form: CallForm, target: &Capabilities) {
        let group = match &form {
            CallForm::Grouped(group) => Some(group.clone()),
            _ => None,
        };
        let key = (name.to_owned(), group);
        if self.to_server.contains_key(&key) {
            return;
        }
        let wanted = match &key.1 {
            Some(group) if !target.tool_groups => format!("{group}__{name}"),
            _ => name.to_owned(),
        };
        let mut server_name = plain_name(&wanted, target.tool_name_length);
        let number = self.next_numbers.entry(server_name.clone()).or_insert(2);
        // The same name may appear in several groups.
        while self.to_client.contains_key(&server_name) && !(target.tool_groups && key.1.is_some()) {
            server_name = plain_name(&format!("{wanted}_{number}"), target.tool_name_length);
            *number += 1;
        }
        self.to_client.entry(server_name.clone()).or_insert_with(|| (name.to_owned(), form));
        self.to_server.insert(key, server_name);
    }

    /// Returns the server's name for a tool.
    pub(crate) fn server_name(&self, name: &str, group: Option<&str>) -> String {
        let key = (name.to_owned(), group.map(str::to_owned));
        self.to_server.get(&key).cloned().unwrap_or(key.0)
    }

    /// Returns a call in the form in which the client declared its tool.
    pub(crate) fn restore_call(&self, mut call: ReadyCall) -> ReadyCall {
        let Some((name, form)) = self.to_client.get(&call.name) else { return call };
        call.name.clone_from(name);
        if *form == CallForm::Custom && self.custom_as_functions {
            let value: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            if let Some(text) = value.get("input").and_then(serde_json::Value::as_str) {
                text.clone_into(&mut call.arguments);
                call.form = CallForm::Custom;
            }
        } else if call.form == CallForm::Function {
            call.form = form.clone();
        }
        call
    }
}

/// Returns a name that servers accept: letters, digits, `_` and `-`.
fn plain_name(name: &str, max_length: usize) -> String {
    let is_accepted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut out: String =
        name.chars().map(|char| if u8::try_from(char).is_ok_and(is_accepted) { char } else { '_' }).collect();
    if out.is_empty() {
        out.push('_');
    }
    if out.len() > max_length {
        // The end of a long name often distinguishes tools, so a hash of the whole name replaces it.
        let tail = short_id(name);
        out.truncate(max_length - tail.len() - 1);
        out.push('_');
        out.push_str(&tail);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend_protocol::ToolGroup;

    fn tool(name: &str, group: Option<&str>) -> Tool {
        let group = group.map(|name| ToolGroup { name: name.to_owned(), description: None });
        Tool::Function { name: name.into(), group, description: None, schema: "{}".into(), strict: None }
    }

    #[test]
    fn every_name_is_restored() {
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
        let target = Capabilities::of_chat();
        let names = ToolNames::new(&request, &target);
        let mut seen = std::collections::HashSet::new();
        for tool in &list {
            let (name, group) = match tool {
                Tool::Function { name, group, .. } => (name, group.as_ref().map(|group| group.name.as_str())),
                Tool::Custom { name, .. } | Tool::Hosted { name, .. } => (name, None),
            };
            let server_name = names.server_name(name, group);
            assert!(server_name.len() <= 64 && seen.insert(server_name.clone()), "{server_name}");
            let arguments = r#"{"input":"x"}"#.to_owned();
            let call = names.restore_call(ReadyCall { name: server_name, arguments, ..ReadyCall::default() });
            assert_eq!(call.name, *name);
            assert_eq!(call.form == CallForm::Custom, name == "patch");
            assert_eq!(matches!(&call.form, CallForm::Grouped(name) if name == "files"), group.is_some());
        }
    }
}
