//! Feedback for the model about a call that did not run: what was rejected, where, what is expected there, what was
//! sent, and one next step.
//!
//! All of it is derived from the schema, the violated keyword and the value. It never repeats messages of parsers or
//! validators, which are meant for people who read logs, and it never changes a verdict.

mod clip;
mod schema_excerpt;
mod violation;

use serde_json::Value;

use self::clip::{clip, clip_middle, join_first, join_list};
use crate::policy::Limits;
use crate::schema::Schema;
use crate::spelling::closest_names;
use crate::syntax::OUT_OF_FUEL;
use crate::tools::Tool;
use crate::verdict::{Outcome, Reason, Refusal, Verdict, Violation};

/// The default limit on the length of feedback, in characters.
pub(crate) const MAX_CHARS: usize = 1200;
/// How many names of tools are suggested. More would be a catalogue.
const MAX_NAMES: usize = 5;

/// What is known about a call in addition to its verdict.
#[derive(Debug, Clone)]
pub(crate) struct CallContext<'a> {
    /// The name of the tool as the model wrote it.
    pub(crate) called: &'a str,
    pub(crate) tool: Option<&'a Tool>,
    /// The schema that the arguments must fit.
    pub(crate) schema: Option<&'a Schema>,
    /// The arguments as the model sent them.
    pub(crate) sent: &'a str,
    /// The same as a value, if they can be read as one.
    pub(crate) value: Option<Value>,
    pub(crate) declared: &'a [Tool],
    /// Whether the text is plain JSON rather than the arguments of a tool.
    pub(crate) is_plain_json: bool,
    pub(crate) limits: Limits,
    pub(crate) max_chars: usize,
}

/// One labelled line, and the percentage of all characters that it may take.
struct Line {
    label: &'static str,
    text: String,
    share: usize,
}

/// Writes the feedback for JSON that is not a call.
pub(crate) fn write_plain_feedback(
    verdict: &Verdict<'_>,
    schema: Option<&Schema>,
    sent: &str,
    limits: Limits,
) -> String {
    let context = CallContext {
        called: "",
        tool: None,
        schema,
        sent,
        value: serde_json::from_str(sent).ok(),
        declared: &[],
        is_plain_json: true,
        limits,
        max_chars: MAX_CHARS,
    };
    write_feedback(verdict, &context)
}

/// Writes the feedback for a verdict that does not run.
pub(crate) fn write_feedback(verdict: &Verdict<'_>, call: &CallContext<'_>) -> String {
    let nothing = Refusal::default();
    let refusal = verdict.refusal().unwrap_or(&nothing);
    let lines = match (verdict.outcome(), refusal.reason) {
        (Outcome::Truncated, _) => call.truncated(refusal),
        (_, Some(Reason::Ambiguous)) => call.ambiguous(refusal),
        (_, Some(Reason::UnknownTool)) => call.unknown_tool(),
        (_, Some(Reason::Limit)) => call.limit(refusal),
        (_, Some(Reason::Policy)) => call.policy(refusal),
        (_, Some(Reason::Schema)) => call.schema_violations(refusal),
        _ => call.unreadable(),
    };
    let title = if call.is_plain_json {
        PLAIN_TITLE.to_owned()
    } else {
        format!("Tool call rejected: {} was not run.", call.title())
    };
    join_lines(title, lines, call.max_chars)
}

/// Writes the feedback for JSON that cannot be read into the type that the caller wants.
pub(crate) fn write_type_mismatch(message: &str, sent: &str) -> String {
    let lines = vec![
        line("Problem", 30, format!("the JSON does not have the expected form: {message}.")),
        line("Got", 30, clip_middle(sent.trim(), MAX_CHARS * 30 / 100)),
        line("Next", 30, "correct that value, then send the JSON again."),
    ];
    join_lines(PLAIN_TITLE.to_owned(), lines, MAX_CHARS)
}

const PLAIN_TITLE: &str = "JSON rejected: the text was not used.";

fn join_lines(title: String, lines: Vec<Line>, max_chars: usize) -> String {
    let mut out = title;
    for line in lines {
        if line.text.is_empty() {
            continue;
        }
        out.push('\n');
        out.push_str(line.label);
        out.push_str(": ");
        out.push_str(&clip(&line.text, max_chars * line.share / 100));
    }
    clip(&out, max_chars)
}

fn line(label: &'static str, share: usize, text: impl Into<String>) -> Line {
    Line { label, text: text.into(), share }
}

