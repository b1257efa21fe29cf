//! `toolmend dialects`: shows the table of dialects that the library uses.

#[cfg(feature = "template")]
mod learn;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use toolmend::Dialect;

use crate::error::CommandError;
use crate::options::{CustomDialectArgs, TableFormat};
use crate::terminal::{BOLD, DIM};

/// Show the table of dialects: how models write calls, and which models do.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DialectsArgs {
    #[command(subcommand)]
    command: Option<DialectsCommand>,
    #[command(flatten)]
    dialects: CustomDialectArgs,
    /// `json` writes one array of objects, `markdown` a page.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

#[derive(Debug, Subcommand)]
enum DialectsCommand {
    #[cfg(feature = "template")]
    Learn(learn::LearnArgs),
    /// Learn how a model writes calls from its chat template (not in this build).
    #[cfg(not(feature = "template"))]
    Learn(crate::missing::MissingArgs),
}

/// A row of the table as text.
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
pub(crate) fn run(args: &DialectsArgs) -> Result<ExitCode, CommandError> {
    #[cfg(feature = "template")]
    if let Some(DialectsCommand::Learn(args)) = &args.command {
        return learn::run(args);
    }
    #[cfg(not(feature = "template"))]
    if args.command.is_some() {
        return Err(crate::missing::error("a reader of chat templates", "template"));
    }
    let custom = args.dialects.read()?;
    let dialects = custom.rows().chain(toolmend::dialects());
    match args.format {
        TableFormat::Json => write_json(&dialects.collect::<Vec<_>>()),
        TableFormat::Text => write_text(&dialects.map(Row::new).collect::<Vec<_>>()),
        TableFormat::Markdown => write_markdown(&dialects.map(Row::new).collect::<Vec<_>>()),
    }
    .map_err(CommandError::Write)?;
    Ok(ExitCode::SUCCESS)
}

impl Row {
    fn new(dialect: &Dialect) -> Self {
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
}

fn write_json(rows: &[&Dialect]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, rows)?;
    writeln!(out)
}

fn write_text(rows: &[Row]) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for row in rows {
        let off = if row.on_by_default { "" } else { ", off by default" };
        writeln!(out, "{BOLD}{}{BOLD:#} ({}{off})", row.name, row.source)?;
        writeln!(out, "    {}", row.families)?;
        if !row.markers.is_empty() {
            writeln!(out, "    markers: {}", row.markers.join("  "))?;
        }
        writeln!(out, "    reasoning: {}", row.reasoning)?;
        for line in row.example.lines() {
            writeln!(out, "    {DIM}{line}{DIM:#}")?;
        }
    }
    out.flush()
}

const PAGE_HEAD: &str = "\
# Dialects

A dialect is a way of writing a call. This page lists every dialect that toolmend reads. The names never change. In an `explicit`
dialect, a call follows markers that mean a call and nothing else; it is kept whatever tool it names. An `inferred` call is
recognised by its shape, and only if it names a declared tool. A dialect that is off by default is read if it is requested by
name, or with the policy `eager`.

toolmend detects the dialect from the output itself, and one message may contain several. The example is what toolmend writes
when it renders a call.

`cargo xtask docs` writes this page from the table that the library uses.

## Custom dialects

A model that writes its calls in another way needs one row in a TOML file, for `--dialects FILE` of `call`, `batch`, `dialects`
and `serve`, or for `Mender::builder().dialects(…)`:

```toml
[[dialect]]
name = \"acme\"
families = \"Acme 7B\"
models = [\"acme-[0-9]+b\"]                 # patterns for model ids
section = [\"<|acts|>\", \"<|/acts|>\"]     # around all calls
call = \"<|act|>{name}<|with|>{arguments}<|/act|>\"
join = \"\\n\"                              # between two calls
reasoning = [\"<ponder>\", \"</ponder>\"]

[[model]]                                # a model id for an existing dialect
id = \"our-finetune\"
dialect = \"qwen3_xml\"
```

The position of a marker in the row decides what it means. A marker is a special token (`<|act|>`, `[ACT]`, `✿ACT✿`) or a tag, whose
name may have a namespace (`<acme:act>`, `<｜ACME｜act>`, `<acme|act>`). It must not have a meaning in another row. The keys of a row:

- `section`: what is around all calls.
- `call`: one call. Its name is after a marker, with fixed words before it if need be (`<|act|>function {name}`), in a tag
  (`<act name=\"{name}\">`, `<act={name}>`), in an element of its own (`<n>{name}</n>`), or in JSON with any keys
  (`{\"do\": {\"{name}\": {arguments}}}`).
- `parameter`: one argument, if the call has `{parameters}` in place of `{arguments}`: `<slot name=\"{key}\">{value}</slot>`,
  `<k>{key}</k><v>{value}</v>`, `<|k|>{key}<|v|>{value}<|/v|>`, `<{key}>{value}</{key}>`, `{key}={value}` after
  `{name}({parameters})`, or ` {key}=\"{value}\"` in `[Act tool=\"{name}\"{parameters}]`. `{string}` is `true` or `false`, and `{type}` is
  the type of the value.
- `values`: `\"json\"` if strings in tags are in quotes. The default is `\"raw\"`.
- `join`: what is between two calls.
- `reasoning`: what is around reasoning. `prompt_opens_reasoning = true` if the prompt ends inside it.
- `stop`: tokens that end a turn.
- `models`: patterns for model ids.

A row that cannot read back what it writes is refused with the reason.

## Dialects learned from chat templates

A model's chat template shows how it writes calls. `toolmend dialects learn FILE` reads a template in Jinja, a
`tokenizer_config.json` or the folder of a model, and prints the dialect as a TOML file for `--dialects`:

```sh
toolmend dialects learn models/acme-7b > acme.toml
```

The template writes probes: calls of two tools, nested values, a string with quotes and markup, a call without arguments, two
calls in one turn, content and reasoning before a call. If a built-in dialect reads them all, the file has only its name. Otherwise
a row is derived. It is printed only if it reads every probe, whole and cut in two at every place, and reads back what it writes
itself. If it does not, the command fails and shows the text of each such probe, what it means and how it was read. A template that
drops calls teaches nothing, whatever its prompt says about them. If the configuration has a `response_template`, the declarative
description of transformers 5, it is used in that case.

`--template FILE` of `call`, `batch`, `dialects` and `serve` does the same at the start, and so do `template = \"FILE\"` for one of the
gateway's `[[upstreams]]` and `Mender::builder().template(…)` (feature `template`).";

/// Writes the page `docs/dialects.md`.
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
            let markers: Vec<_> = row.markers.iter().map(|marker| to_markdown_code(marker)).collect();
            writeln!(out, "Markers: {}.", markers.join(", "))?;
        }
        if !row.example.is_empty() {
            writeln!(out, "\n````text\n{}\n````", row.example)?;
        }
    }
    out.flush()
}

/// Writes a marker as code in a sentence. The marker itself may contain backticks.
fn to_markdown_code(text: &str) -> String {
    if text.contains('`') { format!("```` {text} ````") } else { format!("`{text}`") }
}
