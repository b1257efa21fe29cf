//! `cargo xtask clients`: the real clients, through the real gateway, in front of a server that breaks every rule.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{self, Server};
use crate::step::{Failed, root, say};

const PYTHON: &[&str] = &["openai>=3,<4", "anthropic>=2,<3", "ollama>=0.4,<1"];
const NODE: &[&str] = &[
    "openai@6",
    "@anthropic-ai/sdk@1",
    "ai@6",
    "@ai-sdk/openai@3",
    "@ai-sdk/anthropic@3",
    "@ai-sdk/openai-compatible@2",
    "zod@4",
];

/// Prints one line for each client and surface. Anything but 100 % is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("clients")?;
    let python = lab::python(&folder, "python", PYTHON)?;
    lab::node(&folder, NODE)?;
    let binary = lab::toolmend(false)?;
    let scripts = root().join("crates/toolmend-gateway/tests/clients");
    let (upstream, port) = (lab::free_port()?, lab::free_port()?);
    let mut command = Command::new(&python);
    command.arg(scripts.join("upstream.py")).arg(upstream.to_string());
    let _server = Server::start("the scripted server", &mut command, upstream, Duration::from_secs(20))?;
    let mut tally = Tally::default();
    // The server on the client's own surface, then on one surface for the clients of all the others.
    for surface in [None, Some("chat"), Some("messages"), Some("responses")] {
        let _gateway = lab::gateway_on(&binary, upstream, port, surface)?;
        let mut args = vec![format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{upstream}")];
        args.extend(surface.map(str::to_owned));
        tally.add("Python", Command::new(&python).arg(scripts.join("sdk.py")).args(&args))?;
        tally.add(
            "Node",
            Command::new("node").arg(scripts.join("sdk.mjs")).args(&args).current_dir(&folder),
        )?;
    }
    tally.tell()
}

/// How many cases of each client went well.
#[derive(Debug, Default)]
struct Tally {
    rows: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, command: &mut Command) -> Result<(), Failed> {
        let output = command.stderr(Stdio::inherit()).output();
        let output =
            output.map_err(|error| Failed(format!("the {name} clients cannot be started: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let before = self.count();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let field = |name: &str| after(line, name).unwrap_or_default();
            let ok = field("ok") == "true";
            let row = format!("{:<22} {:<24} stream={}", field("client"), field("surface"), field("stream"));
            let (good, all) = self.rows.entry(row).or_default();
            *good += usize::from(ok);
            *all += 1;
            if !ok {
                self.failures.push(line.to_owned());
            }
        }
        // A script that dies half way must not pass for one that had nothing to say.
        if !output.status.success() || self.count() < before + 100 {
            return Err(Failed(format!("the {name} clients stopped early ({})", output.status)));
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.rows.values().map(|(_, all)| all).sum()
    }

    fn tell(&self) -> Result<(), Failed> {
        for (row, (good, all)) in &self.rows {
            say(&format!("{row:<60} {good:>3} of {all}"));
        }
        for failure in &self.failures {
            say(failure);
        }
        let (failed, all) = (self.failures.len(), self.count());
        say(&format!("{} of {all} cases went well", all - failed));
        if failed == 0 { Ok(()) } else { Err(Failed(format!("{failed} of {all} cases failed"))) }
    }
}

/// The value of a member of a flat JSON line, without its quotes.
fn after<'l>(line: &'l str, name: &str) -> Option<&'l str> {
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
            (after(line, "client"), after(line, "ok"), after(line, "why")),
            (Some("a b"), Some("true"), Some("null"))
        );
    }
}
