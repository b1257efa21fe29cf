//! A request made fit for a surface: what it cannot say is said in another way, dropped by name, or refused.
//!
//! What comes out is exactly what the surface can carry, so that reading what is written gives it back.

use super::names::Names;
use super::request::{
    Block, Call, Choice, Form, Format, Losses, Message, Refused, Request, Role, Source, Thinking, Tool, Wire,
    joined,
};

/// How a surface says how much the model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinks {
    Not,
    /// By a word.
    Effort,
    /// By a number of tokens.
    Budget,
    /// On or off.
    Switch,
}

/// Which documents a surface takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    Not,
    /// Those that are in the request.
    Inline,
    /// By their address, too.
    Linked,
}

/// What a surface can say, and what its servers can be expected to understand.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a table of what is possible and what is not")]
pub(crate) struct Can {
    pub(crate) wire: Wire,
    /// The server is the vendor's own: it refuses what it did not write, and members that it does not know.
    pub(crate) vendor: bool,
    /// System prompts between other messages. Most templates take one, in front.
    pub(crate) mid_system: bool,
    pub(crate) custom: bool,
    pub(crate) groups: bool,
    pub(crate) name_length: usize,
    pub(crate) strict: bool,
    pub(crate) choice: bool,
    pub(crate) parallel: bool,
    /// Pictures and documents in results.
    pub(crate) result_media: bool,
    pub(crate) result_error: bool,
    /// Results name their tool.
    pub(crate) result_name: bool,
    /// Pictures by their address.
    pub(crate) image_urls: bool,
    pub(crate) image_detail: bool,
    pub(crate) files: Files,
    /// A message has one text, and calls stand behind it.
    pub(crate) one_text: bool,
    /// Pictures stand between the texts of a message.
    pub(crate) inline_media: bool,
    /// Thoughts of earlier turns.
    pub(crate) reasoning: bool,
    pub(crate) thinks: Thinks,
    pub(crate) summary: bool,
    /// JSON without a schema.
    pub(crate) any_json: bool,
    /// Schemas of answers have names.
    pub(crate) named_schema: bool,
    pub(crate) stop: bool,
    pub(crate) knobs: &'static [&'static str],
    pub(crate) user: bool,
    pub(crate) cache_key: bool,
    /// The limit that is sent where the client sets none, for surfaces that need one.
    pub(crate) limit: Option<u64>,
}

const BASE: Can = Can {
    wire: Wire::Chat,
    vendor: false,
    mid_system: false,
    custom: false,
    groups: false,
    name_length: 64,
    strict: true,
    choice: true,
    parallel: true,
    result_media: false,
    result_error: false,
    result_name: false,
    image_urls: true,
    image_detail: true,
    files: Files::Inline,
    one_text: true,
    inline_media: true,
    reasoning: true,
    thinks: Thinks::Effort,
    summary: false,
    any_json: true,
    named_schema: true,
    stop: true,
    knobs: &["temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty"],
    user: true,
    cache_key: true,
    limit: None,
};

impl Can {
    /// What is known about servers of a surface.
    pub(crate) fn of(wire: Wire) -> Can {
        match wire {
            Wire::Chat => BASE,
            Wire::Messages => Can {
                wire,
                name_length: 128,
                result_media: true,
                result_error: true,
                image_detail: false,
                files: Files::Linked,
                one_text: false,
                thinks: Thinks::Budget,
                any_json: false,
                named_schema: false,
                knobs: &["temperature", "top_p", "top_k"],
                cache_key: false,
                limit: Some(8192),
                ..BASE
            },
            Wire::Responses => Can {
                wire,
                custom: true,
                groups: true,
                result_media: true,
                files: Files::Linked,
                one_text: false,
                summary: true,
                stop: false,
                knobs: &["temperature", "top_p"],
                ..BASE
            },
            Wire::Ollama => Can {
                wire,
                strict: false,
                choice: false,
                parallel: false,
                result_name: true,
                image_urls: false,
                image_detail: false,
                files: Files::Not,
                inline_media: false,
                thinks: Thinks::Switch,
                named_schema: false,
                user: false,
                cache_key: false,
                ..BASE
            },
            Wire::Completions => Can {
                wire,
                choice: false,
                parallel: false,
                image_urls: false,
                files: Files::Not,
                reasoning: false,
                thinks: Thinks::Not,
                ..BASE
            },
        }
    }

