//! One entry, for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use toolmend::REPAIRS;
use toolmend_journal::{Entry, StoredValues};

use super::when::when;
use super::{HEAD, QUIET};
use crate::fix::diff::diff;

/// The colour of an outcome.
pub(super) fn style(outcome: &str) -> Style {
    match outcome {
        "mended" => AnsiColor::Green.on_default(),
        "truncated" => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

pub(super) fn show(entry: &Entry) -> io::Result<()> {
    {
        let mut out = anstream::stdout().lock();
        head(&mut out, entry)?;
        changes(&mut out, entry)?;
        refusal(&mut out, entry)?;
        writeln!(out)?;
    }
    texts(entry)
}

fn head(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    let series = &entry.series;
    let style = style(&series.outcome);
    writeln!(out, "{style}{}{style:#} {HEAD}{}{HEAD:#}", series.outcome, series.tool)?;
    let mut rows = vec![
        ("id", entry.id.to_string()),
        ("time", when(entry.id.millis())),
        ("model", series.model.to_string()),
        ("server", format!("{} ({})", series.upstream, series.surface)),
        ("after", format!("{} ms", entry.micros / 1000)),
    ];
    rows.extend(entry.called.iter().map(|name| ("called", name.clone())));
    rows.extend(entry.dialect.iter().map(|name| ("dialect", name.clone())));
    rows.extend(entry.finish.iter().map(|name| ("finish", name.clone())));
    for (name, text) in rows {
        writeln!(out, "  {QUIET}{name:<8}{QUIET:#}{text}")?;
    }
    Ok(())
}

fn changes(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    for change in &entry.repairs {
        let known = REPAIRS.iter().find(|row| row.name == change.kind);
        let summary = known.map_or("the server left the call in the text", |row| row.summary);
        let path = if change.path.is_empty() { "" } else { " at " };
        writeln!(out, "\n  {HEAD}{}{HEAD:#}{path}{}", change.kind, change.path)?;
        writeln!(out, "  {QUIET}{summary}{QUIET:#}")?;
    }
    Ok(())
}

fn refusal(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    for (name, text) in [
        ("reason", &entry.reason),
        ("cut at", &entry.cut),
        ("message", &entry.message),
        ("feedback", &entry.feedback),
    ] {
        let Some(text) = text else { continue };
        writeln!(out, "\n  {HEAD}{name}{HEAD:#}")?;
        for line in text.lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// The difference, or what the model wrote where nothing came of it.
fn texts(entry: &Entry) -> io::Result<()> {
    match (&entry.before, &entry.after) {
        (Some(before), Some(after)) if before != after => diff(&entry.series.tool, before, after),
        (Some(before), _) => writeln!(anstream::stdout(), "{before}"),
        (None, _) => {
            let why = match entry.values {
                StoredValues::None => "the values were not stored",
                _ => "nothing was written",
            };
            writeln!(anstream::stdout(), "{QUIET}{why} ({} bytes){QUIET:#}", entry.before_bytes)
        }
    }
}
