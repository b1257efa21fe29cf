//! What is asked for, and what is told about it.

use std::path::PathBuf;
use std::time::Duration;

use crate::counts::Tally;
use crate::format::Format;
use crate::layout::{Fields, Layout};
use crate::protocol::Rules;

/// Files to be cleaned.
#[derive(Debug)]
pub struct Job {
    /// Files, folders and patterns.
    pub inputs: Vec<PathBuf>,
    /// A file where there is one input, else a folder.
    pub out: PathBuf,
    /// The format of what is written; that of the input where nothing is said.
    pub format: Option<Format>,
    /// How rows are laid out.
    pub layout: Layout,
    /// The names of fields and columns.
    pub fields: Fields,
    /// Policy, dialects and tools.
    pub rules: Rules,
    /// What the rules were made from: a run that goes on must have the same.
    pub rules_text: String,
    /// Where to tell what was left as it was.
    pub rejects: Option<PathBuf>,
    /// Where to write a page about the run.
    pub report: Option<PathBuf>,
    /// Whether to go on with a run that was stopped.
    pub resume: bool,
    /// How many threads mend; as many as there are cores where nothing is said.
    pub threads: Option<usize>,
    /// Longer lines are passed on unread.
    pub longest_line: usize,
    /// How much text a unit holds, about; rows of Parquet are taken together twelve times that.
    pub unit_bytes: usize,
}

impl Job {
    /// A job with everything as it is by default.
    pub fn new(inputs: Vec<PathBuf>, out: PathBuf, rules: Rules) -> Self {
        Job {
            inputs,
            out,
            format: None,
            layout: Layout::Auto,
            fields: Fields::default(),
            rules,
            rules_text: String::new(),
            rejects: None,
            report: None,
            resume: false,
            threads: None,
            longest_line: 64 << 20,
            unit_bytes: 2 << 20,
        }
    }

    /// Everything that the output depends on.
    pub(crate) fn asked(&self) -> String {
        let format = self.format.map_or("same", Format::name);
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        format!(
            "format {format}, layout {}, column {}, tool {}, tool column {}, lines up to {}, units of {}, rejects {}, rules {:08x}, toolmend {}",
            self.layout,
            name(&self.fields.column),
            name(&self.fields.tool),
            name(&self.fields.tool_column),
            self.longest_line,
            self.unit_bytes,
            self.rejects.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
            crc32fast::hash(self.rules_text.as_bytes()),
            env!("CARGO_PKG_VERSION"),
        )
    }
}

/// How far a run is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Bytes of all files.
    pub total: u64,
    /// Bytes of them that are done.
    pub read: u64,
    /// Bytes that an earlier run had done.
    pub resumed: u64,
    /// What became of the calls.
    pub tally: Tally,
    /// Since this run began.
    pub elapsed: Duration,
}

/// What a run did.
#[derive(Debug, Clone)]
pub struct Summary {
    /// How many files there were.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that an earlier run had done.
    pub resumed: u64,
    /// What became of the calls.
    pub tally: Tally,
    /// How long it took.
    pub elapsed: Duration,
}
