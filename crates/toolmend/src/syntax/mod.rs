//! Tolerant JSON: text to a strict value, with the schema as a guide.
//!
//! Text that is not strict JSON takes this path:
//!
//! 1. `encoding` removes encodings over the whole document, such as a JSON string around it, and `line_prefix` a mark before
//!    every line.
//! 2. `near_strict` reads text that is JSON except for apostrophes and trailing commas. It has one reading, as strict text
//!    has. Only what fails there goes on.
//! 3. `notation` reads a whole text in another notation, and `plain_value` text that is a tool's main value. They explain all of the
//!    text or leave it alone.
//! 4. `document` finds where values are. The [`reader`] reads each of them, with the rules in `grammar` (between values),
//!    `string_end` (where a string ends, that is, which inner quotes are text), `string_escapes` (its content) and
//!    `unquoted_value`. `literal` knows the notations of other languages. What follows decides: `lookahead` rates how well a
//!    value can end at a position.
//! 5. `document` chooses. A value that the words around it take back is refused (`withdrawn_call`), and so is one that leaves
//!    another value out (`conservation`) or that has traces of something else (`implausible_reading`). A reading that one slipped character would turn into another value is contested
//!    (`contested_reading`); `rival_reading` looks for the other value, so that the refusal can name both.
//! 6. `slips` finds every text that is one slip away, and `doubtful` puts them beside the reading.
//!
//! Nothing here recurses over the input, and work is bounded by fuel that is linear in it. This layer never changes a
//! value to fit the schema: the guide only helps to choose between readings. Truncated text is never completed.
//!
//! toolmend takes a side here that other repairers do not:
//!
//! | text | answer | why |
//! |---|---|---|
//! | `{"a": 1} {"a": 2}` | several calls, or `ambiguous` without a tool | picking the first would drop a call |
//! | `[1, 2, ...]` | rejected | an ellipsis says that content is missing |
//! | `"first\⏎second"` (backslash, line break) | the backslash stays | in a shell command it matters, elsewhere it is harmless |
//! | `{"a": "x}` | `x` | all closers are there and the string has none of its own; a cut that ends just so looks the same |
//! | `{"a": "x` | truncated | whatever the finish reason says |
//! | `{"a": "x""}` | `x` | no quote pairs with the last one; after a digit it may mean inches, and that is refused |
//! | `{"a": "5" pipe", "b": "3" one"}` | `ambiguous` without a schema | two values or one; with declared keys it is two |
//! | a list of bare words in the middle of a line | prose | `see [the notes](…)` is how people write |
//! | a missing optional field | stays missing | null is content, too |
// Case: syntax/two-different-values
// Case: syntax/ellipsis-in-array
// Case: syntax/backslash-before-line-break
// Case: syntax/missing-last-quote
// Case: syntax/cut-in-string
// Case: syntax/doubled-closing-quote
// Case: syntax/inch-or-doubled-quote
// Case: syntax/inches-in-two-values
// Case: syntax/prose-with-brackets

mod command_line;
mod completed_cut;
mod conservation;
mod contested_reading;
mod disputed_edits;
mod document;
mod doubtful;
mod edited_strings;
mod enclosing_members;
mod enclosing_structure;
mod encoding;
mod framed_value;
mod fuel;
mod grammar;
#[cfg(test)]
mod growth_tests;
mod implausible_reading;
mod inner_quotes;
mod line_prefix;
mod literal;
mod lookahead;
mod near_strict;
mod notation;
pub(crate) mod number;
mod other_meaning;
mod paid_text;
mod plain_value;
mod reader;
mod reading;
mod reasoning;
mod rival_reading;
mod slips;
pub(crate) mod spelled_out_field;
mod string_end;
mod string_escapes;
mod subcommand;
mod surrounding_text;
mod swallowed_structure;
mod token;
mod unbracketed;
mod unquoted_value;
mod value_form;
mod value_words;
mod withdrawn_call;

pub(crate) use self::doubtful::{has_contradicting_keys, has_duplicate_keys};
#[cfg(test)]
pub(crate) use self::fuel::meter;
pub(crate) use self::fuel::{Allowance, Fuel, OUT_OF_FUEL};
pub(crate) use self::plain_value::is_well_known_tool;
pub(crate) use self::slips::{Likelihood, is_odd_text};
use crate::patch::Patch;
use crate::policy::Policy;
use crate::schema::guide::Guide;
use crate::verdict::{Reason, Refusal};

