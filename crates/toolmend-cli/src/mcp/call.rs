//! A call on its way to the server: it passes, it is mended, or the client is answered.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolmend::{Finish, Mender, Outcome, Reason, Verdict};

use super::known::Known;
use super::message::Message;

/// What becomes of a line from the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It goes on as it came.
    Pass,
    /// This line goes on in its place.
    Mended { line: Vec<u8>, about: String },
    /// The server never sees it; this line goes back.
    Answer { line: Vec<u8>, about: String },
}

impl Way {
    /// A line for people.
    pub(crate) fn about(&self) -> Option<&str> {
        match self {
            Way::Pass => None,
            Way::Mended { about, .. } | Way::Answer { about, .. } => Some(about),
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

/// Looks at a message from the client.
pub(crate) fn look(line: &[u8], message: &Message<'_>, known: &mut Known) -> Way {
    if message.asks("tools/list") {
        known.asked(message);
    }
    if !message.asks("tools/call") {
        return Way::Pass;
    }
    known.mender().and_then(|mender| judge(line, message, mender)).unwrap_or(Way::Pass)
}

/// Nothing where there is nothing to say about the call.
fn judge(line: &[u8], message: &Message<'_>, mender: &Mender) -> Option<Way> {
    let (id, params) = (message.id?, message.params?);
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let name: String = serde_json::from_str(params.name.get()).ok()?;
    let text = written(params.arguments);
    let verdict = mender.mend_finished(&name, &text, Finish::Unknown);
    match verdict.outcome() {
        // Text that holds an object is no object yet.
        Outcome::Clean if !is_string(params.arguments) => None,
        Outcome::Clean | Outcome::Mended => match verdict.compact_json() {
            Some(json) => mended(line, &params, &verdict, &json),
            None => Some(answer(id, &name, "the arguments hold several calls; make them one by one")),
        },
        // The server may have tools that it does not list; it knows best what to say.
        _ if verdict.reason() == Some(Reason::UnknownTool) => None,
        _ => Some(answer(id, &name, verdict.feedback().unwrap_or("the arguments cannot be used"))),
    }
}

/// The arguments as the model wrote them: some clients pass its text on inside a string.
fn written(arguments: Option<&RawValue>) -> String {
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

/// The line with another name and other arguments, and every other byte as it was.
fn mended(line: &[u8], params: &Params<'_>, verdict: &Verdict<'_>, json: &str) -> Option<Way> {
    let name = json!(verdict.tool()?).to_string();
    let place = |raw: &RawValue| {
        let start = raw.get().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
        (start + raw.get().len() <= line.len()).then_some(start..start + raw.get().len())
    };
    let mut edits = vec![(place(params.name)?, name.clone())];
    match params.arguments {
        Some(raw) => edits.push((place(raw)?, json.to_owned())),
        // Absent arguments have no place of their own: they stand behind the name.
        None if json != "{}" => edits[0].1 = format!("{name},\"arguments\":{json}"),
        None => {}
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut out = Vec::with_capacity(line.len() + json.len());
    let mut at = 0;
    for (place, text) in edits {
        out.extend_from_slice(&line[at..place.start]);
        out.extend_from_slice(text.as_bytes());
        at = place.end;
    }
    out.extend_from_slice(&line[at..]);
    let mut kinds: Vec<_> = verdict.repairs().iter().map(|repair| repair.kind.name()).collect();
    kinds.dedup();
    Some(Way::Mended { line: out, about: format!("mended {name}: {}", kinds.join(", ")) })
}

/// A tool result that says what is wrong, in words for the model.
fn answer(id: &RawValue, name: &str, feedback: &str) -> Way {
    let result = json!({"content": [{"type": "text", "text": feedback}], "isError": true});
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", id.get());
    let about = format!("refused {name:?}: {}", feedback.lines().nth(1).unwrap_or(feedback));
    Way::Answer { line: line.into_bytes(), about }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend::Policy;

    fn known() -> Known {
        let mut known = Known::new(Policy::default());
        let ask = br#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
        look(ask, &Message::read(ask).unwrap(), &mut known);
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a"],
        });
        let list = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": [
            {"name": "sum", "inputSchema": schema}, {"name": "ping", "inputSchema": {"type": "object"}},
        ]}})
        .to_string();
        known.learn(&Message::read(list.as_bytes()).unwrap());
        known
    }

    fn way(line: &str) -> Way {
        look(line.as_bytes(), &Message::read(line.as_bytes()).unwrap(), &mut known())
    }

    #[track_caller]
    fn passes(line: &str) {
        assert_eq!(way(line), Way::Pass);
    }

    #[track_caller]
    fn becomes(line: &str, expected: &str) {
        let Way::Mended { line, .. } = way(line) else { panic!("{:?}", way(line)) };
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn what_is_fine_or_unknown_passes() {
        passes(r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":{ "a" : 1 }}}"#);
        passes(r#"{"id":1,"method":"tools/call","params":{"name":"other","arguments":{"a":"1"}}}"#);
        passes(r#"{"id":1,"method":"tools/call","params":{"name":"ping"}}"#);
        passes(r#"{"id":1,"method":"resources/read","params":{"name":"sum","arguments":{"a":"1"}}}"#);
        passes(r#"{"method":"tools/call","params":{"name":"sum","arguments":{"a":"1"}}}"#);
        passes(r#"{"id":1,"method":"tools/call","params":[]}"#);
    }

    #[test]
    fn only_name_and_arguments_change() {
        becomes(
            "{\"id\":1, \"method\":\"tools/call\",\"params\":{\"_meta\":{\"p\":1},\"arguments\":{\"A\":\"1\"},\"name\":\"Sum\"}}\n",
            "{\"id\":1, \"method\":\"tools/call\",\"params\":{\"_meta\":{\"p\":1},\"arguments\":{\"a\":1},\"name\":\"sum\"}}\n",
        );
        becomes(
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":"{'a': 1,\n}"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":1}}}"#,
        );
        becomes(
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
            let Way::Answer { line: answer, .. } = way(line) else { panic!("{line}: {:?}", way(line)) };
            let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["id"], "x");
            assert_eq!(answer["result"]["isError"], true);
            assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("sum"));
        }
    }

    #[test]
    fn pages_add_up_and_a_new_list_replaces_them() {
        let mut known = known();
        let mut list = |params: &str, tool: &str| {
            let ask = format!(r#"{{"id":8,"method":"tools/list","params":{params}}}"#);
            look(ask.as_bytes(), &Message::read(ask.as_bytes()).unwrap(), &mut known);
            let told = format!(r#"{{"id":8,"result":{{"tools":[{{"name":"{tool}","inputSchema":{{}}}}]}}}}"#);
            known.learn(&Message::read(told.as_bytes()).unwrap());
            known.mender().unwrap().tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(list(r#"{"cursor":"2"}"#, "more"), ["sum", "ping", "more"]);
        assert_eq!(list("{}", "new"), ["new"]);
    }
}
