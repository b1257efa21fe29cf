//! `cargo xtask mutants`: changes the core in small ways and checks that a test notices each change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

use crate::command::{TaskError, cargo_command, print_line, run_command, succeeds};
use crate::files::{cache_folder, read_file, write_file};

/// What decides about answers. Shells, dialects and names have tests of other kinds.
const CORE: [&str; 4] = [
    "crates/toolmend-json/src/**",
    "crates/toolmend/src/syntax/**",
    "crates/toolmend/src/shape/**",
    "crates/toolmend/src/pipeline.rs",
];

/// The tests that judge answers. Cargo runs them in this order and stops at the first that fails, so that most mutants are
/// caught in seconds.
const TESTS: [&str; 9] =
    ["--lib", "--test", "corpus", "--test", "mutations", "--test", "promises", "--test", "slips"];

/// A mutant that makes the tests this many times slower than they are without it counts as a timeout.
const SLOWEST_FACTOR: &str = "3";

/// The share of mutants that the tests must notice.
const LEAST_CAUGHT_PERCENT: usize = 90;

/// What the person asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Stop after this time and report what was tested until then.
    minutes: Option<u64>,
    /// Mutate the files that match this instead of the whole core.
    file: Option<String>,
    /// Test one part of the mutants, such as `0/4`.
    shard: Option<String>,
}

impl Options {
    /// Reads the arguments after `mutants`.
    pub(crate) fn parse(args: &[&str]) -> Result<Self, TaskError> {
        let mut options = Options::default();
        for pair in args.chunks(2) {
            let &[name, value] = pair else {
                return Err(TaskError(format!("`{}` needs a value", pair[0])));
            };
            match name {
                "--minutes" => {
                    let is_not_a_number =
                        |_| TaskError(format!("--minutes: expected a whole number, found `{value}`"));
                    options.minutes = Some(value.parse().map_err(is_not_a_number)?);
                }
                "--file" => options.file = Some(value.to_owned()),
                "--shard" => options.shard = Some(value.to_owned()),
                _ => return Err(TaskError(format!("`mutants` has no option `{name}`"))),
            }
        }
        Ok(options)
    }

    /// Which mutants there are.
    fn selection(&self) -> Vec<&str> {
        let files = self.file.as_deref().map_or(CORE.to_vec(), |file| vec![file]);
        let shard = self.shard.as_deref().map(|shard| ["--shard", shard]);
        // Without packages, only the default members of the workspace are looked at.
        let packages = ["--package", "toolmend", "--package", "toolmend-json"];
        let files = files.into_iter().flat_map(|file| ["--file", file]);
        packages.into_iter().chain(files).chain(shard.into_iter().flatten()).collect()
    }
}

/// Tests the mutants and prints what was noticed, file by file.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    if !succeeds(&mut cargo_command(&["mutants", "--version"])) {
        run_command(&mut cargo_command(&["install", "--locked", "cargo-mutants"]))?;
    }
    let folder = cache_folder("mutants")?;
    let list = cargo_command(&["mutants", "--list"]).args(options.selection()).output();
    let list = list.map_err(|error| TaskError::cannot_start("`cargo mutants`", &error))?;
    let total = String::from_utf8_lossy(&list.stdout).lines().count();
    if total == 0 {
        return Err(TaskError("there is nothing to mutate; see --file and --shard".to_owned()));
    }
    let mut mutants = cargo_command(&["mutants", "--no-times", "--timeout-multiplier", SLOWEST_FACTOR]);
    mutants.args(["--test-package", "toolmend", "--test-package", "toolmend-json"]);
    mutants.arg("--output").arg(&folder).args(options.selection());
    if options.minutes.is_some() {
        // What is tested until the time is up should be a fair sample.
        mutants.arg("--shuffle");
    }
    mutants.arg("--").args(TESTS);
    // Building is most of the work, and nobody debugs a mutant.
    mutants.env("CARGO_PROFILE_DEV_DEBUG", "0").env("RUST_BACKTRACE", "0");
    print_line(&format!("testing {total} mutants; each is built and run by itself"));
    let child = mutants.spawn().map_err(|error| TaskError::cannot_start("`cargo mutants`", &error))?;
    let limit = options.minutes.map(|minutes| Duration::from_secs(minutes * 60));
    let is_complete = wait(child, limit)?;
    let results = Results::read(&folder.join("mutants.out"))?;
    print_line(&results.table());
    let survivors = folder.join("survivors.txt");
    write_file(&survivors, results.survivors.join("\n") + "\n")?;
    print_line(&format!("{} survivors are in {}", results.survivors.len(), survivors.display()));
    results.check(total, is_complete)
}

