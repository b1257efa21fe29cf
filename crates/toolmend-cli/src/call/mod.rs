//! `toolmend call`: a model's output in, content and calls out.

mod explain;

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use toolmend::{Call, Mender, Outcome, Turn};
use toolmend_batch::protocol::Answer;

use crate::args::{CallArgs, Format};
use crate::failure::{FAILED, Failure};
use crate::source::Source;

const HEAD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// Runs the command.
pub(crate) fn run(args: &CallArgs) -> Result<ExitCode, Failure> {
    let mender = mender(args)?;
    let source = Source::new(&args.file);
    let input = source.read()?;
    let turn = mender.turn(&input, &args.options(), args.finish());
    if args.explain {
        explain::explain(&input, &turn);
    }
    let mut messages = anstream::stderr().lock();
    for note in &turn.notes {
        // With nowhere to complain to, the answer has to do.
        let _ = writeln!(messages, "toolmend: {}: {note}", source.name());
    }
    match args.format {
        Format::Text => write_text(&turn),
        // Not through a stream that strips colours: what the text holds is not ours to change.
        Format::Json => io::stdout().lock().write_all(&Answer::to_file(&source.name(), &turn).into_line()),
    }
    .map_err(Failure::Write)?;
    Ok(if turn.outcome().runs() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn mender(args: &CallArgs) -> Result<Mender, Failure> {
    let builder = Mender::builder().policy(args.policy.policy()).dialects(args.own.read()?);
    let Some(path) = &args.tools else {
        return Ok(builder.build_lenient().0);
    };
    let source = Source::new(path);
    let broken =
        |found: String| Failure::Broken { name: source.name(), expected: "a JSON array of tools", found };
    let tools: Value = serde_json::from_str(&source.read()?).map_err(|error| broken(error.to_string()))?;
    builder.tools(&tools).build().map_err(|error| broken(error.to_string()))
}

fn write_text(turn: &Turn) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (title, text) in [("reasoning", &turn.reasoning), ("content", &turn.content)] {
        if !text.trim().is_empty() {
            writeln!(out, "{HEAD}{title}{HEAD:#}")?;
            for line in text.trim_matches('\n').lines() {
                writeln!(out, "  {line}")?;
            }
        }
    }
    for call in &turn.calls {
        write_call(&mut out, call)?;
    }
    out.flush()
}

fn write_call(out: &mut impl Write, call: &Call) -> io::Result<()> {
    let outcome = call.outcome();
    let (word, style) = if outcome.runs() { ("call", GOOD) } else { (outcome.name(), BAD) };
    write!(out, "{style}{word}{style:#} {HEAD}{}{HEAD:#}", call.name)?;
    if let Some(json) = call.arguments() {
        write!(out, " {json}")?;
    }
    writeln!(out)?;
    writeln!(out, "  {QUIET}{}, {}{QUIET:#}", call.dialect, call.source.name())?;
    if outcome == Outcome::Mended {
        let mut kinds: Vec<_> = call.verdict.repairs().iter().map(|repair| repair.kind.name()).collect();
        kinds.dedup();
        writeln!(out, "  {QUIET}mended: {}{QUIET:#}", kinds.join(", "))?;
    }
    let Some(refusal) = call.verdict.refusal() else { return Ok(()) };
    if !refusal.message.is_empty() {
        writeln!(out, "  {}", refusal.message)?;
    }
    if let Some(partial) = &refusal.partial {
        writeln!(out, "  {QUIET}complete: {partial}{QUIET:#}")?;
    }
    Ok(())
}
