//! `toolmend repairs`: the vocabulary, from the table that the engine uses.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use toolmend::REPAIRS;

use crate::args::{Format, RepairsArgs};
use crate::failure::Failure;

const NAME: Style = Style::new().bold();
const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// One row, as JSON.
#[derive(Serialize)]
struct Row {
    kind: &'static str,
    layer: &'static str,
    tier: &'static str,
    summary: &'static str,
    example: Example,
}

#[derive(Serialize)]
struct Example {
    before: &'static str,
    after: &'static str,
}

/// Runs the command.
pub(crate) fn run(args: &RepairsArgs) -> Result<ExitCode, Failure> {
    match args.format {
        Format::Json => write_json(),
        Format::Text => write_text(),
    }
    .map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}

fn write_json() -> io::Result<()> {
    let rows: Vec<_> = REPAIRS
        .iter()
        .map(|row| Row {
            kind: row.name,
            layer: row.layer.name(),
            tier: row.tier.name(),
            summary: row.summary,
            example: Example { before: row.example.0, after: row.example.1 },
        })
        .collect();
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &rows)?;
    writeln!(out)
}

fn write_text() -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for row in REPAIRS {
        let (before, after) = row.example;
        writeln!(out, "{NAME}{}{NAME:#} ({}, {})", row.name, row.layer.name(), row.tier.name())?;
        writeln!(out, "    {}", row.summary)?;
        writeln!(out, "    {QUIET}{}  ->  {}{QUIET:#}", one_line(before), one_line(after))?;
    }
    out.flush()
}

/// An example on one line, with what cannot be seen made visible.
fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|ch| match ch {
            '\n' => vec!['⏎'],
            '\u{a0}' => vec!['⍽'],
            other => vec![other],
        })
        .collect()
}
