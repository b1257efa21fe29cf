//! Shows one entry to people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use toolmend::REPAIRS;
use toolmend_journal::{Entry, StoredValues};

use super::timestamp::format_utc;
use crate::diff::print_diff;
use crate::terminal::{BOLD, DIM, escape_controls};

/// Returns the colour of an outcome.
pub(super) fn outcome_style(outcome: &str) -> Style {
    match outcome {
        "mended" => AnsiColor::Green.on_default(),
        "truncated" => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

/// Writes everything about an entry to standard output.
pub(super) fn print_entry(entry: &Entry) -> io::Result<()> {
    {
        let mut out = anstream::stdout().lock();
        write_head(&mut out, entry)?;
        write_repairs(&mut out, entry)?;
        write_refusal(&mut out, entry)?;
        writeln!(out)?;
    }
    print_texts(entry)
}

fn write_head(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    let series = &entry.series;
    let style = outcome_style(&series.outcome);
    writeln!(out, "{style}{}{style:#} {BOLD}{}{BOLD:#}", series.outcome, escape_controls(&series.tool))?;
    let mut rows = vec![
        ("id", entry.id.to_string()),
        ("time", format_utc(entry.id.millis())),
        ("model", series.model.to_string()),
        ("server", format!("{} ({})", series.upstream, series.surface)),
        ("after", format!("{} ms", entry.micros / 1000)),
    ];
    rows.extend(entry.call_id.iter().map(|id| ("call id", id.clone())));
    rows.extend(entry.called.iter().map(|name| ("called", name.clone())));
    rows.extend(entry.dialect.iter().map(|name| ("dialect", name.clone())));
    rows.extend(entry.finish.iter().map(|name| ("finish", name.clone())));
    for (name, text) in rows {
        writeln!(out, "  {DIM}{name:<9}{DIM:#}{}", escape_controls(&text))?;
    }
    Ok(())
}

fn write_repairs(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    for change in &entry.repairs {
        let known = REPAIRS.iter().find(|row| row.name == change.kind);
        let summary = known.map_or("the server left the call in the text", |row| row.summary);
        let path = if change.path.is_empty() { "" } else { " at " };
        writeln!(out, "\n  {BOLD}{}{BOLD:#}{path}{}", change.kind, escape_controls(&change.path))?;
        writeln!(out, "  {DIM}{summary}{DIM:#}")?;
    }
    Ok(())
}

fn write_refusal(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    for (name, text) in [
        ("reason", &entry.reason),
        ("cut at", &entry.cut),
        ("message", &entry.message),
        ("feedback", &entry.feedback),
    ] {
        let Some(text) = text else { continue };
        writeln!(out, "\n  {BOLD}{name}{BOLD:#}")?;
        for line in text.lines() {
            writeln!(out, "  {}", escape_controls(line))?;
        }
    }
    Ok(())
}

/// Writes the difference, or only the original text if the call was refused.
fn print_texts(entry: &Entry) -> io::Result<()> {
    match (&entry.before, &entry.after) {
        (Some(before), Some(after)) if before != after => print_diff(&entry.series.tool, before, after),
        (Some(before), _) => {
            let mut out = anstream::stdout().lock();
            before.lines().try_for_each(|line| writeln!(out, "{}", escape_controls(line)))
        }
        (None, _) => {
            let why = match entry.values {
                StoredValues::None => "the values were not stored",
                _ => "no text was stored",
            };
            writeln!(anstream::stdout(), "{DIM}{why} ({} bytes){DIM:#}", entry.before_bytes)
        }
    }
}
