//! The table of dialects: one row for each way of writing a call.
//!
//! A row says how its family writes: what stands around the calls, how one call looks, how one argument looks. The readers
//! know forms, not families; the row names what they read, and renders calls back.

mod informal;
mod json;
mod markers;
mod named;
mod python;
mod tagged;

use std::sync::LazyLock;

use crate::turn::Source;

/// The notations that calls are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// A JSON object that holds the name.
    Json,
    /// A name, then arguments as JSON.
    Named,
    /// Tags with the name in the call's tag and the key in the argument's.
    Tagged,
    /// Tags around key and value each.
    Pairs,
    /// Tags named after the tool and its keys.
    Element,
    /// Everything in the attributes of one tag.
    Attributes,
    /// `name(key=value)`
    Python,
    /// `call:name{key:value}`
    Gemma,
    /// Lines of words.
    Lines,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// All arguments as one JSON object.
    Json,
    /// Strings as they are, everything else as JSON.
    Raw,
    /// The same, and the tag says which: `{string}` is `true` or `false`.
    Flagged,
    /// The same, and the tag names the type: `{type}`.
    Typed,
    /// Python literals.
    Python,
    /// Gemma's notation, with this token for quotes.
    Quoted(&'static str),
}

/// One way of writing calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) families: &'static str,
    pub(crate) form: Form,
    pub(crate) source: Source,
    /// Whether it is read without being asked for.
    pub(crate) on: bool,
    pub(crate) reasoning: &'static str,
    /// Markers that tell it from others of its form, as the readers spell them.
    pub(crate) marks: &'static [&'static str],
    /// What stands around all calls.
    pub(crate) section: (&'static str, &'static str),
    /// One call: `{name}`, `{arguments}` or `{parameters}`, `{id}`, `{index}`.
    pub(crate) call: &'static str,
    /// What stands between two calls.
    pub(crate) join: &'static str,
    /// One argument: `{key}`, `{value}`.
    pub(crate) parameter: &'static str,
    pub(crate) values: Values,
    /// Texts that no value can hold, because nothing in the notation escapes them.
    pub(crate) unsayable: &'static [&'static str],
}

impl Dialect {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The model families that write it.
    pub fn families(&self) -> &'static str {
        self.families
    }

    /// The reasoning form of these families.
    pub fn reasoning(&self) -> &'static str {
        self.reasoning
    }

    /// Whether it is read without being asked for.
    pub fn on_by_default(&self) -> bool {
        self.on
    }

    /// Whether its markers mean a call and nothing else.
    pub fn source(&self) -> Source {
        self.source
    }
}

const EXPLICIT: Source = Source::Explicit;
const INFERRED: Source = Source::Inferred;

/// What most rows share.
pub(super) const ROW: Dialect = Dialect {
    name: "",
    families: "",
    form: Form::Json,
    source: EXPLICIT,
    on: true,
    reasoning: "none",
    marks: &[],
    section: ("", ""),
    call: r#"{"name": "{name}", "arguments": {arguments}}"#,
    join: "",
    parameter: "",
    values: Values::Json,
    unsayable: &[],
};
const NAMED: Dialect = Dialect { form: Form::Named, call: "{name}\n{arguments}", ..ROW };
const TAGGED: Dialect = Dialect { form: Form::Tagged, values: Values::Raw, ..ROW };
const PAIRS: Dialect = Dialect {
    form: Form::Pairs,
    values: Values::Raw,
    call: "<tool_call>{name}{parameters}</tool_call>",
    parameter: "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    ..ROW
};
const PYTHON: Dialect = Dialect {
    form: Form::Python,
    values: Values::Python,
    call: "{name}({parameters})",
    join: ", ",
    parameter: "{key}={value}",
    ..ROW
};
const INFORMAL: Dialect = Dialect { source: INFERRED, families: "any", ..ROW };
const INVOKE: &str = "<invoke name=\"{name}\">\n{parameters}</invoke>";
const PARAMETER: &str = "<parameter name=\"{key}\">{value}</parameter>\n";

/// Every dialect. Among rows of one form the first whose marker was seen gives its name, so special ones stand first.
static DIALECTS: LazyLock<Vec<Dialect>> =
    LazyLock::new(|| [json::ROWS, named::ROWS, tagged::ROWS, python::ROWS, informal::ROWS].concat());

/// Every way of writing calls that is known, in the order of the table.
///
/// ```
/// let hermes = toolmend::dialects().iter().find(|row| row.name() == "hermes_json").unwrap();
/// assert!(hermes.families().contains("Qwen 2.5"));
/// ```
pub fn dialects() -> &'static [Dialect] {
    &DIALECTS
}

/// The row of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|row| row.name == name)
}

/// Markers that are always closed: without the closer the output was cut.
const CLOSED: &[&str] = &[
    "<|tool_call_begin|>",
    "<|tool_calls_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_start|>",
    "<|tool_call>",
    "<|tool_call:begin|>",
    "<start_function_call>",
    "<|action_start|>",
    "<|START_ACTION|>",
    "<|tools_prefix|>",
    "[TOOL_REQUEST]",
    "<|message|>",
    "<tool_call>",
    "<tool_calls>",
    "<toolcall>",
    "<seed:tool_call>",
    "<longcat_tool_call>",
    "<minimax:tool_call>",
    "<dots_function_call>",
    "<function_calls>",
];

/// Whether calls behind this marker are always closed.
pub(crate) fn is_closed(mark: &str) -> bool {
    CLOSED.contains(&mark)
}

/// The name for a call of this form behind these markers.
pub(crate) fn name_of(seen: &[String], form: Form) -> &'static str {
    let marked = |row: &&Dialect| {
        row.form == form && row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark))
    };
    DIALECTS.iter().find(marked).map_or_else(|| unmarked(form), |row| row.name)
}

/// The name for a call of this form without any marker.
fn unmarked(form: Form) -> &'static str {
    match form {
        Form::Json => "bare_json",
        Form::Named => "prefix_line",
        Form::Tagged => "anthropic_xml",
        Form::Pairs => "glm47",
        Form::Element => "agent_tags",
        Form::Attributes => "attr_tag",
        Form::Python => "pythonic",
        Form::Gemma => "gemma4",
        Form::Lines => "react",
    }
}
