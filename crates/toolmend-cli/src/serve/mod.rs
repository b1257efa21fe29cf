//! `toolmend serve`.

pub(crate) mod args;

use std::io::Write;
use std::process::ExitCode;

use tokio::net::TcpListener;
use toolmend_gateway::{
    Config, DEMO_MODEL, Gateway, JournalConfig, Upstream, discover_local_servers, start_demo,
};
use toolmend_journal::Location;
use tracing_subscriber::EnvFilter;

use self::args::{LogFormat, ServeArgs};
use crate::failure::Failure;

/// Serves until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let config = args.configuration().map_err(Failure::serve)?;
    if args.print_config {
        let mut out = anstream::stdout().lock();
        write!(out, "{}", config.to_toml()).map_err(Failure::Write)?;
        return Ok(ExitCode::SUCCESS);
    }
    start_log(args.log_format, "info");
    // It only waits for connections and signals; the gateway has threads of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::serve)?;
    runtime.block_on(serve(args, config))
}

pub(crate) fn start_log(format: LogFormat, usual: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.compact().init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

async fn serve(args: &ServeArgs, config: Config) -> Result<ExitCode, Failure> {
    let (config, about) = with_upstream(args, config).await?;
    let found = config.upstreams.clone();
    let listener = TcpListener::bind(config.listen).await;
    let listener =
        listener.map_err(|error| Failure::serve(format!("cannot listen on {}: {error}", config.listen)))?;
    let address = listener.local_addr().map_err(Failure::serve)?;
    let (gateway, config) = start(config)?;
    greet(&address.to_string(), &gateway, &about, !config.api_keys.is_empty());
    if !address.ip().is_loopback() && config.api_keys.is_empty() {
        tracing::warn!("everybody who reaches {address} can use this gateway: no key is set");
    }
    let reloading = tokio::spawn(reload(args.clone(), gateway.clone(), found));
    let served = gateway.serve(listener, stop()).await;
    reloading.abort();
    summary(&gateway);
    served.map_err(Failure::serve)?;
    Ok(ExitCode::SUCCESS)
}

/// A gateway with a journal: the configured one, or the usual one if that can be had.
fn start(mut config: Config) -> Result<(Gateway, Config), Failure> {
    if config.journal.place.is_none() {
        let usual = Config {
            journal: JournalConfig {
                place: Location::default_file().map(|place| place.to_string()),
                ..config.journal.clone()
            },
            ..config.clone()
        };
        match Gateway::new(usual.clone()) {
            Ok(gateway) => return Ok((gateway, usual)),
            Err(error) => tracing::warn!("{error}; nothing is written down"),
        }
        config.journal.place = Some("off".to_owned());
    }
    Ok((Gateway::new(config.clone()).map_err(Failure::serve)?, config))
}

/// A server to go to: the configured one, one that runs here, or the demo.
pub(crate) async fn with_upstream(args: &ServeArgs, mut config: Config) -> Result<(Config, String), Failure> {
    if !args.demo && !config.upstreams.is_empty() {
        return Ok((config, String::new()));
    }
    let found = if args.demo { Vec::new() } else { discover_local_servers().await };
    if let Some(first) = found.first() {
        let mut upstream = Upstream::new(&first.url);
        args.spoken_to(&mut upstream);
        config.upstreams = vec![upstream];
        return Ok((config, format!(" ({}, found on its usual port)", first.name)));
    }
    let demo = start_demo().await.map_err(Failure::serve)?;
    let mut upstream = Upstream::new(format!("http://{demo}"));
    args.spoken_to(&mut upstream);
    config.upstreams = vec![upstream];
    Ok((config, " (a demo that calls your tools and gets the calls nearly right)".to_owned()))
}

/// What a newcomer needs to know.
fn greet(address: &str, gateway: &Gateway, about: &str, keys: bool) {
    let key = if keys { " -H 'Authorization: Bearer YOUR_KEY'" } else { "" };
    let upstreams = gateway.upstreams().join(", ");
    let mut err = anstream::stderr().lock();
    // Where nobody listens there is nothing to say.
    let _ = writeln!(
        err,
        "toolmend listens on http://{address}, in front of {upstreams}{about}\n\n\
         Try it:\n\n  \
         curl -s http://{address}/v1/chat/completions{key} -d '{{\"model\": \"{DEMO_MODEL}\", \"messages\": [{{\"role\": \"user\", \"content\": \"How is the weather in Oslo?\"}}], \
         \"tools\": [{{\"type\": \"function\", \"function\": {{\"name\": \"get_weather\", \"parameters\": {{\"type\": \"object\", \"properties\": {{\"city\": {{\"type\": \"string\"}}}}, \"required\": [\"city\"]}}}}}}]}}'\n\n\
         Clients take http://{address}/v1 as their base URL (Anthropic's: without /v1).\n\
         What it does can be seen at http://{address}/ in a browser.\n"
    );
}

/// Takes the configuration again whenever the program is told to.
#[cfg(unix)]
async fn reload(args: ServeArgs, gateway: Gateway, found: Vec<Upstream>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        let reloaded = args.configuration().and_then(|mut config| {
            if config.upstreams.is_empty() {
                config.upstreams.clone_from(&found);
            }
            gateway.reload(config)
        });
        match reloaded {
            Ok(()) => tracing::info!("the configuration was read again"),
            Err(error) => tracing::error!("the old configuration stays: {error}"),
        }
    }
}

#[cfg(not(unix))]
async fn reload(_args: ServeArgs, _gateway: Gateway, _found: Vec<Upstream>) {
    std::future::pending::<()>().await;
}

/// Waits until the program is told to stop. Told a second time, it stops at once.
async fn stop() {
    signalled().await;
    tracing::info!("stopping: open streams are finished; once more stops at once");
    tokio::spawn(async {
        signalled().await;
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn signalled() {
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
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}

/// One line about everything that was mended.
fn summary(gateway: &Gateway) {
    let stats = gateway.stats();
    let total = stats.total();
    let kinds: Vec<String> =
        stats.by_kind().iter().map(|(kind, count)| format!("{}={count}", kind.name())).collect();
    tracing::info!(
        calls = total.calls(),
        mended = total.outcome(toolmend::Outcome::Mended),
        invalid = total.invalid(),
        repairs = kinds.join(" "),
        "repair summary"
    );
}
