//! A chat request, read into neutral terms and written from them.

use crate::translate::read::{content, extras, file_id, flag, knobs, list, schema, text, unknown_part};
use crate::translate::request::{
    Block, Call, Choice, Form, Format, Media, Message, Refused, Request, Role, Source, Tool, Wire, push,
};
use crate::wire::doc::{Kind, View, array, quote};
use crate::wire::write::Object;

use super::reasoning;

pub(super) const KNOBS: &[&str] =
    &["temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty"];
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

pub(crate) fn decode(root: View<'_>) -> Result<Request, Refused> {
    if root.get("n").and_then(View::number).is_some_and(|n| n > 1) {
        return Err(Refused::new("n: a server of another surface gives one answer at a time"));
    }
    let mut request = Request {
        model: root.get_text("model").unwrap_or_default().into_owned(),
        stream: flag(root, "stream").unwrap_or(false),
        counts: root
            .some("stream_options")
            .and_then(|options| flag(options, "include_usage"))
            .unwrap_or(false),
        parallel: flag(root, "parallel_tool_calls"),
        limit: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| root.get(name).and_then(View::number)),
        user: text(root, "user").or_else(|| text(root, "safety_identifier")),
        cache_key: text(root, "prompt_cache_key"),
        ..Request::default()
    };
    request.thinking.effort = text(root, "reasoning_effort");
    request.stop = match root.some("stop").map(|stop| (stop, stop.text())) {
        Some((_, Some(one))) => vec![one.into_owned()],
        Some((many, None)) => many.items().filter_map(|stop| Some(stop.text()?.into_owned())).collect(),
        None => Vec::new(),
    };
    request.format = root.some("response_format").and_then(|format| match &*format.get_text("type")? {
        "json_object" => Some(Format::Json),
        "json_schema" => {
            let inner = format.some("json_schema")?;
            Some(Format::Schema {
                name: text(inner, "name"),
                schema: schema(inner.get("schema")),
                strict: flag(inner, "strict"),
            })
        }
        _ => None,
    });
    for message in list(root, "messages") {
        push(&mut request.messages, message_of(message)?);
    }
    request.tools = list(root, "tools").map(tool).collect();
    request.tools.extend(list(root, "functions").map(function));
    request.choice = root.some("tool_choice").or_else(|| root.some("function_call")).and_then(choice);
    knobs(root, KNOBS, &mut request);
    extras(root, Wire::Chat, &[KNOWN, KNOBS].concat(), &mut request);
    Ok(request)
}

fn message_of(message: View<'_>) -> Result<Message, Refused> {
    let role = message.get_text("role").unwrap_or_default();
    let mut blocks = content(message.get("content"), part)?;
    let role = match &*role {
        "system" => Role::System,
        "developer" => Role::Developer,
        "assistant" => {
            if let Some((_, text)) = reasoning(message) {
                blocks.insert(0, Block::Reasoning { text, seal: None });
            }
            blocks.extend(text(message, "refusal").map(Block::Text));
            let older = message.some("function_call");
            blocks.extend(list(message, "tool_calls").chain(older).map(|call| Block::Call(call_of(call))));
            Role::Assistant
        }
        "tool" | "function" => {
            let id = text(message, "tool_call_id").or_else(|| text(message, "name")).unwrap_or_default();
            let result = Block::Result { id, name: None, content: blocks, error: false, custom: false };
            return Ok(Message::new(Role::Tool, vec![result]));
        }
        _ => Role::User,
    };
    Ok(Message::new(role, blocks))
}

fn part(part: View<'_>) -> Result<Option<Block>, Refused> {
    let kind = part.get_text("type").unwrap_or_default();
    Ok(match &*kind {
        "text" => text(part, "text").map(Block::Text),
        "refusal" => text(part, "refusal").map(Block::Text),
        "image_url" => part.some("image_url").map(|image| {
            let url = image.text().or_else(|| image.get_text("url")).unwrap_or_default();
            Block::Image(Media { source: Source::from_url(&url), name: None, detail: text(image, "detail") })
        }),
        "file" => {
            let file = part.some("file").ok_or_else(|| unknown_part("file"))?;
            let data = text(file, "file_data").ok_or_else(file_id)?;
            let source = Source::from_url(&data);
            Some(Block::File(Media { source, name: text(file, "filename"), detail: None }))
        }
        other => return Err(unknown_part(other)),
    })
}

fn call_of(call: View<'_>) -> Call {
    let custom = call.some("custom");
    let inner = custom.or_else(|| call.some("function")).unwrap_or(call);
    let arguments = inner.get(if custom.is_some() { "input" } else { "arguments" });
    let arguments = arguments.map(|arguments| match arguments.kind() {
        Kind::Null => String::new(),
        _ => arguments.text().map_or_else(|| arguments.raw().to_owned(), std::borrow::Cow::into_owned),
    });
    let name = text(inner, "name").unwrap_or_default();
    Call {
        id: text(call, "id").unwrap_or_else(|| name.clone()),
        name,
        form: if custom.is_some() { Form::Custom } else { Form::Function },
        arguments: arguments.unwrap_or_default(),
    }
}