    /// For the vendor's own server.
    pub(crate) fn vendor(self) -> Can {
        let knobs = match self.wire {
            Wire::Chat => &["temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"],
            _ => self.knobs,
        };
        Can { vendor: true, knobs, ..self }
    }
}

/// Makes a request fit, and tells under which names its tools are known to the server.
pub(crate) fn fit(mut request: Request, can: &Can, losses: &mut Losses) -> Result<(Request, Names), Refused> {
    if request.previous.is_some() {
        return Err(Refused::new(
            "previous_response_id: this gateway does not keep answers for a server of another surface. Send the whole conversation as `input`, or set `response_store` in the gateway's configuration",
        ));
    }
    allowed(&mut request, can, losses);
    let names = Names::new(&request, can);
    request.tools = tools(request.tools, can, &names, losses);
    request.choice = request.choice.map(|choice| named(choice, can, &names));
    if request.tools.is_empty() {
        request.choice = None;
    }
    if request.tools.is_empty() || request.choice == Some(Choice::None) {
        request.parallel = None;
    }
    if !can.parallel && request.parallel.take() == Some(false) {
        losses.add("parallel_tool_calls");
    }
    if can.wire == Wire::Messages && request.parallel.is_some() {
        // The switch stands in the choice, so there has to be one.
        request.choice.get_or_insert(Choice::Auto);
    }
    let mut fitted = Messages { out: Vec::new(), can, names: &names, losses, tools: Vec::new() };
    fitted.all(request.messages)?;
    request.messages = fitted.out;
    request.limit = request.limit.or(can.limit);
    request.thinking = thinking(&request, can, losses);
    request.format = request.format.and_then(|format| formatted(format, can, losses));
    request.knobs.retain(|(name, _)| kept(can.knobs.contains(&name.as_str()), name, losses));
    if !can.stop && !request.stop.is_empty() {
        request.stop.clear();
        losses.add("stop");
    }
    request.user = request.user.filter(|_| kept(can.user, "user", losses));
    request.cache_key = request.cache_key.filter(|_| kept(can.cache_key, "prompt_cache_key", losses));
    request.extra.retain(|(wire, name, _)| kept(*wire == can.wire, name, losses));
    Ok((request, names))
}

fn kept(keeps: bool, name: &str, losses: &mut Losses) -> bool {
    if !keeps {
        losses.add(name);
    }
    keeps
}

/// A choice among some tools becomes a choice among all that are left.
fn allowed(request: &mut Request, can: &Can, losses: &mut Losses) {
    if let Some(Choice::Allowed { names, required }) = &request.choice {
        request.tools.retain(|tool| match tool {
            Tool::Function { name, .. } | Tool::Custom { name, .. } | Tool::Hosted { name, .. } => {
                names.contains(name)
            }
        });
        request.choice = Some(if *required { Choice::Required } else { Choice::Auto });
    }
    if can.choice {
        return;
    }
    match request.choice.take() {
        None | Some(Choice::Auto) => {}
        Some(Choice::None) => request.tools.clear(),
        Some(_) => losses.add("tool_choice"),
    }
}

fn tools(list: Vec<Tool>, can: &Can, names: &Names, losses: &mut Losses) -> Vec<Tool> {
    let mut out = Vec::new();
    for tool in list {
        match tool {
            Tool::Function { name, group, description, schema, strict } => {
                let wire_name = names.forward(&name, group.as_ref().map(|group| group.name.as_str()));
                // Of two surfaces that have the switch, one has it on where nothing is said.
                let strict = strict.or((can.wire == Wire::Responses).then_some(false)).filter(|_| can.strict);
                let group = group.filter(|_| can.groups);
                out.push(Tool::Function { name: wire_name, group, description, schema, strict });
            }
            Tool::Custom { name, description, format } if can.custom => {
                out.push(Tool::Custom { name: names.forward(&name, None), description, format });
            }
            Tool::Custom { name, description, format } => {
                out.push(Tool::Function {
                    name: names.forward(&name, None),
                    group: None,
                    description: free_text(description.as_deref(), format.as_deref()),
                    schema: FREE_TEXT.to_owned(),
                    strict: None,
                });
            }
            Tool::Hosted { wire, name, raw } if wire == can.wire => {
                out.push(Tool::Hosted { wire, name, raw });
            }
            Tool::Hosted { name, .. } => losses.add(format!("tool {name}")),
        }
    }
    out
}

