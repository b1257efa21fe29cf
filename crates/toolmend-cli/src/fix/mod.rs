//! `toolmend fix`: mends JSON text from files or standard input.

mod args;
mod explain;
mod replace;

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;
use toolmend::{Encoding, FixOptions, Outcome, Schema, Verdict};
use toolmend_batch::protocol::Answer;

pub(crate) use self::args::FixArgs;
use crate::diff::print_diff;
use crate::error::{CommandError, EXIT_FAILURE};
use crate::input::Input;
use crate::options::{OutputFormat, limit_hint};
use crate::pretty::indent_json;
use crate::terminal::{list_repair_kinds, print_message};

/// The exit code of `--check` if a text needs a repair.
const EXIT_NEEDS_REPAIR: u8 = 1;

/// Runs the command. An input that fails does not stop the others from being mended.
pub(crate) fn run(args: &FixArgs) -> Result<ExitCode, CommandError> {
    let options = read_options(args)?;
    let inputs = match args.files.as_slice() {
        [] => vec![Input::Stdin],
        files => files.iter().map(|path| Input::new(path)).collect(),
    };
    let mut worst = 0;
    for input in &inputs {
        let code = match fix_input(input, args, &options) {
            Ok(outcome) => exit_code(outcome, args.check),
            Err(error @ CommandError::Write(_)) => return Err(error),
            Err(error) => {
                print_message(&error.to_string());
                EXIT_FAILURE
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

fn read_options(args: &FixArgs) -> Result<FixOptions, CommandError> {
    let options = FixOptions::new().policy(args.policy.policy()).finish(args.finish.finish());
    match &args.schema {
        Some(path) => Ok(options.schema(read_schema(&Input::new(path))?)),
        None => Ok(options),
    }
}

fn read_schema(input: &Input) -> Result<Schema, CommandError> {
    const EXPECTED: &str = "a JSON Schema";
    let value: Value =
        serde_json::from_str(&input.read_text()?).map_err(|error| input.invalid(EXPECTED, &error))?;
    Schema::new(&value).map_err(|error| input.invalid(EXPECTED, &error))
}

fn exit_code(outcome: Outcome, check: bool) -> u8 {
    match outcome {
        Outcome::Clean => 0,
        Outcome::Mended => u8::from(check) * EXIT_NEEDS_REPAIR,
        _ => EXIT_FAILURE,
    }
}

fn fix_input(input: &Input, args: &FixArgs, options: &FixOptions) -> Result<Outcome, CommandError> {
    let text = input.read_text()?;
    let verdict = toolmend::fix_with(&text, options);
    let name = input.name();
    if args.explain {
        explain::print_repairs(&name, &text, &verdict);
    }
    match verdict.outcome() {
        Outcome::Clean => {}
        Outcome::Mended if !args.check => {}
        Outcome::Mended => {
            print_message(&format!("{name}: needs {}", list_repair_kinds(verdict.repairs())));
        }
        _ => print_message(&format!("{name}: {}", describe_refusal(&verdict))),
    }
    if args.in_place
        && verdict.outcome() == Outcome::Mended
        && let Some(json) = verdict.json()
    {
        replace::replace_input(input, &with_final_newline(json, text.ends_with('\n')))?;
    }
    write_answer(&name, &text, &verdict, args).map_err(CommandError::Write)?;
    Ok(verdict.outcome())
}

/// Writes to standard output what the flags ask for.
fn write_answer(name: &str, text: &str, verdict: &Verdict<'_>, args: &FixArgs) -> io::Result<()> {
    if args.diff {
        return match verdict.json() {
            Some(json) => print_diff(name, text, &with_final_newline(json, text.ends_with('\n'))),
            None => Ok(()),
        };
    }
    // Not through a stream that strips colours: escape sequences in the text are part of it.
    let mut out = io::stdout().lock();
    match (args.format, verdict.json()) {
        (OutputFormat::Json, _) => {
            let fields = Encoding::new().value_field("value").input(text).encode(verdict);
            out.write_all(&Answer::to_file(name, &fields).into_line())?;
        }
        (OutputFormat::Text, Some(json)) if args.pretty => {
            out.write_all(with_final_newline(&indent_json(json), true).as_bytes())?;
        }
        (OutputFormat::Text, Some(json)) if !args.check && !args.in_place => {
            out.write_all(with_final_newline(json, true).as_bytes())?;
        }
        (OutputFormat::Text, _) => {}
    }
    out.flush()
}

/// Returns the text, with a line break at its end if one is `wanted`.
fn with_final_newline(text: &str, wanted: bool) -> String {
    let mut text = text.to_owned();
    if wanted && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Says in one line why the text is refused, with one more line for each of several possible readings.
fn describe_refusal(verdict: &Verdict<'_>) -> String {
    let mut parts = vec![verdict.outcome().name().to_owned()];
    parts.extend(verdict.reason().map(|reason| format!(" ({})", reason.name())));
    if let Some(refusal) = verdict.refusal() {
        if !refusal.message.is_empty() {
            parts.push(format!(": {}", refusal.message));
        }
        parts.extend(limit_hint(refusal));
        parts.extend(refusal.readings.iter().map(|reading| format!("\n  one reading: {reading}")));
    }
    parts.concat()
}