fn tool(tool: View<'_>) -> Tool {
    let kind = tool.get_text("type").unwrap_or_default();
    if let Some(custom) = tool.some("custom").filter(|_| kind == "custom") {
        return Tool::Custom {
            name: text(custom, "name").unwrap_or_default(),
            description: text(custom, "description"),
            format: custom.some("format").map(|format| format.raw().to_owned()),
        };
    }
    match tool.some("function") {
        Some(inner) => function(inner),
        None if tool.get("parameters").is_some() => function(tool),
        None => Tool::Hosted { wire: Wire::Chat, name: kind.into_owned(), raw: tool.raw().to_owned() },
    }
}

fn function(function: View<'_>) -> Tool {
    Tool::Function {
        name: text(function, "name").unwrap_or_default(),
        group: None,
        description: text(function, "description"),
        schema: schema(function.get("parameters")),
        strict: flag(function, "strict"),
    }
}

/// A choice as chat and Responses write it: the second has no layers.
pub(crate) fn choice(choice: View<'_>) -> Option<Choice> {
    if let Some(word) = choice.text() {
        return match &*word {
            "none" => Some(Choice::None),
            "auto" => Some(Choice::Auto),
            "required" | "any" => Some(Choice::Required),
            _ => None,
        };
    }
    let kind = choice.get_text("type").unwrap_or_default();
    if kind == "allowed_tools" {
        let inner = choice.some("allowed_tools").unwrap_or(choice);
        let names = list(inner, "tools").filter_map(|tool| name_in(tool)).collect();
        let required = inner.get_text("mode").as_deref() == Some("required");
        return Some(Choice::Allowed { names, required });
    }
    let form = if kind == "custom" { Form::Custom } else { Form::Function };
    name_in(choice).map(|name| Choice::Tool(name, form))
}

fn name_in(view: View<'_>) -> Option<String> {
    let inner = view.some("function").or_else(|| view.some("custom")).filter(|inner| inner.is_object());
    text(inner.unwrap_or(view), "name")
}

/// Writes a request that is fit for the surface. Vendors have a newer word for the limit.
pub(crate) fn encode(request: &Request, vendor: bool) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in &request.messages {
        messages_of(message, &mut messages);
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
        .maybe("tool_choice", request.choice.as_ref().map(choice_json))
        .maybe("parallel_tool_calls", request.parallel.map(|parallel| parallel.to_string()));
    if !request.stop.is_empty() {
        out = out.raw("stop", array(request.stop.iter().map(|stop| quote(stop))));
    }
    for (name, value) in &request.knobs {
        out = out.raw(name, value);
    }
    out = out
        .maybe_text("reasoning_effort", request.thinking.effort.as_ref())
        .maybe("response_format", request.format.as_ref().map(format_json));
    request.write_rest(out).end()
}

fn messages_of(message: &Message, out: &mut Vec<String>) {
    if message.role == Role::Tool {
        for block in &message.blocks {
            if let Block::Result { id, content, .. } = block {
                let text = crate::translate::request::joined(content);
                let object = Object::new().text("role", "tool").text("tool_call_id", id);
                out.push(object.text("content", text).end());
            }
        }
        return;
    }
    let mut object = Object::new().text("role", message.role.word());
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    let mut thoughts = None;
    for block in &message.blocks {
        match block {
            Block::Text(text) => parts.push(Object::new().text("type", "text").text("text", text).end()),
            Block::Image(media) => parts.push(image_json(media)),
            Block::File(media) => {
                let file = Object::new().maybe_text("filename", media.name.as_ref());
                let file = file.text("file_data", media.source.url()).end();
                parts.push(Object::new().text("type", "file").raw("file", file).end());
            }
            Block::Reasoning { text, .. } => thoughts = Some(text),
            Block::Call(call) => calls.push(call_json(call)),
            Block::Result { .. } => {}
        }
    }
    object = match message.blocks.iter().all(|block| !matches!(block, Block::Image(_) | Block::File(_))) {
        true if parts.is_empty() && message.role == Role::Assistant => object.raw("content", "null"),
        true => object.text("content", message.joined()),
        false => object.raw("content", array(parts)),
    };
    object = object.maybe_text("reasoning_content", thoughts);
    if !calls.is_empty() {
        object = object.raw("tool_calls", array(calls));
    }
    out.push(object.end());
}

fn image_json(media: &Media) -> String {
    let image =
        Object::new().text("url", media.source.url()).maybe_text("detail", media.detail.as_ref()).end();
    Object::new().text("type", "image_url").raw("image_url", image).end()
}

fn call_json(call: &Call) -> String {
    let function = Object::new().text("name", &call.name).text("arguments", &call.arguments).end();
    Object::new().text("id", &call.id).text("type", "function").raw("function", function).end()
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

fn choice_json(choice: &Choice) -> String {
    match choice {
        Choice::None => quote("none"),
        Choice::Auto | Choice::Allowed { required: false, .. } => quote("auto"),
        Choice::Required | Choice::Allowed { required: true, .. } => quote("required"),
        Choice::Tool(name, _) => {
            let function = Object::new().text("name", name).end();
            Object::new().text("type", "function").raw("function", function).end()
        }
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
