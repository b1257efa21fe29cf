//! How the gateway is set up: defaults, one TOML file, the environment and flags, in this order.

mod dialects;
mod file;
mod journal;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolmend::Preset;

pub use self::dialects::read_dialects;
pub use self::file::ConfigError;
pub use self::journal::JournalConfig;
pub use crate::mend::judge::RefusalMode;

/// When the arguments of calls are sent in streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamMode {
    /// When the call is complete and mended.
    #[default]
    Held,
    /// As soon as they are certain.
    Live,
}

/// What may be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyName {
    /// Nothing is looked at.
    Off,
    /// Calls are judged and not repaired.
    Strict,
    /// All repairs that are on by default.
    #[default]
    Balanced,
    /// Risky forms too.
    Eager,
}

impl PolicyName {
    pub(crate) fn preset(self) -> Preset {
        match self {
            PolicyName::Off => Preset::Off,
            PolicyName::Strict => Preset::Strict,
            PolicyName::Balanced => Preset::Balanced,
            PolicyName::Eager => Preset::Eager,
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [("off", Self::Off), ("strict", Self::Strict), ("balanced", Self::Balanced), ("eager", Self::Eager)]
            .into_iter()
            .find_map(|(known, policy)| known.eq_ignore_ascii_case(name).then_some(policy))
    }
}

/// The surface that a server is spoken to on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UpstreamSurface {
    /// The client's, where the server speaks it; else one that it does, which is found out by asking.
    #[default]
    Auto,
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/messages`
    Messages,
    /// `/v1/responses`
    Responses,
    /// `/api/chat`
    Ollama,
    /// `/v1/completions`: conversations are written as prompts.
    Completions,
}

/// How tools reach the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolMode {
    /// The server is given the list.
    #[default]
    Native,
    /// They are written into the prompt, for servers that take no list.
    Prompt,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A server that requests are sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Its address, for example `http://127.0.0.1:11434`. A path in it stands before the path of each request.
    #[serde(deserialize_with = "file::url")]
    pub url: String,
    /// The models that it serves; `*` stands for anything. Every model where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The key that is sent to it in place of the client's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "file::env")]
    pub api_key_env: Option<String>,
    /// A file with certificates that are trusted beside those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The surface that it is spoken to on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub surface: UpstreamSurface,
    /// How tools reach its models.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tools: ToolMode,
    /// The models whose tools are written into the prompt, where those of the others are not; `*` stands for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_models: Vec<String>,
    /// Whether system prompts in the middle of a conversation are folded into turns of the user. They are where nothing
    /// is said, unless the server is a vendor's own: most templates take one, in front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_system: Option<bool>,
    /// The notation in which calls are written into prompts, by its name in `toolmend dialects`. That of the model
    /// where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "file::dialect")]
    pub dialect: Option<String>,
}

impl Upstream {
    /// A server for every model.
    pub fn new(url: impl Into<String>) -> Self {
        Upstream {
            url: url.into(),
            models: Vec::new(),
            api_key: None,
            api_key_env: None,
            ca_file: None,
            surface: UpstreamSurface::default(),
            tools: ToolMode::default(),
            prompt_models: Vec::new(),
            fold_system: None,
            dialect: None,
        }
    }
}

/// Something that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("")
    }
}

/// Bounds for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RequestLimits {
    /// The longest request body, in bytes.
    pub body_bytes: usize,
    /// The longest answer that is read as a whole, and the most that a stream holds back, in bytes.
    pub held_bytes: usize,
    /// The longest time without a byte from the server, in seconds.
    pub idle_seconds: u64,
    /// The longest time for a connection to the server, in seconds.
    pub connect_seconds: u64,
    /// How often a connection that could not be made is tried again.
    pub connect_retries: u8,
    /// How often a comment is sent while a call is held, in seconds.
    pub keep_alive_seconds: u64,
    /// How long open streams may take to finish when the gateway stops, in seconds.
    pub shutdown_seconds: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        RequestLimits {
            body_bytes: 64 << 20,
            held_bytes: 32 << 20,
            idle_seconds: 600,
            connect_seconds: 10,
            connect_retries: 2,
            keep_alive_seconds: 10,
            shutdown_seconds: 30,
        }
    }
}