/// The schema of a tool that takes free text, where there are only functions.
const FREE_TEXT: &str = r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}"#;

fn free_text(description: Option<&str>, format: Option<&str>) -> Option<String> {
    let mut out = description.unwrap_or_default().to_owned();
    if let Some(format) = format.filter(|format| format.contains("grammar")) {
        out.push_str("\n\nThe input is a text of this form: ");
        out.push_str(format);
    }
    let out = out.trim_start();
    (!out.is_empty()).then(|| out.to_owned())
}

fn named(choice: Choice, can: &Can, names: &Names) -> Choice {
    match choice {
        Choice::Tool(name, form) => {
            let group = match &form {
                Form::Grouped(group) => Some(group.as_str()),
                _ => None,
            };
            let wire_name = names.forward(&name, group);
            let form = if form == Form::Custom && can.custom { Form::Custom } else { Form::Function };
            Choice::Tool(wire_name, form)
        }
        other => other,
    }
}

/// Above which budget the effort is called by which name.
const EFFORTS: [(u64, &str); 3] = [(2048, "low"), (8192, "medium"), (u64::MAX, "high")];
/// How many tokens an effort stands for.
const BUDGETS: [(&str, u64); 5] =
    [("minimal", 1024), ("low", 1024), ("medium", 4096), ("high", 16384), ("xhigh", 32768)];
/// The smallest budget that is taken.
const LEAST_BUDGET: u64 = 1024;

fn thinking(request: &Request, can: &Can, losses: &mut Losses) -> Thinking {
    let asked = &request.thinking;
    let none = Thinking::default();
    if *asked == none {
        return none;
    }
    match can.thinks {
        Thinks::Not => {
            losses.add("reasoning effort");
            none
        }
        Thinks::Effort => {
            let budget = asked.budget.and_then(|budget| EFFORTS.iter().find(|(most, _)| budget <= *most));
            let effort = asked.effort.clone().or_else(|| budget.map(|(_, name)| (*name).to_owned()));
            if effort.is_none() && asked.on.is_some() {
                losses.add("thinking");
            }
            Thinking { effort, summary: asked.summary.clone().filter(|_| can.summary), ..none }
        }
        Thinks::Budget => {
            let limit = request.limit.or(can.limit).unwrap_or(u64::MAX);
            let effort = asked.effort.as_deref();
            if asked.on == Some(false) || effort == Some("none") {
                return Thinking { on: Some(false), ..none };
            }
            if asked.on.is_some() && asked.budget.is_some() {
                return Thinking { summary: None, ..asked.clone() };
            }
            let known = BUDGETS.iter().find(|(name, _)| Some(*name) == effort).map(|(_, budget)| *budget);
            let budget = known.map(|budget| budget.min(limit / 2)).filter(|budget| *budget >= LEAST_BUDGET);
            let unsealed = can.vendor && !is_sealed(&request.messages);
            if let Some(budget) = budget.filter(|_| !unsealed) {
                Thinking { on: Some(true), budget: Some(budget), ..none }
            } else {
                losses.add("reasoning effort");
                none
            }
        }
        Thinks::Switch => {
            let levels = request.model.contains("gpt-oss");
            let effort = asked.effort.clone().filter(|_| levels);
            let on = asked.on.filter(|on| !on || asked.budget.is_none()).filter(|_| effort.is_none());
            if effort.is_none() && on.is_none() {
                // A model that cannot think refuses the request where it is told to.
                losses.add("reasoning effort");
            }
            Thinking { on, effort, ..none }
        }
    }
}

/// Whether the last turn that called tools has thoughts that its server takes back.
fn is_sealed(messages: &[Message]) -> bool {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant);
    last.is_none_or(|message| {
        let calls = message.blocks.iter().any(|block| matches!(block, Block::Call(_)));
        !calls || message.blocks.iter().any(|block| matches!(block, Block::Reasoning { .. }))
    })
}

