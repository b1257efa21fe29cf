//! `cargo xtask agents`: runs real coding agents through the gateway, with a scripted model that breaks its calls.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::builds::build_toolmend;
use crate::command::{TaskError, print_line, workspace_root};
use crate::files::{cache_folder, create_folder, write_file};
use crate::installs::{install_node_packages, install_python_packages};
use crate::servers::{Server, free_port};

/// Versions that are known to run without asking questions.
const PACKAGES: &[&str] = &[
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.166.0",
    "opencode-ai@1.18.33",
    "@mariozechner/pi-coding-agent@0.73.1",
    "cline@3.0.65",
];
const AIDER_PACKAGES: &[&str] = &["aider-chat==0.86.2"];

/// The cases of the scripted model, and whether the agent must write a file.
const CASES: &[(&str, bool)] = &[
    ("html", true),
    ("newlines", true),
    ("windows", true),
    ("in_text", true),
    ("bare_keys", true),
    ("cut", false),
];

/// An agent, and how it is run without questions.
struct Agent {
    name: &'static str,
    /// The path in the folder where everything is installed.
    program: &'static str,
    /// The arguments of the program.
    args: fn(case: &str, prompt: &str) -> Vec<String>,
    environment: &'static [(&'static str, &'static str)],
    /// Whether it writes files with tool calls. Broken calls do not concern an agent that takes files from the text.
    uses_calls: bool,
}

/// Cline reads the address of the server only from a file, which `auth` writes.
const CLINE_SCRIPT: &str = r#"
"$0" auth -p openai -k any -m "$1" -b "$OPENAI_BASE_URL" --data-dir "$HOME/cline" &&
"$0" --data-dir "$HOME/cline" -P openai -m "$1" --json "$2""#;

const AGENTS: &[Agent] = &[
    Agent {
        name: "Claude Code",
        program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        args: |case, prompt| {
            to_strings(&["-p", prompt, "--model", case, "--allowedTools", "Write", "--output-format", "json"])
        },
        environment: &[
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ],
        uses_calls: true,
    },
    Agent {
        name: "Codex",
        program: "node_modules/.bin/codex",
        args: |case, prompt| {
            let bypass = "--dangerously-bypass-approvals-and-sandbox";
            to_strings(&["exec", "--skip-git-repo-check", bypass, "--json", "-m", case, prompt])
        },
        environment: &[],
        uses_calls: true,
    },
    Agent {
        name: "OpenCode",
        program: "node_modules/opencode-linux-x64/bin/opencode",
        args: |case, prompt| {
            to_strings(&["run", "--format", "json", "-m", &format!("toolmend/{case}"), prompt])
        },
        environment: &[
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        uses_calls: true,
    },
    Agent {
        name: "pi",
        program: "node_modules/.bin/pi",
        args: |case, prompt| {
            to_strings(&["-p", "--offline", "--no-session", "--model", &format!("toolmend/{case}"), prompt])
        },
        environment: &[],
        uses_calls: true,
    },
    Agent {
        name: "Cline",
        program: "node_modules/.bin/cline",
        args: |case, prompt| to_strings(&[case, prompt]),
        environment: &[],
        uses_calls: true,
    },
    Agent {
        name: "aider",
        program: "aider/bin/aider",
        args: |case, prompt| {
            let mut all =
                to_strings(&["--model", &format!("openai/{case}"), "--message", prompt, "--yes-always"]);
            all.extend(to_strings(&[
                "--no-git",
                "--no-check-update",
                "--no-analytics",
                "--no-show-model-warnings",
            ]));
            all
        },
        // Otherwise it writes these files to the root of the enclosing repository.
        environment: &[("AIDER_CHAT_HISTORY_FILE", "/dev/null"), ("AIDER_INPUT_HISTORY_FILE", "/dev/null")],
        uses_calls: false,
    },
];

fn to_strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Prints one line for each agent and case. A file that differs from what the model meant is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("agents")?;
    install_node_packages(&folder, PACKAGES)?;
    install_python_packages(&folder, "aider", AIDER_PACKAGES)?;
    let binary = build_toolmend(false)?;
    let port = free_port()?;
    let script = workspace_root().join("crates/toolmend-gateway/tests/clients/agents.py");
    let mut command = Command::new("python3");
    command.arg(&script).arg(port.to_string());
    let _server = Server::start("the scripted model", &mut command, port, Duration::from_secs(20))?;
    let work = folder.join("work");
    let _ = fs::remove_dir_all(&work);
    let (mut runs, mut failures) = (0, 0);
    for agent in AGENTS {
        for (case, writes) in CASES {
            if !agent.uses_calls && ["in_text", "bare_keys"].contains(case) {
                continue;
            }
            let run_folder = work.join(agent.program.replace(['/', '@'], "_")).join(case);
            let run = AgentRun { agent, case, writes: *writes, folder: &run_folder, port };
            let problem = run.find_problem(&folder, &binary)?;
            runs += 1;
            failures += usize::from(problem.is_some());
            print_line(&format!("{:<12} {case:<10} {}", agent.name, problem.as_deref().unwrap_or("ok")));
        }
    }
    print_line(&format!("{} of {runs} runs succeeded", runs - failures));
    if failures == 0 { Ok(()) } else { Err(TaskError(format!("{failures} of {runs} runs failed"))) }
}

