//! The table of all runs, and the rules that it has to obey.

use std::fmt::Write;

use super::agent::{AGENTS, Agent};
use super::measured::{Measured, Occasion, Route};
use super::run::{Ending, RunResult};
use crate::command::{TaskError, print_line, workspace_root};
use crate::files::write_file;

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

    /// Whether it concerns an agent.
    pub(super) fn concerns(&self, agent: &Agent) -> bool {
        agent.uses_calls || self.concerns_text()
    }

    /// Whether it concerns an agent that takes files from the text.
    fn concerns_text(&self) -> bool {
        const CASES: [&str; 9] =
            ["valid", "html", "newlines", "windows", "cut", "http_500", "error_event", "silent_end", "reset"];
        CASES.contains(&self.name.as_str())
    }
}

/// How one agent ended on one case.
struct Cell<'a> {
    agent: &'static Agent,
    case: &'a Case,
    direct: Ending,
    /// Through the gateway, on one of its routes.
    route: Route,
    proxied: Ending,
}

impl Cell<'_> {
    /// Returns the rules that this cell breaks.
    fn find_broken_rules(&self) -> Vec<String> {
        let Cell { agent, case, direct, route, proxied } = self;
        let rules = [
            (proxied < direct, "gets less far than without it"),
            (*proxied == Ending::Wrong, "writes other bytes than the model meant"),
            (
                case.kind == Kind::Valid && proxied.has_file() != direct.has_file(),
                "writes other bytes although nothing had to be repaired",
            ),
            (
                case.kind == Kind::Repaired && *proxied != Ending::Right,
                "does not end right although the fault can be repaired",
            ),
        ];
        let found = rules.iter().filter(|(is_broken, _)| *is_broken);
        let describe = |rule: &str| {
            format!("{}, {}, route `{}`: through the gateway, it {rule}", agent.name, case.name, route.name())
        };
        found.map(|(_, rule)| describe(rule)).collect()
    }

    fn show(&self) -> String {
        let (before, after) = (self.direct.symbol(), self.proxied.symbol());
        if before == after { after.to_owned() } else { format!("{before} → {after}") }
    }
}

/// All runs.
pub(super) struct Report {
    pub(super) cases: Vec<Case>,
    /// These runs and earlier ones.
    measured: Measured,
    occasion: Occasion,
    /// Agents that were not run this time, and why.
    missing: Vec<(&'static Agent, String)>,
}

const INTRODUCTION: &str = "\
# Agents with and without the gateway

<!-- Written by `cargo xtask agents`. -->

Real coding agents, each with a scripted model that has to write one file. The model's first call has one fault. If the client reports
the fault to the model, the model calls correctly; if the client does not, the model repeats itself. Failures of the server happen
once. A run ends right if the file holds exactly the bytes that the model meant. Nothing but this machine can be reached.

A cell shows the run without the gateway and the run through it, or one sign if they end alike. An empty cell was not measured. Faults of
calls do not concern aider, which takes files from the text and calls no tools.

| Sign | How the run ended |
|---|---|
| ✓ | the file is right |
| ! | the file is right, but the agent reports an error or does not end |
| – | no file was written |
| ✗ | a file with other bytes was written |
| ∞ | the agent did not end |
| · | the fault does not concern the agent |

`cargo xtask agents` prints these tables and fails if a run through the gateway ends worse than the run without it, writes bytes that
the model did not mean, or does not end right although the fault can be repaired. `--only AGENT` and `--case CASE` choose a part; the others keep what was
measured before. [agents.tsv](agents.tsv) lists every run with its day and its commit; `+` marks changes that were not committed.
";

impl Report {
    /// Begins with what earlier runs have measured.
    pub(super) fn new(cases: Vec<Case>) -> Result<Self, TaskError> {
        let (measured, occasion) = (Measured::load()?, Occasion::now()?);
        Ok(Report { cases, measured, occasion, missing: Vec::new() })
    }

    pub(super) fn add(&mut self, agent: &Agent, case: &str, route: Route, run: &RunResult) {
        let RunResult { ending, requests, took } = run;
        let (symbol, seconds) = (ending.symbol(), took.as_secs_f32());
        print_line(&format!(
            "{:<12} {case:<17} {:<10} {symbol} {requests} requests {seconds:.1} s",
            agent.name,
            route.name(),
        ));
        self.measured.add(agent, case, route, *ending, &self.occasion);
    }

    /// Notes that an agent was not run.
    pub(super) fn add_missing(&mut self, agent: &'static Agent, reason: String) {
        print_line(&format!("{}: {reason}", agent.name));
        self.missing.push((agent, reason));
    }

    /// Writes what was measured, and the page that shows it.
    pub(super) fn save(&self) -> Result<(), TaskError> {
        self.measured.save()?;
        write_file(&workspace_root().join("docs/agents.md"), self.write_page())
    }