/// How the model's output ended, as far as the caller knows.
///
/// ```
/// use toolmend::{Finish, FixOptions, Outcome, fix_with};
///
/// // A word at the end of the text may go on, unless the model stopped by itself.
/// let finish = |finish| fix_with(r#"{"a": true"#, &FixOptions::new().finish(finish)).outcome();
/// assert_eq!(finish(Finish::Length), Outcome::Truncated);
/// assert_eq!(finish(Finish::Stop), Outcome::Mended);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Finish {
    /// Nothing is known.
    #[default]
    Unknown,
    /// The model stopped by itself.
    Stop,
    /// The token limit truncated it.
    Length,
}

impl Finish {
    /// Reads a finish reason as servers write it. Only `length` and `max_tokens` mean a truncated output.
    ///
    /// ```
    /// use toolmend::Finish;
    /// assert_eq!(Finish::from_reason("max_tokens"), Finish::Length);
    /// assert_eq!(Finish::from_reason("tool_calls"), Finish::Stop);
    /// assert_eq!(Finish::from_reason("content_filter"), Finish::Unknown);
    /// ```
    pub fn from_reason(reason: &str) -> Self {
        match reason {
            "length" | "max_tokens" => Finish::Length,
            "stop" | "tool_calls" | "tool_use" | "end_turn" | "function_call" => Finish::Stop,
            _ => Finish::Unknown,
        }
    }
}

/// What the reader knows besides the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    pub(crate) guide: &'a Guide,
    pub(crate) policy: &'a Policy,
    pub(crate) finish: Finish,
    /// The tool that the text is meant for. Then text that is not JSON at all may be its arguments.
    pub(crate) tool: Option<&'a str>,
    /// The field that a plain value goes to, if the tool declares one.
    pub(crate) main_field: Option<&'a str>,
    /// Whether the reasons of a refusal are passed on. Only then is it worth a search for the other value of a contested text.
    pub(crate) explains: bool,
    /// What all readers of this text together may spend.
    pub(crate) fuel: &'a Fuel,
}

/// Strict text and the patches that led to it, first to last.
#[derive(Debug, Clone)]
pub(crate) struct MendedText {
    pub(crate) text: String,
    pub(crate) layers: Vec<Patch>,
}

/// The result of reading text that is not strict.
#[derive(Debug)]
pub(crate) enum Reading {
    /// One value.
    One(MendedText),
    /// Several different values, in order.
    Several(Box<SeveralValues>),
    /// The text is truncated: it stops before its value ends.
    Cut(Refusal),
    /// There is no reading, or more than one.
    Refused(Refusal),
    /// A reading that involves a guess, and every text that is one slip away.
    Doubtful(Box<DoubtfulReading>),
}

/// Several different values in one text.
#[derive(Debug)]
pub(crate) struct SeveralValues {
    pub(crate) values: Vec<MendedText>,
    /// All of them as one object, if they are objects with nothing between them.
    pub(crate) merged: Option<MendedText>,
    /// Whether words are between them. Then one may replace the other.
    pub(crate) words_between: bool,
}

/// What the reader made of a text with a guess in it, and what single slips would explain. Which of them count depends on
/// whether they fit the schema, so the pipeline decides.
#[derive(Debug)]
pub(crate) struct DoubtfulReading {
    /// The tolerant reader's own reading, or its refusal.
    pub(crate) own: Reading,
    /// How many marks the own reading assumes to be lost, doubled or mistyped.
    pub(crate) marks: usize,
    /// The values that one corrected mark gives, each once.
    pub(crate) corrected: Vec<CorrectedText>,
    /// Whether there may be more corrections than these.
    pub(crate) incomplete: bool,
}

/// A text with one slip corrected.
#[derive(Debug)]
pub(crate) struct CorrectedText {
    pub(crate) mended: MendedText,
    /// Whether the correction only completes a text that may be truncated.
    pub(crate) completes: bool,
    /// Whether it explains only a part of a string, so that it is a rival but not the answer.
    pub(crate) is_partial: bool,
    pub(crate) likelihood: Likelihood,
    /// How badly its keys fit the schema.
    pub(crate) misfit: u32,
}

/// Reads text that failed the strict check.
pub(crate) fn read(text: &str, context: &ReadContext<'_>) -> Reading {
    if !context.policy.repairs() {
        return Reading::Refused(Refusal {
            reason: Some(Reason::Syntax),
            message: "the text is not valid JSON, and the policy allows no repairs".to_owned(),
            ..Refusal::default()
        });
    }
    document::read(text, context)
}
