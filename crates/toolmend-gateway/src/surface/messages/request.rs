//! A request for a message, read into neutral terms and written from them.

use crate::translate::fit::{from_base64, to_base64};
use crate::translate::read::{content, extras, file_id, flag, knobs, list, schema, text, unknown_part};
use crate::translate::request::{
    Block, Call, Choice, Form, Format, Losses, Media, Message, Refused, Request, Role, Seal, Source, Tool,
    Wire,
};
use crate::wire::doc::{View, array, quote};
use crate::wire::write::Object;

const KNOBS: &[&str] = &["temperature", "top_p", "top_k"];
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

pub(crate) fn decode(root: View<'_>, losses: &mut Losses) -> Result<Request, Refused> {
    let mut request = Request {
        model: root.get_text("model").unwrap_or_default().into_owned(),
        stream: flag(root, "stream").unwrap_or(false),
        limit: root.get("max_tokens").and_then(View::number),
        stop: list(root, "stop_sequences").filter_map(|stop| Some(stop.text()?.into_owned())).collect(),
        user: root.some("metadata").and_then(|metadata| text(metadata, "user_id")),
        ..Request::default()
    };
    let mut reader = Reader { losses };
    let system = content(root.get("system"), |part| reader.block(part))?;
    if !system.is_empty() {
        request.messages.push(Message::new(Role::System, system));
    }
    for message in list(root, "messages") {
        reader.message(message, &mut request.messages)?;
    }
    for tool in list(root, "tools") {
        request.tools.push(reader.tool(tool));
    }
    if let Some(choice) = root.some("tool_choice") {
        request.choice = match choice.get_text("type").as_deref() {
            Some("auto") => Some(Choice::Auto),
            Some("any") => Some(Choice::Required),
            Some("none") => Some(Choice::None),
            Some("tool") => text(choice, "name").map(|name| Choice::Tool(name, Form::Function)),
            _ => None,
        };
        request.parallel = flag(choice, "disable_parallel_tool_use").map(|disabled| !disabled);
    }
    if let Some(thinking) = root.some("thinking") {
        match thinking.get_text("type").as_deref() {
            Some("enabled") => {
                request.thinking.on = Some(true);
                request.thinking.budget = thinking.get("budget_tokens").and_then(View::number);
            }
            Some("disabled") => request.thinking.on = Some(false),
            // The model decides, as it does where nothing is said.
            _ => request.extra.push((Wire::Messages, "thinking".to_owned(), thinking.raw().to_owned())),
        }
    }
    if let Some(output) = root.some("output_config") {
        request.thinking.effort = text(output, "effort");
        request.format = output.some("format").and_then(|format| {
            let schema = format.some("schema")?.raw().to_owned();
            Some(Format::Schema { name: None, schema, strict: None })
        });
    }
    knobs(root, KNOBS, &mut request);
    extras(root, Wire::Messages, &[KNOWN, KNOBS].concat(), &mut request);
    Ok(request)
}

struct Reader<'l> {
    losses: &'l mut Losses,
}

