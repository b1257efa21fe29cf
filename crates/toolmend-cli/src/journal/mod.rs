//! `toolmend journal`.

pub(crate) mod args;
mod corpus;
mod show;
mod when;

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use toolmend_journal::{Entry, EntrySummary, Filter, Id, Store};

use self::args::{JournalArgs, JournalCommand};
use self::when::when;
use crate::args::Format;
use crate::failure::Failure;

const HEAD: Style = Style::new().bold();
const QUIET: Style = AnsiColor::BrightBlack.on_default();
/// How many entries are read at once.
const PAGE: usize = 500;

/// Runs the command.
pub(crate) fn run(args: &JournalArgs) -> Result<ExitCode, Failure> {
    let mut store = Store::open_existing(&args.place()).map_err(Failure::journal)?;
    match &args.command {
        JournalCommand::List { filter, limit, before, format } => {
            list(&mut store, &filter.filter(), *limit, *before, *format)?;
        }
        JournalCommand::Show { id } => show::show(&entry(&mut store, *id)?).map_err(Failure::Write)?,
        JournalCommand::Export { filter } => {
            pages(&mut store, &filter.filter(), None, usize::MAX, |store, line| {
                // Between the list and now it may have become too old.
                let Some(entry) = store.entry(line.id).map_err(Failure::journal)? else { return Ok(()) };
                write_line(&entry)
            })?;
        }
        JournalCommand::ToCorpus { id } => {
            let case = corpus::case(&entry(&mut store, *id)?).map_err(Failure::Journal)?;
            for note in &case.notes {
                // With nowhere to complain to, the case has to do.
                let _ = writeln!(anstream::stderr(), "toolmend: {note}");
            }
            io::stdout().lock().write_all(case.text.as_bytes()).map_err(Failure::Write)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(store: &mut Store, id: Id) -> Result<Entry, Failure> {
    let found = store.entry(id).map_err(Failure::journal)?;
    found.ok_or_else(|| {
        Failure::Journal(format!("there is no entry {id}: it may have been too old to be kept"))
    })
}

fn write_line(line: &impl serde::Serialize) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line).map_err(|error| Failure::Write(error.into()))?;
    writeln!(out).map_err(Failure::Write)
}

/// Goes through the list until enough were seen.
fn pages(
    store: &mut Store,
    filter: &Filter,
    mut before: Option<Id>,
    mut left: usize,
    mut each: impl FnMut(&mut Store, &EntrySummary) -> Result<(), Failure>,
) -> Result<Option<Id>, Failure> {
    while left > 0 {
        let page = store.list(filter, before, left.min(PAGE)).map_err(Failure::journal)?;
        for line in &page.entries {
            each(store, line)?;
        }
        left -= page.entries.len();
        before = page.next;
        if before.is_none() {
            return Ok(None);
        }
    }
    Ok(before)
}

fn list(
    store: &mut Store,
    filter: &Filter,
    limit: usize,
    before: Option<Id>,
    format: Format,
) -> Result<(), Failure> {
    let next = pages(store, filter, before, limit, |_, line| match format {
        Format::Json => write_line(line),
        Format::Text => write_text(line).map_err(Failure::Write),
    })?;
    if let (Some(next), Format::Text) = (next, format) {
        // Only for people, so not in the answer.
        let _ = writeln!(anstream::stderr(), "{QUIET}more: --before {next}{QUIET:#}");
    }
    Ok(())
}

fn write_text(line: &EntrySummary) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let series = &line.series;
    let style = show::style(&series.outcome);
    let why = match &line.reason {
        Some(reason) => reason.clone(),
        None => line.kinds.join(", "),
    };
    writeln!(
        out,
        "{QUIET}{}  {}{QUIET:#}  {style}{:<9}{style:#}  {HEAD}{}{HEAD:#} {QUIET}by{QUIET:#} {}  {QUIET}{why}{QUIET:#}",
        line.id,
        when(line.millis),
        series.outcome,
        series.tool,
        series.model,
    )
}
