//! The command line as it is typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toolmend::{CustomDialects, Finish, Limits, Policy, Preset, TurnOptions};
use toolmend_batch::{FORMATS, Format as FileFormat, LAYOUTS, Layout};

use crate::failure::Failure;
use crate::journal::args::JournalArgs;
use crate::run::RunArgs;
use crate::serve::args::ServeArgs;

/// Mend the tool calls that language models get nearly right, or refuse them with a reason.
#[derive(Debug, Parser)]
#[command(name = "toolmend", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Fix(FixArgs),
    Call(CallArgs),
    Batch(BatchArgs),
    Repairs(RepairsArgs),
    Dialects(DialectsArgs),
    Serve(Box<ServeArgs>),
    Run(Box<RunArgs>),
    Journal(JournalArgs),
    Mcp(McpArgs),
}

/// Mend JSON texts: files, or standard input.
#[derive(Debug, Args)]
#[command(after_help = FIX_EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct FixArgs {
    /// The files to mend; `-` or none is standard input.
    pub(crate) files: Vec<PathBuf>,
    /// A JSON Schema that the values must fit, and that guides the reading.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Show each repair on standard error: its kind, its place and the source.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write a unified diff instead of the JSON.
    #[arg(long, conflicts_with = "format")]
    pub(crate) diff: bool,
    /// Write no JSON, only tell by the exit code whether a repair is needed.
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) check: bool,
    /// Write the mended JSON into the files. What is refused stays as it is.
    #[arg(long, requires = "files")]
    pub(crate) in_place: bool,
    /// `json` writes one line for each file, with the fields of a batch answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// How the model's output ended; `length` and `max_tokens` mean that it was cut off.
    #[arg(long, value_name = "REASON")]
    finish_reason: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

const FIX_EXIT_CODES: &str = "\
Exit codes:
  0  every text is valid or was mended
  1  with --check: a text needs a repair
  2  a text was refused or cut off, a file could not be read, or the usage was wrong";

impl FixArgs {
    pub(crate) fn finish(&self) -> Finish {
        self.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason)
    }
}

/// Find the calls in a model's output: a file, or standard input.
#[derive(Debug, Args)]
#[command(after_help = CALL_EXIT_CODES)]
pub(crate) struct CallArgs {
    /// The file with the output; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The declared tools, in any of the shapes that APIs have.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) own: OwnArgs,
    /// The dialect to try first; `toolmend dialects` lists them.
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// The id of the model, which tells how forms without markers are meant.
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// The prompt had already opened the reasoning.
    #[arg(long)]
    reasoning_open: bool,
    /// How the model's output ended; `length` and `max_tokens` mean that it was cut off.
    #[arg(long, value_name = "REASON")]
    finish_reason: Option<String>,
    /// Show on standard error what each part of the output turned out to be.
    #[arg(long)]
    pub(crate) explain: bool,
    /// `json` writes one line, with the fields of a batch answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

const CALL_EXIT_CODES: &str = "\
Exit codes:
  0  every call runs, or there is none
  2  a call was refused or cut off, a file could not be read, or the usage was wrong";

impl CallArgs {
    pub(crate) fn finish(&self) -> Finish {
        self.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason)
    }

    pub(crate) fn options(&self) -> TurnOptions {
        let mut options = TurnOptions::new().reasoning_open(self.reasoning_open);
        if let Some(name) = &self.dialect {
            options = options.dialect(name);
        }
        if let Some(id) = &self.model {
            options = options.model(id);
        }
        options
    }
}

/// Show the table of dialects: the ways of writing a call, and who writes them.
#[derive(Debug, Args)]
pub(crate) struct DialectsArgs {
    #[command(flatten)]
    pub(crate) own: OwnArgs,
    /// `json` writes one array of objects, `markdown` a page.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
}

