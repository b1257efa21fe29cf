//! Requests for messages, read into neutral terms and written from them.

use crate::fields::{
    file_by_id, read_content, read_extra_members, read_flag, read_list, read_sampling, read_schema,
    read_text, unknown_part,
};
use crate::json::{Object, ValueRef, array, quote};
use crate::protocol::Protocol;
use crate::request::{
    Block, Call, DroppedFields, Format, Media, Message, ReasoningSignature, Request, Role, Source, Tool,
    ToolChoice, Untranslatable, decode_base64, encode_base64, join_texts,
};
use crate::turn::CallForm;

use super::read_call_extras;

pub(super) const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];
const KNOWN: &[&str] = &[
    "model",
    "messages",
    "system",
    "stream",
    "tools",
    "tool_choice",
    "max_tokens",
    "stop_sequences",
    "metadata",
    "thinking",
    "output_config",
];

pub(super) fn decode_request(
    root: ValueRef<'_>,
    dropped: &mut DroppedFields,
) -> Result<Request, Untranslatable> {
    let mut request = Request {
        model: root.get_lossy_text("model").unwrap_or_default().into_owned(),
        stream: read_flag(root, "stream").unwrap_or(false),
        limit: root.get("max_tokens").and_then(ValueRef::number),
        stop: read_list(root, "stop_sequences")
            .filter_map(|stop| Some(stop.lossy_text()?.into_owned()))
            .collect(),
        user: root.get_non_null("metadata").and_then(|metadata| read_text(metadata, "user_id")),
        ..Request::default()
    };
    let mut reader = RequestReader { dropped };
    let system = read_content(root.get("system"), |part| reader.read_block(part))?;
    if !system.is_empty() {
        request.messages.push(Message::new(Role::System, system));
    }
    for message in read_list(root, "messages") {
        reader.read_message(message, &mut request.messages)?;
    }
    for tool in read_list(root, "tools") {
        request.tools.push(reader.read_tool(tool));
    }
    if let Some(choice) = root.get_non_null("tool_choice") {
        request.tool_choice = match choice.get_lossy_text("type").as_deref() {
            Some("auto") => Some(ToolChoice::Auto),
            Some("any") => Some(ToolChoice::Required),
            Some("none") => Some(ToolChoice::None),
            Some("tool") => read_text(choice, "name").map(|name| ToolChoice::Tool(name, CallForm::Function)),
            _ => None,
        };
        request.parallel_calls = read_flag(choice, "disable_parallel_tool_use").map(|disabled| !disabled);
    }
    if let Some(thinking) = root.get_non_null("thinking") {
        match thinking.get_lossy_text("type").as_deref() {
            Some("enabled") => {
                request.thinking.on = Some(true);
                request.thinking.budget = thinking.get("budget_tokens").and_then(ValueRef::number);
            }
            Some("disabled") => request.thinking.on = Some(false),
            // The model decides, which is also the default.
            _ => request.extra.push((Protocol::Messages, "thinking".to_owned(), thinking.raw().to_owned())),
        }
    }
    if let Some(output) = root.get_non_null("output_config") {
        request.thinking.effort = read_text(output, "effort");
        request.format = output.get_non_null("format").and_then(|format| {
            let schema = format.get_non_null("schema")?.raw().to_owned();
            Some(Format::Schema { name: None, schema, strict: None })
        });
    }
    read_sampling(root, SAMPLING, &mut request);
    read_extra_members(root, Protocol::Messages, &[KNOWN, SAMPLING].concat(), &mut request);
    Ok(request)
}

struct RequestReader<'l> {
    dropped: &'l mut DroppedFields,
}