impl Reader<'_> {
    fn message(&mut self, message: View<'_>, out: &mut Vec<Message>) -> Result<(), Refused> {
        let blocks = content(message.get("content"), |part| self.block(part))?;
        match message.get_text("role").as_deref() {
            Some("system") => out.push(Message::new(Role::System, blocks)),
            Some("assistant") => out.push(Message::new(Role::Assistant, blocks)),
            _ => {
                // Results are words of the user here; they answer the turn before, so they come first.
                let (results, said): (Vec<_>, Vec<_>) =
                    blocks.into_iter().partition(|block| matches!(block, Block::Result { .. }));
                for (role, blocks) in [(Role::Tool, results), (Role::User, said)] {
                    if !blocks.is_empty() {
                        out.push(Message::new(role, blocks));
                    }
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, block: View<'_>) -> Result<Option<Block>, Refused> {
        if block.some("cache_control").is_some() {
            self.losses.add("cache_control");
        }
        let kind = block.get_text("type").unwrap_or_default();
        Ok(match &*kind {
            "text" => text(block, "text").map(Block::Text),
            "image" => Some(Block::Image(media(block)?)),
            "document" => match block.some("source").and_then(|source| source.get("content")) {
                Some(parts) => {
                    let inner = content(Some(parts), |part| self.block(part))?;
                    Some(Block::Text(crate::translate::request::joined(&inner)))
                }
                None => Some(Block::File(media(block)?)),
            },
            "search_result" => {
                let inner = content(block.get("content"), |part| self.block(part))?;
                let body = crate::translate::request::joined(&inner);
                let head = [text(block, "title"), text(block, "source")].into_iter().flatten();
                let head: Vec<String> = head.collect();
                Some(Block::Text(format!("{}\n\n{body}", head.join("\n"))))
            }
            "thinking" => Some(Block::Reasoning {
                text: text(block, "thinking").unwrap_or_default(),
                seal: text(block, "signature").map(|data| seal(data, false)),
            }),
            "redacted_thinking" => {
                let seal = text(block, "data").map(|data| seal(data, true));
                Some(Block::Reasoning { text: String::new(), seal })
            }
            "tool_use" => Some(Block::Call(Call {
                id: text(block, "id").unwrap_or_default(),
                name: text(block, "name").unwrap_or_default(),
                form: Form::Function,
                arguments: block.some("input").map_or_else(String::new, |input| input.raw().to_owned()),
            })),
            "tool_result" => Some(Block::Result {
                id: text(block, "tool_use_id").unwrap_or_default(),
                name: None,
                content: content(block.get("content"), |part| self.block(part))?,
                error: flag(block, "is_error").unwrap_or(false),
                custom: false,
            }),
            "server_tool_use" | "tool_reference" | "container_upload" => {
                self.losses.add(kind);
                None
            }
            other if other.ends_with("_tool_result") => {
                self.losses.add(other);
                None
            }
            other => return Err(unknown_part(other)),
        })
    }

    fn tool(&mut self, tool: View<'_>) -> Tool {
        for (name, told) in [("cache_control", "cache_control"), ("input_examples", "input_examples")] {
            if tool.some(name).is_some() {
                self.losses.add(told);
            }
        }
        let name = text(tool, "name").unwrap_or_default();
        let kind = tool.get_text("type").unwrap_or_default();
        let known = TYPED.iter().find(|(prefix, _)| kind.starts_with(prefix)).map(|(_, schema)| *schema);
        let own = tool.some("input_schema");
        if own.is_none() && known.is_none() && !matches!(&*kind, "" | "custom") {
            let name = if name.is_empty() { kind.into_owned() } else { name };
            return Tool::Hosted { wire: Wire::Messages, name, raw: tool.raw().to_owned() };
        }
        Tool::Function {
            name,
            group: None,
            description: text(tool, "description"),
            schema: own
                .map_or_else(|| known.map_or_else(|| schema(None), str::to_owned), |own| schema(Some(own))),
            strict: flag(tool, "strict"),
        }
    }
}

/// Tools that clients run and whose schemas only the vendor writes down.
const TYPED: &[(&str, &str)] = &[
    ("bash_", r#"{"type":"object","properties":{"command":{"type":"string"},"restart":{"type":"boolean"}}}"#),
    (
        "text_editor_",
        r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string"},"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"},"view_range":{"type":"array","items":{"type":"integer"}}},"required":["command","path"]}"#,
    ),
];

fn seal(data: String, hidden: bool) -> Seal {
    Seal { wire: Wire::Messages, data, hidden }
}

fn media(block: View<'_>) -> Result<Media, Refused> {
    let source = block.some("source").ok_or_else(|| unknown_part("image without a source"))?;
    let field = |name: &str| text(source, name).unwrap_or_default();
    let source = match source.get_text("type").as_deref() {
        Some("base64") => Source::Base64 { kind: field("media_type"), data: field("data") },
        Some("url") => Source::Url(field("url")),
        Some("text") => Source::Base64 { kind: "text/plain".to_owned(), data: to_base64(&field("data")) },
        _ => return Err(file_id()),
    };
    Ok(Media { source, name: text(block, "title"), detail: None })
}

/// Writes a request that is fit for the surface.
pub(crate) fn encode(request: &Request) -> String {
    let mut out = Object::new().text("model", &request.model);
    out = out.number("max_tokens", request.limit.unwrap_or(8192));
    let mut messages: Vec<(&str, Vec<String>)> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let role = match message.role {
            Role::System | Role::Developer if at == 0 => {
                out = out.text("system", message.joined());
                continue;
            }
            Role::System | Role::Developer => "system",
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let blocks = message.blocks.iter().map(block_json);
        match messages.last_mut() {
            // Results and what the user says behind them are one message.
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
    for (name, value) in &request.knobs {
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
        Block::Call(call) => Object::new()
            .text("type", "tool_use")
            .text("id", &call.id)
            .text("name", &call.name)
            .raw("input", if call.arguments.is_empty() { "{}" } else { &call.arguments })
            .end(),
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
            let plain = if kind == "text/plain" { from_base64(data) } else { None };
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
        Tool::Custom { name, .. } => Object::new().text("name", name).raw("input_schema", schema(None)).end(),
        Tool::Hosted { raw, .. } => raw.clone(),
    }
}

/// The choice, which is also the place of the switch for parallel calls.
fn choice_json(request: &Request) -> Option<String> {
    let object = match (&request.choice, request.parallel) {
        (None, None) => return None,
        (None | Some(Choice::Auto | Choice::Allowed { required: false, .. }), _) => {
            Object::new().text("type", "auto")
        }
        (Some(Choice::None), _) => return Some(r#"{"type":"none"}"#.to_owned()),
        (Some(Choice::Required | Choice::Allowed { required: true, .. }), _) => {
            Object::new().text("type", "any")
        }
        (Some(Choice::Tool(name, _)), _) => Object::new().text("type", "tool").text("name", name),
    };
    Some(
        object
            .maybe("disable_parallel_tool_use", request.parallel.map(|parallel| (!parallel).to_string()))
            .end(),
    )
}
