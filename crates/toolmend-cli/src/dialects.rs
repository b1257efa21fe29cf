//! `toolmend dialects`: the ways of writing a call, from the table that the engine uses.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use toolmend::Dialect;

use crate::args::{DialectsArgs, TableFormat};
use crate::failure::Failure;

const NAME: Style = Style::new().bold();
const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// One row, as JSON.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    families: &'static str,
    markers: Vec<String>,
    reasoning: &'static str,
    source: &'static str,
    on_by_default: bool,
    example: String,
}

/// Runs the command.
pub(crate) fn run(args: &DialectsArgs) -> Result<ExitCode, Failure> {
    let own = args.own.read()?;
    let rows: Vec<Row> = own.rows().chain(toolmend::dialects()).map(row).collect();
    match args.format {
        TableFormat::Json => write_json(&rows),
        TableFormat::Text => write_text(&rows),
        TableFormat::Markdown => write_markdown(&rows),
    }
    .map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}

fn row(dialect: &Dialect) -> Row {
    Row {
        name: dialect.name(),
        families: dialect.families(),
        markers: dialect.markers().iter().map(ToString::to_string).collect(),
        reasoning: dialect.reasoning(),
        source: dialect.source().name(),
        on_by_default: dialect.on_by_default(),
        example: dialect.example(),
    }
}

fn write_json(rows: &[Row]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, rows)?;
    writeln!(out)
}

fn write_text(rows: &[Row]) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for row in rows {
        let off = if row.on_by_default { "" } else { ", off by default" };
        writeln!(out, "{NAME}{}{NAME:#} ({}{off})", row.name, row.source)?;
        writeln!(out, "    {}", row.families)?;
        if !row.markers.is_empty() {
            writeln!(out, "    markers: {}", row.markers.join("  "))?;
        }
        writeln!(out, "    reasoning: {}", row.reasoning)?;
        for line in row.example.lines() {
            writeln!(out, "    {QUIET}{line}{QUIET:#}")?;
        }
    }
    out.flush()
}

const PAGE_HEAD: &str = "\
# Dialects

Every way of writing a call that toolmend reads. The names do not change. A call in an `explicit` dialect stands behind
markers that mean a call and nothing else; it is kept whatever tool it names. An `inferred` one is recognised by its shape,
and only where it names a declared tool. Dialects that are off are read where they are asked for by name, or with the policy
`eager`.

Which dialect it is, the output itself tells: several may stand in one message. The example is what toolmend writes where it
renders a call back.

This page is written by `cargo xtask docs` from the table that the engine uses.

## Your own

A model that writes its calls in another way needs one row in a TOML file, for `--dialects FILE` of `call`, `batch`, `dialects`
and `serve`, or for `Mender::builder().dialects(…)`:

```toml
[[dialect]]
name = \"acme\"
families = \"Acme 7B\"
models = [\"acme-[0-9]+b\"]                 # patterns for ids
section = [\"<|acts|>\", \"<|/acts|>\"]     # around all calls
call = \"<|act|>{name}<|with|>{arguments}<|/act|>\"
join = \"\\n\"                              # between two calls
reasoning = [\"<ponder>\", \"</ponder>\"]

[[model]]                                # an id for a row that is there already
id = \"our-finetune\"
dialect = \"qwen3_xml\"
```

What the markers mean follows from where they stand. Arguments can be one JSON object (`{arguments}`) or stand in tags of their
own (`{parameters}`, with `parameter = '<slot name=\"{key}\">{value}</slot>'` or `'<k>{key}</k><v>{value}</v>'`). A marker begins with
`<`, `[` or a character like `✿`, and means nothing in another row. Each row has to read back what it writes, or it is refused
with the reason.";

/// The page `docs/dialects.md`.
fn write_markdown(rows: &[Row]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{PAGE_HEAD}\n")?;
    writeln!(out, "## The table\n\n| name | families | reasoning | source |\n|---|---|---|---|")?;
    for row in rows {
        let off = if row.on_by_default { "" } else { ", off by default" };
        writeln!(
            out,
            "| [`{0}`](#{0}) | {1} | {2} | {3}{off} |",
            row.name, row.families, row.reasoning, row.source
        )?;
    }
    for row in rows {
        writeln!(out, "\n## {}\n", row.name)?;
        writeln!(out, "{}.", row.families)?;
        if !row.markers.is_empty() {
            let markers: Vec<_> = row.markers.iter().map(|marker| code(marker)).collect();
            writeln!(out, "Markers: {}.", markers.join(", "))?;
        }
        if !row.example.is_empty() {
            writeln!(out, "\n````text\n{}\n````", row.example)?;
        }
    }
    out.flush()
}

/// A marker as code in a sentence: it may hold the very quotes of code.
fn code(text: &str) -> String {
    if text.contains('`') { format!("```` {text} ````") } else { format!("`{text}`") }
}
