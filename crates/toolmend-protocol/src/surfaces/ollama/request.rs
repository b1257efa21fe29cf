//! Requests for Ollama's chat, read into neutral terms and written from them.

use std::collections::{HashMap, VecDeque};

use crate::capabilities::Capabilities;
use crate::fields::{read_extra_members, read_flag, read_list, read_sampling, read_schema, read_text};
use crate::json::{Kind, Object, ValueRef, array, quote};
use crate::protocol::Protocol;
use crate::request::{
    Block, Call, Format, Media, Message, Request, Role, Source, Tool, join_texts, push_message,
};
use crate::turn::CallForm;

use super::read_call_extras;

const SAMPLING: &[&str] = Capabilities::of_chat().sampling;
const KNOWN: &[&str] = &["model", "messages", "stream", "tools", "think", "format", "options"];
const OPTIONS: &[&str] = &["num_predict", "stop"];

pub(super) fn decode_request(root: ValueRef<'_>) -> Request {
    let mut request = Request {
        model: root.get_lossy_text("model").unwrap_or_default().into_owned(),
        stream: read_flag(root, "stream").unwrap_or(true),
        ..Request::default()
    };
    if let Some(think) = root.get_non_null("think") {
        match think.lossy_text() {
            Some(effort) => request.thinking.effort = Some(effort.into_owned()),
            None => request.thinking.on = Some(think.is_true()),
        }
    }
    request.format = root.get_non_null("format").and_then(|format| match format.kind() {
        Kind::Object => Some(Format::Schema { name: None, schema: format.raw().to_owned(), strict: None }),
        _ => (format.lossy_text().as_deref() == Some("json")).then_some(Format::Json),
    });
    // Older clients send no ids: their calls are known by their position.
    let mut unanswered = UnansweredCalls::default();
    let mut calls = 0;
    for message in read_list(root, "messages") {
        push_message(&mut request.messages, read_message(message, &mut unanswered, &mut calls));
    }
    request.tools = read_list(root, "tools").map(read_tool).collect();
    if let Some(options) = root.get_non_null("options").filter(|options| options.is_object()) {
        read_sampling(options, SAMPLING, &mut request);
        request.limit = options.get("num_predict").and_then(ValueRef::number);
        request.stop =
            read_list(options, "stop").filter_map(|stop| Some(stop.lossy_text()?.into_owned())).collect();
        let mut more = Request::default();
        read_extra_members(options, Protocol::OllamaChat, &[SAMPLING, OPTIONS].concat(), &mut more);
        for (protocol, name, raw) in more.extra {
            request.extra.push((protocol, format!("options.{name}"), raw));
        }
    }
    read_extra_members(root, Protocol::OllamaChat, KNOWN, &mut request);
    request
}

fn read_message(message: ValueRef<'_>, unanswered: &mut UnansweredCalls, calls: &mut usize) -> Message {
    let content = read_text(message, "content").map(Block::Text);
    match message.get_lossy_text("role").as_deref() {
        Some("system") => Message::new(Role::System, content.into_iter().collect()),
        Some("assistant") => {
            let mut blocks: Vec<Block> = read_text(message, "thinking")
                .map(|text| Block::Reasoning { text, seal: None })
                .into_iter()
                .chain(content)
                .collect();
            for call in read_list(message, "tool_calls") {
                let function = call.get_non_null("function").unwrap_or(call);
                let id = read_text(call, "id").unwrap_or_else(|| format!("call_{calls}"));
                *calls += 1;
                let name = read_text(function, "name").unwrap_or_default();
                unanswered.add(&id, &name);
                let arguments = function.get_non_null("arguments").map_or_else(String::new, |arguments| {
                    arguments
                        .text_with_escapes()
                        .map_or_else(|| arguments.raw().to_owned(), std::borrow::Cow::into_owned)
                });
                let extras = read_call_extras(call).into_portable();
                blocks.push(Block::Call(Call { id, name, form: CallForm::Function, arguments, extras }));
            }
            Message::new(Role::Assistant, blocks)
        }
        Some("tool") => {
            let name = read_text(message, "tool_name").or_else(|| read_text(message, "name"));
            let given = read_text(message, "tool_call_id");
            let known = unanswered.take(given.as_deref(), name.as_deref());
            let id = given.or(known).unwrap_or_default();
            let content = content.into_iter().collect();
            let result = Block::Result { id, name, content, error: false, custom: false };
            Message::new(Role::Tool, vec![result])
        }
        _ => {
            let images = read_list(message, "images").filter_map(ValueRef::lossy_text).map(|data| {
                let source =
                    Source::Base64 { kind: image_type_of(&data).to_owned(), data: data.into_owned() };
                Block::Image(Media { source, name: None, detail: None })
            });
            Message::new(Role::User, content.into_iter().chain(images).collect())
        }
    }
}

/// Calls without a result so far, in order. Results rarely say whose they are. A history may have any number of both, so nothing is
/// searched for from the beginning.
#[derive(Debug, Default)]
struct UnansweredCalls {
    ids: Vec<String>,
    is_answered: Vec<bool>,
    all: Queue,
    by_id: HashMap<String, Queue>,
    by_tool: HashMap<String, Queue>,
}

/// Positions of calls, some of which may have been answered in the meantime.
type Queue = VecDeque<usize>;

