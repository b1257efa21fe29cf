//! A request in neutral terms, for translation between protocols.
//!
//! Values that are only handed on (schemas, numbers) stay JSON text, so that no number changes its spelling.

use std::fmt;

use crate::extras::CallExtras;
use crate::json::Object;
use crate::protocol::Protocol;
use crate::turn::CallForm;

/// A request for one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The model.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The declared tools.
    pub tools: Vec<Tool>,
    /// Which tools the model may or must call.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may make several calls in one turn, if the client says so.
    pub parallel_calls: Option<bool>,
    /// The most tokens of the answer.
    pub limit: Option<u64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Sampling parameters: a name that all protocols share, and a number as it was written.
    pub sampling: Vec<(String, String)>,
    /// How much the model may think.
    pub thinking: Thinking,
    /// The format of the answer.
    pub format: Option<Format>,
    /// The user on whose behalf the request is made.
    pub user: Option<String>,
    /// A key for the prompt cache.
    pub cache_key: Option<String>,
    /// Whether the client asked for token counts at the end of a stream.
    pub wants_usage: bool,
    /// The id of the answer that this request continues.
    pub previous_answer: Option<String>,
    /// Members that only their own protocol knows: the protocol, the name and the JSON value.
    pub extra: Vec<(Protocol, String, String)>,
}

impl Request {
    /// Adds the members that `OpenAI`'s protocols call by the same names: the user, the cache key and extra members.
    pub(crate) fn write_shared_members(&self, mut out: Object) -> Object {
        out = out
            .maybe_text("user", self.user.as_ref())
            .maybe_text("prompt_cache_key", self.cache_key.as_ref());
        for (_, name, value) in &self.extra {
            out = out.raw(name, value);
        }
        out
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The system prompt.
    System,
    /// The developer, whom newer models distinguish from the system.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The tools: results of calls.
    Tool,
}

impl Role {
    /// Returns the word that most protocols use. Protocols without developers let them speak as the system.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::System | Role::Developer => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// Returns a message with these blocks.
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Message { role, blocks }
    }

    /// Returns a message with one text.
    pub fn from_text(role: Role, text: impl Into<String>) -> Self {
        Message { role, blocks: vec![Block::Text(text.into())] }
    }

    /// Returns its text, with a blank line between the blocks.
    pub fn joined_text(&self) -> String {
        join_texts(&self.blocks)
    }
}

/// Adds a message. Consecutive results become one message.
pub(crate) fn push_message(messages: &mut Vec<Message>, message: Message) {
    match messages.last_mut().filter(|last| last.role == Role::Tool && message.role == Role::Tool) {
        Some(last) => last.blocks.extend(message.blocks),
        None => messages.push(message),
    }
}

/// Joins the texts of blocks with a blank line between them.
pub fn join_texts(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image.
    Image(Media),
    /// A document.
    File(Media),
    /// The model's reasoning.
    Reasoning {
        /// The reasoning itself; empty if it is hidden in the seal.
        text: String,
        /// What proves to its server that the reasoning is its own.
        seal: Option<ReasoningSignature>,
    },
    /// A call.
    Call(Call),
    /// The result of a call.
    Result {
        /// The id of the call.
        id: String,
        /// The tool, if it is known.
        name: Option<String>,
        /// What the tool returned.
        content: Vec<Block>,
        /// Whether the tool failed.
        error: bool,
        /// Whether the call had free text as its arguments.
        custom: bool,
    },
}

/// A signature by which a server recognises its own reasoning. Only that server can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasoningSignature {
    /// The protocol of the server.
    pub protocol: Protocol,
    /// The signature.
    pub data: String,
    /// Whether the reasoning itself is encrypted in it.
    pub hidden: bool,
}

/// An image or a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Where its data is.
    pub source: Source,
    /// Its name.
    pub name: Option<String>,
    /// How closely the model looks at an image.
    pub detail: Option<String>,
}

/// Where the data of an image or a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// At an address.
    Url(String),
    /// In the request.
    Base64 {
        /// The media type.
        kind: String,
        /// The data.
        data: String,
    },
}

impl Source {
    /// Reads a URL, which may be a `data:` URL.
    pub fn from_url(url: &str) -> Source {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        match data.and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data))) {
            Some((kind, data)) => Source::Base64 { kind: kind.to_owned(), data: data.to_owned() },
            None => Source::Url(url.to_owned()),
        }
    }

    /// Writes it as a URL.
    pub fn to_url(&self) -> String {
        match self {
            Source::Url(url) => url.clone(),
            Source::Base64 { kind, data } => format!("data:{kind};base64,{data}"),
        }
    }

    /// Returns the text of data that is plain text.
    pub fn plain_text(&self) -> Option<String> {
        match self {
            Source::Base64 { kind, data } if kind.starts_with("text/") => decode_base64(data),
            _ => None,
        }
    }
}

