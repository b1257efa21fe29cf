//! Requests for chat completions, read into neutral terms and written from them.

use crate::capabilities::Capabilities;
use crate::fields::{
    file_by_id, read_content, read_extra_members, read_flag, read_list, read_sampling, read_schema,
    read_text, unknown_part,
};
use crate::json::{Kind, Object, ValueRef, array, quote};
use crate::protocol::Protocol;
use crate::request::{
    Block, Call, Format, Media, Message, Request, Role, Source, Tool, ToolChoice, Untranslatable, join_texts,
    push_message,
};
use crate::turn::CallForm;

use super::{read_call_extras, read_reasoning};

const SAMPLING: &[&str] = Capabilities::of_chat().sampling;
const KNOWN: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "reasoning_effort",
    "response_format",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "n",
    "store",
];

pub(super) fn decode_request(root: ValueRef<'_>) -> Result<Request, Untranslatable> {
    if root.get("n").and_then(ValueRef::number).is_some_and(|n| n > 1) {
        return Err(Untranslatable::new(
            "n: expected 1, because a server that speaks another protocol gives one answer at a time",
        ));
    }
    let mut request = Request {
        model: root.get_lossy_text("model").unwrap_or_default().into_owned(),
        stream: read_flag(root, "stream").unwrap_or(false),
        wants_usage: root
            .get_non_null("stream_options")
            .and_then(|options| read_flag(options, "include_usage"))
            .unwrap_or(false),
        parallel_calls: read_flag(root, "parallel_tool_calls"),
        limit: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| root.get(name).and_then(ValueRef::number)),
        user: read_text(root, "user").or_else(|| read_text(root, "safety_identifier")),
        cache_key: read_text(root, "prompt_cache_key"),
        ..Request::default()
    };
    request.thinking.effort = read_text(root, "reasoning_effort");
    request.stop = match root.get_non_null("stop").map(|stop| (stop, stop.lossy_text())) {
        Some((_, Some(one))) => vec![one.into_owned()],
        Some((many, None)) => many.items().filter_map(|stop| Some(stop.lossy_text()?.into_owned())).collect(),
        None => Vec::new(),
    };
    request.format =
        root.get_non_null("response_format").and_then(|format| match &*format.get_lossy_text("type")? {
            "json_object" => Some(Format::Json),
            "json_schema" => {
                let inner = format.get_non_null("json_schema")?;
                Some(Format::Schema {
                    name: read_text(inner, "name"),
                    schema: read_schema(inner.get("schema")),
                    strict: read_flag(inner, "strict"),
                })
            }
            _ => None,
        });
    for message in read_list(root, "messages") {
        push_message(&mut request.messages, read_message(message)?);
    }
    request.tools = read_list(root, "tools").map(read_tool).collect();
    request.tools.extend(read_list(root, "functions").map(read_function));
    request.tool_choice = root
        .get_non_null("tool_choice")
        .or_else(|| root.get_non_null("function_call"))
        .and_then(read_tool_choice);
    read_sampling(root, SAMPLING, &mut request);
    read_extra_members(root, Protocol::Chat, &[KNOWN, SAMPLING].concat(), &mut request);
    Ok(request)
}

fn read_message(message: ValueRef<'_>) -> Result<Message, Untranslatable> {
    let role = message.get_lossy_text("role").unwrap_or_default();
    let mut blocks = read_content(message.get("content"), read_part)?;
    let role = match &*role {
        "system" => Role::System,
        "developer" => Role::Developer,
        "assistant" => {
            if let Some((_, text)) = read_reasoning(message) {
                blocks.insert(0, Block::Reasoning { text, seal: None });
            }
            blocks.extend(read_text(message, "refusal").map(Block::Text));
            let deprecated = message.get_non_null("function_call");
            blocks.extend(
                read_list(message, "tool_calls").chain(deprecated).map(|call| Block::Call(read_call(call))),
            );
            Role::Assistant
        }
        "tool" | "function" => {
            let id =
                read_text(message, "tool_call_id").or_else(|| read_text(message, "name")).unwrap_or_default();
            let result = Block::Result { id, name: None, content: blocks, error: false, custom: false };
            return Ok(Message::new(Role::Tool, vec![result]));
        }
        _ => Role::User,
    };
    Ok(Message::new(role, blocks))
}

