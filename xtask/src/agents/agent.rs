//! The agents, and how each of them is run without questions.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::TaskError;
use crate::files::{cache_folder, create_folder, read_file, write_file};
use crate::installs::{install_node_packages, install_python_packages};

/// A coding agent.
pub(super) struct Agent {
    /// Its name on the command line.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// The API that it uses.
    pub(super) surface: &'static str,
    /// A version that is known to run without asking questions.
    pub(super) package: Package,
    /// The path in the folder where it is installed.
    program: &'static str,
    /// Adds its arguments and settings to the command.
    configure: fn(&mut Command, &Place<'_>) -> Result<(), TaskError>,
    /// Whether `toolmend run` can say where the server is.
    pub(super) can_be_wrapped: bool,
    /// Whether it writes files with tool calls. Broken calls do not concern an agent that takes files from the text.
    pub(super) uses_calls: bool,
}

/// Where an agent comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Package {
    Node(&'static str),
    Python(&'static str),
}

impl Package {
    /// Its name and version, as the package manager spells them.
    pub(super) fn spec(self) -> &'static str {
        match self {
            Package::Node(spec) | Package::Python(spec) => spec,
        }
    }
}

/// One run's folders, and what the agent is asked for.
pub(super) struct Place<'a> {
    pub(super) home: &'a Path,
    pub(super) project: &'a Path,
    pub(super) server: AgentServer<'a>,
    pub(super) model: &'a str,
    pub(super) prompt: &'a str,
}

/// How an agent learns where its server is.
#[derive(Debug, Clone, Copy)]
pub(super) enum AgentServer<'a> {
    /// From its own settings: the address, without a path.
    Address(&'a str),
    /// From `toolmend run`: the path of the command, and the address of the model behind it.
    Wrapper(&'a Path, &'a str),
}

/// Cline reads the address of the server only from a file, which `auth` writes.
const CLINE_SCRIPT: &str = r#"
"$0" auth -p openai -k any -m "$1" -b "$OPENAI_BASE_URL" --data-dir "$HOME/cline" &&
"$0" --data-dir "$HOME/cline" -P openai -m "$1" --json "$2""#;

/// What keeps agents, and the libraries in them, from reporting to their vendors. Those that ignore it have settings of their own.
const NO_TELEMETRY: [(&str, &str); 3] =
    [("DO_NOT_TRACK", "1"), ("DISABLE_TELEMETRY", "1"), ("OTEL_SDK_DISABLED", "true")];

/// The file that says why an agent is not installed.
const PROBLEM: &str = "problem.txt";

