//! The table of all runs, and the rules that it has to obey.

use std::fmt::Write;

use super::agent::{AGENTS, Agent};
use super::run::{Ending, RunResult};
use crate::command::{TaskError, print_line};

/// A case of the scripted model.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: String,
    kind: Kind,
    title: String,
}

/// What can be done about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// There is none.
    Valid,
    /// The gateway repairs it.
    Repaired,
    /// It is up to the client: it reports the fault to the model, which corrects it, or asks again.
    LeftToClient,
}

impl Case {
    /// Reads the list of the scripted model: name, kind and title on each line.
    pub(super) fn read_list(text: &str) -> Vec<Case> {
        let read_line = |line: &str| {
            let mut fields = line.split('\t').map(str::to_owned);
            let (name, kind, title) = (fields.next()?, fields.next()?, fields.next()?);
            let kind = match kind.as_str() {
                "valid" => Kind::Valid,
                "repaired" => Kind::Repaired,
                _ => Kind::LeftToClient,
            };
            Some(Case { name, kind, title })
        };
        text.lines().filter_map(read_line).collect()
    }

    /// Whether it concerns an agent that takes files from the text.
    pub(super) fn concerns_text(&self) -> bool {
        const CASES: [&str; 9] =
            ["valid", "html", "newlines", "windows", "cut", "http_500", "error_event", "silent_end", "reset"];
        CASES.contains(&self.name.as_str())
    }
}

/// The runs of one agent on one case.
pub(super) struct Cell {
    pub(super) agent: &'static Agent,
    pub(super) case: Case,
    pub(super) direct: RunResult,
    pub(super) gateway: RunResult,
    /// Through a gateway that translates to Chat Completions.
    pub(super) translated: Option<RunResult>,
}

impl Cell {
    pub(super) fn describe(&self) -> String {
        let runs = [("direct", Some(&self.direct)), ("gateway", Some(&self.gateway))]
            .into_iter()
            .chain([("translated", self.translated.as_ref())]);
        let runs = runs.filter_map(|(route, run)| {
            let run = run?;
            let requests = &run.requests;
            let seconds = run.took.as_secs_f32();
            Some(format!("{route} {} {requests} requests {seconds:.1} s", run.ending.symbol()))
        });
        let runs: Vec<String> = runs.collect();
        format!("{:<12} {:<17} {}", self.agent.name, self.case.name, runs.join(" | "))
    }

    /// Returns the rules that this cell breaks.
    fn find_broken_rules(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let routes =
            [("the gateway", Some(&self.gateway)), ("the translating gateway", self.translated.as_ref())];
        for (route, run) in routes {
            let Some(run) = run else { continue };
            let rules = [
                (run.ending < self.direct.ending, "gets less far than without it"),
                (run.ending == Ending::Wrong, "writes other bytes than the model meant"),
                (
                    self.case.kind == Kind::Valid && run.written != self.direct.written,
                    "writes other bytes although nothing had to be repaired",
                ),
                (
                    self.case.kind == Kind::Repaired && run.ending != Ending::Right,
                    "does not end right although the fault can be repaired",
                ),
            ];
            let (agent, case) = (self.agent.name, &self.case.name);
            let found = rules.iter().filter(|(is_broken, _)| *is_broken);
            broken.extend(found.map(|(_, rule)| format!("{agent}, {case}: through {route}, it {rule}")));
        }
        broken
    }

    fn show(&self, run: &RunResult) -> String {
        let (before, after) = (self.direct.ending.symbol(), run.ending.symbol());
        if before == after { after.to_owned() } else { format!("{before} → {after}") }
    }
}

