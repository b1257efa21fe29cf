//! Tools for servers that accept none: they are written into the prompt, in the dialect of the model's family.
//!
//! The answer is read by the same stream that finds leaked calls. The list of tools travels beside the request, because the
//! server must not see it.

use std::collections::{HashMap, HashSet};

use std::fmt::Write;

use bytes::Bytes;
use toolmend::{CallToRender, Dialect, Source, dialect_of, dialects};
use toolmend_json::{Kind, Object, ValueRef, array, quote};
use toolmend_protocol::{Block, Document, Message, Request, Role, Tool, ToolChoice, join_texts};

/// Whether a request has tools, or calls in earlier turns.
pub(super) fn is_needed(request: &Request) -> bool {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    !request.tools.is_empty()
        || blocks.into_iter().any(|block| matches!(block, Block::Call(_) | Block::Result { .. }))
}

/// Writes the tools of a request, its calls and their results as text. Returns the list of tools that the answer is read
/// with.
pub(super) fn write_tools_into_prompt(request: &mut Request, dialect: Option<&str>) -> Option<Bytes> {
    let dialect = choose_dialect(dialect, &request.model);
    let tools = std::mem::take(&mut request.tools);
    let choice = request.tool_choice.take();
    let parallel = request.parallel_calls.take();
    let mut names = HashMap::new();
    for message in &mut request.messages {
        write_message_as_text(message, dialect, &mut names);
    }
    let list: Vec<String> = tools.iter().filter_map(function_json).collect();
    if list.is_empty() || choice == Some(ToolChoice::None) {
        return None;
    }
    let instructions = write_instructions(&list, dialect, choice.as_ref(), parallel);
    match request.messages.first_mut().filter(|first| first.role == Role::System) {
        Some(first) => {
            *first = Message::from_text(Role::System, format!("{}\n\n{instructions}", first.joined_text()));
        }
        None => request.messages.insert(0, Message::from_text(Role::System, instructions)),
    }
    Some(array(list.iter().map(|tool| format!(r#"{{"type":"function","function":{tool}}}"#))).into())
}

/// Chooses the configured dialect, the model's, or the one that most models were trained on. Only dialects with explicit
/// markers are used: if a model was never taught tools, nothing else distinguishes a call from prose.
fn choose_dialect(configured: Option<&str>, model: &str) -> &'static Dialect {
    let row = |name: &str| dialects().iter().find(|row| row.name() == name);
    let is_usable = |row: &&Dialect| row.source() == Source::Explicit && !row.example().is_empty();
    let chosen = configured.and_then(row).or_else(|| dialect_of(model).and_then(row).filter(is_usable));
    chosen.or_else(|| row("hermes_json")).unwrap_or(&dialects()[0])
}

fn function_json(tool: &Tool) -> Option<String> {
    let Tool::Function { name, description, schema, .. } = tool else { return None };
    let object = Object::new().text("name", name).maybe_text("description", description.as_ref());
    Some(object.raw("parameters", schema).end())
}

/// Writes the instructions for the model.
fn write_instructions(
    tools: &[String],
    dialect: &Dialect,
    choice: Option<&ToolChoice>,
    parallel: Option<bool>,
) -> String {
    let mut out = String::from(
        "# Tools\n\nThese functions are available to you. Each line describes one, with a JSON Schema of its arguments:\n\n<tools>\n",
    );
    for tool in tools {
        let _ = writeln!(out, "{tool}");
    }
    out.push_str("</tools>\n\n");
    let example =
        tools.first().and_then(|tool| write_example(tool, dialect)).unwrap_or_else(|| dialect.example());
    let _ = write!(
        out,
        "To call a function, write the call in exactly this form, with the values you need:\n\n{example}\n\n"
    );
    out.push_str(match parallel {
        Some(false) => "Make one call at a time. ",
        _ => "For several calls, write one after the other. ",
    });
    out.push_str("StopReason after your calls: the results come in the next message. ");
    match choice {
        Some(ToolChoice::Required) => out.push_str("Answer with a call of one of these functions."),
        Some(ToolChoice::Tool(name, _)) => {
            let _ = write!(out, "Answer with a call of {name}.");
        }
        _ => out.push_str("If no function is needed, answer without a call."),
    }
    out
}

/// Writes a call of a declared tool, with a value of the right type for every required argument.
fn write_example(tool: &str, dialect: &Dialect) -> Option<String> {
    let doc = Document::parse(&Bytes::copy_from_slice(tool.as_bytes()))?;
    let name = doc.root().get_text("name")?;
    let schema = doc.root().get("parameters")?;
    let required: HashSet<String> = schema
        .get_non_null("required")
        .filter(|list| list.is_array())
        .into_iter()
        .flat_map(ValueRef::items)
        .filter_map(|name| name.text().map(std::borrow::Cow::into_owned))
        .collect();
    let mut arguments = Object::new();
    for property in schema.get_non_null("properties").into_iter().flat_map(ValueRef::items) {
        if required.contains(&*property.key()) {
            arguments = arguments.raw(&property.key(), example_value(property));
        }
    }
    let arguments = arguments.end();
    dialect.render(&[CallToRender { name: &name, arguments: &arguments, id: "call00000" }])
}

fn example_value(property: ValueRef<'_>) -> String {
    if let Some(first) = property.get_non_null("enum").and_then(|list| list.items().next()) {
        return first.raw().to_owned();
    }
    match property.get_text("type").as_deref() {
        Some("integer" | "number") => "1".to_owned(),
        Some("boolean") => "true".to_owned(),
        Some("array") => "[]".to_owned(),
        Some("object") => "{}".to_owned(),
        _ => quote("..."),
    }
}

/// Writes the calls and results of a message as text. Consecutive calls are written together, because some dialects have one
/// section for all of them.
fn write_message_as_text(message: &mut Message, dialect: &Dialect, names: &mut HashMap<String, String>) {
    let mut texts: Vec<Block> = Vec::new();
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let blocks = std::mem::take(&mut message.blocks);
    let flush = |calls: &mut Vec<(String, String, String)>, texts: &mut Vec<Block>| {
        let written: Vec<CallToRender<'_>> =
            calls.iter().map(|(id, name, arguments)| CallToRender { name, arguments, id }).collect();
        if let Some(text) = dialect.render(&written) {
            texts.push(Block::Text(text));
        }
        calls.clear();
    };
    for block in blocks {
        match block {
            Block::Call(call) => {
                names.insert(call.id.clone(), call.name.clone());
                calls.push((call.id, call.name, call.arguments));
            }
            Block::Result { id, content, .. } => {
                flush(&mut calls, &mut texts);
                let name = names.get(&id).map_or("the call", String::as_str);
                texts.push(Block::Text(write_result(name, &join_texts(&content))));
                texts.extend(content.into_iter().filter(|block| !matches!(block, Block::Text(_))));
            }
            other => {
                flush(&mut calls, &mut texts);
                texts.push(other);
            }
        }
    }
    flush(&mut calls, &mut texts);
    message.blocks = texts;
    if message.role == Role::Tool {
        message.role = Role::User;
    }
}

/// Writes a result in the tags that most templates use. JSON stays JSON.
fn write_result(name: &str, text: &str) -> String {
    let doc = Document::parse(&Bytes::copy_from_slice(text.as_bytes()));
    let is_value = doc.is_some_and(|doc| matches!(doc.root().kind(), Kind::Object | Kind::Array));
    let content = if is_value { text.to_owned() } else { quote(text) };
    let object = Object::new().text("name", name).raw("content", content).end();
    format!("<tool_response>\n{object}\n</tool_response>")
}
