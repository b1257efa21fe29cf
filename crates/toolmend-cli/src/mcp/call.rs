//! Calls from the client: they pass unchanged, are mended, or are refused with an answer.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolmend::{Finish, Mender, Outcome, Reason, Verdict};

use super::message::Message;
use super::server_tools::ServerTools;
use crate::terminal::list_repair_kinds;

/// What happens to a line from the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientLine {
    /// The server gets the line unchanged.
    Unchanged,
    /// The server gets this line instead. The notes belong before the result.
    Mended { line: Vec<u8>, explanation: String, notes: Vec<String> },
    /// The server gets nothing, and the client gets this answer.
    Refused { answer: Vec<u8>, explanation: String },
}

impl ClientLine {
    /// Returns one line that says what was changed, for people.
    pub(crate) fn explanation(&self) -> Option<&str> {
        match self {
            ClientLine::Unchanged => None,
            ClientLine::Mended { explanation, .. } | ClientLine::Refused { explanation, .. } => {
                Some(explanation)
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct Params<'l> {
    #[serde(borrow)]
    name: &'l RawValue,
    #[serde(borrow, default)]
    arguments: Option<&'l RawValue>,
}

/// Decides what happens to a message from the client, and remembers requests for lists of tools.
pub(crate) fn handle_message(line: &[u8], message: &Message<'_>, tools: &mut ServerTools) -> ClientLine {
    if message.is_request("tools/list") {
        tools.add_request(message);
    }
    if !message.is_request("tools/call") {
        return ClientLine::Unchanged;
    }
    let handled = tools.mender().and_then(|mender| mend_call(line, message, mender));
    if let (Some(ClientLine::Mended { notes, .. }), Some(id)) = (&handled, message.id) {
        tools.notes.remember(id, notes);
    }
    handled.unwrap_or(ClientLine::Unchanged)
}

/// Mends or refuses a call. Returns `None` if it passes unchanged.
fn mend_call(line: &[u8], message: &Message<'_>, mender: &Mender) -> Option<ClientLine> {
    let (id, params) = (message.id?, message.params?);
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let name: String = serde_json::from_str(params.name.get()).ok()?;
    let text = arguments_text(params.arguments);
    let verdict = mender.mend_finished(&name, &text, Finish::Unknown);
    match verdict.outcome() {
        // A string that contains an object still has to become an object.
        Outcome::Clean if !is_string(params.arguments) => None,
        Outcome::Clean | Outcome::Mended => match verdict.compact_json() {
            Some(json) => replace_call(line, &params, &verdict, &json),
            None => {
                Some(refuse_call(id, &name, "the arguments contain several calls; make them one at a time"))
            }
        },
        // The server may have tools that it does not list, so it answers itself.
        _ if verdict.reason() == Some(Reason::UnknownTool) => None,
        _ => Some(refuse_call(id, &name, verdict.feedback().unwrap_or("the arguments cannot be used"))),
    }
}

/// Returns the arguments as the model wrote them. Some clients send its text inside a string.
fn arguments_text(arguments: Option<&RawValue>) -> String {
    match arguments {
        None => "{}".to_owned(),
        Some(raw) if is_string(arguments) => {
            serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
        }
        Some(raw) => raw.get().to_owned(),
    }
}

fn is_string(arguments: Option<&RawValue>) -> bool {
    arguments.is_some_and(|raw| raw.get().starts_with('"'))
}

/// Replaces the name and the arguments in the line, and keeps every other byte.
fn replace_call(line: &[u8], params: &Params<'_>, verdict: &Verdict<'_>, json: &str) -> Option<ClientLine> {
    let name = json!(verdict.tool()?).to_string();
    let span_of = |raw: &RawValue| {
        let start = raw.get().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
        (start + raw.get().len() <= line.len()).then_some(start..start + raw.get().len())
    };
    let mut edits = vec![(span_of(params.name)?, name.clone())];
    match params.arguments {
        Some(raw) => edits.push((span_of(raw)?, json.to_owned())),
        // Missing arguments are added after the name.
        None if json != "{}" => edits[0].1 = format!("{name},\"arguments\":{json}"),
        None => {}
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(line.len() + json.len());
    let mut at = 0;
    for (span, text) in edits {
        out.extend_from_slice(&line[at..span.start]);
        out.extend_from_slice(text.as_bytes());
        at = span.end;
    }
    out.extend_from_slice(&line[at..]);
    let explanation = format!("mended {name}: {}", list_repair_kinds(verdict.repairs()));
    Some(ClientLine::Mended { line: out, explanation, notes: verdict.notes().to_vec() })
}

/// Answers with a tool result that contains the feedback for the model.
fn refuse_call(id: &RawValue, name: &str, feedback: &str) -> ClientLine {
    let result = json!({"content": [{"type": "text", "text": feedback}], "isError": true});
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", id.get());
    let explanation = format!("refused {name:?}: {}", feedback.lines().nth(1).unwrap_or(feedback));
    ClientLine::Refused { answer: line.into_bytes(), explanation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend::Policy;

    fn listed_tools() -> ServerTools {
        let mut tools = ServerTools::new(Policy::default());
        let ask = br#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
        handle_message(ask, &Message::parse(ask).unwrap(), &mut tools);
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a"],
        });
        let list = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": [
            {"name": "sum", "inputSchema": schema}, {"name": "ping", "inputSchema": {"type": "object"}},
        ]}})
        .to_string();
        tools.add_answer(&Message::parse(list.as_bytes()).unwrap());
        tools
    }

    fn handle(line: &str) -> ClientLine {
        handle_message(line.as_bytes(), &Message::parse(line.as_bytes()).unwrap(), &mut listed_tools())
    }

    #[track_caller]
    fn check_unchanged(line: &str) {
        assert_eq!(handle(line), ClientLine::Unchanged);
    }

    #[track_caller]
    fn check_mended(line: &str, expected: &str) {
        let ClientLine::Mended { line, .. } = handle(line) else { panic!("{:?}", handle(line)) };
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn valid_and_unknown_calls_pass_unchanged() {
        check_unchanged(r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":{ "a" : 1 }}}"#);
        check_unchanged(r#"{"id":1,"method":"tools/call","params":{"name":"other","arguments":{"a":"1"}}}"#);
        check_unchanged(r#"{"id":1,"method":"tools/call","params":{"name":"ping"}}"#);
        check_unchanged(
            r#"{"id":1,"method":"resources/read","params":{"name":"sum","arguments":{"a":"1"}}}"#,
        );
        check_unchanged(r#"{"method":"tools/call","params":{"name":"sum","arguments":{"a":"1"}}}"#);
        check_unchanged(r#"{"id":1,"method":"tools/call","params":[]}"#);
    }

    #[test]
    fn only_name_and_arguments_change() {
        check_mended(
            "{\"id\":1, \"method\":\"tools/call\",\"params\":{\"_meta\":{\"p\":1},\"arguments\":{\"A\":\"1\"},\"name\":\"Sum\"}}\n",
            "{\"id\":1, \"method\":\"tools/call\",\"params\":{\"_meta\":{\"p\":1},\"arguments\":{\"a\":1},\"name\":\"sum\"}}\n",
        );
        check_mended(
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":"{'a': 1,\n}"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":1}}}"#,
        );
        check_mended(
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":"{\"a\":1}"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":1}}}"#,
        );
    }

    #[test]
    fn refusals_are_tool_results() {
        for line in [
            r#"{"id":"x","method":"tools/call","params":{"name":"sum","arguments":{"a":"many"}}}"#,
            r#"{"id":"x","method":"tools/call","params":{"name":"sum"}}"#,
            r#"{"id":"x","method":"tools/call","params":{"name":"sum","arguments":"{\"a\": 1, \"b"}}"#,
        ] {
            let ClientLine::Refused { answer, .. } = handle(line) else {
                panic!("{line}: {:?}", handle(line))
            };
            let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["id"], "x");
            assert_eq!(answer["result"]["isError"], true);
            assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("sum"));
        }
    }

    #[test]
    fn pages_add_up_and_a_new_list_replaces_them() {
        let mut tools = listed_tools();
        let mut list = |params: &str, tool: &str| {
            let ask = format!(r#"{{"id":8,"method":"tools/list","params":{params}}}"#);
            handle_message(ask.as_bytes(), &Message::parse(ask.as_bytes()).unwrap(), &mut tools);
            let answer =
                format!(r#"{{"id":8,"result":{{"tools":[{{"name":"{tool}","inputSchema":{{}}}}]}}}}"#);
            tools.add_answer(&Message::parse(answer.as_bytes()).unwrap());
            tools.mender().unwrap().tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(list(r#"{"cursor":"2"}"#, "more"), ["sum", "ping", "more"]);
        assert_eq!(list("{}", "new"), ["new"]);
    }
}
