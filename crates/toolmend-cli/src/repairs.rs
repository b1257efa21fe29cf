//! `toolmend repairs`: shows the table of repairs that the library uses.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use toolmend::{Layer, REPAIRS};

use crate::error::CommandError;
use crate::options::TableFormat;
use crate::terminal::{BOLD, DIM};

/// Show the table of repairs: what can be changed, and how certain each change is.
#[derive(Debug, Args)]
pub(crate) struct RepairsArgs {
    /// `json` writes one array of objects, `markdown` a page.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

/// Runs the command.
pub(crate) fn run(args: &RepairsArgs) -> Result<ExitCode, CommandError> {
    match args.format {
        TableFormat::Json => write_json(),
        TableFormat::Text => write_text(),
        TableFormat::Markdown => write_markdown(),
    }
    .map_err(CommandError::Write)?;
    Ok(ExitCode::SUCCESS)
}

fn write_json() -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, REPAIRS)?;
    writeln!(out)
}

fn write_text() -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for row in REPAIRS {
        let (before, after) = row.example;
        let off = if row.is_opt_in { ", off by default" } else { "" };
        writeln!(out, "{BOLD}{}{BOLD:#} ({}, {}{off})", row.name, row.layer.name(), row.tier.name())?;
        writeln!(out, "    {}", row.summary)?;
        writeln!(out, "    {DIM}{}  ->  {}{DIM:#}", to_one_line(before), to_one_line(after))?;
    }
    out.flush()
}

/// Writes the page `docs/repairs.md`.
fn write_markdown() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{PAGE_HEAD}")?;
    for layer in LAYERS {
        writeln!(out, "\n## {}: {}\n", layer.name(), layer_description(layer))?;
        writeln!(out, "| kind | tier | what it does | before | after |")?;
        writeln!(out, "|---|---|---|---|---|")?;
        for row in REPAIRS.iter().filter(|row| row.layer == layer) {
            let (before, after) = (to_markdown_code(row.example.0), to_markdown_code(row.example.1));
            let (tier, summary) = (row.tier.name(), row.summary);
            let names: Vec<_> =
                [&row.name].into_iter().chain(row.aliases).map(|name| format!("`{name}`")).collect();
            let off = if row.is_opt_in { ", **off by default**" } else { "" };
            writeln!(out, "| {} | {tier}{off} | {summary} | {before} | {after} |", names.join(", or "))?;
        }
    }
    out.flush()
}

const LAYERS: [Layer; 4] = [Layer::Syntax, Layer::Shape, Layer::Name, Layer::Dialect];

fn layer_description(layer: Layer) -> &'static str {
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
they never change. The tier says how certain a repair is: `lossless` if there is only one reading, `guided` if the
schema or the surrounding structure selects the reading, `assumed` if another reading exists but is unlikely.
A policy sets the highest tier that may be applied, and can turn single kinds on and off: `--on KIND` and `--off KIND`
in every command, `on` and `off` in a policy of Rust, Python and Node, and `[repairs]` in the file of the gateway. Kinds
that are marked `off by default` change values that are valid, or drop something that the model wrote. The second names
of some kinds are those of other repairers; they are accepted wherever a kind is named.

`cargo xtask docs` writes this page from the table that the library uses. A line break is shown as `⏎`, a
no-break space as `⍽`.";

/// Writes an example as code in a table cell, which backticks and bars would end.
fn to_markdown_code(text: &str) -> String {
    let line = to_one_line(text).replace('|', "\\|");
    match line.as_str() {
        "" => "(nothing)".to_owned(),
        line if line.contains('`') => format!("```` {line} ````"),
        line => format!("`{line}`"),
    }
}

/// Writes an example on one line and makes invisible characters visible.
fn to_one_line(text: &str) -> String {
    text.replace('\n', "⏎").replace('\u{a0}', "⍽")
}