impl CallContext<'_> {
    fn name(&self) -> &str {
        match self.tool.map(Tool::name) {
            Some(name) if !name.is_empty() => name,
            _ => self.called,
        }
    }

    fn title(&self) -> String {
        let name = clip(self.name().trim(), 80);
        if name.is_empty() { "a call without a name".to_owned() } else { format!("`{name}`") }
    }

    /// Names what the model sent.
    fn noun(&self) -> &'static str {
        if self.is_plain_json { "the text" } else { "the arguments" }
    }

    /// Names what the model sent, with its verb.
    fn noun_and_verb(&self) -> &'static str {
        if self.is_plain_json { "the text is" } else { "the arguments are" }
    }

    fn got(&self) -> Line {
        line("Got", 20, clip_middle(self.sent.trim(), self.max_chars * 20 / 100))
    }

    /// Lists the fields of the tool.
    fn fields(&self) -> String {
        self.schema
            .map(Schema::source)
            .map_or_else(|| "one JSON object".to_owned(), schema_excerpt::describe_fields)
    }

    fn truncated(&self, refusal: &Refusal) -> Vec<Line> {
        let field = refusal.cut.as_deref().filter(|cut| !cut.is_empty());
        let where_cut = field
            .map_or_else(|| "before its end".to_owned(), |cut| format!("inside {}", describe_position(cut)));
        let complete: Vec<String> = refusal
            .partial
            .as_deref()
            .and_then(|partial| serde_json::from_str::<Value>(partial).ok())
            .and_then(|partial| Some(partial.as_object()?.keys().map(|key| format!("`{key}`")).collect()))
            .unwrap_or_default();
        let length = self.sent.chars().count();
        let size = if length < 200 {
            "keep each call short".to_owned()
        } else {
            format!("only about {length} characters fit, so keep each call under {} characters", length / 2)
        };
        let pieces = match field {
            _ if self.is_plain_json => format!("{size}, and send the rest in another answer."),
            // Half of a path or a command means something else, so it cannot be sent in pieces.
            Some(cut) if !is_content(cut) => format!(
                "send the whole call again: {} has to be complete in one call to {}. {}",
                describe_position(cut),
                self.title(),
                if length < 200 {
                    "Say less before it, so that it fits."
                } else {
                    "Keep everything else in it short."
                },
            ),
            Some(cut) => format!(
                "{size}: put the first part of {} into one call to {}, then add the rest with more calls that append or edit.",
                describe_position(cut),
                self.title(),
            ),
            None => format!("{size}, and split the work over several calls to {}.", self.title()),
        };
        vec![
            line("Problem", 25, format!("the output was cut off {where_cut}; a partial call is never run.")),
            line("Complete", 15, join_list(&complete, 12)),
            line("Next", 40, pieces),
        ]
    }

    fn ambiguous(&self, refusal: &Refusal) -> Vec<Line> {
        let each = self.max_chars * 22 / 100;
        let mut readings = refusal.readings.iter().map(|reading| clip_middle(reading, each));
        let next = if self.tool.is_some() || self.is_plain_json {
            format!(
                "write {} again as strict JSON so that only one of these readings is possible: escape quotes inside strings as \\\" and close every string.",
                self.noun()
            )
        } else {
            "call one of these tools by its exact name.".to_owned()
        };
        let problem = match refusal.readings.as_slice() {
            // In the other reading a quote or bracket is misplaced, and it is unknown which one.
            [_] => format!("it can be read in two ways: {}.", refusal.message),
            _ => "it can be read in two ways, so neither was chosen.".to_owned(),
        };
        vec![
            line("Problem", 20, problem),
            line("One reading", 24, readings.next().unwrap_or_default()),
            line("Another reading", 24, readings.next().unwrap_or_default()),
            line("Next", 24, next),
        ]
    }

    fn unknown_tool(&self) -> Vec<Line> {
        let names = || self.declared.iter().map(Tool::name);
        let mut suggested = closest_names(self.called, names(), MAX_NAMES);
        let label = if suggested.is_empty() && self.declared.len() <= MAX_NAMES * 2 {
            suggested = names().collect();
            "Available tools"
        } else {
            "Closest tools"
        };
        let suggested: Vec<String> = suggested.into_iter().map(|name| format!("`{name}`")).collect();
        let next = match suggested.as_slice() {
            [] => "call only tools that were offered, by their exact names.".to_owned(),
            [only] => format!("if you meant {only}, send the call again with that exact name."),
            _ => "send the call again with one of these exact names.".to_owned(),
        };
        let problem = if self.called.trim().is_empty() {
            "the call does not name a tool."
        } else {
            "no tool has this name."
        };
        vec![
            line("Problem", 15, problem),
            line(label, 50, join_list(&suggested, MAX_NAMES * 2)),
            line("Next", 20, next),
        ]
    }

    fn limit(&self, refusal: &Refusal) -> Vec<Line> {
        if refusal.message == OUT_OF_FUEL {
            let problem = format!("{} not valid JSON, and too broken to repair.", self.noun_and_verb());
            return vec![line("Problem", 25, problem), self.got(), line("Next", 30, self.send_again())];
        }
        let problem = if self.sent.len() > self.limits.bytes {
            format!(
                "{} not valid JSON and, at {} bytes, too long to repair.",
                self.noun_and_verb(),
                self.sent.len()
            )
        } else {
            format!("the nesting in {} is too deep, or a number is too large.", self.noun())
        };
        let next = format!(
            "send less: nest at most {} levels deep, and split long content over several calls.",
            self.limits.depth
        );
        vec![line("Problem", 25, problem), line("Next", 30, next)]
    }

    fn policy(&self, refusal: &Refusal) -> Vec<Line> {
        if self.is_plain_json {
            let next = "send it again as strict JSON.";
            return vec![
                line(
                    "Problem",
                    25,
                    format!("{} not strict JSON, and {}.", self.noun_and_verb(), refusal.message),
                ),
                line("Next", 25, next),
            ];
        }
        vec![
            line("Problem", 25, format!("the call needs a repair, and {}.", refusal.message)),
            line("Expected", 25, self.fields()),
            self.got(),
            line(
                "Next",
                25,
                format!("send {} again with its exact name and strict JSON arguments.", self.title()),
            ),
        ]
    }

    fn unreadable(&self) -> Vec<Line> {
        let problem = if self.sent.trim().is_empty() {
            format!("{} empty.", self.noun_and_verb())
        } else {
            format!("{} not valid JSON.", self.noun_and_verb())
        };
        let next = self.send_again();
        vec![
            line("Problem", 15, problem),
            line("Expected", 28, self.fields()),
            self.got(),
            line("Next", 26, next),
        ]
    }

    fn send_again(&self) -> String {
        format!(
            "send {} again as one JSON object: keys and strings in double quotes, quotes inside strings as \\\", line breaks as \\n, nothing before or after it.",
            self.noun()
        )
    }

    fn schema_violations(&self, refusal: &Refusal) -> Vec<Line> {
        let nothing = Value::Object(serde_json::Map::new());
        let sent = self.value.as_ref().or(self.sent.trim().is_empty().then_some(&nothing));
        let (Some(schema), Some(sent)) = (self.schema, sent) else { return self.unreadable() };
        // Ten thousand elements may all be wrong. Only what is shown is explained.
        let violations = violation::distinct_violations(&refusal.violations);
        let explain = |one: &&Violation| violation::explain_violation(one, schema.source(), sent);
        let Some(first) = violations.first().map(explain) else { return self.unreadable() };
        let others = &violations[1..];
        let shown: Vec<String> = others.iter().take(5).map(|one| explain(one).problem).collect();
        vec![
            line("Problem", 20, format!("{}.", first.problem)),
            line("Expected", 24, first.expected),
            line("Got", 14, first.got),
            line("Also wrong", 12, join_first(&shown, others.len())),
            line(
                "Correct as sent",
                8,
                join_list(&violation::correct_members(&refusal.violations, schema.source(), sent), 12),
            ),
            line("Next", 18, format!("{}, then send the call again.", first.next)),
        ]
    }
}

/// Whether the field at a position holds content, which may be sent in pieces. Its name says so.
fn is_content(pointer: &str) -> bool {
    let name = pointer.rsplit('/').find(|part| !part.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.unwrap_or_default().to_ascii_lowercase();
    CONTENT_WORDS.iter().any(|word| name.contains(word))
}

/// Words in the names of fields that hold content.
const CONTENT_WORDS: [&str; 16] = [
    "content", "text", "body", "code", "source", "patch", "diff", "data", "html", "markdown", "message",
    "new_str", "newstr", "document", "report", "lines",
];

/// Names a position in the arguments.
fn describe_position(pointer: &str) -> String {
    if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{pointer}`") }
}

#[cfg(test)]
mod tests;
