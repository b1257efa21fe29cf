//! `toolmend call`: finds content, reasoning and calls in a model's output.

mod args;
mod explain;

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use toolmend::{Call, Mender, Outcome, Turn};
use toolmend_batch::protocol::Answer;

pub(crate) use self::args::CallArgs;
use crate::error::{CommandError, EXIT_FAILURE};
use crate::input::Input;
use crate::options::{OutputFormat, limit_hint};
use crate::pretty::indent_json;
use crate::terminal::{BOLD, DIM, list_repair_kinds, print_message};

const RUNS: Style = AnsiColor::Green.on_default().bold();
const REFUSED: Style = AnsiColor::Red.on_default().bold();

/// Runs the command.
pub(crate) fn run(args: &CallArgs) -> Result<ExitCode, CommandError> {
    let mender = build_mender(args)?;
    let input = Input::new(&args.file);
    let text = input.read_text()?;
    let turn = mender.turn(&text, &args.turn_options(), args.finish.finish());
    if args.explain {
        explain::print_parts(&text, &turn);
    }
    for note in &turn.notes {
        print_message(&format!("{}: {note}", input.name()));
    }
    match args.format {
        OutputFormat::Text => write_text(&turn, args.pretty),
        // Not through a stream that strips colours: escape sequences in the text are part of it.
        OutputFormat::Json => {
            io::stdout().lock().write_all(&Answer::to_file(&input.name(), &turn).into_line())
        }
    }
    .map_err(CommandError::Write)?;
    Ok(if turn.outcome().runs() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

fn build_mender(args: &CallArgs) -> Result<Mender, CommandError> {
    const EXPECTED: &str = "a JSON array of tools";
    let builder = Mender::builder().policy(args.policy.policy()).dialects(args.dialects.read()?);
    let Some(path) = &args.tools else {
        return Ok(builder.build_lenient().0);
    };
    let input = Input::new(path);
    let tools: Value =
        serde_json::from_str(&input.read_text()?).map_err(|error| input.invalid(EXPECTED, &error))?;
    builder.tools(&tools).build().map_err(|error| input.invalid(EXPECTED, &error))
}

fn write_text(turn: &Turn, is_pretty: bool) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (title, text) in [("reasoning", &turn.reasoning), ("content", &turn.content)] {
        if !text.trim().is_empty() {
            writeln!(out, "{BOLD}{title}{BOLD:#}")?;
            for line in text.trim_matches('\n').lines() {
                writeln!(out, "  {line}")?;
            }
        }
    }
    for call in &turn.calls {
        write_call(&mut out, call, is_pretty)?;
    }
    out.flush()
}

fn write_call(out: &mut impl Write, call: &Call, is_pretty: bool) -> io::Result<()> {
    let outcome = call.outcome();
    let (word, style) = if outcome.runs() { ("call", RUNS) } else { (outcome.name(), REFUSED) };
    write!(out, "{style}{word}{style:#} {BOLD}{}{BOLD:#}", call.name)?;
    if let Some(json) = call.arguments() {
        let shown = if is_pretty { indent_json(json) } else { json.to_owned() };
        write!(out, " {shown}")?;
    }
    writeln!(out)?;
    writeln!(out, "  {DIM}{}, {}{DIM:#}", call.dialect, call.source.name())?;
    if outcome == Outcome::Mended {
        writeln!(out, "  {DIM}mended: {}{DIM:#}", list_repair_kinds(call.verdict.repairs()))?;
    }
    let Some(refusal) = call.verdict.refusal() else { return Ok(()) };
    if !refusal.message.is_empty() {
        let hint = limit_hint(refusal).unwrap_or_default();
        writeln!(out, "  {}{hint}", refusal.message)?;
    }
    if let Some(partial) = &refusal.partial {
        writeln!(out, "  {DIM}complete: {partial}{DIM:#}")?;
    }
    Ok(())
}
