//! The command line of `toolmend serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use toolmend::Preset;
use toolmend_gateway::{
    Config, ConfigError, RefusalMode, Secret, StreamMode, ToolMode, Upstream, parse_protocol_or_auto,
    protocol_setting_names,
};
use toolmend_journal::StoredValues;

/// Stand between clients and a model server, and mend the tool calls on their way.
///
/// Without a server to go to it looks for one on the usual ports of this machine, and without one there it brings a
/// demo server along.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The address of a model server; can be given more than once, then the first is the default.
    #[arg(long, value_name = "URL", env = "TOOLMEND_UPSTREAM", value_delimiter = ',')]
    upstream: Vec<String>,
    /// The surface that the servers are spoken to on; `auto` is the client's where they speak it.
    #[arg(long, value_name = "SURFACE", env = "TOOLMEND_UPSTREAM_SURFACE", value_parser = PossibleValuesParser::new(protocol_setting_names()))]
    upstream_surface: Option<String>,
    /// How tools reach the model: `prompt` is for servers that take none.
    #[arg(long, value_enum, env = "TOOLMEND_TOOLS")]
    tools: Option<ToolsArg>,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", env = "TOOLMEND_LISTEN")]
    listen: Option<SocketAddr>,
    /// A TOML file with the configuration; flags and the environment win. Read again on SIGHUP.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_CONFIG")]
    config: Option<PathBuf>,
    /// What may be repaired.
    #[arg(long, value_enum, env = "TOOLMEND_POLICY")]
    policy: Option<PolicyArg>,
    /// What happens to calls that cannot be mended.
    #[arg(long, value_enum, env = "TOOLMEND_REFUSAL")]
    refusal: Option<RefusalArg>,
    /// How often the server is asked again, 0 to 5, with `--refusal reprompt`.
    #[arg(long, value_name = "N", env = "TOOLMEND_REPROMPTS")]
    reprompts: Option<u8>,
    /// When the arguments of calls are sent in streams.
    #[arg(long, value_enum, env = "TOOLMEND_STREAM")]
    stream: Option<StreamArg>,
    /// Add short sentences against known mistakes to the descriptions of tools.
    #[arg(long, env = "TOOLMEND_CONTRACT_HINTS")]
    contract_hints: bool,
    /// A TOML file with dialects and ids of models of your own. Read again on SIGHUP.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_DIALECTS")]
    dialects: Option<PathBuf>,
    /// A key that clients must send; better set by the environment, where other users do not see it.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_API_KEY", hide_env_values = true, value_delimiter = ',')]
    api_key: Vec<String>,
    /// The key that is sent to the servers; better set by the environment.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_UPSTREAM_KEY", hide_env_values = true)]
    upstream_key: Option<String>,
    /// Where calls that were not clean are written down: a file, a PostgreSQL URL, or `off`. Where nothing is said:
    /// `toolmend/journal.db` in `$XDG_STATE_HOME` or `~/.local/state`.
    #[arg(long, value_name = "PLACE", env = "TOOLMEND_JOURNAL", hide_env_values = true)]
    journal: Option<String>,
    /// How much of the arguments is written down.
    #[arg(long, value_enum, env = "TOOLMEND_JOURNAL_VALUES")]
    journal_values: Option<ValuesArg>,
    /// The key for the page at `/`, for changes and from other machines; better set by the environment.
    #[arg(long, value_name = "KEY", env = "TOOLMEND_ADMIN_KEY", hide_env_values = true)]
    admin_key: Option<String>,
    /// Where traces are sent: a collector that takes OTLP over HTTP, for example `http://127.0.0.1:4318`.
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp_endpoint: Option<String>,
    /// Serve the demo server, whatever else is there.
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) demo: bool,
    /// How the log is written, to standard error. `RUST_LOG` says what is in it.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "TOOLMEND_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Print the configuration that all of this makes, and exit.
    #[arg(long)]
    pub(crate) print_config: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolmend serve                                        whatever runs on this machine, or the demo
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ToolsArg {
    Native,
    Prompt,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyArg {
    Off,
    Strict,
    Balanced,
    Eager,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RefusalArg {
    Feedback,
    Reprompt,
    Pass,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StreamArg {
    Held,
    Live,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ValuesArg {
    /// Everything.
    Whole,
    /// Their shape only.
    Masked,
    /// Nothing.
    None,
}

impl ServeArgs {
    /// The configuration: the file, then the environment and the flags.
    pub(crate) fn configuration(&self) -> Result<Config, ConfigError> {
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
            self.spoken_to(upstream);
        }
        if let Some(policy) = self.policy {
            config.policy = match policy {
                PolicyArg::Off => Preset::Off,
                PolicyArg::Strict => Preset::Strict,
                PolicyArg::Balanced => Preset::Balanced,
                PolicyArg::Eager => Preset::Eager,
            };
        }
        if let Some(refusal) = self.refusal {
            config.refusal = match refusal {
                RefusalArg::Feedback => RefusalMode::Feedback,
                RefusalArg::Reprompt => RefusalMode::Reprompt,
                RefusalArg::Pass => RefusalMode::Pass,
            };
        }
        if let Some(stream) = self.stream {
            config.stream = match stream {
                StreamArg::Held => StreamMode::Held,
                StreamArg::Live => StreamMode::Live,
            };
        }
        config.reprompts = self.reprompts.unwrap_or(config.reprompts);
        config.contract_hints |= self.contract_hints;
        config.dialects = self.dialects.clone().or(config.dialects);
        config.api_keys.extend(self.api_key.iter().map(Secret::new));
        if let Some(place) = &self.journal {
            config.journal.place = Some(place.clone());
        }
        if let Some(values) = self.journal_values {
            config.journal.values = match values {
                ValuesArg::Whole => StoredValues::Whole,
                ValuesArg::Masked => StoredValues::Masked,
                ValuesArg::None => StoredValues::None,
            };
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

    /// The first key that clients may send.
    pub(crate) fn first_key(&self) -> Option<String> {
        self.api_key.first().cloned()
    }

    /// Whether an address to listen on was asked for.
    pub(crate) fn listens_somewhere(&self) -> bool {
        self.listen.is_some() || self.config.is_some()
    }

    /// The way in which servers are spoken to, whether they are configured or found.
    pub(crate) fn spoken_to(&self, upstream: &mut Upstream) {
        // The parser of the command line accepts nothing else.
        if let Some(Ok(protocol)) = self.upstream_surface.as_deref().map(parse_protocol_or_auto) {
            upstream.surface = protocol;
        }
        if let Some(tools) = self.tools {
            upstream.tools = match tools {
                ToolsArg::Native => ToolMode::Native,
                ToolsArg::Prompt => ToolMode::Prompt,
            };
        }
    }
}
