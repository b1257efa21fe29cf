//! The table of dialects: one row for each notation of calls.
//!
//! A row is data. It says how its family writes: what is around the calls, how one call looks, how one argument looks,
//! and which properties its notation has. Readers know forms, not families. They ask a row for a property, or ask the
//! table which row a call belongs to, so that no other module contains the name of a row. `tests/coverage.rs` checks
//! that.

mod informal;
mod json;
mod markers;
mod named;
mod python;
mod tagged;

use std::sync::LazyLock;

use super::custom::JsonShape;
use crate::turn::Source;

/// The forms of calls. There is one reader for each form, not for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// A JSON object with the name.
    Json,
    /// A name, then arguments as JSON.
    Named,
    /// Tags with the name in the call's tag and the key in the argument's.
    Tagged,
    /// Tags around each key and each value.
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
    /// Strings unchanged, everything else as JSON.
    Raw,
    /// The same, and the tag says which: `{string}` is `true` or `false`.
    Flagged,
    /// The same, and the tag names the type: `{type}`.
    Typed,
    /// Python literals.
    Python,
    /// Gemma's notation, with this token for quotes.
    Quoted(&'static str),
    /// As the attribute of a tag: everything in quotes, with backslashes before quotes.
    Attribute,
}

/// What a reader can recognise without a marker that belongs to one row.
///
/// The reader asks [`recognised`] for the row of such a call. Exactly one row answers to each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recognition {
    /// An object that is the arguments of a declared tool, and nothing else.
    ArgumentsAlone,
    /// `{tool => "f", args => {--key "value"}}`
    ArrowHash,
    /// `tool_name:「始」f「末」`
    CornerBrackets,
    /// `<|open|>call tool="f"<|sep|>`
    Section,
    /// `<tool name="f" args="…`, truncated inside the tag.
    TruncatedTag,
    /// `tool: f` with one line for each argument.
    YamlLines,
    /// `**Tool:** f  **Key:** value`, and the same with bars.
    BoldWords,
    /// `f/key>value`
    SlashKeyValue,
    /// `[tool_call: f {…}]`
    WordInBrackets,
    /// `[Calling tool="f" key="value"]`
    AttributesInBrackets,
    /// `>>>f` on a line of its own.
    RecipientLine,
    /// `function=f><parameter=…`: the start of the tag was lost.
    HeadlessTag,
    /// `f(key=value)` on a line of its own.
    PythonLine,
    /// `functions.f:0{…}`
    FunctionsPrefix,
    /// `f` and its arguments as JSON.
    NameLine,
    /// `Action: f` and `Action Input: …`
    ActionLines,
    /// `print(default_api.f(…))`, in a fence that is labelled as a program.
    Program,
    /// `call:f{…}`
    GemmaLine,
    /// Code for an interpreter that is one of the declared tools.
    InterpreterCode,
    /// A message for a tool whose body is neither JSON nor tags.
    PlainMessage,
    /// The tags of arguments, without a call around them.
    TaggedArguments,
}

/// What may be left of a message header when the prompt ends inside it, or a server strips its special tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareHeader {
    /// Nothing.
    None,
    /// The name of a channel, with the text directly after it: `analysisThe user…`.
    Channel,
    /// The recipient `all` on a line of its own.
    AllLine,
}

