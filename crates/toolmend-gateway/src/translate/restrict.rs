//! Restricts a request to what the server's protocol can express.
//!
//! What it cannot express is expressed in another way, dropped by name, or rejected. The result holds exactly what the
//! protocol can carry, so that reading the written request gives it back; the tests hold this property.
//!
//! | if there are two ways | toolmend | because |
//! |---|---|---|
//! | a system prompt between other messages | becomes a reminder in the user's turn | most templates accept only one, at the front; moved there, it would speak of things that have not been said yet |
//! | reasoning of earlier turns without the vendor's signature | is dropped for vendors, kept for others | vendors reject what they did not sign, local templates want it |
//! | images in results | go into a message of the user after the results | few servers accept them in results |
//! | `tool_choice` that cannot be expressed | is dropped by name; `none` drops the tools | the protocol has no word for it |

use std::collections::{HashMap, HashSet};

use toolmend_json::Object;
use toolmend_protocol::{
    Block, Call, CallExtras, CallForm, Capabilities, DocumentSupport, DroppedFields, Format, Message,
    Request, Role, Source, Thinking, ThinkingControl, Tool, ToolChoice, Untranslatable, join_texts,
};

use super::names::ToolNames;
use crate::mend::repair_arguments;

/// Restricts a request. Returns it with the names under which the server knows its tools.
pub(super) fn restrict_request(
    mut request: Request,
    target: &Capabilities,
    dropped: &mut DroppedFields,
) -> Result<(Request, ToolNames), Untranslatable> {
    if request.previous_answer.is_some() {
        return Err(Untranslatable::new(
            "previous_response_id: the gateway stores no answers of servers that speak another protocol. Send the whole conversation as `input`, or set `response_store` in the gateway's configuration",
        ));
    }
    apply_allowed_tools(&mut request, target, dropped);
    let names = ToolNames::new(&request, target);
    request.tools = restrict_tools(request.tools, target, &names, dropped);
    request.tool_choice = request.tool_choice.map(|choice| rename_choice(choice, target, &names));
    if request.tools.is_empty() {
        request.tool_choice = None;
    }
    if request.tools.is_empty() || request.tool_choice == Some(ToolChoice::None) {
        request.parallel_calls = None;
    }
    if !target.parallel_calls && request.parallel_calls.take() == Some(false) {
        dropped.add("parallel_tool_calls");
    }
    if target.parallel_in_choice && request.parallel_calls.is_some() {
        request.tool_choice.get_or_insert(ToolChoice::Auto);
    }
    let mut messages =
        MessageRestriction { out: Vec::new(), target, names: &names, dropped, tools: HashMap::new() };
    messages.restrict_all(request.messages)?;
    request.messages = messages.out;
    request.limit = request.limit.or(target.default_limit);
    request.thinking = restrict_thinking(&request, target, dropped);
    request.format = request.format.and_then(|format| restrict_format(format, target, dropped));
    request
        .sampling
        .retain(|(name, _)| keep_or_drop(target.sampling.contains(&name.as_str()), name, dropped));
    if !target.stop_texts && !request.stop.is_empty() {
        request.stop.clear();
        dropped.add("stop");
    }
    request.user = request.user.filter(|_| keep_or_drop(target.user, "user", dropped));
    request.cache_key =
        request.cache_key.filter(|_| keep_or_drop(target.cache_key, "prompt_cache_key", dropped));
    request.extra.retain(|(protocol, name, _)| keep_or_drop(*protocol == target.protocol, name, dropped));
    Ok((request, names))
}

/// Returns whether to keep something, and records its name if not.
fn keep_or_drop(keeps: bool, name: &str, dropped: &mut DroppedFields) -> bool {
    if !keeps {
        dropped.add(name);
    }
    keeps
}

/// Turns a choice among some tools into a choice among all tools that are left.
fn apply_allowed_tools(request: &mut Request, target: &Capabilities, dropped: &mut DroppedFields) {
    if let Some(ToolChoice::Allowed { names, required }) = &request.tool_choice {
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        request.tools.retain(|tool| names.contains(tool.name()));
        request.tool_choice = Some(if *required { ToolChoice::Required } else { ToolChoice::Auto });
    }
    if target.tool_choice {
        return;
    }
    match request.tool_choice.take() {
        None | Some(ToolChoice::Auto) => {}
        Some(ToolChoice::None) => request.tools.clear(),
        Some(_) => dropped.add("tool_choice"),
    }
}

