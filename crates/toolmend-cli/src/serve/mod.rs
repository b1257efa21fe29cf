//! `toolmend serve`: runs the gateway until it is told to stop.

mod args;

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use tokio::net::TcpListener;
use toolmend_gateway::{
    Config, DEMO_MODEL, Gateway, JournalConfig, Upstream, discover_local_servers, start_demo,
};
use toolmend_journal::Location;
use tracing_subscriber::EnvFilter;

use self::args::LogFormat;
pub(crate) use self::args::ServeArgs;
use crate::error::CommandError;
use crate::terminal::print_message;

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode, CommandError> {
    crate::allocator::return_freed_memory_soon();
    // This thread only waits for connections and signals; the gateway has threads of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CommandError::serve)?;
    // Before anything else: until then, the signal would end the process.
    let hangups = runtime.block_on(async { Hangups::listen() });
    let config = args.read_config().map_err(CommandError::serve)?;
    if args.print_config {
        let mut out = anstream::stdout().lock();
        write!(out, "{}", config.to_explained_toml()).map_err(CommandError::Write)?;
        return Ok(ExitCode::SUCCESS);
    }
    start_log(args.log_format, "info");
    if args.check {
        return runtime.block_on(check_gateway(args, config));
    }
    runtime.block_on(run_gateway(args, config, hangups))
}

