//! The configuration: defaults, then one TOML file, then the environment and flags.
//!
//! This module reads, checks and writes settings. It never acts on them.

mod explained;
mod file;
mod journal;
mod keys;
mod limits;
mod listen;
mod repairs;
mod tls;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolmend::{Calls, Capabilities, Preset};
use toolmend_protocol::Protocol;

pub(crate) use self::file::hide_password;
#[cfg(feature = "otel")]
pub(crate) use self::file::split_user_info;
pub use self::file::{ConfigError, parse_protocol_or_auto, protocol_setting_names};
pub use self::journal::JournalConfig;
pub use self::keys::ClientKey;
pub use self::limits::RequestLimits;
pub use self::listen::parse_listen_address;
pub use self::repairs::RepairSettings;
pub use self::tls::TlsConfig;

/// When the arguments of calls are sent in streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamMode {
    /// Once the call is complete and mended.
    #[default]
    Held,
    /// As soon as they cannot change any more.
    Live,
}

/// What happens to calls that cannot be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalMode {
    /// The client gets something that it refuses by itself, so that the model tries again: the call as it was written if only
    /// the schema or the name is wrong, otherwise a stub that the tool's own schema rejects.
    #[default]
    Auto,
    /// The client gets a turn whose text says what is wrong with the call.
    Feedback,
    /// The server is asked again with the feedback, if nothing of the turn was sent yet; otherwise like `feedback`.
    Reprompt,
    /// The client gets the call as the server sent it.
    Pass,
}

/// How a turn ends whose call was truncated, for clients that give up at the token limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncationMode {
    /// Like a complete turn, so that the client refuses the call and the model tries again.
    #[default]
    Recover,
    /// With the token limit as the reason.
    Honest,
}

/// How tools reach the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolMode {
    /// As a list in the request.
    #[default]
    Native,
    /// As text in the prompt, for servers that accept no list.
    Prompt,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A server that requests are sent to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Its address, for example `http://127.0.0.1:11434`. A path in it goes before the path of each request. A name and a
    /// password in it are used for authentication and never shown.
    #[serde(deserialize_with = "file::url", serialize_with = "file::without_password")]
    pub url: String,
    /// The models that it serves; `*` stands for anything. Empty: every model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The key that is sent to it instead of the client's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "file::env")]
    pub api_key_env: Option<String>,
    /// A file with certificates to trust in addition to the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The protocol that it is spoken to in. `None`, written as `auto`: the client's if the server speaks it, otherwise one
    /// that it does speak, which is found out by asking.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "file::protocol_or_auto")]
    pub surface: Option<Protocol>,
    /// How tools reach its models.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tools: ToolMode,
    /// The models whose tools are written into the prompt even if those of other models are not; `*` stands for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_models: Vec<String>,
    /// Whether system prompts between other messages become reminders in the user's turns. By default they do, unless the
    /// server is a vendor's own: most templates accept only one system prompt, at the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_system: Option<bool>,
    /// The dialect in which calls are written into prompts, by its name in `toolmend dialects`. By default it is the
    /// model's.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "file::dialect")]
    pub dialect: Option<String>,
    /// The chat template of its models: a file in Jinja, a `tokenizer_config.json`, or the folder of a model. How they write
    /// calls is learned from it at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<PathBuf>,
    /// A path that answers if the server is well, for example `/health`. It is asked every `health_seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("url", &hide_password(&self.url)).finish_non_exhaustive()
    }
}