/// Decodes base64 to text. `None` if it is neither base64 nor UTF-8.
pub(crate) fn decode_base64(data: &str) -> Option<String> {
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

/// Encodes text as base64.
pub(crate) fn encode_base64(text: &str) -> String {
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

/// A call of an earlier turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// How the tool is called.
    pub form: CallForm,
    /// A JSON object as text, or free text.
    pub arguments: String,
    /// What else the call carried.
    pub extras: CallExtras,
}

/// A declared tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// A tool that takes an object of arguments.
    Function {
        /// Its name.
        name: String,
        /// The group that it belongs to.
        group: Option<ToolGroup>,
        /// What it does.
        description: Option<String>,
        /// A JSON Schema of its arguments.
        schema: String,
        /// Whether the server has to enforce the schema.
        strict: Option<bool>,
    },
    /// A tool that takes free text.
    Custom {
        /// Its name.
        name: String,
        /// What it does.
        description: Option<String>,
        /// What the text looks like, as JSON.
        format: Option<String>,
    },
    /// A tool that only servers of its protocol know.
    Hosted {
        /// The protocol.
        protocol: Protocol,
        /// Its name.
        name: String,
        /// Its declaration, as JSON.
        raw: String,
    },
}

impl Tool {
    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Tool::Function { name, .. } | Tool::Custom { name, .. } | Tool::Hosted { name, .. } => name,
        }
    }
}

/// A group of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolGroup {
    /// Its name.
    pub name: String,
    /// What its tools are for.
    pub description: Option<String>,
}

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This tool.
    Tool(String, CallForm),
    /// Only some of the tools.
    Allowed {
        /// Their names.
        names: Vec<String>,
        /// Whether one of them must be called.
        required: bool,
    },
}

impl ToolChoice {
    /// Returns the word that `OpenAI`'s protocols use, unless the choice is one tool.
    pub(crate) fn word(&self) -> Option<&'static str> {
        match self {
            ToolChoice::None => Some("none"),
            ToolChoice::Auto | ToolChoice::Allowed { required: false, .. } => Some("auto"),
            ToolChoice::Required | ToolChoice::Allowed { required: true, .. } => Some("required"),
            ToolChoice::Tool(..) => None,
        }
    }
}

/// How much the model may think before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thinking {
    /// Whether it thinks at all, if the client says so.
    pub on: Option<bool>,
    /// The effort, as a word.
    pub effort: Option<String>,
    /// The most tokens of reasoning.
    pub budget: Option<u64>,
    /// Whether and how reasoning is shown.
    pub summary: Option<String>,
}

/// The format of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Any JSON object.
    Json,
    /// JSON that fits a schema.
    Schema {
        /// The name of the schema.
        name: Option<String>,
        /// The JSON Schema.
        schema: String,
        /// Whether the server has to enforce the schema.
        strict: Option<bool>,
    },
}

/// A request that cannot be translated, with a message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untranslatable(pub String);

impl Untranslatable {
    /// Returns an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Untranslatable(message.into())
    }
}

/// The names of what a translation dropped: the first ones, and how many there were beyond them. A request can have any number of
/// members that nobody knows.
///
/// ```
/// use toolmend_protocol::DroppedFields;
///
/// let mut dropped = DroppedFields::default();
/// for number in [1, 2, 1] {
///     dropped.add(format!("field{number}"));
/// }
/// assert_eq!(dropped.to_string(), "field1, field2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DroppedFields {
    names: Vec<String>,
    more: usize,
}

/// How many names are kept, and how much of each in bytes. They fit into the head of an answer.
const MAX_DROPPED: (usize, usize) = (32, 64);

impl DroppedFields {
    /// Adds a name, once.
    pub fn add(&mut self, name: impl Into<String>) {
        let mut name = name.into();
        let (max_names, max_length) = MAX_DROPPED;
        if name.len() > max_length {
            name.truncate(name.floor_char_boundary(max_length));
            name.push('…');
        }
        if self.names.contains(&name) {
            return;
        }
        if self.names.len() < max_names {
            self.names.push(name);
        } else {
            self.more += 1;
        }
    }

    /// Whether nothing was dropped.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl fmt::Display for DroppedFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(", "))?;
        if self.more > 0 { write!(f, ", and {} more", self.more) } else { Ok(()) }
    }
}

#[test]
fn the_names_of_dropped_fields_fit_into_the_head_of_an_answer() {
    let mut dropped = DroppedFields::default();
    assert!(dropped.is_empty());
    for number in 0..1000 {
        dropped.add(format!("{number}{}", "é".repeat(1000)));
    }
    let text = dropped.to_string();
    assert!(text.len() < 4096 && text.ends_with(", and 968 more"), "{text}");
}
