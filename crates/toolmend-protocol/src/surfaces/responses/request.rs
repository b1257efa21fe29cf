//! Requests for responses, read into neutral terms and written from them.

use super::super::chat::read_tool_choice;
use crate::fields::{
    file_by_id, read_content, read_extra_members, read_flag, read_list, read_sampling, read_schema,
    read_text, unknown_part,
};
use crate::json::{Object, ValueRef, array, quote};
use crate::protocol::Protocol;
use crate::request::{
    Block, Call, DroppedFields, Format, Media, Message, ReasoningSignature, Request, Role, Source, Tool,
    ToolChoice, ToolGroup, Untranslatable, join_texts,
};
use crate::turn::CallForm;

use super::read_call_extras;

pub(super) const SAMPLING: &[&str] = &["temperature", "top_p"];
const KNOWN: &[&str] = &[
    "model",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "reasoning",
    "text",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "previous_response_id",
    "store",
    "conversation",
    "background",
    "truncation",
];

pub(super) fn decode_request(
    root: ValueRef<'_>,
    dropped: &mut DroppedFields,
) -> Result<Request, Untranslatable> {
    for (name, why) in [
        ("conversation", "conversations are stored by one vendor only: send the messages as `input`"),
        ("background", "this server cannot answer in the background: leave the member out"),
    ] {
        if root.get_non_null(name).is_some_and(|view| view.raw() != "false") {
            return Err(Untranslatable::new(format!("{name}: {why}")));
        }
    }
    let mut request = Request {
        model: root.get_lossy_text("model").unwrap_or_default().into_owned(),
        stream: read_flag(root, "stream").unwrap_or(false),
        parallel_calls: read_flag(root, "parallel_tool_calls"),
        limit: root.get("max_output_tokens").and_then(ValueRef::number),
        user: read_text(root, "user").or_else(|| read_text(root, "safety_identifier")),
        cache_key: read_text(root, "prompt_cache_key"),
        previous_answer: read_text(root, "previous_response_id"),
        ..Request::default()
    };
    if let Some(reasoning) = root.get_non_null("reasoning") {
        request.thinking.effort = read_text(reasoning, "effort");
        request.thinking.summary = read_text(reasoning, "summary");
    }
    request.format =
        root.get_non_null("text").and_then(|text| text.get_non_null("format")).and_then(read_format);
    if let Some(text) = read_text(root, "instructions") {
        request.messages.push(Message::from_text(Role::System, text));
    }
    match root.get_non_null("input").map(|input| (input, input.lossy_text())) {
        Some((_, Some(text))) => request.messages.push(Message::from_text(Role::User, text)),
        Some((items, None)) => {
            for item in items.items() {
                read_item(item, &mut request.messages, dropped)?;
            }
        }
        None => {}
    }
    for tool in read_list(root, "tools") {
        read_tool(tool, None, &mut request.tools);
    }
    request.tool_choice = root.get_non_null("tool_choice").and_then(read_tool_choice);
    read_sampling(root, SAMPLING, &mut request);
    read_extra_members(root, Protocol::Responses, &[KNOWN, SAMPLING].concat(), &mut request);
    Ok(request)
}

fn read_format(format: ValueRef<'_>) -> Option<Format> {
    match &*format.get_lossy_text("type")? {
        "json_object" => Some(Format::Json),
        "json_schema" => Some(Format::Schema {
            name: read_text(format, "name"),
            schema: read_schema(format.get("schema")),
            strict: read_flag(format, "strict"),
        }),
        _ => None,
    }
}

/// Adds a block to the last message if it has the same role, because the items of one turn follow each other.
fn add_block(messages: &mut Vec<Message>, role: Role, block: Block) {
    match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.blocks.push(block),
        None => messages.push(Message::new(role, vec![block])),
    }
}

