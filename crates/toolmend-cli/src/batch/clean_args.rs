//! The arguments of `toolmend batch --out`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolmend_batch::{FORMATS, Format, LAYOUTS, Layout};

/// Flags for cleaning files. All of them need `--out`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cleaning files")]
pub(crate) struct CleanArgs {
    /// Where to write the cleaned files: a file, or a folder if there are several.
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// How rows are laid out; `auto` looks at the first row.
    #[arg(long, requires = "out", value_parser = parse_layout, default_value = "auto", value_name = "NAME")]
    pub(crate) layout: Layout,
    /// The column or field that holds the arguments or, with another layout, the rows.
    #[arg(long, requires = "out", value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// The tool that every row of a column calls.
    #[arg(long, requires = "out", value_name = "NAME", conflicts_with = "tool_column")]
    pub(crate) tool: Option<String>,
    /// The column or field that names the tool [default: `tool`, if it exists].
    #[arg(long, requires = "out", value_name = "NAME")]
    pub(crate) tool_column: Option<String>,
    /// The format to write [default: the format of the input].
    #[arg(long, requires = "out", value_parser = parse_format, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Write every call that was not mended to this file, with its location and the reason.
    #[arg(long, requires = "out", value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Write a page with outcomes and repairs by model, tool and kind.
    #[arg(long, requires = "out", value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Continue a run that was interrupted; finished work is not repeated.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// How many threads mend calls [default: one per core].
    #[arg(long, requires = "out", value_name = "COUNT")]
    pub(crate) threads: Option<usize>,
    /// How to show progress.
    #[arg(long, requires = "out", value_enum, default_value_t = ProgressMode::Auto, value_name = "HOW")]
    pub(crate) progress: ProgressMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A bar on a terminal, otherwise nothing.
    Auto,
    /// A line every few seconds, for logs.
    Lines,
    /// Nothing.
    Off,
}

fn parse_layout(name: &str) -> Result<Layout, String> {
    let found = LAYOUTS.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout);
    found.ok_or_else(|| expected_names(LAYOUTS.iter().map(|(name, _)| *name)))
}

fn parse_format(name: &str) -> Result<Format, String> {
    let found = FORMATS.iter().find(|row| row.0 == name).map(|row| row.1);
    found.ok_or_else(|| expected_names(FORMATS.iter().map(|row| row.0)))
}

fn expected_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}
