//! One run of an agent, and how it ended.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::agent::{Agent, AgentServer, Place};
use crate::command::{TaskError, succeeds};
use crate::files::{create_file, create_folder, file_error};

/// How long a run may take. Agents wait between their own retries.
const PATIENCE: Duration = Duration::from_secs(150);

/// How a run ended, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// The file holds something that the model did not mean.
    Wrong,
    /// The agent did not end, and wrote nothing.
    Hung,
    /// Nothing was written.
    Nothing,
    /// The file is right, but the agent failed or did not end.
    Failed,
    /// The file is right.
    Right,
}

/// Their names and signs.
const ENDINGS: [(Ending, &str, &str); 5] = [
    (Ending::Wrong, "wrong", "✗"),
    (Ending::Hung, "hung", "∞"),
    (Ending::Nothing, "nothing", "–"),
    (Ending::Failed, "failed", "!"),
    (Ending::Right, "right", "✓"),
];

impl Ending {
    /// The name under which it is kept.
    pub(super) fn name(self) -> &'static str {
        ENDINGS[self as usize].1
    }

    pub(super) fn symbol(self) -> &'static str {
        ENDINGS[self as usize].2
    }

    pub(super) fn from_name(name: &str) -> Option<Ending> {
        ENDINGS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Whether a file was written.
    pub(super) fn has_file(self) -> bool {
        matches!(self, Ending::Wrong | Ending::Failed | Ending::Right)
    }
}

#[test]
fn every_ending_has_its_row() {
    for (at, (ending, name, _)) in ENDINGS.into_iter().enumerate() {
        assert_eq!((ending as usize, Ending::from_name(name)), (at, Some(ending)));
    }
}

/// What came out of a run.
#[derive(Debug, Clone)]
pub(super) struct RunResult {
    pub(super) ending: Ending,
    /// How often it asked the model.
    pub(super) requests: String,
    pub(super) took: Duration,
}

/// The scripted model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    pub(super) port: u16,
}

impl Model {
    /// Asks for a resource of the scripted model.
    pub(super) fn get(self, path: &str) -> Result<String, TaskError> {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer =
            ask().map_err(|error| TaskError(format!("the scripted model does not answer: {error}")))?;
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        Ok(body.to_owned())
    }
}

/// Runs an agent on a case, in a folder of its own.
pub(super) fn run_agent(
    agent: &Agent,
    program: &Path,
    case: &str,
    folder: &Path,
    model: Model,
    server: AgentServer<'_>,
) -> Result<RunResult, TaskError> {
    let _ = fs::remove_dir_all(folder);
    let (home, project) = (folder.join("home"), folder.join("project"));
    create_folder(&home)?;
    create_folder(&project)?;
    let file = project.join("written.txt");
    let place = Place {
        home: &home,
        project: &project,
        server,
        model: case,
        prompt: &format!("Write the file. FILE={}", file.display()),
    };
    let log_file = folder.join("log.txt");
    let log = create_file(&log_file)?;
    let same_log = log.try_clone().map_err(|error| file_error("write", &log_file, &error))?;
    let mut command = agent.command(program, &place)?;
    command.stdin(Stdio::null()).stdout(log).stderr(same_log).process_group(0);
    let started = Instant::now();
    let child = command.spawn().map_err(|error| TaskError::cannot_start(agent.name, &error))?;
    let status = wait_or_kill(child, started)?;
    let took = started.elapsed();
    let written = fs::read(&file).ok();
    let expected = model.get(&format!("/cases/{case}"))?;
    let ending = match (&written, status) {
        (Some(written), _) if *written != expected.as_bytes() => Ending::Wrong,
        (Some(_), Some(status)) if status.success() => Ending::Right,
        (Some(_), _) => Ending::Failed,
        (None, None) => Ending::Hung,
        (None, Some(_)) => Ending::Nothing,
    };
    let requests = model.get(&format!("/asked{}", file.display()))?;
    Ok(RunResult { ending, requests, took })
}

/// Waits for the end of an agent. Kills it, and what it started, if it takes too long.
fn wait_or_kill(mut child: Child, started: Instant) -> Result<Option<ExitStatus>, TaskError> {
    loop {
        let status = child.try_wait();
        match status.map_err(|error| TaskError(format!("cannot wait for an agent: {error}")))? {
            Some(status) => return Ok(Some(status)),
            None if started.elapsed() > PATIENCE => {
                succeeds(Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]));
                let _ = child.wait();
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
