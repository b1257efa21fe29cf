//! Answers in JSON that the request asked for with `response_format`.
//!
//! Content that already has one strict value that fits stays as it is, with whatever is around it: clients have their own
//! ways to take it out. Anything else is mended like any other JSON text.

use serde_json::Value;

use super::Mender;
use crate::feedback;
use crate::json::strict;
use crate::pipeline::Task;
use crate::repair::{Repair, RepairKind};
use crate::schema::Schema;
use crate::syntax::Finish;
use crate::turn::{Turn, TurnOptions};
use crate::verdict::{Outcome, Reason, Verdict};

impl Mender {
    /// Judges the content of an answer by the `response_format` of its request.
    ///
    /// If the content has exactly one strict JSON value, and it fits, the verdict is clean and about that value: the content
    /// can be passed on as it is. Otherwise the content is mended. A format without a schema wants an object.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolmend::{Finish, Mender, Outcome};
    /// let mender = Mender::new(&json!([])).unwrap();
    /// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    /// let format = json!({"type": "json_schema", "json_schema": {"name": "count", "schema": schema}});
    /// assert_eq!(mender.answer("Here: {\"n\": 3}", &format, Finish::Stop).outcome(), Outcome::Clean);
    /// assert_eq!(mender.answer("{n: '3'}", &format, Finish::Stop).json(), Some(r#"{"n": 3}"#));
    /// ```
    pub fn answer<'t>(&self, text: &'t str, format: &Value, finish: Finish) -> Verdict<'t> {
        let source = answer_schema(format);
        let compiled = Schema::new(&source);
        let schema = compiled.as_ref().ok();
        let policy = &self.inner.policy;
        let task = Task { schema, policy, explains: true, ..self.unconstrained_task(finish) };
        if let Some(value) = only_strict_value(text) {
            let verdict = task.run(value);
            if verdict.outcome() == Outcome::Clean {
                return verdict;
            }
        }
        let mut verdict = task.run(text);
        // Case: dialects/py_call/answer-like-a-call
        if verdict.outcome() == Outcome::Mended && reads_call(&verdict) {
            let why = "the text is a call in the notation of a program, and the request asked for JSON";
            verdict = self.refused_verdict("", text, Reason::Syntax, why);
        }
        if let Err(error) = &compiled {
            verdict.notes.push(format!("the schema of the answer is broken: {error}"));
        }
        if !verdict.outcome().runs() {
            let feedback = feedback::write_plain_feedback(&verdict, schema, text, policy.limits);
            verdict.set_feedback(feedback);
        }
        verdict
    }

    /// Judges the content of a turn, and mends it, if the request asked for an answer in JSON and the turn has no calls.
    ///
    /// [`Mender::turn`] does this itself. It is for turns that were read piece by piece.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolmend::{Finish, Mender, Outcome, Turn, TurnOptions};
    /// let mender = Mender::new(&json!([])).unwrap();
    /// let options = TurnOptions::new().response_format(&json!({"type": "json_object"}));
    /// let (mut turn, mut stream) = (Turn::default(), mender.stream(&options));
    /// stream.push_to(r#"{"a": 1,}"#, &mut turn);
    /// turn.extend(stream.finish(Finish::Stop));
    /// mender.settle_answer(&mut turn, &options, Finish::Stop);
    /// assert_eq!(turn.answer.unwrap().outcome(), Outcome::Mended);
    /// assert_eq!(turn.content, r#"{"a": 1}"#);
    /// ```
    pub fn settle_answer(&self, turn: &mut Turn, options: &TurnOptions, finish: Finish) {
        let Some(format) = options.answer_format.as_ref() else { return };
        if !turn.calls.is_empty() || turn.content.trim().is_empty() {
            return;
        }
        let verdict = self.answer(&turn.content, format, finish).into_owned();
        if verdict.outcome() == Outcome::Mended
            && let Some(json) = verdict.json()
        {
            json.clone_into(&mut turn.content);
        }
        turn.answer = Some(verdict);
    }
}

/// Whether the JSON of an answer was made from the notation of a call, whose name is lost then.
fn reads_call(verdict: &Verdict<'_>) -> bool {
    let is_call = |repair: &Repair| repair.path.is_empty() && repair.kind == RepairKind::CallSyntaxRead;
    verdict.repairs().iter().any(is_call)
}

/// The schema that a `response_format` has, as Chat Completions and Responses write it.
fn answer_schema(format: &Value) -> Value {
    let inner = format.get("json_schema").unwrap_or(format);
    inner.get("schema").cloned().unwrap_or_else(|| serde_json::json!({"type": "object"}))
}

/// The strict object or list in a text, if there is exactly one.
fn only_strict_value(text: &str) -> Option<&str> {
    // Where a value begins in a long text is looked for only so often.
    const MAX_STARTS: usize = 16;
    let mut found = None;
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(offset) = text[at..].find(['{', '[']) else { return found };
        let from = at + offset;
        match strict::check_value(text, from, strict::MAX_DEPTH) {
            Ok(_) if found.is_some() => return None,
            Ok(end) => {
                found = Some(&text[from..end]);
                at = end;
            }
            Err(_) => at = from + 1,
        }
    }
    None
}
