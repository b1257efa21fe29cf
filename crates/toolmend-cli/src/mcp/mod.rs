//! `toolmend mcp`: a shim in front of an MCP server that speaks over standard input and output.
//!
//! Messages are lines. What the shim does not change passes byte for byte, in both directions.

mod call;
mod known;
mod message;

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use self::call::{Way, look};
use self::known::Known;
use self::message::Message;
use crate::args::McpArgs;
use crate::failure::{FAILED, Failure};

/// Runs the command. It ends when the server does, with the server's exit code.
pub(crate) fn run(args: &McpArgs) -> Result<ExitCode, Failure> {
    let mut server = start(&args.server)?;
    let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(Failure::serve("the server was started without pipes"));
    };
    let known = Mutex::new(Known::new(args.policy.policy()));
    thread::scope(|scope| {
        // It waits for the client, who may have nothing more to say; when the server is gone, so is this program.
        thread::Builder::new()
            .name("client".to_owned())
            .spawn_scoped(scope, || from_client(input, &known, args.explain))
            .map_err(|error| Failure::serve(format!("no thread for the client: {error}")))?;
        let passed = from_server(&mut BufReader::new(output), &known);
        let code =
            server.wait().ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        match passed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => complain(&error.to_string()),
            _ => {}
        }
        std::process::exit(i32::from(code.unwrap_or(FAILED)))
    })
}

fn start(command: &[String]) -> Result<Child, Failure> {
    let (program, arguments) = command.split_first().ok_or_else(|| Failure::serve("no server was named"))?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::serve(format!("cannot start {program}: {error}")))
}

/// Passes what the client says, calls mended. Where it stops, the server is told by the end of its input.
fn from_client(mut server: ChildStdin, known: &Mutex<Known>, explain: bool) {
    let passed = each_line(&mut io::stdin().lock(), |line| {
        let message = Message::read(line);
        let way = message.map_or(Way::Pass, |message| look(line, &message, &mut lock(known)));
        if explain && let Some(about) = way.about() {
            complain(about);
        }
        match way {
            Way::Pass => server.write_all(line),
            Way::Mended { line, .. } => server.write_all(&line),
            Way::Answer { line, .. } => tell(&line),
        }?;
        server.flush()
    });
    if let Err(error) = passed {
        complain(&error.to_string());
    }
}

/// Passes what the server says. Its tools are known before the client sees them.
fn from_server(server: &mut impl BufRead, known: &Mutex<Known>) -> io::Result<()> {
    each_line(server, |line| {
        if let Some(message) = Message::read(line) {
            lock(known).learn(&message);
        }
        tell(line)
    })
}

fn each_line(reader: &mut impl BufRead, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        take(&line)?;
        line.clear();
    }
    Ok(())
}

/// Both threads write to the client; the lock of standard output keeps their lines whole.
fn tell(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}

fn complain(what: &str) {
    // With nowhere to complain to, the messages have to do.
    let _ = writeln!(anstream::stderr(), "toolmend: {what}");
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