fn read_part(part: ValueRef<'_>) -> Result<Option<Block>, Untranslatable> {
    let kind = part.get_lossy_text("type").unwrap_or_default();
    Ok(match &*kind {
        "text" => read_text(part, "text").map(Block::Text),
        "refusal" => read_text(part, "refusal").map(Block::Text),
        "image_url" => part.get_non_null("image_url").map(|image| {
            let url = image.lossy_text().or_else(|| image.get_lossy_text("url")).unwrap_or_default();
            Block::Image(Media {
                source: Source::from_url(&url),
                name: None,
                detail: read_text(image, "detail"),
            })
        }),
        "file" => {
            let file = part.get_non_null("file").ok_or_else(|| unknown_part("file"))?;
            let data = read_text(file, "file_data").ok_or_else(file_by_id)?;
            let source = Source::from_url(&data);
            Some(Block::File(Media { source, name: read_text(file, "filename"), detail: None }))
        }
        other => return Err(unknown_part(other)),
    })
}

fn read_call(call: ValueRef<'_>) -> Call {
    let custom = call.get_non_null("custom");
    let inner = custom.or_else(|| call.get_non_null("function")).unwrap_or(call);
    let arguments = inner.get(if custom.is_some() { "input" } else { "arguments" });
    let arguments = arguments.map(|arguments| match arguments.kind() {
        Kind::Null => String::new(),
        _ => arguments
            .text_with_escapes()
            .map_or_else(|| arguments.raw().to_owned(), std::borrow::Cow::into_owned),
    });
    let name = read_text(inner, "name").unwrap_or_default();
    Call {
        id: read_text(call, "id").unwrap_or_else(|| name.clone()),
        name,
        form: if custom.is_some() { CallForm::Custom } else { CallForm::Function },
        arguments: arguments.unwrap_or_default(),
        extras: read_call_extras(call).into_portable(),
    }
}

fn read_tool(tool: ValueRef<'_>) -> Tool {
    let kind = tool.get_lossy_text("type").unwrap_or_default();
    if let Some(custom) = tool.get_non_null("custom").filter(|_| kind == "custom") {
        return Tool::Custom {
            name: read_text(custom, "name").unwrap_or_default(),
            description: read_text(custom, "description"),
            format: custom.get_non_null("format").map(|format| format.raw().to_owned()),
        };
    }
    match tool.get_non_null("function") {
        Some(inner) => read_function(inner),
        None if tool.get("parameters").is_some() => read_function(tool),
        None => {
            Tool::Hosted { protocol: Protocol::Chat, name: kind.into_owned(), raw: tool.raw().to_owned() }
        }
    }
}

fn read_function(function: ValueRef<'_>) -> Tool {
    Tool::Function {
        name: read_text(function, "name").unwrap_or_default(),
        group: None,
        description: read_text(function, "description"),
        schema: read_schema(function.get("parameters")),
        strict: read_flag(function, "strict"),
    }
}

