//! `toolmend repairs`: the vocabulary, from the table that the engine uses.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use toolmend::{Layer, REPAIRS};

use crate::args::{RepairsArgs, TableFormat};
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
        TableFormat::Json => write_json(),
        TableFormat::Text => write_text(),
        TableFormat::Markdown => write_markdown(),
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

/// The page `docs/repairs.md`.
fn write_markdown() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{PAGE_HEAD}")?;
    for layer in LAYERS {
        writeln!(out, "\n## {}: {}\n", layer.name(), layer_task(layer))?;
        writeln!(out, "| kind | tier | what it does | before | after |")?;
        writeln!(out, "|---|---|---|---|---|")?;
        for row in REPAIRS.iter().filter(|row| row.layer == layer) {
            let (before, after) = (markdown_code(row.example.0), markdown_code(row.example.1));
            let (name, tier, summary) = (row.name, row.tier.name(), row.summary);
            writeln!(out, "| `{name}` | {tier} | {summary} | {before} | {after} |")?;
        }
    }
    out.flush()
}

const LAYERS: [Layer; 4] = [Layer::Syntax, Layer::Shape, Layer::Name, Layer::Dialect];

fn layer_task(layer: Layer) -> &'static str {
    match layer {
        Layer::Syntax => "from text to JSON",
        Layer::Shape => "from JSON to the schema",
        Layer::Name => "from the emitted name to a declared tool",
        Layer::Dialect => "from a model's output to calls",
        _ => "",
    }
}

const PAGE_HEAD: &str = "\
# Repairs

Every change that toolmend can make has a name. The names are the same in Rust, in JSON and on the command line, and
they do not change. The tier says how sure a repair is: `lossless` where only one reading exists, `guided` where the
schema or the structure around it picks the reading, `assumed` where another reading exists but is unlikely.
A policy sets the highest tier that may be applied, and can turn single kinds on and off.

This page is written by `cargo xtask docs` from the table that the engine uses. A line break is shown as `⏎`, a
no-break space as `⍽`.";

/// An example as code in a table cell: backticks and bars would end it.
fn markdown_code(text: &str) -> String {
    let line = one_line(text).replace('|', "\\|");
    match line.as_str() {
        "" => "(nothing)".to_owned(),
        line if line.contains('`') => format!("```` {line} ````"),
        line => format!("`{line}`"),
    }
}

/// An example on one line, with what cannot be seen made visible.
fn one_line(text: &str) -> String {
    text.replace('\n', "⏎").replace('\u{a0}', "⍽")
}