impl RequestReader<'_> {
    fn read_message(&mut self, message: ValueRef<'_>, out: &mut Vec<Message>) -> Result<(), Untranslatable> {
        let blocks = read_content(message.get("content"), |part| self.read_block(part))?;
        match message.get_lossy_text("role").as_deref() {
            Some("system") => out.push(Message::new(Role::System, blocks)),
            Some("assistant") => out.push(Message::new(Role::Assistant, blocks)),
            _ => {
                // Results are part of the user's message here. They answer the turn before, so they come first.
                let (results, rest): (Vec<_>, Vec<_>) =
                    blocks.into_iter().partition(|block| matches!(block, Block::Result { .. }));
                for (role, blocks) in [(Role::Tool, results), (Role::User, rest)] {
                    if !blocks.is_empty() {
                        out.push(Message::new(role, blocks));
                    }
                }
            }
        }
        Ok(())
    }

    fn read_block(&mut self, block: ValueRef<'_>) -> Result<Option<Block>, Untranslatable> {
        if block.get_non_null("cache_control").is_some() {
            self.dropped.add("cache_control");
        }
        let kind = block.get_lossy_text("type").unwrap_or_default();
        Ok(match &*kind {
            "text" => read_text(block, "text").map(Block::Text),
            "image" => Some(Block::Image(read_media(block)?)),
            "document" => match block.get_non_null("source").and_then(|source| source.get("content")) {
                Some(parts) => {
                    let inner = read_content(Some(parts), |part| self.read_block(part))?;
                    Some(Block::Text(join_texts(&inner)))
                }
                None => Some(Block::File(read_media(block)?)),
            },
            "search_result" => {
                let inner = read_content(block.get("content"), |part| self.read_block(part))?;
                let body = join_texts(&inner);
                let head = [read_text(block, "title"), read_text(block, "source")].into_iter().flatten();
                let head: Vec<String> = head.collect();
                Some(Block::Text(format!("{}\n\n{body}", head.join("\n"))))
            }
            "thinking" => Some(Block::Reasoning {
                text: read_text(block, "thinking").unwrap_or_default(),
                seal: read_text(block, "signature").map(|data| new_seal(data, false)),
            }),
            "redacted_thinking" => {
                let seal = read_text(block, "data").map(|data| new_seal(data, true));
                Some(Block::Reasoning { text: String::new(), seal })
            }
            "tool_use" => Some(Block::Call(Call {
                id: read_text(block, "id").unwrap_or_default(),
                name: read_text(block, "name").unwrap_or_default(),
                form: CallForm::Function,
                arguments: block
                    .get_non_null("input")
                    .map_or_else(String::new, |input| input.raw().to_owned()),
                extras: read_call_extras(block).into_portable(),
            })),
            "tool_result" => Some(Block::Result {
                id: read_text(block, "tool_use_id").unwrap_or_default(),
                name: None,
                content: read_content(block.get("content"), |part| self.read_block(part))?,
                error: read_flag(block, "is_error").unwrap_or(false),
                custom: false,
            }),
            "server_tool_use" | "tool_reference" | "container_upload" => {
                self.dropped.add(kind);
                None
            }
            other if other.ends_with("_tool_result") => {
                self.dropped.add(other);
                None
            }
            other => return Err(unknown_part(other)),
        })
    }

    fn read_tool(&mut self, tool: ValueRef<'_>) -> Tool {
        for name in ["cache_control", "input_examples"] {
            if tool.get_non_null(name).is_some() {
                self.dropped.add(name);
            }
        }
        let name = read_text(tool, "name").unwrap_or_default();
        let kind = tool.get_lossy_text("type").unwrap_or_default();
        let known =
            VENDOR_TOOLS.iter().find(|(prefix, _)| kind.starts_with(prefix)).map(|(_, schema)| *schema);
        let own = tool.get_non_null("input_schema");
        if own.is_none() && known.is_none() && !matches!(&*kind, "" | "custom") {
            let name = if name.is_empty() { kind.into_owned() } else { name };
            return Tool::Hosted { protocol: Protocol::Messages, name, raw: tool.raw().to_owned() };
        }
        Tool::Function {
            name,
            group: None,
            description: read_text(tool, "description"),
            schema: own.map_or_else(
                || known.map_or_else(|| read_schema(None), str::to_owned),
                |own| read_schema(Some(own)),
            ),
            strict: read_flag(tool, "strict"),
        }
    }
}