/// Show the table of repairs: what can be changed, and how sure each change is.
#[derive(Debug, Args)]
pub(crate) struct RepairsArgs {
    /// `json` writes one array of objects, `markdown` a page.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Mend many records, or whole files of logs and training data, in order, on all cores.
#[derive(Debug, Args)]
#[command(after_help = BATCH_PROTOCOL)]
pub(crate) struct BatchArgs {
    /// Without `--out` the file with the records, `-` is standard input; with it files, folders and patterns.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// Tools for every line that brings none of its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) own: OwnArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Longer lines get an error record, or pass unread, and are not held in memory.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_line_bytes: usize,
    #[command(flatten)]
    pub(crate) clean: CleanArgs,
}

/// Cleaning files. Every flag but `--out` needs it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cleaning files")]
pub(crate) struct CleanArgs {
    /// Where the cleaned files go: a file, or a folder for several.
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// How rows are laid out; `auto` looks at the first one.
    #[arg(long, requires = "out", value_parser = layout, default_value = "auto", value_name = "NAME")]
    pub(crate) layout: Layout,
    /// The column or field that holds arguments, or with another layout the rows.
    #[arg(long, requires = "out", value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// The tool that all rows of a column call.
    #[arg(long, requires = "out", value_name = "NAME", conflicts_with = "tool_column")]
    pub(crate) tool: Option<String>,
    /// The column or field that names the tool; `tool` where it exists.
    #[arg(long, requires = "out", value_name = "NAME")]
    pub(crate) tool_column: Option<String>,
    /// The format of what is written; that of the input where nothing is said.
    #[arg(long, requires = "out", value_parser = format, value_name = "NAME")]
    pub(crate) format: Option<FileFormat>,
    /// Write every call that was left as it was to this file, with its place and the reason.
    #[arg(long, requires = "out", value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Write a page with outcomes and repairs by model, tool and kind.
    #[arg(long, requires = "out", value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Go on with a run that was stopped; what it has finished is not done again.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// How many threads mend; as many as there are cores where nothing is said.
    #[arg(long, requires = "out", value_name = "COUNT")]
    pub(crate) threads: Option<usize>,
    /// How to show how far it is.
    #[arg(long, requires = "out", value_enum, default_value_t = Watching::Auto, value_name = "HOW")]
    pub(crate) progress: Watching,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Watching {
    /// A bar where somebody watches, else nothing.
    Auto,
    /// A line every few seconds, for logs.
    Lines,
    /// Nothing.
    Off,
}

fn layout(name: &str) -> Result<Layout, String> {
    let found = LAYOUTS.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout);
    found.ok_or_else(|| one_of(LAYOUTS.iter().map(|(name, _)| *name)))
}

fn format(name: &str) -> Result<FileFormat, String> {
    let found = FORMATS.iter().find(|row| row.0 == name).map(|row| row.1);
    found.ok_or_else(|| one_of(FORMATS.iter().map(|row| row.0)))
}

fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}

const BATCH_PROTOCOL: &str = "\
A record is one of:
  {\"id\":…, \"json\":\"<text>\", \"schema\":{…}}
  {\"id\":…, \"tool\":\"<name>\", \"arguments\":\"<text>\" or a value, \"tools\":[…] or \"schema\":{…},
   \"finish_reason\":\"…\"}
A line that is no record is answered with {\"id\":…, \"error\":\"…\"} and the run goes on.

Layouts of files:
  records    each line is a record and is answered by an object in its place
  openai     messages with tool_calls, answers with choices, items of Responses
  anthropic  messages with blocks of tool_use
  chat       both of them, row by row
  sharegpt   conversations of turns, with calls as text in any dialect
  column     one column or field holds arguments; columns beside it mean what they mean in a record
Formats: jsonl, jsonl.gz, jsonl.zst, parquet, arrow, arrows; found out from what a file begins with.

Exit codes:
  0  every line was answered, or every file cleaned, whatever the outcomes
  2  the input or the tools could not be read, or the usage was wrong";

/// Dialects that the built-in table does not have.
#[derive(Debug, Args)]
pub(crate) struct OwnArgs {
    /// A TOML file with dialects and ids of models of your own.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_DIALECTS")]
    dialects: Option<PathBuf>,
}

impl OwnArgs {
    pub(crate) fn read(&self) -> Result<CustomDialects, Failure> {
        let own = self.dialects.as_deref().map(toolmend_gateway::read_dialects).transpose();
        own.map(Option::unwrap_or_default).map_err(|error| Failure::Dialects(error.to_string()))
    }
}

/// Stand in front of an MCP server, and mend the arguments of calls on their way.
#[derive(Debug, Args)]
#[command(after_help = MCP_EXAMPLE)]
pub(crate) struct McpArgs {
    /// Say on standard error what was mended or refused.
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// The server and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}

const MCP_EXAMPLE: &str = "\
In the configuration of a client, put `toolmend mcp --` before the server's command:
  toolmend mcp -- npx -y @modelcontextprotocol/server-everything

The exit code is the server's.";

/// What may be repaired, and how much work that may be.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// What may be repaired.
    #[arg(long = "policy", value_name = "NAME", value_enum, default_value_t = PolicyName::Balanced)]
    name: PolicyName,
    /// The longest text to repair; valid text may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    max_bytes: usize,
    /// The deepest nesting, at most 1024.
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().depth)]
    max_depth: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyName {
    /// Pass every byte through, judge nothing.
    Off,
    /// Judge, repair nothing.
    Strict,
    /// Repair wherever one reading stands out.
    Balanced,
    /// Balanced, and the risky forms that are off by default.
    Eager,
}

impl PolicyArgs {
    pub(crate) fn policy(&self) -> Policy {
        let preset = match self.name {
            PolicyName::Off => Preset::Off,
            PolicyName::Strict => Preset::Strict,
            PolicyName::Balanced => Preset::Balanced,
            PolicyName::Eager => Preset::Eager,
        };
        let limits = Limits::new().max_bytes(self.max_bytes).max_depth(self.max_depth);
        Policy::preset(preset).limits(limits)
    }
}