fn restrict_tools(
    list: Vec<Tool>,
    target: &Capabilities,
    names: &ToolNames,
    dropped: &mut DroppedFields,
) -> Vec<Tool> {
    let mut out = Vec::new();
    for tool in list {
        match tool {
            Tool::Function { name, group, description, schema, strict } => {
                let server_name = names.server_name(&name, group.as_ref().map(|group| group.name.as_str()));
                let strict =
                    strict.or(target.strict_by_default.then_some(false)).filter(|_| target.strict_tools);
                let group = group.filter(|_| target.tool_groups);
                out.push(Tool::Function { name: server_name, group, description, schema, strict });
            }
            Tool::Custom { name, description, format } if target.custom_tools => {
                out.push(Tool::Custom { name: names.server_name(&name, None), description, format });
            }
            Tool::Custom { name, description, format } => {
                out.push(Tool::Function {
                    name: names.server_name(&name, None),
                    group: None,
                    description: describe_free_text(description.as_deref(), format.as_deref()),
                    schema: FREE_TEXT_SCHEMA.to_owned(),
                    strict: None,
                });
            }
            Tool::Hosted { protocol, name, raw } if protocol == target.protocol => {
                out.push(Tool::Hosted { protocol, name, raw });
            }
            Tool::Hosted { name, .. } => dropped.add(format!("tool {name}")),
        }
    }
    out
}

/// The schema of a tool that takes free text, for protocols that only have functions.
const FREE_TEXT_SCHEMA: &str = r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}"#;

fn describe_free_text(description: Option<&str>, format: Option<&str>) -> Option<String> {
    let mut out = description.unwrap_or_default().to_owned();
    if let Some(format) = format.filter(|format| format.contains("grammar")) {
        out.push_str("\n\nThe input is text of this form: ");
        out.push_str(format);
    }
    let out = out.trim_start();
    (!out.is_empty()).then(|| out.to_owned())
}

fn rename_choice(choice: ToolChoice, target: &Capabilities, names: &ToolNames) -> ToolChoice {
    match choice {
        ToolChoice::Tool(name, form) => {
            let group = match &form {
                CallForm::Grouped(group) => Some(group.as_str()),
                _ => None,
            };
            let server_name = names.server_name(&name, group);
            let form = if form == CallForm::Custom && target.custom_tools {
                CallForm::Custom
            } else {
                CallForm::Function
            };
            ToolChoice::Tool(server_name, form)
        }
        other => other,
    }
}

/// The largest budget for each effort.
const EFFORTS: [(u64, &str); 3] = [(2048, "low"), (8192, "medium"), (u64::MAX, "high")];
/// The budget for each effort, in tokens.
const BUDGETS: [(&str, u64); 5] =
    [("minimal", 1024), ("low", 1024), ("medium", 4096), ("high", 16384), ("xhigh", 32768)];
/// The smallest budget that servers accept.
const MIN_BUDGET: u64 = 1024;

fn restrict_thinking(request: &Request, target: &Capabilities, dropped: &mut DroppedFields) -> Thinking {
    let wanted = &request.thinking;
    let none = Thinking::default();
    if *wanted == none {
        return none;
    }
    match target.thinking {
        ThinkingControl::None => {
            dropped.add("reasoning effort");
            none
        }
        ThinkingControl::Effort => {
            let budget = wanted.budget.and_then(|budget| EFFORTS.iter().find(|(most, _)| budget <= *most));
            let effort = wanted.effort.clone().or_else(|| budget.map(|(_, name)| (*name).to_owned()));
            if effort.is_none() && wanted.on.is_some() {
                dropped.add("thinking");
            }
            Thinking { effort, summary: wanted.summary.clone().filter(|_| target.reasoning_summary), ..none }
        }
        ThinkingControl::Budget => {
            let limit = request.limit.or(target.default_limit).unwrap_or(u64::MAX);
            let effort = wanted.effort.as_deref();
            if wanted.on == Some(false) || effort == Some("none") {
                return Thinking { on: Some(false), ..none };
            }
            if wanted.on.is_some() && wanted.budget.is_some() {
                return Thinking { summary: None, ..wanted.clone() };
            }
            let known = BUDGETS.iter().find(|(name, _)| Some(*name) == effort).map(|(_, budget)| *budget);
            let budget = known.map(|budget| budget.min(limit / 2)).filter(|budget| *budget >= MIN_BUDGET);
            let is_unsigned = target.vendor && !has_signed_reasoning(&request.messages);
            if let Some(budget) = budget.filter(|_| !is_unsigned) {
                Thinking { on: Some(true), budget: Some(budget), ..none }
            } else {
                dropped.add("reasoning effort");
                none
            }
        }
        ThinkingControl::Switch => {
            let has_levels = request.model.contains("gpt-oss");
            let effort = wanted.effort.clone().filter(|_| has_levels);
            let on = wanted.on.filter(|on| !on || wanted.budget.is_none()).filter(|_| effort.is_none());
            if effort.is_none() && on.is_none() {
                // A model that cannot think rejects a request that asks for it.
                dropped.add("reasoning effort");
            }
            Thinking { on, effort, ..none }
        }
    }
}