/// One notation of calls, and the model families that write it.
///
/// ```
/// let row = toolmend::dialects().iter().find(|row| row.name() == "harmony").unwrap();
/// assert_eq!((row.families(), row.source()), ("gpt-oss", toolmend::Source::Explicit));
/// assert!(row.example().contains("to=functions.get_weather"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a notation")]
pub struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) families: &'static str,
    pub(crate) form: Form,
    pub(crate) source: Source,
    /// Whether the row is read by default.
    pub(crate) on: bool,
    pub(crate) reasoning: &'static str,
    /// Markers that distinguish this row from others of its form, in the spelling of the table of tokens.
    pub(crate) marks: &'static [&'static str],
    /// What is around all calls.
    pub(crate) section: (&'static str, &'static str),
    /// One call: `{name}`, `{arguments}` or `{parameters}`, `{id}`, `{index}`.
    pub(crate) call: &'static str,
    /// What is between two calls.
    pub(crate) join: &'static str,
    /// One argument: `{key}`, `{value}`.
    pub(crate) parameter: &'static str,
    pub(crate) values: Values,
    /// Texts that a value cannot contain, because the notation has no escape for them.
    pub(crate) unsayable: &'static [&'static str],
    /// Models with known ids write it on their own, and not because a prompt or a server makes them.
    pub(crate) has_models: bool,
    /// A call of this form without a known marker belongs to this row.
    pub(crate) is_fallback: bool,
    /// A call in a fence belongs to this row instead of the fallback of its form.
    pub(crate) is_fenced: bool,
    /// What readers recognise as this row without a marker.
    pub(crate) recognised_by: &'static [Recognition],
    /// Labels of the fences that contain this notation.
    pub(crate) fence_labels: &'static [&'static str],
    /// Values begin directly after their tags, so that every line break belongs to the value.
    pub(crate) has_verbatim_values: bool,
    /// The name of the tool is the only key of the call's object.
    pub(crate) name_is_key: bool,
    /// Where the parts of a call are in its object, if the keys are not the usual ones.
    pub(crate) json_shape: Option<JsonShape>,
    /// Fixed words between the opening marker and the name.
    pub(crate) lead: &'static str,
    /// A line before each call, or before all of them.
    pub(crate) heading: &'static str,
    /// The element with the code of a call that left its argument for code empty.
    pub(crate) code_element: &'static str,
    /// The token before code for an interpreter that is one of the tools.
    pub(crate) code_token: &'static str,
    /// Words that the family writes with a mark after their `<` where they are text.
    pub(crate) escaped_words: &'static [&'static str],
    /// The element that names the server of the tool.
    pub(crate) server_element: &'static str,
    /// Servers drop the marker that closes a call, because it also ends the output.
    pub(crate) closer_is_dropped: bool,
    /// The id of a call comes after its arguments.
    pub(crate) id_after_arguments: bool,
    /// The name before the marker is repeated in the body.
    pub(crate) repeats_name: bool,
    /// The prompt always opens a reasoning section.
    pub(crate) prompt_opens_reasoning: bool,
    /// The server constrains the output to the arguments of the only declared tool.
    pub(crate) is_bound_to_tool: bool,
    /// What may be left of a message header.
    pub(crate) bare_header: BareHeader,
    /// The namespace of tags that are only shown in a message to the user.
    pub(crate) namespace_shown_to_user: &'static str,
    /// Names that the family calls in order to say that it calls no tool.
    pub(crate) no_tool_names: &'static [&'static str],
}

impl Dialect {
    /// The name of the dialect. Names never change.
    ///
    /// ```
    /// assert!(toolmend::dialects().iter().any(|row| row.name() == "hermes_json"));
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The model families that write this dialect, as text for people.
    ///
    /// ```
    /// let row = toolmend::dialects().iter().find(|row| row.name() == "hermes_json").unwrap();
    /// assert!(row.families().contains("Qwen"));
    /// ```
    pub fn families(&self) -> &'static str {
        self.families
    }

    /// How these families write their reasoning, or `none`.
    ///
    /// ```
    /// assert!(toolmend::dialects().iter().any(|row| row.reasoning() == "none"));
    /// ```
    pub fn reasoning(&self) -> &'static str {
        self.reasoning
    }

    /// Whether this dialect is read by default. Others are read if they are requested by name, or with the preset
    /// `eager`.
    ///
    /// ```
    /// let row = toolmend::dialects().iter().find(|row| row.name() == "hermes_json").unwrap();
    /// assert!(row.on_by_default());
    /// ```
    pub fn on_by_default(&self) -> bool {
        self.on
    }

    /// Whether the markers of this dialect mean a call and nothing else.
    ///
    /// ```
    /// let row = toolmend::dialects().iter().find(|row| row.name() == "hermes_json").unwrap();
    /// assert_eq!(row.source(), toolmend::Source::Explicit);
    /// ```
    pub fn source(&self) -> Source {
        self.source
    }
}

const EXPLICIT: Source = Source::Explicit;
const INFERRED: Source = Source::Inferred;

/// The defaults of a row.
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
    has_models: true,
    is_fallback: false,
    is_fenced: false,
    recognised_by: &[],
    fence_labels: &[],
    has_verbatim_values: false,
    name_is_key: false,
    json_shape: None,
    lead: "",
    heading: "",
    code_element: "",
    code_token: "",
    escaped_words: &[],
    server_element: "",
    closer_is_dropped: false,
    id_after_arguments: false,
    repeats_name: false,
    prompt_opens_reasoning: false,
    is_bound_to_tool: false,
    bare_header: BareHeader::None,
    namespace_shown_to_user: "",
    no_tool_names: &[],
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
const INFORMAL: Dialect = Dialect { source: INFERRED, families: "any", has_models: false, ..ROW };
const INVOKE: &str = "<invoke name=\"{name}\">\n{parameters}</invoke>";
const PARAMETER: &str = "<parameter name=\"{key}\">{value}</parameter>\n";

