//! `toolmend run`: a gateway for as long as one command runs.

mod client;

use std::ffi::OsString;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Args;
use tokio::net::TcpListener;
use tokio::process::Command;
use toolmend_gateway::{Config, Gateway};

use self::client::Client;
use crate::failure::Failure;
use crate::serve::args::ServeArgs;
use crate::serve::{start_log, with_upstream};

/// Run a command whose model calls go through a gateway of its own.
///
/// The gateway listens on a free port, the environment tells the command where, and known programs (codex, opencode, pi)
/// are told in their own way. At the end one line says what was mended; the exit code is that of the command.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// The command with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  toolmend run --upstream http://127.0.0.1:8080 -- claude --model qwen3
  toolmend run --upstream http://127.0.0.1:11434 -- codex -m qwen3:8b
  toolmend run --upstream http://127.0.0.1:8000 -- python agent.py";

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let mut config = args.serve.configuration().map_err(Failure::serve)?;
    if !args.serve.listens_somewhere() {
        config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    }
    // The screen belongs to the command.
    start_log(args.serve.log_format, "error");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::serve)?;
    runtime.block_on(beside(args, config))
}

async fn beside(args: &RunArgs, config: Config) -> Result<ExitCode, Failure> {
    let (config, _) = with_upstream(&args.serve, config).await?;
    let listener = TcpListener::bind(config.listen).await;
    let listener =
        listener.map_err(|error| Failure::serve(format!("cannot listen on {}: {error}", config.listen)))?;
    let address = listener.local_addr().map_err(Failure::serve)?;
    let key = args.serve.first_key();
    let gateway = Gateway::new(config).map_err(Failure::serve)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn({
        let gateway = gateway.clone();
        async move {
            let stopped = async {
                let _ = stopped.await;
            };
            gateway.serve(listener, stopped).await
        }
    });
    let client = Client::new(&args.command, address, key).await;
    let code = wait(client).await;
    let _ = stop.send(());
    // Streams that are still open have nobody who reads them.
    served.abort();
    if code.is_ok() {
        tell(&gateway);
    }
    code
}

/// Runs the command to its end. Signals from the keyboard reach it by themselves; it decides what they mean.
async fn wait(client: Client) -> Result<ExitCode, Failure> {
    let name = client.name();
    let (command, _file) = client.into_command();
    let mut command = Command::from(command);
    let child = command.kill_on_drop(true).spawn();
    let mut child =
        child.map_err(|error| Failure::serve(format!("cannot start {}: {error}", name.to_string_lossy())))?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    Ok(exit_code(status.map_err(Failure::serve)?))
}

#[cfg(unix)]
fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(not(unix))]
fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// One line about everything that was mended.
fn tell(gateway: &Gateway) {
    let stats = gateway.stats();
    let total = stats.total();
    let kinds: Vec<String> =
        stats.by_kind().iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    // Where nobody listens there is nothing to say.
    let _ = writeln!(
        anstream::stderr(),
        "toolmend: {} calls, {} mended{kinds}, {} refused",
        total.calls(),
        total.outcome(toolmend::Outcome::Mended),
        total.invalid()
    );
}