fn formatted(format: Format, can: &Can, losses: &mut Losses) -> Option<Format> {
    match format {
        Format::Json if !can.any_json => {
            losses.add("response_format json_object");
            None
        }
        Format::Json => Some(Format::Json),
        Format::Schema { name, schema, strict } => Some(if can.named_schema {
            Format::Schema { name: name.or_else(|| Some("answer".to_owned())), schema, strict }
        } else {
            Format::Schema { name: None, schema, strict: None }
        }),
    }
}

/// Writes the conversation anew.
struct Messages<'a> {
    out: Vec<Message>,
    can: &'a Can,
    names: &'a Names,
    losses: &'a mut Losses,
    /// The tools of calls, by id.
    tools: Vec<(String, String)>,
}

impl Messages<'_> {
    fn all(&mut self, list: Vec<Message>) -> Result<(), Refused> {
        let is_system = |message: &Message| matches!(message.role, Role::System | Role::Developer);
        let mut leading: Vec<String> = Vec::new();
        for message in list {
            if is_system(&message) {
                let texts = self.system(message);
                if self.out.is_empty() {
                    leading.extend(texts);
                } else if !texts.is_empty() {
                    let text = texts.join("\n\n");
                    if self.can.mid_system {
                        self.out.push(Message::text(Role::System, text));
                    } else {
                        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
                        self.add(Role::User, vec![Block::Text(text)]);
                    }
                }
                continue;
            }
            let (mut blocks, mut behind) = (Vec::new(), Vec::new());
            for block in message.blocks {
                self.block(block, &mut blocks, &mut behind)?;
            }
            self.add(message.role, blocks);
            self.add(Role::User, behind);
        }
        if !leading.is_empty() {
            self.out.insert(0, Message::text(Role::System, leading.join("\n\n")));
        }
        for message in &mut self.out {
            if self.can.one_text {
                one_text(message, self.can.inline_media);
            }
        }
        Ok(())
    }

    /// The texts of a system prompt.
    fn system(&mut self, message: Message) -> Vec<String> {
        let mut texts = Vec::new();
        for block in message.blocks {
            match block {
                // A line for the vendor's accounts that changes with every request and so defeats caches.
                Block::Text(text)
                    if self.can.wire != Wire::Messages && text.starts_with("x-anthropic-billing-header:") => {
                }
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => texts.push(text),
                _ => self.losses.add("system prompt that is no text"),
            }
        }
        texts
    }

    /// Adds to the last message where it is of the same role: many templates want roles to alternate.
    fn add(&mut self, role: Role, blocks: Vec<Block>) {
        if blocks.is_empty() {
            return;
        }
        match self.out.last_mut().filter(|last| last.role == role) {
            Some(message) => message.blocks.extend(blocks),
            None => self.out.push(Message::new(role, blocks)),
        }
    }

    fn block(&mut self, block: Block, out: &mut Vec<Block>, behind: &mut Vec<Block>) -> Result<(), Refused> {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(_) => out.push(block),
            Block::Image(_) | Block::File(_) => out.extend(self.media(block)?),
            Block::Reasoning { text, seal } => {
                let can = self.can;
                let had_seal = seal.is_some();
                let seal = seal.filter(|seal| seal.wire == can.wire);
                if had_seal && seal.is_none() {
                    self.losses.add("reasoning signature");
                }
                let unknown = can.vendor && seal.is_none();
                if unknown || !can.reasoning {
                    self.losses.add("reasoning of earlier turns");
                } else if !text.is_empty() || seal.is_some() {
                    out.push(Block::Reasoning { text, seal });
                }
            }
            Block::Call(call) => out.push(Block::Call(self.call(call))),
            Block::Result { id, content, error, custom, .. } => {
                let mut texts = Vec::new();
                let mut media = Vec::new();
                for inner in content {
                    match inner {
                        Block::Text(text) if text.is_empty() => {}
                        Block::Text(_) => texts.push(inner),
                        Block::Image(_) | Block::File(_) => {
                            let fitted = self.media(inner)?;
                            if self.can.result_media { texts.extend(fitted) } else { media.extend(fitted) }
                        }
                        _ => self.losses.add("tool result that is no text"),
                    }
                }
                let mut error = error;
                if error && !self.can.result_error {
                    error = false;
                    match texts.iter_mut().find_map(|block| match block {
                        Block::Text(text) => Some(text),
                        _ => None,
                    }) {
                        Some(text) => text.insert_str(0, "Error: "),
                        None => texts.insert(0, Block::Text("Error".to_owned())),
                    }
                }
                if self.can.one_text && texts.len() > 1 {
                    texts = vec![Block::Text(joined(&texts))];
                }
                if !media.is_empty() {
                    behind.push(Block::Text(format!("What the tool call {id} returned beside its text:")));
                    behind.extend(media);
                }
                let known = self.tools.iter().rev().find(|(known, _)| *known == id);
                let name = known.filter(|_| self.can.result_name).map(|(_, name)| name.clone());
                let custom = custom && self.can.custom;
                out.push(Block::Result { id, name, content: texts, error, custom });
            }
        }
        Ok(())
    }

    fn call(&mut self, call: Call) -> Call {
        let group = match &call.form {
            Form::Grouped(group) => Some(group.as_str()),
            _ => None,
        };
        let name = self.names.forward(&call.name, group);
        self.tools.push((call.id.clone(), name.clone()));
        match call.form {
            Form::Custom if !self.can.custom => {
                let arguments = crate::wire::write::Object::new().text("input", &call.arguments).end();
                Call { id: call.id, name, form: Form::Function, arguments }
            }
            Form::Grouped(_) if !self.can.groups => Call { name, form: Form::Function, ..call },
            Form::Custom => Call { name, ..call },
            _ => {
                let arguments = object(call.arguments);
                Call { name, arguments, ..call }
            }
        }
    }

    /// A picture or a document as the surface takes it.
    fn media(&mut self, block: Block) -> Result<Option<Block>, Refused> {
        match block {
            Block::Image(mut media) => {
                if !self.can.image_urls && matches!(media.source, Source::Url(_)) {
                    return Err(Refused::new(
                        "a picture by its address cannot be sent to this server: send its data (base64)",
                    ));
                }
                media.detail = media.detail.filter(|_| self.can.image_detail);
                media.name = None;
                Ok(Some(Block::Image(media)))
            }
            Block::File(media) => {
                let text = match &media.source {
                    Source::Base64 { kind, data } if kind.starts_with("text/") => from_base64(data),
                    _ => None,
                };
                // Text needs nobody who can read documents.
                if let Some(text) = text.filter(|_| self.can.wire != Wire::Messages) {
                    let title = media.name.map(|name| format!("{name}:\n\n")).unwrap_or_default();
                    return Ok(Some(Block::Text(format!("{title}{text}"))));
                }
                let linked = matches!(media.source, Source::Url(_));
                match self.can.files {
                    Files::Linked => Ok(Some(Block::File(media))),
                    Files::Inline if !linked => Ok(Some(Block::File(media))),
                    _ => Err(Refused::new(
                        "a document of this kind cannot be sent to this server: send its text",
                    )),
                }
            }
            other => Ok(Some(other)),
        }
    }
}