/// Whether the last turn of the assistant, if it made calls, has reasoning that its server accepts again.
fn has_signed_reasoning(messages: &[Message]) -> bool {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant);
    last.is_none_or(|message| {
        let calls = message.blocks.iter().any(|block| matches!(block, Block::Call(_)));
        !calls || message.blocks.iter().any(|block| matches!(block, Block::Reasoning { .. }))
    })
}

fn restrict_format(format: Format, target: &Capabilities, dropped: &mut DroppedFields) -> Option<Format> {
    match format {
        Format::Json if !target.json_format => {
            dropped.add("response_format json_object");
            None
        }
        Format::Json => Some(Format::Json),
        Format::Schema { name, schema, strict } => Some(if target.named_schemas {
            Format::Schema { name: name.or_else(|| Some("answer".to_owned())), schema, strict }
        } else {
            Format::Schema { name: None, schema, strict: None }
        }),
    }
}

/// Restricts a conversation.
struct MessageRestriction<'a> {
    out: Vec<Message>,
    target: &'a Capabilities,
    names: &'a ToolNames,
    dropped: &'a mut DroppedFields,
    /// The tool of each call, by id.
    tools: HashMap<String, String>,
}

impl MessageRestriction<'_> {
    fn restrict_all(&mut self, list: Vec<Message>) -> Result<(), Untranslatable> {
        let is_system = |message: &Message| matches!(message.role, Role::System | Role::Developer);
        let mut leading: Vec<String> = Vec::new();
        for message in list {
            if is_system(&message) {
                let texts = self.read_system_texts(message);
                if self.out.is_empty() {
                    leading.extend(texts);
                } else if !texts.is_empty() {
                    let text = texts.join("\n\n");
                    if self.target.inner_system_prompts {
                        self.out.push(Message::from_text(Role::System, text));
                    } else {
                        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
                        self.add_message(Role::User, vec![Block::Text(text)]);
                    }
                }
                continue;
            }
            let (mut blocks, mut user_blocks) = (Vec::new(), Vec::new());
            for block in message.blocks {
                self.restrict_block(block, &mut blocks, &mut user_blocks)?;
            }
            self.add_message(message.role, blocks);
            self.add_message(Role::User, user_blocks);
        }
        if !leading.is_empty() {
            self.out.insert(0, Message::from_text(Role::System, leading.join("\n\n")));
        }
        for message in &mut self.out {
            if self.target.single_text {
                merge_texts(message, self.target.inline_media);
            }
        }
        Ok(())
    }

    /// Returns the texts of a system prompt.
    fn read_system_texts(&mut self, message: Message) -> Vec<String> {
        let mut texts = Vec::new();
        for block in message.blocks {
            match block {
                Block::Text(text)
                    if !self.target.billing_line && text.starts_with("x-anthropic-billing-header:") => {}
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => texts.push(text),
                _ => self.dropped.add("system prompt that is not text"),
            }
        }
        texts
    }

    /// Adds blocks to the last message if it has the same role, because many templates require roles to alternate.
    fn add_message(&mut self, role: Role, blocks: Vec<Block>) {
        if blocks.is_empty() {
            return;
        }
        match self.out.last_mut().filter(|last| last.role == role) {
            Some(message) => message.blocks.extend(blocks),
            None => self.out.push(Message::new(role, blocks)),
        }
    }

    fn restrict_block(
        &mut self,
        block: Block,
        out: &mut Vec<Block>,
        user_blocks: &mut Vec<Block>,
    ) -> Result<(), Untranslatable> {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(_) => out.push(block),
            Block::Image(_) | Block::File(_) => out.extend(self.restrict_media(block)?),
            Block::Reasoning { text, seal } => {
                let target = self.target;
                let had_seal = seal.is_some();
                let seal = seal.filter(|seal| seal.protocol == target.protocol);
                if had_seal && seal.is_none() {
                    self.dropped.add("reasoning signature");
                }
                let is_unsigned = target.vendor && seal.is_none();
                if is_unsigned || !target.reasoning {
                    self.dropped.add("reasoning of earlier turns");
                } else if !text.is_empty() || seal.is_some() {
                    out.push(Block::Reasoning { text, seal });
                }
            }
            Block::Call(call) => out.push(Block::Call(self.restrict_call(call))),
            Block::Result { id, content, error, custom, .. } => {
                let mut texts = Vec::new();
                let mut media = Vec::new();
                for inner in content {
                    match inner {
                        Block::Text(text) if text.is_empty() => {}
                        Block::Text(_) => texts.push(inner),
                        Block::Image(_) | Block::File(_) => {
                            let restricted = self.restrict_media(inner)?;
                            if self.target.result_media {
                                texts.extend(restricted);
                            } else {
                                media.extend(restricted);
                            }
                        }
                        _ => self.dropped.add("tool result that is not text"),
                    }
                }
                let mut error = error;
                if error && !self.target.result_errors {
                    error = false;
                    match texts.iter_mut().find_map(|block| match block {
                        Block::Text(text) => Some(text),
                        _ => None,
                    }) {
                        Some(text) => text.insert_str(0, "Error: "),
                        None => texts.insert(0, Block::Text("Error".to_owned())),
                    }
                }
                if self.target.single_text && texts.len() > 1 {
                    texts = vec![Block::Text(join_texts(&texts))];
                }
                if !media.is_empty() {
                    user_blocks.push(Block::Text(format!("The tool call {id} also returned:")));
                    user_blocks.extend(media);
                }
                let name = self.tools.get(&id).filter(|_| self.target.result_names).cloned();
                let custom = custom && self.target.custom_tools;
                out.push(Block::Result { id, name, content: texts, error, custom });
            }
        }
        Ok(())
    }

    fn restrict_call(&mut self, mut call: Call) -> Call {
        if self.target.vendor {
            call.extras = CallExtras::default();
        }
        let group = match &call.form {
            CallForm::Grouped(group) => Some(group.as_str()),
            _ => None,
        };
        let name = self.names.server_name(&call.name, group);
        self.tools.insert(call.id.clone(), name.clone());
        match call.form {
            CallForm::Custom if !self.target.custom_tools => {
                let arguments = Object::new().text("input", &call.arguments).end();
                Call { name, form: CallForm::Function, arguments, ..call }
            }
            CallForm::Grouped(_) if !self.target.tool_groups => {
                Call { name, form: CallForm::Function, ..call }
            }
            CallForm::Custom => Call { name, ..call },
            _ => {
                let arguments = repair_arguments(call.arguments);
                Call { name, arguments, ..call }
            }
        }
    }

    /// Restricts an image or a document.
    fn restrict_media(&mut self, block: Block) -> Result<Option<Block>, Untranslatable> {
        match block {
            Block::Image(mut media) => {
                if !self.target.image_urls && matches!(media.source, Source::Url(_)) {
                    return Err(Untranslatable::new(
                        "this server accepts no image URLs: send the image's data (base64)",
                    ));
                }
                media.detail = media.detail.filter(|_| self.target.image_detail);
                media.name = None;
                Ok(Some(Block::Image(media)))
            }
            Block::File(media) => {
                if !self.target.text_documents
                    && let Some(text) = media.source.plain_text()
                {
                    let title = media.name.map(|name| format!("{name}:\n\n")).unwrap_or_default();
                    return Ok(Some(Block::Text(format!("{title}{text}"))));
                }
                let is_link = matches!(media.source, Source::Url(_));
                match self.target.documents {
                    DocumentSupport::Linked => Ok(Some(Block::File(media))),
                    DocumentSupport::Inline if !is_link => Ok(Some(Block::File(media))),
                    _ => Err(Untranslatable::new(
                        "this server accepts no documents of this kind: send the document's text",
                    )),
                }
            }
            other => Ok(Some(other)),
        }
    }
}

/// Merges the texts of a message into one, after the reasoning and before the calls.
fn merge_texts(message: &mut Message, inline_media: bool) {
    let (mut reasoning, mut texts, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut mixed: Vec<Block> = Vec::new();
    let plain = message.role == Role::Assistant
        || !inline_media
        || !message.blocks.iter().any(|block| matches!(block, Block::Image(_) | Block::File(_)));
    for block in std::mem::take(&mut message.blocks) {
        match block {
            Block::Reasoning { text, .. } => reasoning.push(text),
            Block::Text(text) if plain => texts.push(text),
            Block::Text(text) => match mixed.last_mut() {
                Some(Block::Text(before)) => {
                    before.push_str("\n\n");
                    before.push_str(&text);
                }
                _ => mixed.push(Block::Text(text)),
            },
            other if plain => others.push(other),
            other => mixed.push(other),
        }
    }
    if !reasoning.is_empty() {
        message.blocks.push(Block::Reasoning { text: reasoning.join("\n\n"), seal: None });
    }
    if !texts.is_empty() {
        message.blocks.push(Block::Text(texts.join("\n\n")));
    }
    message.blocks.extend(others);
    message.blocks.extend(mixed);
}
