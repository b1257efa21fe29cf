//! `cargo xtask agents`: runs real coding agents with a scripted model that breaks its calls, directly and through the
//! gateway. No agent may get less far through the gateway.

mod agent;
mod isolation;
mod measured;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use self::agent::{AGENTS, Agent, AgentServer};
use self::isolation::{is_isolated, run_again_isolated};
use self::measured::Route;
use self::report::{Case, Report};
use self::run::{Ending, Model, RunResult, run_agent};
use crate::builds::build_toolmend;
use crate::command::{TaskError, workspace_root};
use crate::files::cache_folder;
use crate::servers::{Server, free_port, start_gateway_with};

/// The case on which agents are started with `toolmend run`.
const WRAPPED_CASE: &str = "html";

/// What is run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// One agent, by its id.
    only: Option<String>,
    /// One case.
    case: Option<String>,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Options, TaskError> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| TaskError(format!("{flag}: a value is missing")))?;
            match *flag {
                "--only" => options.only = Some((*value).to_owned()),
                "--case" => options.case = Some((*value).to_owned()),
                _ => return Err(TaskError(format!("unknown flag `{flag}`; expected --only or --case"))),
            }
        }
        Ok(options)
    }

    fn select_agents(&self) -> Result<Vec<&'static Agent>, TaskError> {
        let agents: Vec<&Agent> = AGENTS.iter().collect();
        choose(agents, "agent", self.only.as_deref(), |agent| agent.id)
    }

    fn select_cases(&self, cases: Vec<Case>) -> Result<Vec<Case>, TaskError> {
        choose(cases, "case", self.case.as_deref(), |case| &case.name)
    }
}

/// Returns the one that was asked for, or all.
fn choose<T>(
    mut all: Vec<T>,
    what: &str,
    wanted: Option<&str>,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, TaskError> {
    let Some(wanted) = wanted else { return Ok(all) };
    if let Some(at) = all.iter().position(|one| name(one) == wanted) {
        return Ok(vec![all.swap_remove(at)]);
    }
    let known: Vec<&str> = all.iter().map(name).collect();
    Err(TaskError(format!("there is no {what} `{wanted}`; expected one of {}", known.join(", "))))
}

/// Prints a line for each run, and writes the tables. A broken rule is an error.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    let agents = options.select_agents()?;
    let binary = build_toolmend(false)?;
    if !is_isolated()? {
        agents.iter().try_for_each(|agent| agent.prepare())?;
        return run_again_isolated();
    }
    let [model, native, translated] = [free_port()?, free_port()?, free_port()?];
    let mut command = Command::new("python3");
    command
        .arg(workspace_root().join("crates/toolmend-gateway/tests/clients/scripted_model.py"))
        .arg(model.to_string());
    let _model = Server::start("the scripted model", &mut command, model, Duration::from_secs(20))?;
    let _native = start_gateway_with(&binary, model, native, &["--journal", "off"])?;
    let flags = ["--journal", "off", "--upstream-surface", "chat"];
    let _translated = start_gateway_with(&binary, model, translated, &flags)?;
    let matrix = Matrix {
        work: cache_folder("agents/work")?,
        model: Model { port: model },
        native,
        translated,
        binary,
    };
    let cases = Case::read_list(&matrix.model.get("/cases")?);
    let chosen: Vec<String> =
        options.select_cases(cases.clone())?.into_iter().map(|case| case.name).collect();
    let mut report = Report::new(cases)?;
    for agent in agents {
        matrix.run_cases(agent, &chosen, &mut report)?;
    }
    report.save()?;
    report.check()
}

/// Where agents are run.
struct Matrix {
    work: PathBuf,
    model: Model,
    /// The port of a gateway whose server speaks every API.
    native: u16,
    /// The port of a gateway whose server speaks only Chat Completions.
    translated: u16,
    /// The command.
    binary: PathBuf,
}

impl Matrix {
    /// Runs an agent on the chosen cases. An agent that cannot be run is reported with the reason.
    fn run_cases(
        &self,
        agent: &'static Agent,
        chosen: &[String],
        report: &mut Report,
    ) -> Result<(), TaskError> {
        let program = match agent.find_program() {
            Ok(program) => program,
            Err(TaskError(reason)) => {
                report.add_missing(agent, format!("it cannot be installed: {reason}"));
                return Ok(());
            }
        };
        // An agent that does not manage a valid call by itself says nothing about the gateway.
        let check = self.run_once(agent, &program, "valid", "check", self.model.port)?;
        if check.ending != Ending::Right {
            let log = self.folder(agent, "valid", "check").join("log.txt");
            report.add_missing(
                agent,
                format!(
                    "it does not run here: see {}",
                    log.strip_prefix(workspace_root()).unwrap_or(&log).display()
                ),
            );
            return Ok(());
        }
        if agent.can_be_wrapped && chosen.iter().any(|case| case == WRAPPED_CASE) {
            let upstream = format!("http://127.0.0.1:{}", self.model.port);
            let server = AgentServer::Wrapper(&self.binary, &upstream);
            let folder = self.folder(agent, WRAPPED_CASE, Route::Wrapped.name());
            let wrapped = run_agent(agent, &program, WRAPPED_CASE, &folder, self.model, server)?;
            report.add(agent, WRAPPED_CASE, Route::Wrapped, &wrapped);
        }
        let mut routes = vec![(Route::Direct, self.model.port), (Route::Gateway, self.native)];
        if agent.is_translated() {
            routes.push((Route::Translated, self.translated));
        }
        for case in report.cases.clone() {
            if !chosen.contains(&case.name) || !case.concerns(agent) {
                continue;
            }
            for (route, port) in &routes {
                let run = self.run_once(agent, &program, &case.name, route.name(), *port)?;
                report.add(agent, &case.name, *route, &run);
            }
            // A run that is stopped leaves what it has measured.
            report.save()?;
        }
        Ok(())
    }

    fn run_once(
        &self,
        agent: &Agent,
        program: &Path,
        case: &str,
        route: &str,
        port: u16,
    ) -> Result<RunResult, TaskError> {
        let root = format!("http://127.0.0.1:{port}");
        let folder = self.folder(agent, case, route);
        run_agent(agent, program, case, &folder, self.model, AgentServer::Address(&root))
    }

    fn folder(&self, agent: &Agent, case: &str, route: &str) -> PathBuf {
        self.work.join(agent.id).join(case).join(route)
    }
}
