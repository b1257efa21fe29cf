//! `toolmend run`: runs a command together with a gateway of its own.

mod client;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Args;
use tokio::process::Command;
use toolmend_gateway::{Config, Gateway};

use self::client::Client;
use crate::error::CommandError;
use crate::serve::{ServeArgs, bind, choose_upstream, require_keys, start_log};
use crate::terminal::print_message;

/// Run a command together with a gateway that mends its tool calls.
///
/// The gateway listens on a free port. The command gets the address in environment variables; codex, opencode and pi also get
/// the settings that they need. A summary is printed at the end. The exit code is the command's.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  toolmend run --upstream http://127.0.0.1:8080 -- claude --model qwen3
  toolmend run --upstream http://127.0.0.1:11434 -- codex -m qwen3:8b
  toolmend run --upstream http://127.0.0.1:8000 -- python agent.py";

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, CommandError> {
    let mut config = args.serve.read_config().map_err(CommandError::serve)?;
    if !args.serve.has_listen_address() {
        config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    }
    // The terminal belongs to the command.
    start_log(args.serve.log_format, "error");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::serve)?;
    runtime.block_on(run_with_gateway(args, config))
}

async fn run_with_gateway(args: &RunArgs, config: Config) -> Result<ExitCode, CommandError> {
    require_keys(&config)?;
    // The command would run the tools that the demo calls.
    let (config, _) = choose_upstream(&args.serve, config, false).await?;
    let (listener, address) = bind(config.listen).await?;
    let key = args.serve.first_key();
    let gateway = Gateway::new(config).map_err(CommandError::serve)?;
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
    let code = run_to_end(client).await;
    let _ = stop.send(());
    // The client of any open stream has ended.
    served.abort();
    if code.is_ok() {
        print_summary(&gateway);
    }
    code
}

/// Runs the command to its end. The terminal sends its signals to the command too, and the command decides what they mean.
async fn run_to_end(client: Client) -> Result<ExitCode, CommandError> {
    let name = client.name();
    let (command, _file) = client.into_command();
    let mut command = Command::from(command);
    let child = command.kill_on_drop(true).spawn();
    let mut child = child
        .map_err(|error| CommandError::serve(format!("cannot start {}: {error}", name.to_string_lossy())))?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    Ok(exit_code(status.map_err(CommandError::serve)?))
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

/// Prints one line about all calls of the run.
fn print_summary(gateway: &Gateway) {
    let counts = gateway.call_counts();
    let kinds: Vec<String> = counts.kinds().iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let calls = counts.calls();
    print_message(&format!(
        "{calls} {}, {} mended{kinds}, {} refused",
        if calls == 1 { "call" } else { "calls" },
        counts.outcome(toolmend::Outcome::Mended),
        counts.refused()
    ));
}