pub(super) const AGENTS: &[Agent] = &[
    Agent {
        id: "claude-code",
        name: "Claude Code",
        surface: "Messages",
        package: Package::Node("@anthropic-ai/claude-code@2.1.197"),
        program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        configure: |command, place| {
            command.args(["-p", place.prompt, "--model", place.model, "--allowedTools", "Write"]);
            command.args(["--output-format", "json", "--max-turns", "12"]);
            command.envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")]);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
    Agent {
        id: "codex",
        name: "Codex",
        surface: "Responses",
        package: Package::Node("@openai/codex@0.169.0"),
        program: "node_modules/.bin/codex",
        configure: |command, place| {
            if let AgentServer::Address(root) = place.server {
                let settings = [
                    "model_provider=\"toolmend\"".to_owned(),
                    "model_providers.toolmend.name=\"toolmend\"".to_owned(),
                    format!("model_providers.toolmend.base_url=\"{root}/v1\""),
                    "model_providers.toolmend.wire_api=\"responses\"".to_owned(),
                    "model_providers.toolmend.env_key=\"OPENAI_API_KEY\"".to_owned(),
                ];
                command.args(settings.iter().flat_map(|setting| ["-c", setting]));
            }
            command.args(["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]);
            let bypass = "--dangerously-bypass-approvals-and-sandbox";
            command.args(["exec", "--skip-git-repo-check", bypass, "--json", "-m", place.model]);
            command.arg(place.prompt);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
    Agent {
        id: "pi",
        name: "pi",
        surface: "Chat Completions",
        package: Package::Node("@mariozechner/pi-coding-agent@0.73.1"),
        program: "node_modules/.bin/pi",
        configure: |command, place| {
            let model = place.model;
            if let AgentServer::Address(root) = place.server {
                let folder = place.home.join(".pi/agent");
                create_folder(&folder)?;
                let models = format!(
                    "[{{\"id\": \"{model}\", \"name\": \"{model}\", \"contextWindow\": 32768, \"maxTokens\": 8192}}]"
                );
                let provider = format!(
                    "{{\"baseUrl\": \"{root}/v1\", \"api\": \"openai-completions\", \"apiKey\": \"any\", \
                     \"models\": {models}}}"
                );
                let providers = format!("{{\"providers\": {{\"toolmend\": {provider}}}}}");
                write_file(&folder.join("models.json"), providers)?;
            }
            command.args(["-p", "--offline", "--no-session", "--model", &format!("toolmend/{model}")]);
            command.arg(place.prompt);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
    Agent {
        id: "aider",
        name: "aider",
        surface: "Chat Completions",
        package: Package::Python("aider-chat==0.86.2"),
        program: "python/bin/aider",
        configure: |command, place| {
            command.args(["--model", &format!("openai/{}", place.model), "--message", place.prompt]);
            command.args(["--yes-always", "--no-git", "--no-check-update", "--no-analytics"]);
            command.arg("--no-show-model-warnings");
            // Otherwise it writes these files to the root of the enclosing repository.
            command
                .envs([("AIDER_CHAT_HISTORY_FILE", "/dev/null"), ("AIDER_INPUT_HISTORY_FILE", "/dev/null")]);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: false,
    },
    Agent {
        id: "continue",
        name: "Continue",
        surface: "Chat Completions",
        package: Package::Node("@continuedev/cli@1.5.47"),
        program: "node_modules/.bin/cn",
        configure: |command, place| {
            let config = place.home.join("config.yaml");
            let model = place.model;
            let AgentServer::Address(root) = place.server else {
                return Err(TaskError("the address stands only in its settings".to_owned()));
            };
            let settings = format!(
                "name: test\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: test\n    provider: openai\n    model: {model}\n    \
                 apiBase: {root}/v1\n    apiKey: any\n    roles: [chat]\n    capabilities: [tool_use]\n"
            );
            write_file(&config, settings)?;
            command.args(["-p", place.prompt, "--auto", "--config"]).arg(config);
            command.envs([("CONTINUE_TELEMETRY_ENABLED", "0"), ("CONTINUE_CLI_AUTO_UPDATED", "1")]);
            Ok(())
        },
        can_be_wrapped: false,
        uses_calls: true,
    },
    Agent {
        id: "opencode",
        name: "OpenCode",
        surface: "Chat Completions",
        package: Package::Node("opencode-ai@1.18.33"),
        program: "node_modules/opencode-linux-x64/bin/opencode",
        configure: |command, place| {
            let model = place.model;
            if let AgentServer::Address(root) = place.server {
                let models = format!("{{\"{model}\": {{\"name\": \"{model}\", \"tool_call\": true}}}}");
                let options = format!("{{\"baseURL\": \"{root}/v1\", \"apiKey\": \"any\"}}");
                let provider = format!(
                    "{{\"npm\": \"@ai-sdk/openai-compatible\", \"name\": \"toolmend\", \"options\": {options}, \
                     \"models\": {models}}}"
                );
                let config = format!(
                    "{{\"provider\": {{\"toolmend\": {provider}}}, \"model\": \"toolmend/{model}\", \
                     \"small_model\": \"toolmend/{model}\", \"autoupdate\": false, \"share\": \"disabled\"}}"
                );
                command.env("OPENCODE_CONFIG_CONTENT", config);
            }
            command.envs(
                ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD"]
                    .map(|what| (format!("OPENCODE_DISABLE_{what}"), "1")),
            );
            command.args(["run", "--format", "json", "-m", &format!("toolmend/{model}"), place.prompt]);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
    Agent {
        id: "cline",
        name: "Cline",
        surface: "Chat Completions",
        package: Package::Node("cline@3.0.65"),
        program: "node_modules/.bin/cline",
        configure: |command, place| {
            let settings = place.home.join("cline-settings.json");
            write_file(&settings, "{\"telemetryOptOut\": true, \"autoUpdateEnabled\": false}")?;
            command.env("CLINE_GLOBAL_SETTINGS_PATH", settings).env("CLINE_NO_AUTO_UPDATE", "1");
            let model = place.model;
            let AgentServer::Address(root) = place.server else {
                let program = command.get_program().to_owned();
                *command = Command::new("sh");
                command.args(["-c", CLINE_SCRIPT]).arg(program).args([model, place.prompt]);
                return Ok(());
            };
            let data = place.home.join("cline");
            create_folder(&data.join("settings"))?;
            // As `cline auth` writes it.
            let settings = format!(
                "{{\"provider\": \"openai-compatible\", \"apiKey\": \"any\", \"model\": \"{model}\", \
                 \"baseUrl\": \"{root}/v1\"}}"
            );
            let providers = format!(
                "{{\"version\": 1, \"lastUsedProvider\": \"openai-compatible\", \"modes\": {{}}, \"providers\": \
                 {{\"openai-compatible\": {{\"settings\": {settings}, \"updatedAt\": \"2026-01-01T00:00:00.000Z\", \
                 \"tokenSource\": \"manual\"}}}}}}"
            );
            write_file(&data.join("settings/providers.json"), providers)?;
            command.arg("--data-dir").arg(data).args(["-P", "openai", "-m", model, "--json", place.prompt]);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
    Agent {
        id: "qwen-code",
        name: "qwen-code",
        surface: "Chat Completions",
        package: Package::Node("@qwen-code/qwen-code@0.15.10"),
        program: "node_modules/.bin/qwen",
        configure: |command, place| {
            let folder = place.home.join(".qwen");
            create_folder(&folder)?;
            let quiet = "{\"general\": {\"disableAutoUpdate\": true, \"disableUpdateNag\": true}, \
                         \"privacy\": {\"usageStatisticsEnabled\": false}, \"telemetry\": {\"enabled\": false}}";
            write_file(&folder.join("settings.json"), quiet)?;
            command.args(["-p", place.prompt, "--auth-type", "openai", "-y", "--model", place.model]);
            command.args(["--output-format", "json"]);
            Ok(())
        },
        can_be_wrapped: true,
        uses_calls: true,
    },
];

impl Agent {
    /// Whether a gateway in front of a server that speaks only Chat Completions translates for it.
    pub(super) fn is_translated(&self) -> bool {
        self.surface != "Chat Completions"
    }

    /// Installs it, or remembers why that is impossible.
    pub(super) fn prepare(&self) -> Result<(), TaskError> {
        let folder = cache_folder(&format!("agents/{}", self.id))?;
        let installed = match self.package {
            Package::Node(package) => install_node_packages(&folder, &[package]),
            Package::Python(package) => install_python_packages(&folder, "python", &[package]).map(drop),
        };
        let reason = match installed {
            Ok(()) if folder.join(self.program).exists() => String::new(),
            Ok(()) => format!("the package has no program for this machine ({})", self.program),
            Err(TaskError(reason)) => reason,
        };
        write_file(&folder.join(PROBLEM), reason)
    }

    /// Returns its program. Fails with the reason if it was not installed.
    pub(super) fn find_program(&self) -> Result<PathBuf, TaskError> {
        let folder = cache_folder(&format!("agents/{}", self.id))?;
        let reason = read_file(&folder.join(PROBLEM))?;
        if reason.is_empty() { Ok(folder.join(self.program)) } else { Err(TaskError(reason)) }
    }

    /// Returns the command for one run, without any keys or settings of the person who runs this.
    pub(super) fn command(&self, program: &Path, place: &Place<'_>) -> Result<Command, TaskError> {
        let mut inner = Command::new(program);
        (self.configure)(&mut inner, place)?;
        let mut command = match place.server {
            AgentServer::Address(_) => Command::new(inner.get_program()),
            AgentServer::Wrapper(toolmend, upstream) => {
                let mut command = Command::new(toolmend);
                command
                    .args(["run", "--journal", "off", "--upstream", upstream, "--"])
                    .arg(inner.get_program());
                command
            }
        };
        let settings = inner.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.args(inner.get_args()).env_clear().envs(NO_TELEMETRY).envs(settings);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", place.home).current_dir(place.project);
        if let AgentServer::Address(root) = place.server {
            let api = format!("{root}/v1");
            command.env("ANTHROPIC_BASE_URL", root).env("OPENAI_BASE_URL", &api).env("OPENAI_API_BASE", &api);
        }
        command.envs([("ANTHROPIC_API_KEY", "any"), ("OPENAI_API_KEY", "any")]);
        Ok(command)
    }
}
