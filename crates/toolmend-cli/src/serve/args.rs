//! The arguments of `toolmend serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use toolmend::{Calls, Preset};
use toolmend_gateway::{
    Config, ConfigError, RefusalMode, Secret, StreamMode, TlsConfig, ToolMode, TruncationMode, Upstream,
    parse_listen_address, parse_protocol_or_auto, protocol_setting_names,
};
use toolmend_journal::StoredValues;

use crate::options::{KindArgs, parse_calls, parse_preset, parse_setting};

/// Run a gateway that mends tool calls between clients and a model server.
///
/// If no server is configured, the gateway looks for one on the usual ports of this machine. If there is none, it starts
/// a demo server.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ServeArgs {
    /// The address of a model server. Repeat the flag for several servers; the first is the default.
    #[arg(long, value_name = "URL", env = "TOOLMEND_UPSTREAM", value_delimiter = ',')]
    upstream: Vec<String>,
    /// The API surface of the servers; `auto` uses the client's if the server has it.
    #[arg(long, value_parser = PossibleValuesParser::new(protocol_setting_names()), value_name = "SURFACE", env = "TOOLMEND_UPSTREAM_SURFACE")]
    upstream_surface: Option<String>,
    /// How tools reach the model; `prompt` is for servers that do not accept tools.
    #[arg(long, value_parser = parse_setting::<ToolMode>(["native", "prompt"]), env = "TOOLMEND_TOOLS")]
    tools: Option<ToolMode>,
    /// The address to listen on; a port alone means this machine only.
    #[arg(long, value_name = "ADDRESS", env = "TOOLMEND_LISTEN", value_parser = parse_listen_address)]
    listen: Option<SocketAddr>,
    /// A TOML file with the configuration. Flags and the environment override it. SIGHUP reloads it.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_CONFIG")]
    config: Option<PathBuf>,
    /// What may be repaired.
    #[arg(long, value_parser = parse_preset(), env = "TOOLMEND_POLICY")]
    policy: Option<Preset>,
    #[command(flatten)]
    kinds: KindArgs,
    /// The longest arguments or output to repair; valid text may be longer.
    #[arg(long, value_name = "BYTES", env = "TOOLMEND_MAX_BYTES")]
    max_bytes: Option<usize>,
    /// The deepest nesting to accept, at most 1024.
    #[arg(long, value_name = "LEVELS", env = "TOOLMEND_MAX_DEPTH")]
    max_depth: Option<usize>,
    /// The weakest evidence that makes text of an answer a call.
    #[arg(long, value_name = "EVIDENCE", value_parser = parse_calls(), env = "TOOLMEND_CALLS")]
    calls: Option<Calls>,
    /// What happens to calls that cannot be mended.
    #[arg(long, value_parser = parse_setting::<RefusalMode>(["auto", "feedback", "reprompt", "pass"]), env = "TOOLMEND_REFUSAL")]
    refusal: Option<RefusalMode>,
    /// How a turn with a truncated call ends, for clients that give up at the token limit.
    #[arg(long, value_parser = parse_setting::<TruncationMode>(["recover", "honest"]), env = "TOOLMEND_TRUNCATION")]
    truncation: Option<TruncationMode>,
    /// How often to ask the server again with `--refusal reprompt`, from 0 to 5.
    #[arg(long, value_name = "N", env = "TOOLMEND_REPROMPTS")]
    reprompts: Option<u8>,
    /// When to send the arguments of calls in streams; `held` waits until the call is complete.
    #[arg(long, value_parser = parse_setting::<StreamMode>(["held", "live"]), env = "TOOLMEND_STREAM")]
    stream: Option<StreamMode>,
    /// Add short hints against common mistakes to the descriptions of tools.
    #[arg(long, env = "TOOLMEND_CONTRACT_HINTS")]
    contract_hints: bool,
    /// A TOML file with custom dialects and model ids. SIGHUP reloads it.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_DIALECTS")]
    dialects: Option<PathBuf>,
    /// The chat template of the servers' models: a Jinja file, a `tokenizer_config.json` or the folder of a model.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_TEMPLATE")]
    template: Option<PathBuf>,
    /// A key that clients must send. Prefer the environment, which other users cannot see.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_API_KEY", hide_env_values = true, value_delimiter = ',')]
    api_key: Vec<String>,
    /// Log every request when it ends: its id, key, status, server and times.
    #[arg(long, env = "TOOLMEND_ACCESS_LOG")]
    access_log: bool,
    /// Let other machines use the gateway without a key.
    #[arg(long, env = "TOOLMEND_INSECURE")]
    insecure: bool,
    /// A PEM file with the certificate that clients see. SIGHUP reloads it.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The key that the gateway sends to the servers. Prefer the environment.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_UPSTREAM_KEY", hide_env_values = true)]
    upstream_key: Option<String>,
    /// Where to record calls that were mended or refused: a file, a PostgreSQL URL, or `off` [default:
    /// `toolmend/journal.db` in `$XDG_STATE_HOME` or `~/.local/state`].
    #[arg(long, value_name = "PLACE", env = "TOOLMEND_JOURNAL", hide_env_values = true)]
    journal: Option<String>,
    /// How much of the arguments the journal stores.
    #[arg(long, value_parser = parse_setting::<StoredValues>(journal_values()), env = "TOOLMEND_JOURNAL_VALUES")]
    journal_values: Option<StoredValues>,
    /// The key for changes on the page at `/` and for access from other machines. Prefer the environment.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_ADMIN_KEY", hide_env_values = true)]
    admin_key: Option<String>,
    /// Where to send traces: a collector that accepts OTLP over HTTP, for example `http://127.0.0.1:4318`.
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp_endpoint: Option<String>,
    /// Use the demo server, even if another one is running.
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) demo: bool,
    /// The format of the log on standard error. `RUST_LOG` sets what it contains.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "TOOLMEND_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Check the configuration, connect to every server, and exit.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the resulting configuration and exit.
    #[arg(long)]
    pub(crate) print_config: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolmend serve                                        a server on this machine, or the demo
  toolmend serve --upstream http://127.0.0.1:11434      Ollama
  toolmend serve --upstream http://127.0.0.1:8080       llama.cpp
  toolmend serve --upstream http://127.0.0.1:8000 --upstream-surface chat
  toolmend serve --print-config > toolmend.toml         a file to start from
  toolmend serve --config toolmend.toml";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