/// Every row. Among the rows of one form, the first with a marker that was read names the call, so special rows come
/// first.
static DIALECTS: LazyLock<Vec<Dialect>> =
    LazyLock::new(|| [json::ROWS, named::ROWS, tagged::ROWS, python::ROWS, informal::ROWS].concat());

/// Returns every built-in dialect, in the order of the table.
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

/// Markers that are always closed. If the closing marker is missing, the output was truncated.
const CLOSED: &[&str] = &[
    "<|tool_call_begin|>",
    "<|tool_calls_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_start|>",
    "<|tool_call>",
    "<|tool_call:begin|>",
    "<start_function_call>",
    "<|action_start|>",
    "<|FunctionCallBegin|>",
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
    "<|tool_call:start|>",
    "<|plamo:begin_tool_requests:plamo|>",
    "<|plamo:begin_tool_request:plamo|>",
    "<|plamo:begin_tool_name:plamo|>",
    "<iquestcoder_tool_call>",
    "<iquest_tool_call>",
    "<ifm|tool_calls>",
    "<ifm|tool_call>",
    "<GCML|tool_calls>",
    "<use_mcp_tool>",
];

/// Whether calls after this marker are always closed.
pub(crate) fn is_closed(mark: &str) -> bool {
    CLOSED.contains(&mark)
}

/// The row for a call of this form after these markers.
pub(crate) fn row_of(seen: &[String], form: Form) -> &'static Dialect {
    let marked = |row: &&Dialect| {
        row.form == form && row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark))
    };
    DIALECTS.iter().find(marked).or_else(|| only_row_of(seen)).unwrap_or_else(|| fallback(form))
}

/// The fixed words before the name in a row whose marker is one of these, and the mark of that row: its words, then the
/// marker.
pub(crate) fn optional_lead(seen: &[String]) -> Option<(&'static str, &'static str)> {
    static LEADS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
        let leading = DIALECTS.iter().filter(|row| !row.lead.is_empty());
        leading.flat_map(|row| row.marks.iter().map(|&mark| (row.lead, mark))).collect()
    });
    let is_seen = |lead: &str, mark: &str| {
        mark.strip_prefix(lead.trim()).is_some_and(|marker| seen.iter().any(|seen| seen == marker))
    };
    LEADS.iter().copied().find(|(lead, mark)| is_seen(lead, mark))
}

/// The elements that name the server of a call in the row that one of these markers belongs to.
pub(crate) fn server_element(seen: &[String]) -> Option<&'static str> {
    let marked = |row: &&Dialect| {
        !row.server_element.is_empty() && row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark))
    };
    DIALECTS.iter().find(marked).map(|row| row.server_element)
}

/// The element with code in the row that one of these markers belongs to.
pub(crate) fn code_element(seen: &[String]) -> Option<&'static str> {
    let marked = |row: &&Dialect| {
        !row.code_element.is_empty() && row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark))
    };
    DIALECTS.iter().find(marked).map(|row| row.code_element)
}

/// The rows with a heading.
pub(crate) fn headed_rows() -> &'static [&'static Dialect] {
    static HEADED: LazyLock<Vec<&'static Dialect>> =
        LazyLock::new(|| DIALECTS.iter().filter(|row| !row.heading.is_empty()).collect());
    &HEADED
}

/// The row that one of these markers belongs to, if it belongs to no other row. A call without arguments has no form.
fn only_row_of(seen: &[String]) -> Option<&'static Dialect> {
    seen.iter().find_map(|seen| {
        let mut rows = DIALECTS.iter().filter(|row| row.marks.contains(&seen.as_str()));
        rows.next().filter(|_| rows.next().is_none())
    })
}

/// The row for a call of this form without any marker.
fn fallback(form: Form) -> &'static Dialect {
    static FALLBACKS: LazyLock<Vec<&'static Dialect>> =
        LazyLock::new(|| DIALECTS.iter().filter(|row| row.is_fallback).collect());
    FALLBACKS.iter().copied().find(|row| row.form == form).unwrap_or(&ROW)
}

/// The row that a reader recognises by this.
pub(crate) fn recognised(recognition: Recognition) -> &'static Dialect {
    // Readers ask for every candidate, so the few rows that can answer are collected once.
    static RECOGNISED: LazyLock<Vec<(Recognition, &'static Dialect)>> = LazyLock::new(|| {
        let each = |row: &'static Dialect| row.recognised_by.iter().map(move |&by| (by, row));
        DIALECTS.iter().flat_map(each).collect()
    });
    RECOGNISED.iter().find(|(by, _)| *by == recognition).map_or(&ROW, |&(_, row)| row)
}

