//! `cargo xtask test`: everything that must pass before a commit.
//!
//! With a Rust toolchain alone, it runs the parts that need nothing else, and lists the others. What can be installed is.

mod parts;
mod summary;

use std::env;
use std::time::Instant;

use self::parts::{PARTS, Part};
use self::summary::{Outcome, Summary};
use crate::command::{TaskError, print_line};

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    parts: Vec<&'static Part>,
    is_list: bool,
    /// Whether a part that cannot run is an error.
    is_strict: bool,
}

impl Options {
    /// Reads the arguments. Without names, all parts are meant.
    pub(crate) fn parse(args: &[&str]) -> Result<Options, TaskError> {
        let (flags, names): (Vec<&str>, Vec<&str>) = args.iter().partition(|arg| arg.starts_with('-'));
        if let Some(unknown) = flags.iter().find(|flag| **flag != "--list") {
            return Err(TaskError(format!("expected --list or names of parts, found `{unknown}`")));
        }
        let known = || PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
        let unknown = names.iter().find(|name| PARTS.iter().all(|part| part.name != **name));
        if let Some(name) = unknown {
            return Err(TaskError(format!("`{name}` is not a part of the tests; the parts are {}", known())));
        }
        let parts = PARTS.iter().filter(|part| names.is_empty() || names.contains(&part.name));
        let is_strict = env::var("CI").is_ok_and(|value| value == "true");
        Ok(Options { parts: parts.collect(), is_list: !flags.is_empty(), is_strict })
    }
}

/// Runs the parts in order, and stops at the first that fails.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    if options.is_list {
        return list(options);
    }
    let mut summary = Summary::default();
    let result = run_parts(options, &mut summary);
    summary.print();
    result
}

/// Whatever may be missing is checked before anything runs, because the first parts take minutes.
fn run_parts(options: &Options, summary: &mut Summary) -> Result<(), TaskError> {
    let mut missing = 0;
    for part in &options.parts {
        let obstacles = part.needs.iter().filter_map(|need| need.ensure().err());
        let reasons: Vec<String> = obstacles.map(|TaskError(reason)| reason).collect();
        missing += usize::from(!reasons.is_empty());
        summary.add(
            part.name,
            if reasons.is_empty() { Outcome::NotReached } else { Outcome::CannotRun(reasons) },
        );
    }
    if options.is_strict && missing > 0 {
        return Err(TaskError(format!("CI is true, and {missing} of the parts cannot run here; see above")));
    }
    for (index, part) in options.parts.iter().enumerate() {
        if !summary.is_open(index) {
            continue;
        }
        print_line(&format!("\n=== {}: {}", part.name, part.about));
        let started = Instant::now();
        let result = (part.run)();
        summary.set(index, Outcome::Ran { took: started.elapsed(), has_passed: result.is_ok() });
        result.map_err(|TaskError(message)| TaskError(format!("{}: {message}", part.name)))?;
    }
    Ok(())
}

/// Prints the parts and what they need. Installs nothing.
fn list(options: &Options) -> Result<(), TaskError> {
    let mut missing = 0;
    for part in &options.parts {
        print_line(&format!("{:<12} {}", part.name, part.about));
        for need in part.needs.iter().filter(|need| !need.is_there()) {
            let (name, enable) = (need.name, need.enable);
            if need.is_installable() {
                print_line(&format!("{:<12}   {name} is missing, and will be installed", ""));
            } else {
                missing += 1;
                print_line(&format!("{:<12}   cannot run here: {name} is missing; {enable}", ""));
            }
        }
    }
    if options.is_strict && missing > 0 {
        return Err(TaskError("CI is true, and not all parts can run here".to_owned()));
    }
    Ok(())
}