fn journal_values() -> [PossibleValue; 3] {
    let value = |name: &'static str, help: &'static str| PossibleValue::new(name).help(help);
    [value("whole", "Everything"), value("masked", "Only their shape"), value("none", "Nothing")]
}

impl ServeArgs {
    /// Reads the configuration: the file, overridden by the environment and the flags.
    pub(crate) fn read_config(&self) -> Result<Config, ConfigError> {
        let mut config = match &self.config {
            Some(path) => Config::from_file(path)?,
            None => Config::default(),
        };
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if !self.upstream.is_empty() {
            config.upstreams = self.upstream.iter().map(Upstream::new).collect();
        }
        if let Some(key) = &self.upstream_key {
            for upstream in &mut config.upstreams {
                upstream.api_key = Some(Secret::new(key));
            }
        }
        for upstream in &mut config.upstreams {
            self.configure_upstream(upstream);
        }
        if let Some(policy) = self.policy {
            config.policy = policy;
        }
        config.repairs.on.extend(&self.kinds.on);
        config.repairs.off.extend(&self.kinds.off);
        config.repairs.max_bytes = self.max_bytes.unwrap_or(config.repairs.max_bytes);
        config.repairs.max_depth = self.max_depth.unwrap_or(config.repairs.max_depth);
        config.calls = self.calls.unwrap_or(config.calls);
        if let Some(refusal) = self.refusal {
            config.refusal = refusal;
        }
        if let Some(truncation) = self.truncation {
            config.truncation = truncation;
        }
        if let Some(stream) = self.stream {
            config.stream = stream;
        }
        config.reprompts = self.reprompts.unwrap_or(config.reprompts);
        config.contract_hints |= self.contract_hints;
        config.dialects = self.dialects.clone().or(config.dialects);
        config.api_keys.extend(self.api_key.iter().map(Secret::new));
        config.access_log |= self.access_log;
        config.insecure |= self.insecure;
        if let (Some(cert), Some(key)) = (&self.tls_cert, &self.tls_key) {
            config.tls = Some(TlsConfig { cert: cert.clone(), key: key.clone() });
        }
        if let Some(place) = &self.journal {
            config.journal.place = Some(place.clone());
        }
        if let Some(values) = self.journal_values {
            config.journal.values = Some(values);
        }
        if let Some(endpoint) = &self.otlp_endpoint {
            config.otlp_endpoint = Some(endpoint.clone());
        }
        if let Some(key) = &self.admin_key {
            config.admin_key = Some(Secret::new(key));
        }
        config.check()?;
        Ok(config)
    }

    /// Returns the first key that clients may send.
    pub(crate) fn first_key(&self) -> Option<String> {
        self.api_key.first().cloned()
    }

    /// Whether the user chose an address to listen on.
    pub(crate) fn has_listen_address(&self) -> bool {
        self.listen.is_some() || self.config.is_some()
    }

    /// Applies the flags for servers to one of them, whether it was configured or discovered.
    pub(crate) fn configure_upstream(&self, upstream: &mut Upstream) {
        // The parser of the flag accepts no other names.
        if let Some(Ok(protocol)) = self.upstream_surface.as_deref().map(parse_protocol_or_auto) {
            upstream.surface = protocol;
        }
        if let Some(tools) = self.tools {
            upstream.tools = tools;
        }
        upstream.template = upstream.template.take().or_else(|| self.template.clone());
    }
}
