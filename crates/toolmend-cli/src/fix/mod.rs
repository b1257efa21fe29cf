//! `toolmend fix`: texts in, JSON out.

pub(crate) mod diff;
mod explain;
mod replace;

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;
use toolmend::{Encoding, FixOptions, Outcome, Schema, Verdict};
use toolmend_batch::protocol::Answer;

use crate::args::{FixArgs, Format};
use crate::failure::{FAILED, Failure};
use crate::source::Source;

/// The exit code of `--check` where a text needs a repair.
const NEEDS_REPAIR: u8 = 1;

/// Runs the command. One input that fails does not keep the others from being mended.
pub(crate) fn run(args: &FixArgs) -> Result<ExitCode, Failure> {
    let options = options(args)?;
    let sources = match args.files.as_slice() {
        [] => vec![Source::Stdin],
        files => files.iter().map(|path| Source::new(path)).collect(),
    };
    let mut worst = 0;
    for source in &sources {
        let code = match fix(source, args, &options) {
            Ok(outcome) => exit_code(outcome, args.check),
            Err(failure @ Failure::Write(_)) => return Err(failure),
            Err(failure) => {
                complain(&failure.to_string());
                FAILED
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

fn options(args: &FixArgs) -> Result<FixOptions, Failure> {
    let options = FixOptions::new().policy(args.policy.policy()).finish(args.finish());
    match &args.schema {
        Some(path) => Ok(options.schema(read_schema(&Source::new(path))?)),
        None => Ok(options),
    }
}

fn read_schema(source: &Source) -> Result<Schema, Failure> {
    let broken = |found| Failure::Broken { name: source.name(), expected: "a JSON Schema", found };
    let value: Value = serde_json::from_str(&source.read()?).map_err(|error| broken(error.to_string()))?;
    Schema::new(&value).map_err(|error| broken(error.to_string()))
}

fn exit_code(outcome: Outcome, check: bool) -> u8 {
    match outcome {
        Outcome::Clean => 0,
        Outcome::Mended => u8::from(check) * NEEDS_REPAIR,
        _ => FAILED,
    }
}

fn fix(source: &Source, args: &FixArgs, options: &FixOptions) -> Result<Outcome, Failure> {
    let input = source.read()?;
    let verdict = toolmend::fix_with(&input, options);
    let name = source.name();
    if args.explain {
        explain::explain(&name, &input, &verdict);
    }
    match verdict.outcome() {
        Outcome::Clean => {}
        Outcome::Mended if !args.check => {}
        Outcome::Mended => complain(&format!("{name}: needs {}", repair_names(&verdict))),
        _ => complain(&format!("{name}: {}", refusal(&verdict))),
    }
    if args.in_place
        && verdict.outcome() == Outcome::Mended
        && let Some(json) = verdict.json()
    {
        replace::replace(source, &with_final_newline(json, input.ends_with('\n')))?;
    }
    write(&name, &input, &verdict, args).map_err(Failure::Write)?;
    Ok(verdict.outcome())
}

/// Writes what was asked for to standard output.
fn write(name: &str, input: &str, verdict: &Verdict<'_>, args: &FixArgs) -> io::Result<()> {
    if args.diff {
        return match verdict.json() {
            Some(json) => diff::diff(name, input, &with_final_newline(json, input.ends_with('\n'))),
            None => Ok(()),
        };
    }
    // Not through a stream that strips colours: what the text holds is not ours to change.
    let mut out = io::stdout().lock();
    match (args.format, verdict.json()) {
        (Format::Json, _) => {
            let fields = Encoding::new().value_field("value").input(input).encode(verdict);
            out.write_all(&Answer::to_file(name, &fields).into_line())?;
        }
        (Format::Text, Some(json)) if !args.check && !args.in_place => {
            out.write_all(with_final_newline(json, true).as_bytes())?;
        }
        (Format::Text, _) => {}
    }
    out.flush()
}

/// The text, ended as text files are where `wanted`.
fn with_final_newline(text: &str, wanted: bool) -> String {
    let mut text = text.to_owned();
    if wanted && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The kinds of repair that were made, each once.
fn repair_names(verdict: &Verdict<'_>) -> String {
    let mut names: Vec<_> = verdict.repairs().iter().map(|repair| repair.kind.name()).collect();
    names.dedup();
    names.join(", ")
}

/// Why a text does not run, in one line, and the readings that tied below it.
fn refusal(verdict: &Verdict<'_>) -> String {
    let mut parts = vec![verdict.outcome().name().to_owned()];
    parts.extend(verdict.reason().map(|reason| format!(" ({})", reason.name())));
    if let Some(refusal) = verdict.refusal() {
        if !refusal.message.is_empty() {
            parts.push(format!(": {}", refusal.message));
        }
        parts.extend(refusal.readings.iter().map(|reading| format!("\n  one reading: {reading}")));
    }
    parts.concat()
}

/// A message for the person at the terminal. With nowhere to write it, the exit code has to do.
fn complain(message: &str) {
    let _ = writeln!(anstream::stderr(), "toolmend: {message}");
}
