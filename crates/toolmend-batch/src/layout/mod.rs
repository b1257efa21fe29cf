//! Layouts: where the calls of a row are.
//!
//! A layout finds the calls of a row, and the tools, the model and the schema that belong to them. It hands each call to a
//! `RowMender`. Rows are edited, not written again: a layout never produces a row, so everything that is not a mended call
//! stays the same, byte for byte.

mod chat;
mod column;
mod model_output;
mod sharegpt;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use toolmend::Finish;
use toolmend_json::{Edits, ValueRef};

use self::chat::CallNotations;
use crate::judge::{RowMender, WorkerState};

/// Where the calls of a row are.
///
/// ```
/// use toolmend_batch::Layout;
/// assert_eq!(Layout::ShareGpt.name(), "sharegpt");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Detected from the first row.
    Auto,
    /// Records of the batch protocol. Each row is replaced by its answer.
    Records,
    /// Logs in the format of `OpenAI`: `messages` with `tool_calls`, answers with `choices`, items of the Responses API.
    OpenAi,
    /// Logs in the format of Anthropic: messages with `tool_use` blocks.
    Anthropic,
    /// Logs in either of these formats, also mixed.
    Chat,
    /// Training data: `conversations` of turns, with the calls written as text.
    ShareGpt,
    /// One field or column holds the arguments of a call.
    Column,
}

/// All layouts with their names on the command line.
///
/// ```
/// use toolmend_batch::{LAYOUTS, Layout};
/// assert!(LAYOUTS.contains(&("openai", Layout::OpenAi)));
/// ```
pub const LAYOUTS: &[(&str, Layout)] = &[
    ("auto", Layout::Auto),
    ("records", Layout::Records),
    ("openai", Layout::OpenAi),
    ("anthropic", Layout::Anthropic),
    ("chat", Layout::Chat),
    ("sharegpt", Layout::ShareGpt),
    ("column", Layout::Column),
];

impl Layout {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        LAYOUTS.iter().find(|(_, layout)| *layout == self).map_or("", |(name, _)| name)
    }

    /// Detects the layout of a row from the members that it has.
    pub(crate) fn from_members(mut has: impl FnMut(&str) -> bool) -> Option<Layout> {
        MEMBER_LAYOUTS.iter().find(|(name, _)| has(name)).map(|(_, layout)| *layout)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The layout that the presence of a member implies. The most reliable members come first.
const MEMBER_LAYOUTS: &[(&str, Layout)] = &[
    ("conversations", Layout::ShareGpt),
    ("messages", Layout::Chat),
    ("choices", Layout::Chat),
    ("request", Layout::Chat),
    ("response", Layout::Chat),
    ("body", Layout::Chat),
    ("chunks", Layout::Records),
    ("arguments", Layout::Records),
    ("json", Layout::Records),
    ("text", Layout::Records),
    ("output", Layout::Chat),
    ("content", Layout::Chat),
];

/// The names of the fields or columns that [`Layout::Column`] reads.
///
/// ```
/// use toolmend_batch::Fields;
/// let fields = Fields { column: Some("call".into()), tool: Some("search".into()), ..Fields::default() };
/// assert_eq!(fields.tool_column, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fields {
    /// The field of the arguments. `arguments` by default.
    pub column: Option<String>,
    /// The tool that all rows call.
    pub tool: Option<String>,
    /// The field of the name of the tool. `tool` by default, if there is such a field.
    pub tool_column: Option<String>,
}

impl Fields {
    /// Returns the name of the field of the arguments.
    pub(crate) fn column(&self) -> &str {
        self.column.as_deref().unwrap_or("arguments")
    }

    /// Returns the name of the field of the name of the tool.
    pub(crate) fn tool_column(&self) -> &str {
        self.tool_column.as_deref().unwrap_or("tool")
    }
}

/// A layout that is decided, with the names it needs.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedLayout {
    pub(crate) layout: Layout,
    pub(crate) fields: Fields,
}

/// A row as it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceRow<'a> {
    pub(crate) file: &'a str,
    /// The line or row, counted from 1.
    pub(crate) number: u64,
    pub(crate) root: ValueRef<'a>,
}

impl ResolvedLayout {
    /// Judges every call of a row, and adds what has to be changed to `edits`.
    pub(crate) fn mend_row(&self, source: SourceRow<'_>, worker: &mut WorkerState<'_>, edits: &mut Edits) {
        let (openai, anthropic) = match self.layout {
            Layout::ShareGpt => return sharegpt::mend_row(source, worker, edits),
            Layout::Column => return column::mend_row(&self.fields, source, worker, edits),
            Layout::OpenAi => (true, false),
            Layout::Anthropic => (false, true),
            Layout::Chat | Layout::Auto | Layout::Records => (true, true),
        };
        chat::mend_row(CallNotations { openai, anthropic }, source, worker, edits);
    }
}

/// Returns a list of tools as JSON text. The list is a value of the row, or a string that holds one.
fn read_tool_list<'d>(tools: ValueRef<'d>, worker: &mut WorkerState<'_>) -> Option<Cow<'d, str>> {
    if tools.is_array() || tools.is_object() {
        return (tools.raw().len() > 2).then(|| Cow::Borrowed(tools.raw()));
    }
    let text = tools.text()?;
    let list = worker.tool_lists.get_or_insert(&text, || Arc::new(sharegpt::parse_tool_list(&text)));
    list.as_ref().clone().map(Cow::Owned)
}

/// Reads the reason for which a turn ended.
fn read_finish(reason: Option<ValueRef<'_>>) -> Finish {
    reason.and_then(ValueRef::text).map_or(Finish::Unknown, |reason| Finish::from_reason(&reason))
}

/// Selects what the calls of a row are judged against, and begins to judge it.
fn begin_row<'a, 'r>(
    source: SourceRow<'a>,
    worker: &'a mut WorkerState<'r>,
    edits: &'a mut Edits,
    model: Option<ValueRef<'a>>,
    (tools, schema): (Option<&str>, Option<&str>),
) -> RowMender<'a, 'r> {
    let declarations = worker.select_declarations(tools, schema);
    let model = model.and_then(ValueRef::text).unwrap_or_default();
    RowMender { worker, edits, file: source.file, number: source.number, model, declarations }
}
