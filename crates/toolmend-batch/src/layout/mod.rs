//! Where the calls of a row stand.

mod chat;
mod field;
mod output;
mod sharegpt;

use std::fmt;

use toolmend_json::{Edits, ValueRef as View};

use crate::judge::{Desk, Row};

/// How rows are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Found out from the first row.
    Auto,
    /// The batch protocol: each row is answered by an object in its place.
    Records,
    /// Chat logs: `messages` with `tool_calls`, answers with `choices`, items of Responses.
    OpenAi,
    /// Messages with blocks of `tool_use`.
    Anthropic,
    /// Both of them, row by row.
    Chat,
    /// `conversations` of turns, with calls as text.
    ShareGpt,
    /// One field or column holds arguments.
    Column,
}

/// Every layout that has a name.
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
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        LAYOUTS.iter().find(|(_, layout)| *layout == self).map_or("", |(name, _)| name)
    }

    /// What a row with these members is, by the first that is known.
    pub(crate) fn of_members(mut has: impl FnMut(&str) -> bool) -> Option<Layout> {
        SIGNS.iter().find(|(name, _)| has(name)).map(|(_, layout)| *layout)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a member of that name says about the layout, the surest first.
const SIGNS: &[(&str, Layout)] = &[
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

/// The names of fields or columns that a row of the layout `column` has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fields {
    /// What holds the arguments; `arguments` where nothing is said.
    pub column: Option<String>,
    /// One tool for all rows.
    pub tool: Option<String>,
    /// What holds the name of the tool; `tool` where nothing is said and it exists.
    pub tool_column: Option<String>,
}

impl Fields {
    /// Where arguments stand.
    pub(crate) fn column(&self) -> &str {
        self.column.as_deref().unwrap_or("arguments")
    }

    /// Where the tool's name stands, unless one is given.
    pub(crate) fn tool_column(&self) -> &str {
        self.tool_column.as_deref().unwrap_or("tool")
    }
}

/// A layout that is decided, with what it needs to know. Rows are edited where they are.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) layout: Layout,
    pub(crate) fields: Fields,
}

/// A row as it is found in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) file: &'a str,
    pub(crate) number: u64,
    pub(crate) root: View<'a>,
}

impl Reading {
    /// Judges every call of the row. What is to be changed is added to the edits.
    pub(crate) fn mend(&self, found: Found<'_>, desk: &mut Desk<'_>, edits: &mut Edits) {
        match self.layout {
            Layout::ShareGpt => sharegpt::mend(found, desk, edits),
            Layout::Column => field::mend(&self.fields, found, desk, edits),
            Layout::OpenAi => chat::mend(chat::Calls { openai: true, anthropic: false }, found, desk, edits),
            Layout::Anthropic => {
                chat::mend(chat::Calls { openai: false, anthropic: true }, found, desk, edits);
            }
            Layout::Chat | Layout::Auto | Layout::Records => {
                chat::mend(chat::Calls { openai: true, anthropic: true }, found, desk, edits);
            }
        }
    }
}

/// A list of tools as JSON text: as it is, or out of a string that holds it.
fn listed<'d>(tools: View<'d>, desk: &mut Desk<'_>) -> Option<std::borrow::Cow<'d, str>> {
    use std::borrow::Cow;
    if tools.is_array() || tools.is_object() {
        return (tools.raw().len() > 2).then(|| Cow::Borrowed(tools.raw()));
    }
    let text = tools.text()?;
    let list = desk.lists.get(&text, || std::sync::Arc::new(sharegpt::as_list(&text)));
    list.as_ref().clone().map(Cow::Owned)
}

/// A row with what its calls are judged under.
fn row<'a, 'r>(
    found: Found<'a>,
    desk: &'a mut Desk<'r>,
    edits: &'a mut Edits,
    model: Option<View<'a>>,
    (tools, schema): (Option<&str>, Option<&str>),
) -> Row<'a, 'r> {
    let kit = desk.kit(tools, schema);
    let model = model.and_then(View::text).unwrap_or_default();
    Row { desk, edits, file: found.file, number: found.number, model, kit }
}