/// Waits for the run, and asks it to stop when the time is up. Returns whether it ended by itself.
fn wait(mut child: Child, limit: Option<Duration>) -> Result<bool, TaskError> {
    let id = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send(());
        status
    });
    let is_complete = limit.is_none_or(|limit| receiver.recv_timeout(limit).is_ok());
    if !is_complete {
        // On this signal it stops its builds and removes its copy of the tree.
        run_command(Command::new("kill").args(["-INT", &id]))?;
    }
    match waiter.join() {
        // It ends with 2 and 3 where mutants survived or timed out, which the table shows.
        Ok(Ok(status)) if !is_complete || matches!(status.code(), Some(0 | 2 | 3)) => Ok(is_complete),
        Ok(Ok(status)) => Err(TaskError(format!("`cargo mutants` failed ({status}); do the tests pass?"))),
        Ok(Err(error)) => Err(TaskError(format!("cannot wait for `cargo mutants`: {error}"))),
        Err(_) => Err(TaskError("the thread that waits for `cargo mutants` panicked".to_owned())),
    }
}

/// The mutants of one file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    caught: usize,
    missed: usize,
    timeouts: usize,
    /// Mutants that do not compile say nothing about the tests.
    unviable: usize,
}

/// What the run found.
#[derive(Debug, Default)]
struct Results {
    files: BTreeMap<String, Counts>,
    survivors: Vec<String>,
}

impl Results {
    fn read(folder: &Path) -> Result<Self, TaskError> {
        let mut results = Results::default();
        results.add(&read_file(&folder.join("caught.txt"))?, |counts| &mut counts.caught);
        results.add(&read_file(&folder.join("missed.txt"))?, |counts| &mut counts.missed);
        results.add(&read_file(&folder.join("timeout.txt"))?, |counts| &mut counts.timeouts);
        results.add(&read_file(&folder.join("unviable.txt"))?, |counts| &mut counts.unviable);
        results.survivors = read_file(&folder.join("missed.txt"))?.lines().map(ToOwned::to_owned).collect();
        results.survivors.sort();
        Ok(results)
    }

    /// Adds a list of mutants, each of which begins with the path of its file and a colon.
    fn add(&mut self, list: &str, column: fn(&mut Counts) -> &mut usize) {
        for line in list.lines() {
            let file = line.split(':').next().unwrap_or_default();
            *column(self.files.entry(file.to_owned()).or_default()) += 1;
        }
    }

    fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.files.values() {
            sum.caught += counts.caught;
            sum.missed += counts.missed;
            sum.timeouts += counts.timeouts;
            sum.unviable += counts.unviable;
        }
        sum
    }

    fn table(&self) -> String {
        let mut out = format!("{:<56} caught  missed  timeouts  unviable", "file");
        let sum = self.sum();
        for (file, counts) in
            self.files.iter().map(|(file, counts)| (file.as_str(), counts)).chain([("all", &sum)])
        {
            let Counts { caught, missed, timeouts, unviable } = counts;
            let _ = write!(out, "\n{file:<56} {caught:>6}  {missed:>6}  {timeouts:>8}  {unviable:>8}");
        }
        out
    }

    /// Fails if too few were noticed. A timeout is noticed: the tests did not pass.
    fn check(&self, total: usize, is_complete: bool) -> Result<(), TaskError> {
        let Counts { caught, missed, timeouts, unviable } = self.sum();
        let (noticed, viable) = (caught + timeouts, caught + timeouts + missed);
        if !is_complete {
            print_line(&format!("the time is up: {} of {total} mutants were tested", viable + unviable));
        }
        if viable == 0 {
            return Err(TaskError("no mutant was tested".to_owned()));
        }
        let percent = noticed * 100 / viable;
        print_line(&format!("{percent} % of {viable} mutants were noticed"));
        if percent < LEAST_CAUGHT_PERCENT {
            return Err(TaskError(format!("at least {LEAST_CAUGHT_PERCENT} % must be noticed")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = Options::parse(&["--minutes", "5", "--file", "a.rs", "--shard", "0/2"]).unwrap();
        assert_eq!(options.minutes, Some(5));
        assert_eq!(options.selection()[4..], ["--file", "a.rs", "--shard", "0/2"]);
        assert_eq!(Options::default().selection()[4..].len(), 2 * CORE.len());
        for wrong in [&["--minutes", "x"][..], &["--minutes"], &["--files", "a"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn mutants_are_counted_by_file_and_too_few_caught_ones_fail() {
        let mut results = Results::default();
        results.add("a.rs:1:2: replace x\na.rs:3:4: replace y\n", |counts| &mut counts.caught);
        results.add("b.rs:1:2: replace z\n", |counts| &mut counts.missed);
        assert_eq!(results.files["a.rs"], Counts { caught: 2, ..Counts::default() });
        assert_eq!(results.sum(), Counts { caught: 2, missed: 1, ..Counts::default() });
        assert!(results.check(3, true).is_err());
        results.add(&"a.rs:5:6: replace v\n".repeat(7), |counts| &mut counts.timeouts);
        assert!(results.check(10, true).is_ok());
        assert!(Results::default().check(3, true).is_err());
    }
}
