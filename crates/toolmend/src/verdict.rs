//! The only thing that leaves the library: what became of a text or a call, and why.

use std::borrow::Cow;

use crate::repair::Repair;
use crate::wire_names::wire_names;

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Outcome {
    /// Valid as it came; the text is the input, byte for byte.
    Clean,
    /// Not valid as it came, valid now.
    Mended,
    /// Cut off before its end. It must not run.
    Truncated,
    /// Not mended. It must not run.
    Rejected,
}

wire_names!(
    Outcome, "outcome",
    Clean => "clean",
    Mended => "mended",
    Truncated => "truncated",
    Rejected => "rejected",
);

impl Outcome {
    /// Whether there is a value to run with.
    pub const fn runs(self) -> bool {
        matches!(self, Outcome::Clean | Outcome::Mended)
    }
}

/// Why something does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Two different readings are equally good.
    Ambiguous,
    /// No reading of the text as JSON was found.
    Syntax,
    /// The value does not fit the schema.
    Schema,
    /// No declared tool has this name.
    UnknownTool,
    /// A limit on size, depth or edits was passed.
    Limit,
    /// The policy forbids a repair that would be needed.
    Policy,
}

wire_names!(
    Reason, "reason",
    Ambiguous => "ambiguous",
    Syntax => "syntax",
    Schema => "schema",
    UnknownTool => "unknown_tool",
    Limit => "limit",
    Policy => "policy",
);

/// What stood in the way, for a verdict that does not run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refusal {
    /// The class of the refusal; absent where the text was cut off.
    pub reason: Option<Reason>,
    /// One sentence: what was expected, what was found, where.
    pub message: String,
    /// The two readings that tied, as JSON text.
    pub readings: Vec<String>,
    /// JSON pointer of the place where the text was cut off.
    pub cut: Option<String>,
    /// The members that were complete, as JSON text. For display, never as arguments.
    pub partial: Option<String>,
    /// Every place where the value does not fit the schema.
    pub violations: Vec<Violation>,
}

/// One place where a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer of the value.
    pub path: String,
    /// The schema keyword that it breaks.
    pub keyword: String,
    /// JSON pointer of that keyword in the schema.
    pub schema_path: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

/// What became of a text or a call.
///
/// ```
/// let verdict = toolmend::fix(r#"{"city": 'Paris',}"#);
/// assert_eq!(verdict.outcome(), toolmend::Outcome::Mended);
/// assert_eq!(verdict.json(), Some(r#"{"city": "Paris"}"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<'t> {
    pub(crate) outcome: Outcome,
    pub(crate) text: Cow<'t, str>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) values: Vec<String>,
    pub(crate) tool: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) feedback: Option<String>,
    pub(crate) refusal: Option<Box<Refusal>>,
}

impl<'t> Verdict<'t> {
    pub(crate) fn clean(text: &'t str) -> Self {
        Verdict {
            outcome: Outcome::Clean,
            text: Cow::Borrowed(text),
            repairs: Vec::new(),
            values: Vec::new(),
            tool: None,
            notes: Vec::new(),
            feedback: None,
            refusal: None,
        }
    }

    pub(crate) fn mended(text: String, repairs: Vec<Repair>) -> Self {
        Verdict { outcome: Outcome::Mended, text: Cow::Owned(text), repairs, ..Verdict::clean("") }
    }

    pub(crate) fn refused(input: &'t str, outcome: Outcome, refusal: Refusal) -> Self {
        Verdict { outcome, refusal: Some(Box::new(refusal)), ..Verdict::clean(input) }
    }

    /// What became of it.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The JSON to run with. Absent where the verdict does not run, and where several calls came out.
    pub fn json(&self) -> Option<&str> {
        (self.outcome.runs() && self.values.is_empty()).then_some(self.text.as_ref())
    }

    /// The JSON to run with on one line: no white space between tokens, every token as it is spelled.
    pub fn compact_json(&self) -> Option<String> {
        self.json().map(crate::json::text::compact_json)
    }

    /// The JSON to run with where the verdict runs, else the input as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same as [`Verdict::text`], without a copy where it can be.
    pub fn into_text(self) -> Cow<'t, str> {
        self.text
    }

    /// The JSON to run with, parsed.
    pub fn value(&self) -> Option<serde_json::Value> {
        self.json().and_then(|json| serde_json::from_str(json).ok())
    }

    /// Every change that was made. Empty exactly where the outcome is not `Mended`.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// The values of a text that held several different ones, as JSON text.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The declared tool that the call resolved to.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Ready-made `Note:` lines for the tool result.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Words for the model: what was wrong and what to do next.
    pub fn feedback(&self) -> Option<&str> {
        self.feedback.as_deref()
    }

    /// What stood in the way, where the verdict does not run.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_deref()
    }

    /// The reason where the verdict is a rejection.
    pub fn reason(&self) -> Option<Reason> {
        self.refusal.as_ref().and_then(|refusal| refusal.reason)
    }

    /// The verdict without a borrow of the input.
    pub fn into_owned(self) -> Verdict<'static> {
        Verdict { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}
