//! Verdicts: whether a text or a call can be used, with every change that was made, or why it was refused.
//!
//! The types here only carry results. They never read, repair or judge text.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;

use crate::repair::Repair;
use crate::wire_names::wire_names;

/// What happened to a text or a call, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Outcome {
    /// It was valid as received. The JSON is the input, byte for byte.
    Clean,
    /// It was invalid as received and is valid after repairs.
    Mended,
    /// The model's output ended too early. It must not run.
    Truncated,
    /// It could not be repaired safely. It must not run.
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
    /// Returns whether there is JSON to run with: the outcome is `Clean` or `Mended`.
    ///
    /// ```
    /// use toolmend::Outcome;
    /// assert!(Outcome::Mended.runs());
    /// assert!(!Outcome::Truncated.runs());
    /// ```
    pub const fn runs(self) -> bool {
        matches!(self, Outcome::Clean | Outcome::Mended)
    }
}

/// Why a text or a call was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Two different readings are equally plausible.
    Ambiguous,
    /// No reading of the text as JSON was found.
    Syntax,
    /// The value does not fit the schema.
    Schema,
    /// No declared tool has this name.
    UnknownTool,
    /// A limit on size, depth or edits was exceeded.
    Limit,
    /// The policy forbids a repair that is needed.
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

/// Why a verdict does not run, and what to tell the model about it.
///
/// It is an error, so that [`Verdict::into_result`] works with `?`.
///
/// ```
/// let refusal = toolmend::fix(r#"{"text": "never clos"#).into_result().unwrap_err();
/// assert_eq!(refusal.outcome(), toolmend::Outcome::Truncated);
/// assert_eq!(refusal.cut.as_deref(), Some("/text"));
/// assert!(refusal.feedback.unwrap().starts_with("JSON rejected"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refusal {
    /// The class of a rejection; `None` if the text was truncated.
    pub reason: Option<Reason>,
    /// One sentence for logs: what was expected, what was found, and where.
    pub message: String,
    /// The readings that tied, as JSON text.
    pub readings: Vec<String>,
    /// JSON pointer of the value in which the text was cut off.
    pub cut: Option<String>,
    /// The members that were complete, as JSON text. For display, never as arguments.
    pub partial: Option<String>,
    /// Every position at which the value does not fit the schema.
    pub violations: Vec<Violation>,
    /// Feedback for the model: what was wrong and what to do next.
    pub feedback: Option<String>,
}

impl Refusal {
    /// Returns `Truncated` or `Rejected`.
    ///
    /// ```
    /// let refusal = toolmend::fix("no JSON here").into_result().unwrap_err();
    /// assert_eq!(refusal.outcome(), toolmend::Outcome::Rejected);
    /// ```
    pub fn outcome(&self) -> Outcome {
        if self.reason.is_some() { Outcome::Rejected } else { Outcome::Truncated }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.as_str(), self.reason) {
            ("", Some(reason)) => write!(f, "rejected: {reason}"),
            ("", None) => f.write_str("truncated"),
            (message, _) => f.write_str(message),
        }
    }
}

impl std::error::Error for Refusal {}

/// One position at which a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer of the value.
    pub path: String,
    /// The schema keyword that the value violates.
    pub keyword: String,
    /// JSON pointer of that keyword in the schema.
    pub schema_path: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

/// JSON to run with, and how it differs from the input: the `Ok` of [`Verdict::into_result`].
///
/// ```
/// let success = toolmend::fix("{city: 'Paris'}").into_result()?;
/// assert_eq!(success.json, r#"{"city": "Paris"}"#);
/// assert_eq!(success.repairs.len(), 2);
/// # Ok::<(), toolmend::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Success<'t> {
    /// The JSON text. It borrows the input if the input was valid.
    pub json: Cow<'t, str>,
    /// The JSON of further calls of the same tool, if the arguments of one call turned out to be several.
    pub further_calls: Vec<String>,
    /// The declared tool that the call resolved to.
    pub tool: Option<String>,
    /// Every change that was made; empty if the input was valid.
    pub repairs: Vec<Repair>,
    /// `Note:` lines for the tool result.
    pub notes: Vec<String>,
}