/// All runs.
pub(super) struct Report {
    pub(super) cases: Vec<Case>,
    cells: Vec<Cell>,
    /// How agents ended that were started with `toolmend run`, with HTML whose quotes are not escaped.
    wrapped: Vec<(&'static Agent, Ending)>,
    /// Agents that were not run, and why.
    missing: Vec<(&'static Agent, String)>,
}

const INTRODUCTION: &str = "\
# Agents with and without the gateway

<!-- Written by `cargo xtask agents`. -->

Real coding agents, each with a scripted model that has to write one file. The model's first call has one fault. If the client reports
the fault to the model, the model calls correctly; if the client does not, the model repeats itself. Failures of the server happen
once. A run ends right if the file holds exactly the bytes that the model meant. Nothing but this machine can be reached.

A cell shows the run without the gateway and the run through it, or one sign if they end alike. An empty cell was not measured, or the
fault does not concern the agent: aider takes files from the text and calls no tools.

| Sign | How the run ended |
|---|---|
| ✓ | the file is right |
| ! | the file is right, but the agent reports an error or does not end |
| – | no file was written |
| ✗ | a file with other bytes was written |
| ∞ | the agent did not end |

`cargo xtask agents` prints these tables and fails if a run through the gateway ends worse than the run without it, writes bytes that
the model did not mean, or does not end right although the fault can be repaired. `--only AGENT` and `--case CASE` choose a part.
";

impl Report {
    pub(super) fn new(cases: Vec<Case>) -> Self {
        Report { cases, cells: Vec::new(), wrapped: Vec::new(), missing: Vec::new() }
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    /// Adds a run with `toolmend run`.
    pub(super) fn add_wrapped(&mut self, agent: &'static Agent, ending: Ending) {
        print_line(&format!("{:<12} toolmend run {}", agent.name, ending.symbol()));
        self.wrapped.push((agent, ending));
    }

    /// Notes that an agent was not run.
    pub(super) fn add_missing(&mut self, agent: &'static Agent, reason: String) {
        print_line(&format!("{}: {reason}", agent.name));
        self.missing.push((agent, reason));
    }

    /// Returns the agents that were run, each once.
    fn agents(&self) -> Vec<&'static Agent> {
        let mut agents: Vec<&Agent> = self.cells.iter().map(|cell| cell.agent).collect();
        agents.dedup_by_key(|agent| agent.id);
        agents
    }

    fn is_missing(&self, agent: &Agent) -> bool {
        self.missing.iter().any(|(other, _)| other.id == agent.id)
    }

    /// Returns the page with all tables.
    pub(super) fn write_page(&self) -> String {
        let agents = self.agents();
        let mut page = INTRODUCTION.to_owned();
        page.push_str(
            "\n## Agents\n\n| Agent | Package | API | Started with `toolmend run` |\n|---|---|---|---|\n",
        );
        for agent in &agents {
            let mut wrapped = self.wrapped.iter();
            let wrapped = wrapped.find(|(other, _)| other.id == agent.id);
            let wrapped = wrapped.map_or("not possible", |(_, ending)| ending.symbol());
            let (name, package, surface) = (agent.name, agent.package.spec(), agent.surface);
            let _ = writeln!(page, "| {name} | `{package}` | {surface} | {wrapped} |");
        }
        let is_done = |agent: &Agent| agents.iter().any(|other| other.id == agent.id);
        for agent in AGENTS.iter().filter(|agent| !is_done(agent) && !self.is_missing(agent)) {
            let _ = writeln!(
                page,
                "| {} | `{}` | {} | not measured |",
                agent.name,
                agent.package.spec(),
                agent.surface
            );
        }
        for (agent, reason) in &self.missing {
            let _ = writeln!(page, "\n{} (`{}`) was not run: {reason}.", agent.name, agent.package.spec());
        }
        page.push_str("\n## The gateway in between\n\n");
        page.push_str(&self.write_table(&agents, |cell| Some(&cell.gateway)));
        let translated: Vec<&Agent> =
            agents.into_iter().filter(|agent| agent.surface != "Chat Completions").collect();
        if !translated.is_empty() {
            page.push_str("\n## A server that speaks only Chat Completions\n\nThe gateway translates.\n\n");
            page.push_str(&self.write_table(&translated, |cell| cell.translated.as_ref()));
        }
        page
    }

    fn write_table(&self, agents: &[&Agent], run: impl Fn(&Cell) -> Option<&RunResult>) -> String {
        let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
        let mut table = format!("| Fault | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for case in &self.cases {
            let row = agents.iter().map(|agent| {
                let mut cells = self.cells.iter();
                let cell = cells.find(|cell| cell.agent.id == agent.id && cell.case.name == case.name);
                cell.and_then(|cell| Some(cell.show(run(cell)?))).unwrap_or_default()
            });
            let row: Vec<String> = row.collect();
            let _ = writeln!(table, "| {} | {} |", case.title, row.join(" | "));
        }
        table
    }

    /// Fails if a rule is broken, or if nothing was run.
    pub(super) fn check(&self) -> Result<(), TaskError> {
        let mut broken: Vec<String> = self.cells.iter().flat_map(Cell::find_broken_rules).collect();
        let wrapped = self.wrapped.iter().filter(|(_, ending)| *ending != Ending::Right);
        broken.extend(
            wrapped.map(|(agent, _)| format!("{} does not end right with `toolmend run`", agent.name)),
        );
        print_line(&format!(
            "{} agents, {} cells, {} broken rules",
            self.agents().len(),
            self.cells.len(),
            broken.len()
        ));
        if self.cells.is_empty() {
            return Err(TaskError("no agent could be run".to_owned()));
        }
        TaskError::from_missed(&broken)
    }
}
