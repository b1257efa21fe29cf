//! `cargo xtask clients`: runs real clients through the gateway, with a scripted server that breaks every rule.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::builds::build_toolmend;
use crate::command::{TaskError, capture_output, print_line, workspace_root};
use crate::files::{cache_folder, create_folder};
use crate::installs::{install_node_packages, install_python_packages};
use crate::servers::{Server, free_port, start_gateway, start_gateway_with};

const PYTHON_PACKAGES: &[&str] = &["openai>=3,<4", "anthropic>=2,<3", "ollama>=0.4,<1"];
const NODE_PACKAGES: &[&str] = &[
    "openai@6",
    "@anthropic-ai/sdk@1",
    "ai@6",
    "@ai-sdk/openai@3",
    "@ai-sdk/anthropic@3",
    "@ai-sdk/openai-compatible@2",
    "zod@4",
];

/// Frameworks that run tools, in versions that were resolved together.
const FRAMEWORK_PACKAGES: &[&str] = &[
    "langgraph==1.2.22",
    "langchain-openai==1.7.3",
    "openai-agents==0.24.0",
    "pydantic-ai-slim[openai]==2.66.0",
    "smolagents[openai]==1.26.0",
];

/// Prints one line for each client and API surface. A case that fails is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("clients")?;
    let python = install_python_packages(&folder, "python", PYTHON_PACKAGES)?;
    install_node_packages(&folder, NODE_PACKAGES)?;
    let binary = build_toolmend(false)?;
    let scripts = workspace_root().join("crates/toolmend-gateway/tests/clients");
    let (upstream, port) = (free_port()?, free_port()?);
    let mut command = Command::new(&python);
    command.arg(scripts.join("upstream.py")).arg(upstream.to_string());
    let _server = Server::start("the scripted server", &mut command, upstream, Duration::from_secs(20))?;
    let mut tally = Tally::default();
    // First the server uses the client's own surface, with both ways to deliver calls, then one surface for all clients.
    for (surface, delivery) in [
        (None, "held"),
        (None, "live"),
        (Some("chat"), "held"),
        (Some("messages"), "held"),
        (Some("responses"), "held"),
    ] {
        let mut flags = vec!["--journal", "off", "--stream", delivery];
        flags.extend(surface.into_iter().flat_map(|surface| ["--upstream-surface", surface]));
        let _gateway = start_gateway_with(&binary, upstream, port, &flags)?;
        let mut args = vec![format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{upstream}")];
        args.extend(surface.map(str::to_owned));
        tally.add("Python", delivery, Command::new(&python).arg(scripts.join("sdk.py")).args(&args))?;
        let mut node = Command::new("node");
        tally.add("Node", delivery, node.arg(scripts.join("sdk.mjs")).args(&args).current_dir(&folder))?;
    }
    run_frameworks(&binary, &folder, &mut tally)?;
    tally.print()
}

/// Runs frameworks with the scripted model of `cargo xtask agents`, directly and through the gateway: none may get less far
/// through it.
fn run_frameworks(binary: &Path, folder: &Path, tally: &mut Tally) -> Result<(), TaskError> {
    let python = install_python_packages(folder, "frameworks", FRAMEWORK_PACKAGES)?;
    let scripts = workspace_root().join("crates/toolmend-gateway/tests/clients");
    let (model, port) = (free_port()?, free_port()?);
    let mut command = Command::new(&python);
    command.arg(scripts.join("scripted_model.py")).arg(model.to_string());
    let _model = Server::start("the scripted model", &mut command, model, Duration::from_secs(20))?;
    let _gateway = start_gateway(binary, model, port)?;
    let files = folder.join("written");
    create_folder(&files)?;
    let urls = [port, model].map(|port| format!("http://127.0.0.1:{port}"));
    let mut command = Command::new(&python);
    tally.add("framework", "held", command.arg(scripts.join("frameworks.py")).args(urls).arg(files))
}

/// How many cases of each client succeeded.
#[derive(Debug, Default)]
struct Tally {
    rows: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, delivery: &str, command: &mut Command) -> Result<(), TaskError> {
        let output = capture_output(&format!("the {name} clients"), command)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let before = self.count();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let field = |name: &str| find_member(line, name).unwrap_or_default();
            let ok = field("ok") == "true";
            let row = format!(
                "{:<22} {:<24} stream={} {delivery}",
                field("client"),
                field("surface"),
                field("stream")
            );
            let (good, all) = self.rows.entry(row).or_default();
            *good += usize::from(ok);
            *all += 1;
            if !ok {
                self.failures.push(line.to_owned());
            }
        }
        // A script that ends early must not look like one without failures.
        if !output.status.success() || self.count() < before + 100 {
            return Err(TaskError(format!("the {name} clients stopped early ({})", output.status)));
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.rows.values().map(|(_, all)| all).sum()
    }

    fn print(&self) -> Result<(), TaskError> {
        for (row, (good, all)) in &self.rows {
            print_line(&format!("{row:<66} {good:>3} of {all}"));
        }
        for failure in &self.failures {
            print_line(failure);
        }
        let (failed, all) = (self.failures.len(), self.count());
        print_line(&format!("{} of {all} cases succeeded", all - failed));
        if failed == 0 { Ok(()) } else { Err(TaskError(format!("{failed} of {all} cases failed"))) }
    }
}

/// Finds the value of a member in a flat JSON line, without its quotes.
fn find_member<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let at = line.find(&format!("\"{name}\":"))? + name.len() + 3;
    let rest = line[at..].trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.split([',', '}']).next(),
    }
}

#[test]
fn members_are_found_in_both_spellings() {
    for line in [r#"{"client": "a b", "ok": true, "why": null}"#, r#"{"client":"a b","ok":true,"why":null}"#]
    {
        assert_eq!(
            (find_member(line, "client"), find_member(line, "ok"), find_member(line, "why")),
            (Some("a b"), Some("true"), Some("null"))
        );
    }
}
