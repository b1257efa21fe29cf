//! What a run is asked to do, and what it reports. Data only; the run itself is elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use crate::counts::CallCounts;
use crate::format::Format;
use crate::layout::{Fields, Layout};
use crate::protocol::Rules;

/// Files to clean, and how.
///
/// [`Job::run`] has an example.
#[derive(Debug)]
pub struct Job {
    /// Files, folders and glob patterns.
    pub inputs: Vec<PathBuf>,
    /// The output: a file if the input is a single file, otherwise a folder.
    pub out: PathBuf,
    /// The format of the output. By default, the format of the input.
    pub format: Option<Format>,
    /// Where the calls of a row are.
    pub layout: Layout,
    /// The names of the fields or columns that the layout `column` reads.
    pub fields: Fields,
    /// The policy, the dialects and the tools.
    pub rules: Rules,
    /// Text that differs if the rules differ. A run can only be resumed with the same rules.
    pub rules_text: String,
    /// The file that reports what was left unchanged, and why.
    pub rejects: Option<PathBuf>,
    /// The HTML file that reports about the run.
    pub report: Option<PathBuf>,
    /// Whether to continue a run that was stopped.
    pub resume: bool,
    /// How many threads mend calls. By default, one for each core.
    pub threads: Option<usize>,
    /// The longest line that is read, in bytes. Longer lines are written unchanged.
    pub longest_line: usize,
    /// The approximate size of a unit, the piece of a file that a thread cleans at a time. Units of Parquet files are twelve
    /// times as large, because small row groups are slow to read.
    pub unit_bytes: usize,
}

impl Job {
    /// Creates a job with default options.
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

    /// Describes everything that the output depends on. A run can only be resumed if this is the same.
    pub(crate) fn describe_settings(&self) -> String {
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

/// How far a run has come.
#[derive(Debug, Clone)]
pub struct Progress {
    /// The size of all inputs, in bytes.
    pub total: u64,
    /// How many of these bytes are done.
    pub read: u64,
    /// How many bytes an earlier run had done.
    pub resumed: u64,
    /// The rows and calls so far.
    pub counts: CallCounts,
    /// The time since the start of this run.
    pub elapsed: Duration,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The number of files.
    pub files: usize,
    /// Their size, in bytes.
    pub bytes: u64,
    /// How many bytes an earlier run had done.
    pub resumed: u64,
    /// All rows and calls, including those of earlier runs.
    pub counts: CallCounts,
    /// How long the run took.
    pub elapsed: Duration,
}
