//! A request in neutral terms: what every surface is read into and written from.
//!
//! Values that the gateway only hands on (schemas, numbers) stay JSON text, so that no number changes its spelling.

pub(crate) use super::Wire;
pub(crate) use crate::turn::Form;
use crate::wire::write::Object;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) choice: Option<Choice>,
    /// Whether several calls may be made at once, where the client says so.
    pub(crate) parallel: Option<bool>,
    /// The most tokens of the answer.
    pub(crate) limit: Option<u64>,
    pub(crate) stop: Vec<String>,
    /// Sampling: a name that all surfaces share, and a number as it was written.
    pub(crate) knobs: Vec<(String, String)>,
    pub(crate) thinking: Thinking,
    pub(crate) format: Option<Format>,
    pub(crate) user: Option<String>,
    pub(crate) cache_key: Option<String>,
    /// Whether the client asked for counts at the end of a stream.
    pub(crate) counts: bool,
    /// The answer that this request goes on from.
    pub(crate) previous: Option<String>,
    /// Members that only their own surface knows.
    pub(crate) extra: Vec<(Wire, String, String)>,
}

impl Request {
    /// Adds what `OpenAI`'s surfaces call by the same names: who asks, what is cached, and their own members.
    pub(crate) fn write_rest(&self, mut out: Object) -> Object {
        out = out
            .maybe_text("user", self.user.as_ref())
            .maybe_text("prompt_cache_key", self.cache_key.as_ref());
        for (_, name, value) in &self.extra {
            out = out.raw(name, value);
        }
        out
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    Developer,
    User,
    Assistant,
    /// Results of calls.
    Tool,
}

impl Role {
    /// The word that most surfaces have for it. Where there are no developers, they speak as the system.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Role::System | Role::Developer => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) blocks: Vec<Block>,
}

impl Message {
    pub(crate) fn new(role: Role, blocks: Vec<Block>) -> Self {
        Message { role, blocks }
    }

    pub(crate) fn text(role: Role, text: impl Into<String>) -> Self {
        Message { role, blocks: vec![Block::Text(text.into())] }
    }

    /// Its text, with a blank line between the pieces.
    pub(crate) fn joined(&self) -> String {
        joined(&self.blocks)
    }
}

/// Adds a message; results that stand one behind the other are one message.
pub(crate) fn push(messages: &mut Vec<Message>, message: Message) {
    match messages.last_mut().filter(|last| last.role == Role::Tool && message.role == Role::Tool) {
        Some(last) => last.blocks.extend(message.blocks),
        None => messages.push(message),
    }
}

/// The text of blocks, with a blank line between the pieces.
pub(crate) fn joined(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Text(String),
    Image(Media),
    File(Media),
    Reasoning {
        text: String,
        seal: Option<Seal>,
    },
    Call(Call),
    Result {
        id: String,
        /// The tool, where it is known.
        name: Option<String>,
        content: Vec<Block>,
        error: bool,
        /// Whether its call was one in free text.
        custom: bool,
    },
}

/// What proves to a server that thoughts are its own. Nobody else can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) wire: Wire,
    pub(crate) data: String,
    /// Whether the thoughts themselves are hidden in it.
    pub(crate) hidden: bool,
}

/// A picture or a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    pub(crate) source: Source,
    pub(crate) name: Option<String>,
    /// How closely a picture is looked at.
    pub(crate) detail: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Url(String),
    Base64 { kind: String, data: String },
}

impl Source {
    /// From an address, which may hold the data itself.
    pub(crate) fn from_url(url: &str) -> Source {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        match data.and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data))) {
            Some((kind, data)) => Source::Base64 { kind: kind.to_owned(), data: data.to_owned() },
            None => Source::Url(url.to_owned()),
        }
    }

    /// As an address.
    pub(crate) fn url(&self) -> String {
        match self {
            Source::Url(url) => url.clone(),
            Source::Base64 { kind, data } => format!("data:{kind};base64,{data}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) form: Form,
    /// JSON text of an object, or free text.
    pub(crate) arguments: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tool {
    Function {
        name: String,
        group: Option<Group>,
        description: Option<String>,
        /// A JSON Schema.
        schema: String,
        strict: Option<bool>,
    },
    Custom {
        name: String,
        description: Option<String>,
        /// What the text looks like, as the client wrote it.
        format: Option<String>,
    },
    /// A tool that only the servers of its surface know.
    Hosted { wire: Wire, name: String, raw: String },
}

/// A group of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Auto,
    None,
    Required,
    Tool(String, Form),
    /// Only these, and whether one of them must be called.
    Allowed {
        names: Vec<String>,
        required: bool,
    },
}

/// How much the model thinks before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Thinking {
    /// Whether it thinks at all, where the client says so.
    pub(crate) on: Option<bool>,
    pub(crate) effort: Option<String>,
    pub(crate) budget: Option<u64>,
    /// Whether and how thoughts are shown.
    pub(crate) summary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    /// Any JSON object.
    Json,
    Schema {
        name: Option<String>,
        schema: String,
        strict: Option<bool>,
    },
}

/// A request that cannot be carried over, with words for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

impl Refused {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Refused(message.into())
    }
}

/// What was left out on the way, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Losses(pub(crate) Vec<String>);

impl Losses {
    pub(crate) fn add(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.0.contains(&what) {
            self.0.push(what);
        }
    }
}