fn read_item(
    item: ValueRef<'_>,
    out: &mut Vec<Message>,
    dropped: &mut DroppedFields,
) -> Result<(), Untranslatable> {
    let kind = item.get_lossy_text("type").unwrap_or_default();
    match &*kind {
        "" | "message" => {
            let blocks = read_content(item.get("content"), read_part)?;
            match item.get_lossy_text("role").as_deref() {
                Some("assistant") => {
                    for block in blocks {
                        add_block(out, Role::Assistant, block);
                    }
                }
                Some("system") => out.push(Message::new(Role::System, blocks)),
                Some("developer") => out.push(Message::new(Role::Developer, blocks)),
                _ => out.push(Message::new(Role::User, blocks)),
            }
        }
        "function_call" | "custom_tool_call" => {
            let custom = kind == "custom_tool_call";
            let form = match read_text(item, "namespace") {
                _ if custom => CallForm::Custom,
                Some(group) => CallForm::Grouped(group),
                None => CallForm::Function,
            };
            let call = Call {
                id: read_text(item, "call_id").or_else(|| read_text(item, "id")).unwrap_or_default(),
                name: read_text(item, "name").unwrap_or_default(),
                form,
                arguments: if custom {
                    read_text(item, "input").unwrap_or_default()
                } else {
                    let json = item.get("arguments").and_then(ValueRef::text_with_escapes);
                    json.unwrap_or_default().into_owned()
                },
                extras: read_call_extras(item).into_portable(),
            };
            add_block(out, Role::Assistant, Block::Call(call));
        }
        "function_call_output" | "custom_tool_call_output" => {
            let result = Block::Result {
                id: read_text(item, "call_id").unwrap_or_default(),
                name: None,
                content: read_content(item.get("output"), read_part)?,
                error: false,
                custom: kind == "custom_tool_call_output",
            };
            add_block(out, Role::Tool, result);
        }
        "reasoning" => {
            let texts: Vec<String> = ["content", "summary"]
                .iter()
                .map(|name| {
                    read_list(item, name).filter_map(|part| read_text(part, "text")).collect::<Vec<_>>()
                })
                .find(|texts| !texts.is_empty())
                .unwrap_or_default();
            let seal = read_text(item, "encrypted_content").map(|data| ReasoningSignature {
                protocol: Protocol::Responses,
                data,
                hidden: false,
            });
            if seal.is_some() || !texts.is_empty() {
                add_block(out, Role::Assistant, Block::Reasoning { text: texts.join("\n\n"), seal });
            }
        }
        "item_reference" => {
            return Err(Untranslatable::new(
                "item_reference: the item is stored by one vendor only: send the item itself",
            ));
        }
        other => dropped.add(format!("item {other}")),
    }
    Ok(())
}

fn read_part(part: ValueRef<'_>) -> Result<Option<Block>, Untranslatable> {
    let kind = part.get_lossy_text("type").unwrap_or_default();
    Ok(match &*kind {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            read_text(part, "text").map(Block::Text)
        }
        "refusal" => read_text(part, "refusal").map(Block::Text),
        "input_image" => {
            let url = part.get_non_null("image_url").and_then(ValueRef::lossy_text).ok_or_else(file_by_id)?;
            let source = Source::from_url(&url);
            Some(Block::Image(Media { source, name: None, detail: read_text(part, "detail") }))
        }
        "input_file" => {
            let url = read_text(part, "file_data")
                .or_else(|| read_text(part, "file_url"))
                .ok_or_else(file_by_id)?;
            let source = Source::from_url(&url);
            Some(Block::File(Media { source, name: read_text(part, "filename"), detail: None }))
        }
        other => return Err(unknown_part(other)),
    })
}

fn read_tool(tool: ValueRef<'_>, group: Option<&ToolGroup>, out: &mut Vec<Tool>) {
    let kind = tool.get_lossy_text("type").unwrap_or_default();
    match &*kind {
        "namespace" => {
            let group = ToolGroup {
                name: read_text(tool, "name").unwrap_or_default(),
                description: read_text(tool, "description"),
            };
            for inner in read_list(tool, "tools") {
                read_tool(inner, Some(&group), out);
            }
        }
        "custom" => out.push(Tool::Custom {
            name: read_text(tool, "name").unwrap_or_default(),
            description: read_text(tool, "description"),
            format: tool.get_non_null("format").map(|format| format.raw().to_owned()),
        }),
        "function" => out.push(Tool::Function {
            name: read_text(tool, "name").unwrap_or_default(),
            group: group.cloned(),
            description: read_text(tool, "description"),
            schema: read_schema(tool.get("parameters")),
            strict: read_flag(tool, "strict"),
        }),
        other => out.push(Tool::Hosted {
            protocol: Protocol::Responses,
            name: other.to_owned(),
            raw: tool.raw().to_owned(),
        }),
    }
}

/// Writes a request that holds nothing beyond the capabilities.
pub(super) fn encode_request(request: &Request) -> String {
    let mut out = Object::new().text("model", &request.model);
    let mut items = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        if at == 0 && message.role == Role::System {
            out = out.text("instructions", message.joined_text());
        } else {
            write_message(message, &mut items);
        }
    }
    out = out.raw("input", array(items)).raw("store", "false");
    if request.stream {
        out = out.raw("stream", "true");
    }
    out = out.maybe("max_output_tokens", request.limit.map(|limit| limit.to_string()));
    if !request.tools.is_empty() {
        out = out.raw("tools", array(tools_json(&request.tools)));
    }
    out = out
        .maybe("tool_choice", request.tool_choice.as_ref().map(choice_json))
        .maybe("parallel_tool_calls", request.parallel_calls.map(|parallel| parallel.to_string()));
    for (name, value) in &request.sampling {
        out = out.raw(name, value);
    }
    let (effort, summary) = (request.thinking.effort.as_ref(), request.thinking.summary.as_ref());
    if effort.is_some() || summary.is_some() {
        let reasoning = Object::new().maybe_text("effort", effort).maybe_text("summary", summary);
        out = out.raw("reasoning", reasoning.end());
    }
    if let Some(format) = &request.format {
        out = out.raw("text", Object::new().raw("format", format_json(format)).end());
    }
    request.write_shared_members(out).end()
}