/// One text a message, behind the thoughts and before the calls.
fn one_text(message: &mut Message, inline_media: bool) {
    let (mut thoughts, mut texts, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut mixed: Vec<Block> = Vec::new();
    let plain = message.role == Role::Assistant
        || !inline_media
        || !message.blocks.iter().any(|block| matches!(block, Block::Image(_) | Block::File(_)));
    for block in std::mem::take(&mut message.blocks) {
        match block {
            Block::Reasoning { text, .. } => thoughts.push(text),
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
    if !thoughts.is_empty() {
        message.blocks.push(Block::Reasoning { text: thoughts.join("\n\n"), seal: None });
    }
    if !texts.is_empty() {
        message.blocks.push(Block::Text(texts.join("\n\n")));
    }
    message.blocks.extend(others);
    message.blocks.extend(mixed);
}

/// Arguments that are an object, whatever they were.
fn object(text: String) -> String {
    let is_object = |text: &str| {
        text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    };
    if is_object(&text) {
        return text;
    }
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    let fixed = toolmend::fix(&text).json().filter(|json| is_object(json)).map(str::to_owned);
    fixed.unwrap_or_else(|| crate::wire::write::Object::new().text("unreadable_arguments", &text).end())
}

/// The text in a base64 text.
pub(crate) fn from_base64(data: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(data.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A text as base64.
pub(crate) fn to_base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(text.len().div_ceil(3) * 4);
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