/// Reads a tool choice of chat completions or responses, which leave out the inner objects.
pub(in crate::surfaces) fn read_tool_choice(choice: ValueRef<'_>) -> Option<ToolChoice> {
    if let Some(word) = choice.lossy_text() {
        return match &*word {
            "none" => Some(ToolChoice::None),
            "auto" => Some(ToolChoice::Auto),
            "required" | "any" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    let kind = choice.get_lossy_text("type").unwrap_or_default();
    if kind == "allowed_tools" {
        let inner = choice.get_non_null("allowed_tools").unwrap_or(choice);
        let names = read_list(inner, "tools").filter_map(read_inner_name).collect();
        let required = inner.get_lossy_text("mode").as_deref() == Some("required");
        return Some(ToolChoice::Allowed { names, required });
    }
    let form = if kind == "custom" { CallForm::Custom } else { CallForm::Function };
    read_inner_name(choice).map(|name| ToolChoice::Tool(name, form))
}

fn read_inner_name(view: ValueRef<'_>) -> Option<String> {
    let inner = view
        .get_non_null("function")
        .or_else(|| view.get_non_null("custom"))
        .filter(|inner| inner.is_object());
    read_text(inner.unwrap_or(view), "name")
}

/// Writes a request that holds nothing beyond the capabilities. Vendors have a newer word for the token limit.
pub(super) fn encode_request(request: &Request, vendor: bool) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in &request.messages {
        write_message(message, &mut messages);
    }
    let limit = request.limit.map(|limit| limit.to_string());
    let mut out = Object::new().text("model", &request.model).raw("messages", array(messages));
    if request.stream {
        out = out.raw("stream", "true").raw("stream_options", r#"{"include_usage":true}"#);
    }
    out = out.maybe(if vendor { "max_completion_tokens" } else { "max_tokens" }, limit);
    if !request.tools.is_empty() {
        out = out.raw("tools", array(request.tools.iter().map(tool_json)));
    }
    out = out
        .maybe("tool_choice", request.tool_choice.as_ref().map(choice_json))
        .maybe("parallel_tool_calls", request.parallel_calls.map(|parallel| parallel.to_string()));
    if !request.stop.is_empty() {
        out = out.raw("stop", array(request.stop.iter().map(|stop| quote(stop))));
    }
    for (name, value) in &request.sampling {
        out = out.raw(name, value);
    }
    out = out
        .maybe_text("reasoning_effort", request.thinking.effort.as_ref())
        .maybe("response_format", request.format.as_ref().map(format_json));
    request.write_shared_members(out).end()
}

pub(super) fn write_message(message: &Message, out: &mut Vec<String>) {
    if message.role == Role::Tool {
        for block in &message.blocks {
            if let Block::Result { id, content, .. } = block {
                let text = join_texts(content);
                let object = Object::new().text("role", "tool").text("tool_call_id", id);
                out.push(object.text("content", text).end());
            }
        }
        return;
    }
    let mut object = Object::new().text("role", message.role.name());
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    let mut reasoning = None;
    for block in &message.blocks {
        match block {
            Block::Text(text) => parts.push(Object::new().text("type", "text").text("text", text).end()),
            Block::Image(media) => parts.push(image_json(media)),
            Block::File(media) => {
                let file = Object::new().maybe_text("filename", media.name.as_ref());
                let file = file.text("file_data", media.source.to_url()).end();
                parts.push(Object::new().text("type", "file").raw("file", file).end());
            }
            Block::Reasoning { text, .. } => reasoning = Some(text),
            Block::Call(call) => calls.push(call_json(call)),
            Block::Result { .. } => {}
        }
    }
    object = match message.blocks.iter().all(|block| !matches!(block, Block::Image(_) | Block::File(_))) {
        true if parts.is_empty() && message.role == Role::Assistant => object.raw("content", "null"),
        true => object.text("content", message.joined_text()),
        false => object.raw("content", array(parts)),
    };
    object = object.maybe_text("reasoning_content", reasoning);
    if !calls.is_empty() {
        object = object.raw("tool_calls", array(calls));
    }
    out.push(object.end());
}

fn image_json(media: &Media) -> String {
    let image =
        Object::new().text("url", media.source.to_url()).maybe_text("detail", media.detail.as_ref()).end();
    Object::new().text("type", "image_url").raw("image_url", image).end()
}

fn call_json(call: &Call) -> String {
    let function = Object::new().text("name", &call.name).text("arguments", &call.arguments).end();
    let outer = Object::new().text("id", &call.id).text("type", "function").raw("function", function);
    call.extras.outer.write_to(outer).end()
}

fn tool_json(tool: &Tool) -> String {
    match tool {
        Tool::Function { name, description, schema, strict, .. } => {
            let function = Object::new()
                .text("name", name)
                .maybe_text("description", description.as_ref())
                .raw("parameters", schema)
                .maybe("strict", strict.map(|strict| strict.to_string()));
            Object::new().text("type", "function").raw("function", function.end()).end()
        }
        Tool::Custom { name, description, format } => {
            let custom = Object::new()
                .text("name", name)
                .maybe_text("description", description.as_ref())
                .maybe("format", format.as_ref());
            Object::new().text("type", "custom").raw("custom", custom.end()).end()
        }
        Tool::Hosted { raw, .. } => raw.clone(),
    }
}

fn choice_json(choice: &ToolChoice) -> String {
    match choice {
        ToolChoice::Tool(name, _) => {
            let function = Object::new().text("name", name).end();
            Object::new().text("type", "function").raw("function", function).end()
        }
        other => quote(other.word().unwrap_or("auto")),
    }
}

fn format_json(format: &Format) -> String {
    match format {
        Format::Json => r#"{"type":"json_object"}"#.to_owned(),
        Format::Schema { name, schema, strict } => {
            let inner = Object::new()
                .maybe_text("name", name.as_ref())
                .raw("schema", schema)
                .maybe("strict", strict.map(|strict| strict.to_string()));
            Object::new().text("type", "json_schema").raw("json_schema", inner.end()).end()
        }
    }
}