/// One run of an agent on a case.
struct AgentRun<'a> {
    agent: &'a Agent,
    case: &'a str,
    writes: bool,
    /// Where its home, its project and its log are.
    folder: &'a Path,
    port: u16,
}

impl AgentRun<'_> {
    /// Runs the agent. Returns what went wrong.
    fn find_problem(&self, packages: &Path, binary: &Path) -> Result<Option<String>, TaskError> {
        let (home, project) = (self.folder.join("home"), self.folder.join("project"));
        create_folder(&home)?;
        create_folder(&project)?;
        let file = project.join("written.txt");
        let output = self
            .command(packages, binary, &file)
            .env("HOME", &home)
            .current_dir(&project)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| TaskError::cannot_start(self.agent.name, &error))?;
        let log = self.folder.join("log.txt");
        write_file(&log, [output.stdout.as_slice(), output.stderr.as_slice()].concat())?;
        let see_log = format!("see {}", log.display());
        let written = fs::read_to_string(&file).ok();
        let expected = if self.writes { Some(self.fetch_expected()?) } else { None };
        Ok(match (expected, written) {
            (None, Some(_)) => Some(format!("a truncated call wrote a file; {see_log}")),
            (Some(_), None) => Some(format!("no file was written; {see_log}")),
            (Some(expected), Some(written)) if expected != written => {
                Some(format!("the file contains {written:?} instead of {expected:?}; {see_log}"))
            }
            // A truncated turn may end in an error; a complete one may not.
            (Some(_), Some(_)) if !output.status.success() => Some(format!("{}; {see_log}", output.status)),
            _ => None,
        })
    }

    /// Returns the command, without any keys or settings of the person who runs this.
    fn command(&self, packages: &Path, binary: &Path, file: &Path) -> Command {
        let prompt = format!("Write the file. FILE={}", file.display());
        let shell: &[&str] = if self.agent.name == "Cline" { &["sh", "-c", CLINE_SCRIPT] } else { &[] };
        let mut command = Command::new(binary);
        command
            .args(["run", "--upstream", &format!("http://127.0.0.1:{}", self.port), "--"])
            .args(shell)
            .arg(packages.join(self.agent.program))
            .args((self.agent.args)(self.case, &prompt))
            .env_clear()
            .envs(self.agent.environment.iter().copied())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// Asks the scripted model what the file must contain.
    fn fetch_expected(&self) -> Result<String, TaskError> {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            write!(stream, "GET /cases/{} HTTP/1.0\r\n\r\n", self.case)?;
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
