//! `cargo xtask agents`: real coding agents, through the real gateway, in front of a model that breaks its calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{self, Server};
use crate::step::{Failed, root, say};

/// Versions that are known to work without a question asked.
const PACKAGES: &[&str] = &[
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.166.0",
    "opencode-ai@1.18.33",
    "@mariozechner/pi-coding-agent@0.73.1",
    "cline@3.0.65",
];
const AIDER: &[&str] = &["aider-chat==0.86.2"];

/// The cases of the scripted model, and whether a file comes out of them.
const CASES: &[(&str, bool)] = &[
    ("html", true),
    ("newlines", true),
    ("windows", true),
    ("in_text", true),
    ("bare_keys", true),
    ("cut", false),
];

/// An agent: its name, and how it is told to do something without asking anybody.
struct Agent {
    name: &'static str,
    /// In the folder that everything is installed in.
    program: &'static str,
    /// The words after the program.
    args: fn(case: &str, prompt: &str) -> Vec<String>,
    environment: &'static [(&'static str, &'static str)],
    /// Whether it writes files by calls. One that reads them from the text has nothing to do with broken calls.
    calls: bool,
}

/// Cline has to be told in a file of its own where the server is.
const CLINE: &str = r#"
"$0" auth -p openai -k any -m "$1" -b "$OPENAI_BASE_URL" --data-dir "$HOME/cline" &&
"$0" --data-dir "$HOME/cline" -P openai -m "$1" --json "$2""#;

const AGENTS: &[Agent] = &[
    Agent {
        name: "Claude Code",
        program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        args: |case, prompt| {
            words(&["-p", prompt, "--model", case, "--allowedTools", "Write", "--output-format", "json"])
        },
        environment: &[
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ],
        calls: true,
    },
    Agent {
        name: "Codex",
        program: "node_modules/.bin/codex",
        args: |case, prompt| {
            let bypass = "--dangerously-bypass-approvals-and-sandbox";
            words(&["exec", "--skip-git-repo-check", bypass, "--json", "-m", case, prompt])
        },
        environment: &[],
        calls: true,
    },
    Agent {
        name: "OpenCode",
        program: "node_modules/opencode-linux-x64/bin/opencode",
        args: |case, prompt| words(&["run", "--format", "json", "-m", &format!("toolmend/{case}"), prompt]),
        environment: &[
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        calls: true,
    },
    Agent {
        name: "pi",
        program: "node_modules/.bin/pi",
        args: |case, prompt| {
            words(&["-p", "--offline", "--no-session", "--model", &format!("toolmend/{case}"), prompt])
        },
        environment: &[],
        calls: true,
    },
    Agent {
        name: "Cline",
        program: "node_modules/.bin/cline",
        args: |case, prompt| words(&[case, prompt]),
        environment: &[],
        calls: true,
    },
    Agent {
        name: "aider",
        program: "aider/bin/aider",
        args: |case, prompt| {
            let mut all = words(&["--model", &format!("openai/{case}"), "--message", prompt, "--yes-always"]);
            all.extend(words(&[
                "--no-git",
                "--no-check-update",
                "--no-analytics",
                "--no-show-model-warnings",
            ]));
            all
        },
        // It would keep them at the root of whatever repository it stands in.
        environment: &[("AIDER_CHAT_HISTORY_FILE", "/dev/null"), ("AIDER_INPUT_HISTORY_FILE", "/dev/null")],
        calls: false,
    },
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Prints one line for each agent and case. A file that is not exactly what was meant is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("agents")?;
    lab::node(&folder, PACKAGES)?;
    lab::python(&folder, "aider", AIDER)?;
    let binary = lab::toolmend(false)?;
    let port = lab::free_port()?;
    let script = root().join("crates/toolmend-gateway/tests/clients/agents.py");
    let mut command = Command::new("python3");
    command.arg(&script).arg(port.to_string());
    let _server = Server::start("the scripted model", &mut command, port, Duration::from_secs(20))?;
    let work = folder.join("work");
    let _ = fs::remove_dir_all(&work);
    let (mut all, mut failures) = (0, 0);
    for agent in AGENTS {
        for (case, writes) in CASES {
            if !agent.calls && ["in_text", "bare_keys"].contains(case) {
                continue;
            }
            let place = work.join(agent.program.replace(['/', '@'], "_")).join(case);
            let told = attempt(agent, case, *writes, &place, &folder, &binary, port)?;
            all += 1;
            failures += usize::from(told.is_some());
            say(&format!("{:<12} {case:<10} {}", agent.name, told.as_deref().unwrap_or("ok")));
        }
    }
    say(&format!("{} of {all} runs went well", all - failures));
    if failures == 0 { Ok(()) } else { Err(Failed(format!("{failures} of {all} runs failed"))) }
}

/// Runs an agent on a case. Gives what went wrong.
fn attempt(
    agent: &Agent,
    case: &str,
    writes: bool,
    place: &Path,
    folder: &Path,
    binary: &Path,
    port: u16,
) -> Result<Option<String>, Failed> {
    let (home, project) = (place.join("home"), place.join("project"));
    for folder in [&home, &project] {
        fs::create_dir_all(folder)
            .map_err(|error| Failed(format!("cannot make {}: {error}", folder.display())))?;
    }
    let file = project.join("written.txt");
    let prompt = format!("Write the file. FILE={}", file.display());
    let program: PathBuf = folder.join(agent.program);
    let shell: &[&str] = if agent.name == "Cline" { &["sh", "-c", CLINE] } else { &[] };
    // Nothing of whoever runs this: neither keys nor settings.
    let mut command = Command::new(binary);
    command
        .args(["run", "--upstream", &format!("http://127.0.0.1:{port}"), "--"])
        .args(shell)
        .arg(&program)
        .args((agent.args)(case, &prompt))
        .env_clear()
        .envs(agent.environment.iter().copied())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .current_dir(&project)
        .stdin(Stdio::null());
    let output = command.output();
    let output = output.map_err(|error| Failed(format!("{} cannot be started: {error}", agent.name)))?;
    let log = place.join("log.txt");
    fs::write(&log, [output.stdout.as_slice(), output.stderr.as_slice()].concat())
        .map_err(|error| Failed(format!("cannot write {}: {error}", log.display())))?;
    let see = format!("see {}", log.display());
    let written = fs::read_to_string(&file).ok();
    Ok(match (meant(case, port, writes)?, written) {
        (None, Some(_)) => Some(format!("a cut call left a file behind; {see}")),
        (Some(_), None) => Some(format!("no file was written; {see}")),
        (Some(meant), Some(written)) if meant != written => {
            Some(format!("the file holds {written:?} and not {meant:?}; {see}"))
        }
        // A turn that was cut may end in an error; one that was done may not.
        (Some(_), Some(_)) if !output.status.success() => Some(format!("{}; {see}", output.status)),
        _ => None,
    })
}

/// What the file must hold, as the scripted model tells.
fn meant(case: &str, port: u16, writes: bool) -> Result<Option<String>, Failed> {
    use std::io::{Read, Write};
    let ask = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
        write!(stream, "GET /cases/{case} HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| Failed(format!("the scripted model does not answer: {error}")))?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok(writes.then(|| body.to_owned()))
}