impl UnansweredCalls {
    fn add(&mut self, id: &str, tool: &str) {
        let at = self.ids.len();
        self.ids.push(id.to_owned());
        self.is_answered.push(false);
        self.all.push_back(at);
        self.by_id.entry(id.to_owned()).or_default().push_back(at);
        self.by_tool.entry(tool.to_owned()).or_default().push_back(at);
    }

    /// Takes the first call that a result can belong to: with this id, otherwise of this tool, otherwise any. Returns its id.
    fn take(&mut self, id: Option<&str>, tool: Option<&str>) -> Option<String> {
        let queue = match (id, tool) {
            (Some(id), _) => self.by_id.get_mut(id)?,
            (None, Some(tool)) => self.by_tool.get_mut(tool)?,
            (None, None) => &mut self.all,
        };
        while let Some(at) = queue.pop_front() {
            if !std::mem::replace(&mut self.is_answered[at], true) {
                return Some(self.ids[at].clone());
            }
        }
        None
    }
}

#[test]
fn results_belong_to_the_first_call_that_is_left() {
    let mut calls = UnansweredCalls::default();
    for (id, tool) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a")] {
        calls.add(id, tool);
    }
    assert_eq!(calls.take(Some("3"), Some("b")).as_deref(), Some("3"));
    assert_eq!(calls.take(None, Some("a")).as_deref(), Some("1"));
    assert_eq!(calls.take(None, Some("a")).as_deref(), Some("4"));
    assert_eq!(calls.take(None, Some("a")), None);
    assert_eq!(calls.take(Some("9"), None), None);
    assert_eq!(calls.take(None, None).as_deref(), Some("2"));
    assert_eq!(calls.take(None, None), None);
}

/// Returns the media type of an image, judged by the beginning of its data.
fn image_type_of(data: &str) -> &'static str {
    match data.get(..4) {
        Some("/9j/") => "image/jpeg",
        Some("R0lG") => "image/gif",
        Some("UklG") => "image/webp",
        _ => "image/png",
    }
}

fn read_tool(tool: ValueRef<'_>) -> Tool {
    let function = tool.get_non_null("function").unwrap_or(tool);
    Tool::Function {
        name: read_text(function, "name").unwrap_or_default(),
        group: None,
        description: read_text(function, "description"),
        schema: read_schema(function.get("parameters")),
        strict: None,
    }
}

/// Writes a request that holds nothing beyond the capabilities.
pub(super) fn encode_request(request: &Request) -> String {
    let mut messages = Vec::new();
    for message in &request.messages {
        write_message(message, &mut messages);
    }
    let mut out = Object::new()
        .text("model", &request.model)
        .raw("messages", array(messages))
        .raw("stream", request.stream.to_string());
    if !request.tools.is_empty() {
        out = out.raw("tools", array(request.tools.iter().map(tool_json)));
    }
    out = match (&request.thinking.effort, request.thinking.on) {
        (Some(effort), _) => out.text("think", effort),
        (None, on) => out.maybe("think", on.map(|on| on.to_string())),
    };
    out = match &request.format {
        Some(Format::Json) => out.text("format", "json"),
        Some(Format::Schema { schema, .. }) => out.raw("format", schema),
        None => out,
    };
    let mut options = Object::new();
    for (name, value) in &request.sampling {
        options = options.raw(name, value);
    }
    options = options.maybe("num_predict", request.limit.map(|limit| limit.to_string()));
    if !request.stop.is_empty() {
        options = options.raw("stop", array(request.stop.iter().map(|stop| quote(stop))));
    }
    for (_, name, value) in &request.extra {
        match name.strip_prefix("options.") {
            Some(name) => options = options.raw(name, value),
            None => out = out.raw(name, value),
        }
    }
    let options = options.end();
    if options != "{}" {
        out = out.raw("options", options);
    }
    out.end()
}

pub(super) fn write_message(message: &Message, out: &mut Vec<String>) {
    if message.role == Role::Tool {
        for block in &message.blocks {
            if let Block::Result { id, name, content, .. } = block {
                let object = Object::new().text("role", "tool").text("content", join_texts(content));
                let object = object.maybe_text("tool_name", name.as_ref());
                out.push(object.text("tool_call_id", id).end());
            }
        }
        return;
    }
    let mut object = Object::new().text("role", message.role.name()).text("content", message.joined_text());
    let (mut images, mut calls) = (Vec::new(), Vec::new());
    for block in &message.blocks {
        match block {
            Block::Image(Media { source: Source::Base64 { data, .. }, .. }) => images.push(quote(data)),
            Block::Reasoning { text, .. } => object = object.text("thinking", text),
            Block::Call(call) => {
                let arguments = if call.arguments.is_empty() { "{}" } else { &call.arguments };
                let function = Object::new().text("name", &call.name).raw("arguments", arguments).end();
                let outer = Object::new().text("id", &call.id).raw("function", function);
                calls.push(call.extras.outer.write_to(outer).end());
            }
            _ => {}
        }
    }
    if !images.is_empty() {
        object = object.raw("images", array(images));
    }
    if !calls.is_empty() {
        object = object.raw("tool_calls", array(calls));
    }
    out.push(object.end());
}

fn tool_json(tool: &Tool) -> String {
    match tool {
        Tool::Function { name, description, schema, .. } => {
            let function = Object::new()
                .text("name", name)
                .maybe_text("description", description.as_ref())
                .raw("parameters", schema);
            Object::new().text("type", "function").raw("function", function.end()).end()
        }
        Tool::Custom { .. } => "null".to_owned(),
        Tool::Hosted { raw, .. } => raw.clone(),
    }
}