impl Dialect {
    /// Whether readers recognise this row by this.
    pub(crate) fn is_recognised_by(&self, recognition: Recognition) -> bool {
        self.recognised_by.contains(&recognition)
    }

    /// The row for the same call in a fence.
    pub(crate) fn in_fence(&'static self) -> &'static Dialect {
        let fenced = |row: &&Dialect| row.is_fenced && row.form == self.form;
        if self.is_fallback { DIALECTS.iter().find(fenced).unwrap_or(self) } else { self }
    }
}

/// The markers of all rows with some property. They are collected once, because readers ask for every call.
pub(crate) struct MarkerSet(LazyLock<Vec<&'static str>>);

impl MarkerSet {
    /// Whether one of these markers belongs to the set.
    pub(crate) fn contains_any(&self, seen: &[String]) -> bool {
        seen.iter().any(|seen| self.contains(seen))
    }

    /// Whether this marker belongs to the set.
    pub(crate) fn contains(&self, marker: &str) -> bool {
        self.0.contains(&marker)
    }
}

fn collect_markers(has: impl Fn(&Dialect) -> bool) -> Vec<&'static str> {
    DIALECTS.iter().filter(|row| has(row)).flat_map(|row| row.marks).copied().collect()
}

/// Markers of Gemma's notation.
pub(crate) static GEMMA_MARKERS: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.form == Form::Gemma)));
/// Markers of notations with a tag for each key and each value.
pub(crate) static PAIR_MARKERS: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.form == Form::Pairs)));
/// Markers before objects whose only key is the name of the tool.
pub(crate) static NAME_IS_KEY: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.name_is_key)));
/// Markers before calls whose id comes after their arguments.
pub(crate) static ID_AFTER_ARGUMENTS: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.id_after_arguments)));
/// Markers after a name that is repeated in the body.
pub(crate) static NAME_REPEATED: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.repeats_name)));
/// Markers before pairs in corner brackets.
pub(crate) static CORNER_BRACKETS: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.is_recognised_by(Recognition::CornerBrackets))));
/// Tokens inside a frame that announce code for an interpreter.
pub(crate) static CODE_TOKENS: MarkerSet = MarkerSet(LazyLock::new(|| {
    DIALECTS.iter().map(|row| row.code_token).filter(|token| !token.is_empty()).collect()
}));
/// Markers before code for an interpreter.
pub(crate) static INTERPRETER_CODE: MarkerSet =
    MarkerSet(LazyLock::new(|| collect_markers(|row| row.is_recognised_by(Recognition::InterpreterCode))));

/// Whether tags of this namespace are only shown, in a message to the user.
// Case: dialects/atem/to-user
pub(crate) fn is_shown_to_user(namespace: &str) -> bool {
    !namespace.is_empty() && DIALECTS.iter().any(|row| row.namespace_shown_to_user == namespace)
}

/// Whether a call of this name says that no tool is called.
// Case: dialects/command_r_action/directly-answer
pub(crate) fn is_no_tool(name: &str) -> bool {
    static NAMES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| DIALECTS.iter().flat_map(|row| row.no_tool_names).copied().collect());
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: &[Form] = &[
        Form::Json,
        Form::Named,
        Form::Tagged,
        Form::Pairs,
        Form::Element,
        Form::Attributes,
        Form::Python,
        Form::Gemma,
        Form::Lines,
    ];

    #[test]
    fn every_form_has_one_fallback() {
        for form in FORMS {
            let rows = DIALECTS.iter().filter(|row| row.is_fallback && row.form == *form);
            let names: Vec<_> = rows.map(Dialect::name).collect();
            assert_eq!(names.len(), 1, "src/dialect/table: rows with is_fallback for {form:?}: {names:?}");
        }
    }

    #[test]
    fn every_recognition_belongs_to_one_row() {
        use Recognition as R;
        for recognition in [
            R::ArgumentsAlone,
            R::ArrowHash,
            R::CornerBrackets,
            R::Section,
            R::TruncatedTag,
            R::YamlLines,
            R::BoldWords,
            R::SlashKeyValue,
            R::WordInBrackets,
            R::AttributesInBrackets,
            R::RecipientLine,
            R::HeadlessTag,
            R::PythonLine,
            R::FunctionsPrefix,
            R::NameLine,
            R::ActionLines,
            R::Program,
            R::GemmaLine,
            R::InterpreterCode,
            R::PlainMessage,
            R::TaggedArguments,
        ] {
            let rows = DIALECTS.iter().filter(|row| row.is_recognised_by(recognition));
            let names: Vec<_> = rows.map(Dialect::name).collect();
            assert_eq!(names.len(), 1, "src/dialect/table: rows recognised by {recognition:?}: {names:?}");
        }
    }
}
