//! `toolmend mcp`: a proxy for MCP servers that use standard input and output.
//!
//! Messages are lines. Lines that the proxy does not change pass byte for byte, in both directions.

mod call;
mod message;
mod notes;
mod server_tools;

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clap::Args;

use self::call::{ClientLine, handle_message};
use self::message::Message;
use self::server_tools::ServerTools;
use crate::error::{CommandError, EXIT_FAILURE};
use crate::options::PolicyArgs;
use crate::terminal::print_message;

/// Run an MCP server and mend the arguments of the calls that it gets.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// Report on standard error what was mended or refused.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    /// The server and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SERVER")]
    server: Vec<String>,
}

const EXAMPLE: &str = "\
In the configuration of a client, put `toolmend mcp --` before the server's command:
  toolmend mcp -- npx -y @modelcontextprotocol/server-everything

The exit code is the server's.";

/// Runs the command. It ends when the server does, with the server's exit code.
pub(crate) fn run(args: &McpArgs) -> Result<ExitCode, CommandError> {
    let mut server = start_server(&args.server)?;
    let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(CommandError::serve("the server was started without pipes"));
    };
    let tools = Mutex::new(ServerTools::new(args.policy.policy()));
    thread::scope(|scope| {
        // This thread may wait for the client forever, so the process exits as soon as the server has ended.
        thread::Builder::new()
            .name("client".to_owned())
            .spawn_scoped(scope, || forward_client(input, &tools, args.explain))
            .map_err(|error| CommandError::serve(format!("cannot start a thread for the client: {error}")))?;
        let forwarded = forward_server(&mut BufReader::new(output), &tools);
        let code =
            server.wait().ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        match forwarded {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => print_message(&error.to_string()),
            _ => {}
        }
        std::process::exit(i32::from(code.unwrap_or(EXIT_FAILURE)))
    })
}

fn start_server(command: &[String]) -> Result<Child, CommandError> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| CommandError::serve("no server was named"))?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| CommandError::serve(format!("cannot start {program}: {error}")))
}

/// Forwards the client's lines to the server, with mended calls. When the client stops, the server's input ends.
fn forward_client(mut server: ChildStdin, tools: &Mutex<ServerTools>, explain: bool) {
    let forwarded = for_each_line(&mut io::stdin().lock(), |line| {
        let message = Message::parse(line);
        let handled =
            message.map_or(ClientLine::Unchanged, |message| handle_message(line, &message, &mut lock(tools)));
        if explain && let Some(explanation) = handled.explanation() {
            print_message(explanation);
        }
        match handled {
            ClientLine::Unchanged => server.write_all(line),
            ClientLine::Mended { line, .. } => server.write_all(&line),
            ClientLine::Refused { answer, .. } => write_to_client(&answer),
        }?;
        server.flush()
    });
    if let Err(error) = forwarded {
        print_message(&error.to_string());
    }
}

/// Forwards the server's lines to the client. A list of tools is read before the client sees it, and the result of a call
/// gets the notes about it.
fn forward_server(server: &mut impl BufRead, tools: &Mutex<ServerTools>) -> io::Result<()> {
    for_each_line(server, |line| {
        let Some(message) = Message::parse(line) else { return write_to_client(line) };
        let mut tools = lock(tools);
        tools.add_answer(&message);
        let with_notes = tools.notes.add_to_answer(line, &message);
        drop(tools);
        write_to_client(with_notes.as_deref().unwrap_or(line))
    })
}

fn for_each_line(
    reader: &mut impl BufRead,
    mut handle: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        handle(&line)?;
        line.clear();
    }
    Ok(())
}

/// Writes a line to standard output. Both threads do, and the lock keeps their lines whole.
fn write_to_client(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}

fn lock(tools: &Mutex<ServerTools>) -> MutexGuard<'_, ServerTools> {
    tools.lock().unwrap_or_else(PoisonError::into_inner)
}