pub(super) fn write_message(message: &Message, out: &mut Vec<String>) {
    // Results are items of their own. Anything else in a turn of tools is attributed to the assistant.
    let role = if message.role == Role::Tool { Role::Assistant } else { message.role }.name();
    let mut parts: Vec<String> = Vec::new();
    let flush = |parts: &mut Vec<String>, out: &mut Vec<String>| {
        if !parts.is_empty() {
            let content = array(std::mem::take(parts));
            out.push(Object::new().text("type", "message").text("role", role).raw("content", content).end());
        }
    };
    for block in &message.blocks {
        match block {
            Block::Text(_) | Block::Image(_) | Block::File(_) => parts.push(part_json(block, role)),
            Block::Reasoning { text, seal } => {
                flush(&mut parts, out);
                let content = Object::new().text("type", "reasoning_text").text("text", text).end();
                let content = if text.is_empty() { array::<String>([]) } else { array([content]) };
                let item =
                    Object::new().text("type", "reasoning").raw("summary", "[]").raw("content", content);
                out.push(item.maybe_text("encrypted_content", seal.as_ref().map(|seal| &seal.data)).end());
            }
            Block::Call(call) => {
                flush(&mut parts, out);
                out.push(call_json(call));
            }
            Block::Result { id, content, custom, .. } => {
                let kind = if *custom { "custom_tool_call_output" } else { "function_call_output" };
                let plain = content.len() <= 1 && content.iter().all(|block| matches!(block, Block::Text(_)));
                let output = if plain {
                    quote(&join_texts(content))
                } else {
                    array(content.iter().map(|block| part_json(block, "user")))
                };
                out.push(Object::new().text("type", kind).text("call_id", id).raw("output", output).end());
            }
        }
    }
    flush(&mut parts, out);
}

fn part_json(block: &Block, role: &str) -> String {
    match block {
        Block::Image(media) => Object::new()
            .text("type", "input_image")
            .text("image_url", media.source.to_url())
            .maybe_text("detail", media.detail.as_ref())
            .end(),
        Block::File(media) => {
            let name = if matches!(media.source, Source::Url(_)) { "file_url" } else { "file_data" };
            let file = Object::new().text("type", "input_file").text(name, media.source.to_url());
            file.maybe_text("filename", media.name.as_ref()).end()
        }
        Block::Text(text) => {
            let kind = if role == "assistant" { "output_text" } else { "input_text" };
            let part = Object::new().text("type", kind).text("text", text);
            part.maybe("annotations", (role == "assistant").then_some("[]")).end()
        }
        _ => Object::new().text("type", "input_text").text("text", "").end(),
    }
}

fn call_json(call: &Call) -> String {
    let (kind, field) = match call.form {
        CallForm::Custom => ("custom_tool_call", "input"),
        _ => ("function_call", "arguments"),
    };
    let item = Object::new().text("type", kind).text("call_id", &call.id).text("name", &call.name);
    let item = match &call.form {
        CallForm::Grouped(group) => item.text("namespace", group),
        _ => item,
    };
    call.extras.outer.write_to(item.text(field, &call.arguments)).end()
}

/// Writes the tools; consecutive tools of one group become a namespace.
fn tools_json(tools: &[Tool]) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(tool) = tools.get(at) {
        let group = |tool: &Tool| match tool {
            Tool::Function { group, .. } => group.clone(),
            _ => None,
        };
        if let Some(wanted) = group(tool) {
            let end = tools[at..].iter().position(|tool| group(tool).as_ref() != Some(&wanted));
            let end = end.map_or(tools.len(), |end| at + end);
            let inner = array(tools[at..end].iter().map(tool_json));
            let object = Object::new().text("type", "namespace").text("name", &wanted.name);
            let object = object.maybe_text("description", wanted.description.as_ref());
            out.push(object.raw("tools", inner).end());
            at = end;
        } else {
            out.push(tool_json(tool));
            at += 1;
        }
    }
    out
}

fn tool_json(tool: &Tool) -> String {
    match tool {
        Tool::Function { name, description, schema, strict, .. } => Object::new()
            .text("type", "function")
            .text("name", name)
            .maybe_text("description", description.as_ref())
            .raw("parameters", schema)
            // The default of this protocol is the opposite of all others.
            .raw("strict", strict.unwrap_or(false).to_string())
            .end(),
        Tool::Custom { name, description, format } => Object::new()
            .text("type", "custom")
            .text("name", name)
            .maybe_text("description", description.as_ref())
            .maybe("format", format.as_ref())
            .end(),
        Tool::Hosted { raw, .. } => raw.clone(),
    }
}

fn choice_json(choice: &ToolChoice) -> String {
    match choice {
        ToolChoice::Tool(name, form) => {
            let kind = if *form == CallForm::Custom { "custom" } else { "function" };
            Object::new().text("type", kind).text("name", name).end()
        }
        other => quote(other.word().unwrap_or("auto")),
    }
}

fn format_json(format: &Format) -> String {
    match format {
        Format::Json => r#"{"type":"json_object"}"#.to_owned(),
        Format::Schema { name, schema, strict } => Object::new()
            .text("type", "json_schema")
            .maybe_text("name", name.as_ref())
            .raw("schema", schema)
            .maybe("strict", strict.map(|strict| strict.to_string()))
            .end(),
    }
}