impl Success<'_> {
    /// Reads the JSON into a type of the caller.
    ///
    /// ```
    /// #[derive(serde::Deserialize)]
    /// struct Weather { city: String }
    ///
    /// let weather: Weather = toolmend::fix("{city: 'Paris'}").into_result()?.parse()?;
    /// assert_eq!(weather.city, "Paris");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error of `serde_json` if the JSON does not fit the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.json)
    }
}

/// The result of mending a text or a call.
///
/// Use the accessors to look at it, or [`Verdict::into_result`] to get either the JSON or the refusal. It serialises to
/// the fields of the batch protocol; see [`Encoding`](crate::Encoding).
///
/// ```
/// let verdict = toolmend::fix(r#"{"city": 'Paris',}"#);
/// assert_eq!(verdict.outcome(), toolmend::Outcome::Mended);
/// assert_eq!(verdict.json(), Some(r#"{"city": "Paris"}"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<'t> {
    pub(crate) outcome: Outcome,
    /// The JSON if the verdict runs and has no `values`, otherwise the input.
    pub(crate) text: Cow<'t, str>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) values: Vec<String>,
    pub(crate) tool: Option<String>,
    pub(crate) notes: Vec<String>,
    /// Present exactly if the verdict does not run.
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
            refusal: None,
        }
    }

    pub(crate) fn mended(text: String, repairs: Vec<Repair>) -> Self {
        Verdict { outcome: Outcome::Mended, text: Cow::Owned(text), repairs, ..Verdict::clean("") }
    }

    pub(crate) fn refused(input: &'t str, outcome: Outcome, refusal: Refusal) -> Self {
        debug_assert_eq!(refusal.outcome(), outcome, "{refusal:?}");
        Verdict { outcome, refusal: Some(Box::new(refusal)), ..Verdict::clean(input) }
    }

    /// Adds the feedback for the model to a verdict that does not run.
    pub(crate) fn set_feedback(&mut self, feedback: String) {
        if let Some(refusal) = &mut self.refusal {
            refusal.feedback = Some(feedback);
        }
    }

    /// Returns whether the text was clean, mended, truncated or rejected.
    ///
    /// ```
    /// assert_eq!(toolmend::fix("[1, 2]").outcome(), toolmend::Outcome::Clean);
    /// ```
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the JSON to run with, or `None` if the verdict does not run or holds several [`Verdict::values`].
    ///
    /// ```
    /// assert_eq!(toolmend::fix("[1, 2,]").json(), Some("[1, 2]"));
    /// assert_eq!(toolmend::fix(r#"["half a str"#).json(), None);
    /// ```
    pub fn json(&self) -> Option<&str> {
        self.has_json().then_some(self.text.as_ref())
    }

    /// Returns the JSON to run with, like [`Verdict::json`], and borrows the input if nothing was changed.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// assert!(matches!(toolmend::fix("[1, 2]").into_json(), Some(Cow::Borrowed("[1, 2]"))));
    /// assert_eq!(toolmend::fix("nothing").into_json(), None);
    /// ```
    pub fn into_json(self) -> Option<Cow<'t, str>> {
        self.has_json().then_some(self.text)
    }

    fn has_json(&self) -> bool {
        self.outcome.runs() && self.values.is_empty()
    }

    /// Returns the JSON to run with on one line: no white space between tokens, every token spelt as it was.
    ///
    /// ```
    /// assert_eq!(toolmend::fix("{ a : 1.50 }").compact_json().unwrap(), r#"{"a":1.50}"#);
    /// ```
    pub fn compact_json(&self) -> Option<String> {
        self.json().map(crate::json::text::compact_json)
    }

    /// Returns the JSON to run with, parsed.
    ///
    /// ```
    /// assert_eq!(toolmend::fix("{a: 1}").value(), Some(serde_json::json!({"a": 1})));
    /// ```
    pub fn value(&self) -> Option<serde_json::Value> {
        self.json().and_then(|json| serde_json::from_str(json).ok())
    }

    /// Splits the verdict into JSON to run with and a refusal.
    ///
    /// ```
    /// match toolmend::fix("{a: 1}").into_result() {
    ///     Ok(success) => assert_eq!(success.json, r#"{"a": 1}"#),
    ///     Err(refusal) => panic!("{refusal}"),
    /// }
    /// ```
    ///
    /// # Errors
    /// The refusal if the verdict does not run.
    #[expect(clippy::result_large_err, reason = "the success is as large, and it is the usual case")]
    pub fn into_result(self) -> Result<Success<'t>, Refusal> {
        if !self.outcome.runs() {
            return Err(self.refusal.map(|refusal| *refusal).unwrap_or_default());
        }
        let mut values = self.values.into_iter();
        let json = values.next().map_or(self.text, Cow::Owned);
        Ok(Success {
            json,
            further_calls: values.collect(),
            tool: self.tool,
            repairs: self.repairs,
            notes: self.notes,
        })
    }

    /// Returns the input of a verdict that does not run, unchanged; `None` if it runs.
    ///
    /// ```
    /// assert_eq!(toolmend::fix("no JSON").refused_input(), Some("no JSON"));
    /// assert_eq!(toolmend::fix("{}").refused_input(), None);
    /// ```
    pub fn refused_input(&self) -> Option<&str> {
        (!self.outcome.runs()).then_some(self.text.as_ref())
    }

    /// Returns every change that was made. It is empty unless the outcome is `Mended`.
    ///
    /// ```
    /// let verdict = toolmend::fix("{'a': 1}");
    /// assert_eq!(verdict.repairs()[0].kind, toolmend::RepairKind::QuotesReplaced);
    /// ```
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Returns the values of a text that held several different ones, as JSON text. For the arguments of a declared
    /// tool each is a call of its own; otherwise the verdict is a rejection.
    ///
    /// ```
    /// let verdict = toolmend::fix(r#"{"a": 1} {"b": 2}"#);
    /// assert_eq!(verdict.values(), [r#"{"a": 1}"#, r#"{"b": 2}"#]);
    /// assert_eq!(verdict.reason(), Some(toolmend::Reason::Ambiguous));
    /// ```
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns the declared tool that the call resolved to.
    ///
    /// ```
    /// let mender = toolmend::Mender::new(&serde_json::json!(["list_dir"])).unwrap();
    /// assert_eq!(mender.mend("ListDir", "{}").tool(), Some("list_dir"));
    /// ```
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns `Note:` lines for the tool result: changes that the model should know about.
    ///
    /// ```
    /// assert!(toolmend::fix("{}").notes().is_empty());
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns feedback for the model if the verdict does not run: what was wrong and what to do next.
    ///
    /// ```
    /// assert!(toolmend::fix("no JSON").feedback().unwrap().contains("Next: "));
    /// assert_eq!(toolmend::fix("{}").feedback(), None);
    /// ```
    pub fn feedback(&self) -> Option<&str> {
        self.refusal().and_then(|refusal| refusal.feedback.as_deref())
    }

    /// Returns why the verdict does not run; `None` if it runs.
    ///
    /// ```
    /// assert_eq!(toolmend::fix(r#"{"a": "b"#).refusal().unwrap().cut.as_deref(), Some("/a"));
    /// ```
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_deref()
    }

    /// Returns the class of a rejection; `None` for every other outcome.
    ///
    /// ```
    /// assert_eq!(toolmend::fix("no JSON").reason(), Some(toolmend::Reason::Syntax));
    /// ```
    pub fn reason(&self) -> Option<Reason> {
        self.refusal().and_then(|refusal| refusal.reason)
    }

    /// Returns the verdict without a borrow of the input.
    ///
    /// ```
    /// let verdict = {
    ///     let text = String::from("[1, 2]");
    ///     toolmend::fix(&text).into_owned()
    /// };
    /// assert_eq!(verdict.json(), Some("[1, 2]"));
    /// ```
    pub fn into_owned(self) -> Verdict<'static> {
        Verdict { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}
