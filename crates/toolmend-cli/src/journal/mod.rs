//! `toolmend journal`: lists, shows and exports the calls that the gateway mended or refused.

mod args;
mod case;
mod show;
mod timestamp;

use std::io::{self, Write};
use std::process::ExitCode;

use toolmend_journal::{Entry, EntrySummary, Filter, Id, Store};

pub(crate) use self::args::JournalArgs;
use self::args::JournalCommand;
use self::timestamp::format_utc;
use crate::error::CommandError;
use crate::options::OutputFormat;
use crate::terminal::{BOLD, DIM, escape_controls, print_message};

/// How many entries one query reads.
const PAGE_SIZE: usize = 500;

/// Runs the command.
pub(crate) fn run(args: &JournalArgs) -> Result<ExitCode, CommandError> {
    let mut store = Store::open_existing(&args.place()).map_err(CommandError::journal)?;
    match &args.command {
        JournalCommand::List { filter, limit, before, format } => {
            list_entries(&mut store, &filter.filter(), *limit, *before, *format)?;
        }
        JournalCommand::Show { id } => {
            show::print_entry(&find_entry(&mut store, *id)?).map_err(CommandError::Write)?;
        }
        JournalCommand::Export { filter } => {
            for_each_summary(&mut store, &filter.filter(), None, usize::MAX, |store, summary| {
                // The entry may have expired since the list was read.
                let Some(entry) = store.entry(summary.id).map_err(CommandError::journal)? else {
                    return Ok(());
                };
                write_json_line(&entry)
            })?;
        }
        JournalCommand::ToCorpus { id } => {
            let case = case::build_case(&find_entry(&mut store, *id)?).map_err(CommandError::Journal)?;
            for note in &case.notes {
                print_message(note);
            }
            io::stdout().lock().write_all(case.text.as_bytes()).map_err(CommandError::Write)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find_entry(store: &mut Store, id: Id) -> Result<Entry, CommandError> {
    let found = store.entry(id).map_err(CommandError::journal)?;
    found.ok_or_else(|| CommandError::Journal(format!("there is no entry {id}; it may have expired")))
}

fn write_json_line(line: &impl serde::Serialize) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line).map_err(|error| CommandError::Write(error.into()))?;
    writeln!(out).map_err(CommandError::Write)
}

/// Visits up to `left` entries, the newest first. Returns the id to continue with.
fn for_each_summary(
    store: &mut Store,
    filter: &Filter,
    mut before: Option<Id>,
    mut left: usize,
    mut visit: impl FnMut(&mut Store, &EntrySummary) -> Result<(), CommandError>,
) -> Result<Option<Id>, CommandError> {
    while left > 0 {
        let page = store.list(filter, before, left.min(PAGE_SIZE)).map_err(CommandError::journal)?;
        for summary in &page.entries {
            visit(store, summary)?;
        }
        left -= page.entries.len();
        before = page.next;
        if before.is_none() {
            return Ok(None);
        }
    }
    Ok(before)
}

fn list_entries(
    store: &mut Store,
    filter: &Filter,
    limit: usize,
    before: Option<Id>,
    format: OutputFormat,
) -> Result<(), CommandError> {
    let next = for_each_summary(store, filter, before, limit, |_, summary| match format {
        OutputFormat::Json => write_json_line(summary),
        OutputFormat::Text => write_text_line(summary).map_err(CommandError::Write),
    })?;
    if let (Some(next), OutputFormat::Text) = (next, format) {
        // A hint for people is not part of the answer.
        let _ = writeln!(anstream::stderr(), "{DIM}more: --before {next}{DIM:#}");
    }
    Ok(())
}

fn write_text_line(summary: &EntrySummary) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let series = &summary.series;
    let style = show::outcome_style(&series.outcome);
    let why = match &summary.reason {
        Some(reason) => reason.clone(),
        None => summary.kinds.join(", "),
    };
    let why = escape_controls(&why);
    writeln!(
        out,
        "{DIM}{}  {}{DIM:#}  {style}{:<9}{style:#}  {BOLD}{}{BOLD:#} {DIM}by{DIM:#} {}  {DIM}{why}{DIM:#}",
        summary.id,
        format_utc(summary.millis),
        series.outcome,
        escape_controls(&series.tool),
        escape_controls(&series.model),
    )
}