    fn find_cell<'a>(&self, agent: &'static Agent, case: &'a Case, route: Route) -> Option<Cell<'a>> {
        let direct = self.measured.ending(agent, &case.name, Route::Direct)?;
        let proxied = self.measured.ending(agent, &case.name, route)?;
        Some(Cell { agent, case, direct, route, proxied })
    }

    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let pairs = AGENTS.iter().flat_map(|agent| self.cases.iter().map(move |case| (agent, case)));
        pairs.flat_map(move |(agent, case)| {
            [Route::Gateway, Route::Translated]
                .into_iter()
                .filter_map(move |route| self.find_cell(agent, case, route))
        })
    }

    /// Returns the page with all tables.
    fn write_page(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        page.push_str(
            "\n## Agents\n\n| Agent | Package | API | Started with `toolmend run` | Measured |\n|---|---|---|---|---|\n",
        );
        for agent in AGENTS {
            let wrapped = match self.measured.wrapped_ending(agent) {
                Some(ending) => ending.symbol(),
                None if agent.can_be_wrapped => "",
                None => "not possible",
            };
            let occasions = self.measured.occasions(agent);
            let describe = |(occasion, runs): (&&Occasion, &usize)| {
                format!("{} at {} ({runs})", occasion.day, occasion.commit)
            };
            let measured: Vec<String> = occasions.iter().map(describe).collect();
            let (name, package, surface) = (agent.name, agent.package.spec(), agent.surface);
            let _ =
                writeln!(page, "| {name} | `{package}` | {surface} | {wrapped} | {} |", measured.join(", "));
        }
        for (agent, reason) in &self.missing {
            let _ = writeln!(page, "\nThe last time, {} was not run: {reason}.", agent.name);
        }
        page.push_str("\n## The gateway in between\n\n");
        page.push_str(&self.write_table(&AGENTS.iter().collect::<Vec<_>>(), Route::Gateway));
        let translated: Vec<&Agent> = AGENTS.iter().filter(|agent| agent.is_translated()).collect();
        page.push_str("\n## A server that speaks only Chat Completions\n\nThe gateway translates.\n\n");
        page.push_str(&self.write_table(&translated, Route::Translated));
        page
    }

    fn write_table(&self, agents: &[&'static Agent], route: Route) -> String {
        let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
        let mut table = format!("| Fault | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for case in &self.cases {
            let show = |agent: &&'static Agent| match self.find_cell(agent, case, route) {
                Some(cell) => cell.show(),
                None if case.concerns(agent) => String::new(),
                None => "·".to_owned(),
            };
            let row: Vec<String> = agents.iter().map(show).collect();
            let _ = writeln!(table, "| {} | {} |", case.title, row.join(" | "));
        }
        table
    }

    /// Fails if a rule is broken, now or in what was measured before, or if nothing was run.
    pub(super) fn check(&self) -> Result<(), TaskError> {
        let cells: Vec<Cell<'_>> = self.cells().collect();
        let mut broken: Vec<String> = cells.iter().flat_map(Cell::find_broken_rules).collect();
        let wrapped = AGENTS.iter().filter_map(|agent| Some((agent, self.measured.wrapped_ending(agent)?)));
        broken.extend(
            wrapped
                .filter(|(_, ending)| *ending != Ending::Right)
                .map(|(agent, _)| format!("{} does not end right with `toolmend run`", agent.name)),
        );
        print_line(&format!("{} cells, {} broken rules", cells.len(), broken.len()));
        if cells.is_empty() {
            return Err(TaskError("no agent could be run".to_owned()));
        }
        TaskError::from_missed(&broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many rules a cell breaks.
    fn count_broken(kind: Kind, direct: Ending, proxied: Ending) -> usize {
        let case = Case { name: "case".to_owned(), kind, title: "a case".to_owned() };
        let cell = Cell { agent: &AGENTS[0], case: &case, direct, route: Route::Gateway, proxied };
        cell.find_broken_rules().len()
    }

    #[test]
    fn rules_are_broken() {
        assert_eq!(count_broken(Kind::Valid, Ending::Right, Ending::Right), 0);
        assert_eq!(count_broken(Kind::Valid, Ending::Nothing, Ending::Right), 1);
        assert_eq!(count_broken(Kind::Repaired, Ending::Nothing, Ending::Right), 0);
        assert_eq!(count_broken(Kind::Repaired, Ending::Nothing, Ending::Nothing), 1);
        assert_eq!(count_broken(Kind::LeftToClient, Ending::Nothing, Ending::Nothing), 0);
        assert_eq!(count_broken(Kind::LeftToClient, Ending::Right, Ending::Failed), 1);
        assert_eq!(count_broken(Kind::LeftToClient, Ending::Wrong, Ending::Wrong), 1);
    }
}