/// Starts the log. `level` applies if `RUST_LOG` is not set.
pub(crate) fn start_log(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let is_coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(is_coloured);
    match format {
        LogFormat::Text => log.compact().init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// Checks the configuration, and whether the servers can be reached.
async fn check_gateway(args: &ServeArgs, mut config: Config) -> Result<ExitCode, CommandError> {
    require_keys(&config)?;
    // Looking for servers and recording calls are no part of the configuration.
    config.journal.place = Some("off".to_owned());
    if config.upstreams.is_empty() {
        print_message("the configuration can be used; it names no server");
        return Ok(ExitCode::SUCCESS);
    }
    for upstream in &mut config.upstreams {
        args.configure_upstream(upstream);
    }
    let gateway = Gateway::new(config).map_err(CommandError::serve)?;
    let unreachable = gateway.find_unreachable_upstreams().await;
    if unreachable.is_empty() {
        print_message("the configuration can be used, and every server can be reached");
        return Ok(ExitCode::SUCCESS);
    }
    Err(CommandError::serve(format!("no connection to {}", unreachable.join(", "))))
}

/// Refuses to let other machines in without a key, unless that is wanted.
pub(crate) fn require_keys(config: &Config) -> Result<(), CommandError> {
    if config.is_local() || config.has_client_keys() {
        return Ok(());
    }
    let address = config.listen;
    if config.insecure {
        tracing::warn!("no key is set: anyone who can reach {address} can use this gateway");
        return Ok(());
    }
    Err(CommandError::serve(format!(
        "without a key, anyone who can reach {address} could use this gateway: set TOOLMEND_API_KEY, or allow it with \
         --insecure"
    )))
}

async fn run_gateway(args: &ServeArgs, config: Config, hangups: Hangups) -> Result<ExitCode, CommandError> {
    require_keys(&config)?;
    let (config, origin) = choose_upstream(args, config, true).await?;
    let found = config.upstreams.clone();
    let (listener, address) = bind(config.listen).await?;
    let (gateway, config) = create_gateway(config)?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    print_greeting(&format!("{scheme}://{address}"), &gateway, &origin, config.has_client_keys());
    let probing = tokio::spawn({
        let gateway = gateway.clone();
        async move {
            for upstream in gateway.find_unreachable_upstreams().await {
                tracing::warn!("{upstream} does not answer; requests to it fail until it does");
            }
        }
    });
    let reloading = tokio::spawn(reload_on_hangup(hangups, args.clone(), gateway.clone(), found, address));
    let served = gateway.serve(listener, wait_for_stop()).await;
    reloading.abort();
    probing.abort();
    log_summary(&gateway);
    served.map_err(CommandError::serve)?;
    Ok(ExitCode::SUCCESS)
}

/// Binds a socket and returns the address that it got.
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), CommandError> {
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.map_err(|error| CommandError::serve(format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().map_err(CommandError::serve)?;
    Ok((listener, address))
}

/// Creates the gateway with the configured journal or, if it can be opened, the default one.
fn create_gateway(mut config: Config) -> Result<(Gateway, Config), CommandError> {
    if config.journal.place.is_none() {
        let with_default = Config {
            journal: JournalConfig {
                place: Location::default_file().map(|place| place.to_string()),
                ..config.journal.clone()
            },
            ..config.clone()
        };
        match Gateway::new(with_default.clone()) {
            Ok(gateway) => return Ok((gateway, with_default)),
            Err(error) => tracing::warn!("{error}; calls are not recorded"),
        }
        config.journal.place = Some("off".to_owned());
    }
    Ok((Gateway::new(config.clone()).map_err(CommandError::serve)?, config))
}

/// Chooses the servers: the configured ones, one that runs on this machine, or the demo. Returns a text about their origin too.
/// `may_use_demo`: the demo is used even if it was not asked for.
pub(crate) async fn choose_upstream(
    args: &ServeArgs,
    mut config: Config,
    may_use_demo: bool,
) -> Result<(Config, String), CommandError> {
    if !args.demo && !config.upstreams.is_empty() {
        return Ok((config, String::new()));
    }
    let found = if args.demo { Vec::new() } else { discover_local_servers().await };
    if let Some(first) = found.first() {
        let mut upstream = Upstream::new(&first.url);
        args.configure_upstream(&mut upstream);
        config.upstreams = vec![upstream];
        return Ok((config, format!(" ({}, found on its usual port)", first.name)));
    }
    if !args.demo && !may_use_demo {
        return Err(CommandError::serve(
            "no model server was found on the usual ports of this machine: name one with --upstream, or use a demo that \
             calls the tools of the command with small mistakes, with --demo",
        ));
    }
    let demo = start_demo().await.map_err(CommandError::serve)?;
    let mut upstream = Upstream::new(format!("http://{demo}"));
    args.configure_upstream(&mut upstream);
    config.upstreams = vec![upstream];
    Ok((config, " (a demo that calls your tools with small mistakes)".to_owned()))
}

/// Prints how to use the gateway.
fn print_greeting(address: &str, gateway: &Gateway, origin: &str, needs_key: bool) {
    let key = if needs_key { " -H 'Authorization: Bearer YOUR_KEY'" } else { "" };
    let upstreams = gateway.upstreams().join(", ");
    let mut err = anstream::stderr().lock();
    // A closed standard error is not a reason to stop.
    let _ = writeln!(
        err,
        "toolmend listens on {address} and forwards to {upstreams}{origin}\n\n\
         Try it:\n\n  \
         curl -s {address}/v1/chat/completions{key} -d '{{\"model\": \"{DEMO_MODEL}\", \"messages\": [{{\"role\": \"user\", \"content\": \"How is the weather in Oslo?\"}}], \
         \"tools\": [{{\"type\": \"function\", \"function\": {{\"name\": \"get_weather\", \"parameters\": {{\"type\": \"object\", \"properties\": {{\"city\": {{\"type\": \"string\"}}}}, \"required\": [\"city\"]}}}}}}]}}'\n\n\
         Set the base URL of your clients to {address}/v1 (for Anthropic clients without /v1).\n\
         Open {address}/ in a browser to see what the gateway does.\n"
    );
}

/// Reloads the configuration on every SIGHUP.
async fn reload_on_hangup(
    mut hangups: Hangups,
    args: ServeArgs,
    gateway: Gateway,
    found: Vec<Upstream>,
    address: SocketAddr,
) {
    while hangups.wait().await {
        let reloaded = args.read_config().map_err(CommandError::serve).and_then(|mut config| {
            if config.upstreams.is_empty() {
                config.upstreams.clone_from(&found);
            }
            // The address stays, and whoever can reach it needs a key, as at the start.
            config.listen = address;
            require_keys(&config)?;
            gateway.reload(config).map_err(CommandError::serve)
        });
        match reloaded {
            Ok(()) => tracing::info!("the configuration was reloaded"),
            Err(error) => tracing::error!("the configuration stays as it was: {error}"),
        }
    }
}

/// The signals that ask for a reload.
#[cfg(unix)]
struct Hangups(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Hangups {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Hangups(signal(SignalKind::hangup()).ok())
    }

    /// Waits for the next signal. Returns whether there can be one.
    async fn wait(&mut self) -> bool {
        match &mut self.0 {
            Some(signal) => signal.recv().await.is_some(),
            None => false,
        }
    }
}

/// There is no such signal here.
#[cfg(not(unix))]
struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    fn listen() -> Self {
        Hangups
    }

    async fn wait(&mut self) -> bool {
        false
    }
}

/// Waits for a signal to stop. A second signal ends the process immediately.
async fn wait_for_stop() {
    wait_for_signal().await;
    tracing::info!("stopping once open streams have ended; a second signal stops immediately");
    tokio::spawn(async {
        wait_for_signal().await;
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

#[cfg(not(unix))]
async fn wait_for_signal() {
    let _ = tokio::signal::ctrl_c().await;
}

/// Logs one line about all calls of the run. It has the target of repairs, so that a filter for these shows it.
fn log_summary(gateway: &Gateway) {
    let counts = gateway.call_counts();
    let kinds: Vec<String> = counts.kinds().iter().map(|(kind, count)| format!("{kind}={count}")).collect();
    tracing::info!(
        target: "tool_repair",
        calls = counts.calls(),
        mended = counts.outcome(toolmend::Outcome::Mended),
        invalid = counts.refused(),
        repairs = kinds.join(" "),
        "repair summary"
    );
}