/// Tools that clients run although requests do not declare their schemas: the beginning of the type, and the schema.
const VENDOR_TOOLS: &[(&str, &str)] = &[
    ("bash_", r#"{"type":"object","properties":{"command":{"type":"string"},"restart":{"type":"boolean"}}}"#),
    (
        "text_editor_",
        r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string"},"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"},"view_range":{"type":"array","items":{"type":"integer"}}},"required":["command","path"]}"#,
    ),
];

fn new_seal(data: String, hidden: bool) -> ReasoningSignature {
    ReasoningSignature { protocol: Protocol::Messages, data, hidden }
}

fn read_media(block: ValueRef<'_>) -> Result<Media, Untranslatable> {
    let source = block.get_non_null("source").ok_or_else(|| unknown_part("image without a source"))?;
    let field = |name: &str| read_text(source, name).unwrap_or_default();
    let source = match source.get_lossy_text("type").as_deref() {
        Some("base64") => Source::Base64 { kind: field("media_type"), data: field("data") },
        Some("url") => Source::Url(field("url")),
        Some("text") => Source::Base64 { kind: "text/plain".to_owned(), data: encode_base64(&field("data")) },
        _ => return Err(file_by_id()),
    };
    Ok(Media { source, name: read_text(block, "title"), detail: None })
}

/// Writes a request that holds nothing beyond the capabilities.
pub(super) fn encode_request(request: &Request) -> String {
    let mut out = Object::new().text("model", &request.model);
    out = out.number("max_tokens", request.limit.unwrap_or(super::DEFAULT_LIMIT));
    let mut messages: Vec<(&str, Vec<String>)> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let role = match message.role {
            Role::System | Role::Developer if at == 0 => {
                out = out.text("system", message.joined_text());
                continue;
            }
            Role::System | Role::Developer => "system",
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let blocks = message.blocks.iter().map(block_json);
        match messages.last_mut() {
            // Results and the user's text after them are one message.
            Some((last, before)) if *last == role && role == "user" => before.extend(blocks),
            _ => messages.push((role, blocks.collect())),
        }
    }
    let messages = messages
        .into_iter()
        .map(|(role, blocks)| Object::new().text("role", role).raw("content", array(blocks)).end());
    out = out.raw("messages", array(messages));
    if request.stream {
        out = out.raw("stream", "true");
    }
    if !request.tools.is_empty() {
        out = out.raw("tools", array(request.tools.iter().map(tool_json)));
    }
    out = out.maybe("tool_choice", choice_json(request));
    if !request.stop.is_empty() {
        out = out.raw("stop_sequences", array(request.stop.iter().map(|stop| quote(stop))));
    }
    for (name, value) in &request.sampling {
        out = out.raw(name, value);
    }
    match (request.thinking.on, request.thinking.budget) {
        (Some(false), _) => out = out.raw("thinking", r#"{"type":"disabled"}"#),
        (_, Some(budget)) => {
            out = out.raw("thinking", format!(r#"{{"type":"enabled","budget_tokens":{budget}}}"#));
        }
        _ => {}
    }
    let format = match &request.format {
        Some(Format::Schema { schema, .. }) => {
            Some(Object::new().text("type", "json_schema").raw("schema", schema).end())
        }
        _ => None,
    };
    if format.is_some() || request.thinking.effort.is_some() {
        let config = Object::new().maybe_text("effort", request.thinking.effort.as_ref());
        out = out.raw("output_config", config.maybe("format", format).end());
    }
    if let Some(user) = &request.user {
        out = out.raw("metadata", Object::new().text("user_id", user).end());
    }
    for (_, name, value) in &request.extra {
        out = out.raw(name, value);
    }
    out.end()
}

/// Writes a turn of the assistant, the user or tools.
pub(super) fn write_message(message: &Message, out: &mut Vec<String>) {
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    let blocks = array(message.blocks.iter().map(block_json));
    out.push(Object::new().text("role", role).raw("content", blocks).end());
}

fn block_json(block: &Block) -> String {
    match block {
        Block::Text(text) => Object::new().text("type", "text").text("text", text).end(),
        Block::Image(media) => {
            Object::new().text("type", "image").raw("source", source_json(&media.source)).end()
        }
        Block::File(media) => Object::new()
            .text("type", "document")
            .raw("source", source_json(&media.source))
            .maybe_text("title", media.name.as_ref())
            .end(),
        Block::Reasoning { text, seal } => match seal {
            Some(seal) if seal.hidden => {
                Object::new().text("type", "redacted_thinking").text("data", &seal.data).end()
            }
            seal => Object::new()
                .text("type", "thinking")
                .text("thinking", text)
                .text("signature", seal.as_ref().map_or("", |seal| seal.data.as_str()))
                .end(),
        },
        Block::Call(call) => {
            let block = Object::new()
                .text("type", "tool_use")
                .text("id", &call.id)
                .text("name", &call.name)
                .raw("input", if call.arguments.is_empty() { "{}" } else { &call.arguments });
            call.extras.outer.write_to(block).end()
        }
        Block::Result { id, content, error, .. } => {
            let out = Object::new().text("type", "tool_result").text("tool_use_id", id);
            let out = out.raw("content", array(content.iter().map(block_json)));
            out.maybe("is_error", error.then_some("true")).end()
        }
    }
}

fn source_json(source: &Source) -> String {
    match source {
        Source::Url(url) => Object::new().text("type", "url").text("url", url).end(),
        Source::Base64 { kind, data } => {
            let plain = if kind == "text/plain" { decode_base64(data) } else { None };
            let (form, data) = match &plain {
                Some(text) => ("text", text),
                None => ("base64", data),
            };
            Object::new().text("type", form).text("media_type", kind).text("data", data).end()
        }
    }
}

fn tool_json(tool: &Tool) -> String {
    match tool {
        Tool::Function { name, description, schema, strict, .. } => Object::new()
            .text("name", name)
            .maybe_text("description", description.as_ref())
            .raw("input_schema", schema)
            .maybe("strict", strict.map(|strict| strict.to_string()))
            .end(),
        Tool::Custom { name, .. } => {
            Object::new().text("name", name).raw("input_schema", read_schema(None)).end()
        }
        Tool::Hosted { raw, .. } => raw.clone(),
    }
}

/// Writes the tool choice, which also holds the switch for parallel calls.
fn choice_json(request: &Request) -> Option<String> {
    let object = match (&request.tool_choice, request.parallel_calls) {
        (None, None) => return None,
        (None | Some(ToolChoice::Auto | ToolChoice::Allowed { required: false, .. }), _) => {
            Object::new().text("type", "auto")
        }
        (Some(ToolChoice::None), _) => return Some(r#"{"type":"none"}"#.to_owned()),
        (Some(ToolChoice::Required | ToolChoice::Allowed { required: true, .. }), _) => {
            Object::new().text("type", "any")
        }
        (Some(ToolChoice::Tool(name, _)), _) => Object::new().text("type", "tool").text("name", name),
    };
    Some(
        object
            .maybe(
                "disable_parallel_tool_use",
                request.parallel_calls.map(|parallel| (!parallel).to_string()),
            )
            .end(),
    )
}
