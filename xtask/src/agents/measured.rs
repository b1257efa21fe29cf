//! What was measured, kept between runs: a run of a part adds to it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use super::agent::Agent;
use super::run::Ending;
use crate::command::{TaskError, capture_output, workspace_root};
use crate::files::{read_file, write_file};

/// The way from the agent to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Route {
    Direct,
    Gateway,
    /// Through a gateway that translates to Chat Completions.
    Translated,
    /// Started with `toolmend run`.
    Wrapped,
}

impl Route {
    const ALL: [Route; 4] = [Route::Direct, Route::Gateway, Route::Translated, Route::Wrapped];

    pub(super) fn name(self) -> &'static str {
        match self {
            Route::Direct => "direct",
            Route::Gateway => "gateway",
            Route::Translated => "translated",
            Route::Wrapped => "run",
        }
    }
}

/// When a run took place, and with what: the day, and the commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Occasion {
    pub(super) day: String,
    pub(super) commit: String,
}

impl Occasion {
    /// Today, with what is checked out. A commit with changes that are not committed ends with `+`.
    pub(super) fn now() -> Result<Occasion, TaskError> {
        let day = read_output("date", &["-u", "+%Y-%m-%d"])?;
        let commit = read_output("git", &["rev-parse", "--short=9", "HEAD"])?;
        let changes = read_output("git", &["status", "--porcelain", "--", "crates", "Cargo.lock"])?;
        let mark = if changes.is_empty() { "" } else { "+" };
        Ok(Occasion { day, commit: format!("{commit}{mark}") })
    }
}

fn read_output(program: &str, args: &[&str]) -> Result<String, TaskError> {
    let output = capture_output(program, Command::new(program).args(args).current_dir(workspace_root()))?;
    if !output.status.success() {
        return Err(TaskError(format!("`{program} {}` failed ({})", args.join(" "), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Which agent ran on which case, and how.
type Key = (String, String, Route);

/// One run, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    ending: Ending,
    /// The version of the agent.
    package: String,
    occasion: Occasion,
}

/// The last run of each agent on each case and route.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Measured {
    runs: BTreeMap<Key, Run>,
}

const TITLES: &str = "agent\tcase\troute\tending\tpackage\tday\tcommit\n";

impl Measured {
    /// Reads what earlier runs have measured.
    pub(super) fn load() -> Result<Measured, TaskError> {
        if !path().exists() {
            return Ok(Measured::default());
        }
        Measured::parse(&read_file(&path())?)
    }

    pub(super) fn save(&self) -> Result<(), TaskError> {
        write_file(&path(), self.write())
    }

    fn parse(text: &str) -> Result<Measured, TaskError> {
        let mut measured = Measured::default();
        for (number, line) in text.lines().enumerate().skip(1) {
            let wrong = || TaskError(format!("{}:{}: not a run: `{line}`", path().display(), number + 1));
            let fields: Vec<&str> = line.split('\t').collect();
            let [agent, case, route, ending, package, day, commit] = fields[..] else { return Err(wrong()) };
            let route = Route::ALL.into_iter().find(|known| known.name() == route).ok_or_else(wrong)?;
            let run = Run {
                ending: Ending::from_name(ending).ok_or_else(wrong)?,
                package: package.to_owned(),
                occasion: Occasion { day: day.to_owned(), commit: commit.to_owned() },
            };
            measured.runs.insert((agent.to_owned(), case.to_owned(), route), run);
        }
        Ok(measured)
    }

    fn write(&self) -> String {
        let mut text = TITLES.to_owned();
        for ((agent, case, route), run) in &self.runs {
            let Run { ending, package, occasion: Occasion { day, commit } } = run;
            let (route, ending) = (route.name(), ending.name());
            let _ = writeln!(text, "{agent}\t{case}\t{route}\t{ending}\t{package}\t{day}\t{commit}");
        }
        text
    }

    /// Replaces a run.
    pub(super) fn add(
        &mut self,
        agent: &Agent,
        case: &str,
        route: Route,
        ending: Ending,
        occasion: &Occasion,
    ) {
        let key = (agent.id.to_owned(), case.to_owned(), route);
        let package = agent.package.spec().to_owned();
        self.runs.insert(key, Run { ending, package, occasion: occasion.clone() });
    }

    fn find(&self, agent: &Agent, case: &str, route: Route) -> Option<&Run> {
        let run = self.runs.get(&(agent.id.to_owned(), case.to_owned(), route))?;
        (run.package == agent.package.spec()).then_some(run)
    }

    /// How a run ended, if this version of the agent was run.
    pub(super) fn ending(&self, agent: &Agent, case: &str, route: Route) -> Option<Ending> {
        Some(self.find(agent, case, route)?.ending)
    }

    /// How the only run of an agent with `toolmend run` ended.
    pub(super) fn wrapped_ending(&self, agent: &Agent) -> Option<Ending> {
        let is_its = |key: &Key, run: &Run| {
            key.0 == agent.id && key.2 == Route::Wrapped && run.package == agent.package.spec()
        };
        self.runs.iter().find(|(key, run)| is_its(key, run)).map(|(_, run)| run.ending)
    }

    /// Returns when this version of an agent was run, each occasion once with the number of its runs.
    pub(super) fn occasions(&self, agent: &Agent) -> BTreeMap<&Occasion, usize> {
        let mut occasions = BTreeMap::new();
        let is_its = |key: &Key, run: &Run| key.0 == agent.id && run.package == agent.package.spec();
        for (_, run) in self.runs.iter().filter(|(key, run)| is_its(key, run)) {
            *occasions.entry(&run.occasion).or_default() += 1;
        }
        occasions
    }
}

fn path() -> PathBuf {
    workspace_root().join("docs/agents.tsv")
}

#[test]
fn what_is_kept_is_read_back() {
    let agent = &super::agent::AGENTS[0];
    let occasion = Occasion { day: "2026-01-02".to_owned(), commit: "0123abc+".to_owned() };
    let mut measured = Measured::default();
    for route in Route::ALL {
        measured.add(agent, "html", route, Ending::Failed, &occasion);
    }
    measured.add(agent, "html", Route::Direct, Ending::Hung, &occasion);
    assert_eq!(Measured::parse(&measured.write()).ok().as_ref(), Some(&measured));
    assert_eq!(measured.ending(agent, "html", Route::Direct), Some(Ending::Hung));
    assert_eq!(measured.wrapped_ending(agent), Some(Ending::Failed));
    assert_eq!(measured.occasions(agent), BTreeMap::from([(&occasion, 4)]));
    assert!(Measured::parse(&format!("{TITLES}codex\thtml\tdirect\tfine\n")).is_err());
}

#[test]
fn runs_of_another_version_do_not_count() {
    let agent = &super::agent::AGENTS[0];
    let text = format!("{TITLES}{}\thtml\tdirect\tright\tanother@1\t2026-01-02\t0123abc\n", agent.id);
    let measured = Measured::parse(&text).unwrap_or_default();
    assert_eq!(measured.runs.len(), 1);
    assert_eq!(measured.ending(agent, "html", Route::Direct), None);
    assert!(measured.occasions(agent).is_empty());
}