impl Upstream {
    /// Returns a server for every model.
    pub fn new(url: impl Into<String>) -> Self {
        Upstream {
            url: url.into(),
            models: Vec::new(),
            api_key: None,
            api_key_env: None,
            ca_file: None,
            surface: None,
            tools: ToolMode::default(),
            prompt_models: Vec::new(),
            fold_system: None,
            dialect: None,
            template: None,
            health: None,
        }
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
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

/// The configuration of the gateway.
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
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Config {
    /// Where it listens. The default is loopback only.
    #[serde(deserialize_with = "file::listen")]
    pub listen: SocketAddr,
    /// How many threads serve clients; 0 means one per core. Read only at the start.
    pub threads: usize,
    /// What may be repaired: `off`, `strict`, `balanced` or `eager`.
    pub policy: Preset,
    /// The weakest evidence that makes text of an answer a call: `marked`, `named` or `nameless`.
    pub calls: Calls,
    /// What happens to calls that cannot be mended: `auto`, `feedback`, `reprompt` or `pass`.
    pub refusal: RefusalMode,
    /// How a turn ends whose call was truncated, if `refusal` is `auto` and the client gives up at the token limit: `recover` or
    /// `honest`.
    pub truncation: TruncationMode,
    /// How often the server is asked again, 0 to 5, if `refusal` is `reprompt`.
    #[serde(deserialize_with = "file::reprompts")]
    pub reprompts: u8,
    /// When the arguments of calls are sent in streams: `held` or `live`.
    pub stream: StreamMode,
    /// Whether short sentences that prevent known mistakes are added to the descriptions of tools.
    pub contract_hints: bool,
    /// Whether the earlier turns in requests are repaired.
    pub repair_history: bool,
    /// A TOML file with dialects and model ids in addition to the built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialects: Option<PathBuf>,
    /// How many answers are kept for requests with `previous_response_id` to servers that speak another protocol. 0: none are
    /// kept, and such requests are rejected.
    pub response_store: usize,
    /// Keys without a name. Clients must send one of them or of `keys`; if there are none, no key is needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_keys: Vec<Secret>,
    /// Whether every request is logged when it ends.
    pub access_log: bool,
    /// Whether clients of other machines need no key.
    pub insecure: bool,
    /// Names that clients may call the gateway by, in addition to those of this machine. `*`: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Pages that may use the gateway, for example `https://app.example`, in addition to those of this machine. `*`: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The key for the dashboard. Without one the dashboard is read-only and only visible on this machine.
    #[serde(skip_serializing)]
    pub admin_key: Option<Secret>,
    /// The address of a trace collector, for example `http://127.0.0.1:4318`. Read only at the start.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "file::optional_without_password")]
    pub otlp_endpoint: Option<String>,
    /// The certificate for clients. Without one there is no TLS. Read again at every reload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsConfig>,
    /// How calls that were not clean are recorded. Read only at the start.
    pub journal: JournalConfig,
    /// Single kinds of repairs, and limits on the text of one call.
    pub repairs: RepairSettings,
    /// Limits for requests, connections and memory.
    pub limits: RequestLimits,
    /// Keys with names, and with limits of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<ClientKey>,
    /// The model servers. A request goes to the first that serves its model; if that one fails, to the next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<Upstream>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 4242)),
            threads: 0,
            policy: Preset::default(),
            calls: Calls::default(),
            refusal: RefusalMode::default(),
            truncation: TruncationMode::default(),
            reprompts: 1,
            stream: StreamMode::default(),
            contract_hints: false,
            repair_history: true,
            dialects: None,
            response_store: 0,
            api_keys: Vec::new(),
            access_log: false,
            insecure: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            admin_key: None,
            otlp_endpoint: None,
            tls: None,
            journal: JournalConfig::default(),
            repairs: RepairSettings::default(),
            limits: RequestLimits::default(),
            keys: Vec::new(),
            upstreams: Vec::new(),
        }
    }
}

impl Config {
    /// Parses TOML.
    ///
    /// # Errors
    /// If the text is invalid. The message names the line.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        file::parse(text, None)
    }

    /// Returns the configuration for an agent of everruns: everything is off unless it lists `tool_call_repair`.
    pub fn from_capabilities(capabilities: &Capabilities) -> Self {
        let config = Config::default();
        let Some(reprompts) = capabilities.max_reprompts() else {
            return Config { policy: Preset::Off, ..config };
        };
        let refusal = if reprompts > 0 { RefusalMode::Reprompt } else { RefusalMode::Auto };
        let repairs =
            RepairSettings { max_bytes: capabilities.policy().max_bytes(), ..RepairSettings::default() };
        Config { refusal, reprompts, repairs, ..config }
    }

    /// Reads a TOML file, or a JSON file if its name ends in `.json`. The JSON may also be the configuration of an agent of
    /// everruns.
    ///
    /// # Errors
    /// If the file cannot be read or is invalid. The message names the line.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        file::read(path)
    }

    /// Writes the configuration as TOML, which parses to the same configuration. Keys are left out.
    pub fn to_toml(&self) -> String {
        file::write(self)
    }

    /// Writes the configuration as TOML, with an explanation of each setting, and with examples of sections that are not there.
    ///
    /// ```
    /// use toolmend_gateway::Config;
    /// let file = Config::default().to_explained_toml();
    /// assert!(file.contains("# Where it listens. The default is loopback only.\nlisten = "));
    /// assert_eq!(Config::from_toml(&file).unwrap(), Config::default());
    /// ```
    pub fn to_explained_toml(&self) -> String {
        explained::explain(&self.to_toml())
    }

    /// Returns how often a server may be asked again for one request.
    pub(crate) fn reprompt_budget(&self) -> u8 {
        if self.refusal == RefusalMode::Reprompt { self.reprompts } else { 0 }
    }

    /// Returns the number of threads that serve clients, at least one.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        }
    }

    /// Whether clients must send a key.
    pub fn has_client_keys(&self) -> bool {
        !(self.api_keys.is_empty() && self.keys.is_empty())
    }

    /// Whether only this machine can reach the gateway.
    pub fn is_local(&self) -> bool {
        self.listen.ip().is_loopback()
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// If a value is out of range, or an address is not one.
    pub fn check(&self) -> Result<(), ConfigError> {
        file::check(self)
    }
}
