//! The command line as it is typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toolmend::{Policy, Preset};

/// Mend the tool calls that language models get nearly right, or refuse them with a reason.
#[derive(Debug, Parser)]
#[command(name = "toolmend", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Batch(BatchArgs),
}

/// Mend many records: one JSON object a line in, one a line out, in order, on all cores.
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// The file with the records; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// Tools for every line that brings none of its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Longer lines get an error record and are not held in memory.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_line_bytes: usize,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// What may be repaired.
    #[arg(long = "policy", value_name = "NAME", value_enum, default_value_t = PolicyName::Balanced)]
    name: PolicyName,
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
        Policy::preset(match self.name {
            PolicyName::Off => Preset::Off,
            PolicyName::Strict => Preset::Strict,
            PolicyName::Balanced => Preset::Balanced,
            PolicyName::Eager => Preset::Eager,
        })
    }
}