/// How the gateway is set up.
///
/// ```
/// use toolmend_gateway::Config;
/// let config: Config = Config::from_toml("refusal = \"reprompt\"\n[[upstreams]]\nurl = \"http://127.0.0.1:8080\"").unwrap();
/// assert_eq!(config.listen.port(), 4242);
/// let error = Config::from_toml("refusal = \"repromt\"").unwrap_err();
/// assert!(error.to_string().contains("line 1"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where it listens. Loopback unless told otherwise.
    pub listen: SocketAddr,
    /// How many threads answer clients; 0 is one for each core. Read at the start only.
    pub threads: usize,
    /// What may be repaired.
    pub policy: PolicyName,
    /// What happens to calls that cannot be mended.
    pub refusal: RefusalMode,
    /// How often the server is asked again, 0 to 5, where `refusal` is `reprompt`.
    #[serde(deserialize_with = "file::reprompts")]
    pub reprompts: u8,
    /// When the arguments of calls are sent in streams.
    pub stream: StreamMode,
    /// Whether short sentences against known mistakes are added to the descriptions of tools.
    pub contract_hints: bool,
    /// Whether history in requests is repaired.
    pub repair_history: bool,
    /// A TOML file with dialects and ids of models beside the built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialects: Option<PathBuf>,
    /// How many answers are kept for requests with `previous_response_id`, where their server is of another surface.
    /// None are where it is 0: then such requests are refused.
    pub response_store: usize,
    /// Keys that clients must have one of. None where everybody may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_keys: Vec<Secret>,
    /// The key for the page. Without one the page shows itself on this machine only, and changes nothing.
    #[serde(skip_serializing)]
    pub admin_key: Option<Secret>,
    /// The address of a collector of traces, for example `http://127.0.0.1:4318`. Read once, when the gateway starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
    /// How calls that were not clean are written down. Read once, when the gateway starts.
    pub journal: JournalConfig,
    /// Bounds for each request.
    pub limits: RequestLimits,
    /// The servers. The first that serves a model gets its requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<Upstream>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 4242)),
            threads: 0,
            policy: PolicyName::default(),
            refusal: RefusalMode::default(),
            reprompts: 1,
            stream: StreamMode::default(),
            contract_hints: false,
            repair_history: true,
            dialects: None,
            response_store: 0,
            api_keys: Vec::new(),
            admin_key: None,
            otlp_endpoint: None,
            journal: JournalConfig::default(),
            limits: RequestLimits::default(),
            upstreams: Vec::new(),
        }
    }
}

impl Config {
    /// Reads a TOML text.
    ///
    /// # Errors
    /// Where the text is wrong, with the line.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        file::parse(text, None)
    }

    /// Reads a TOML file.
    ///
    /// # Errors
    /// Where the file cannot be read or is wrong, with the line.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        file::read(path)
    }

    /// The TOML text of this configuration, which reads the same again. Keys are left out.
    pub fn to_toml(&self) -> String {
        file::write(self)
    }

    /// How often a server may be asked again for one request.
    pub(crate) fn reprompt_budget(&self) -> u8 {
        if self.refusal == RefusalMode::Reprompt { self.reprompts } else { 0 }
    }

    /// How many threads answer clients; at least one.
    pub(crate) fn thread_count(&self) -> usize {
        if self.threads == 0 { crate::server::worker::usual_number() } else { self.threads }
    }

    /// Checks what types cannot say.
    ///
    /// # Errors
    /// Where a value is out of its range, or an address is none.
    pub fn check(&self) -> Result<(), ConfigError> {
        file::check(self)
    }
}
