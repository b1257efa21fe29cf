//! Words for the model about a call that did not run: what was rejected, where, what is wanted there, what was
//! sent, and one next step.
//!
//! Everything is computed from the schema, the violated keyword and the value. Messages of parsers and validators
//! are for people who read logs.

mod shorten;
mod slice;
mod violation;

use serde_json::Value;

use self::shorten::{clip, clip_middle, list};
use crate::policy::Limits;
use crate::schema::Schema;
use crate::spelling::closest_names;
use crate::tools::Tool;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

/// The most characters of a feedback by default.
pub(crate) const MAX_CHARS: usize = 1200;
/// So many names of tools are a hint; more are a catalogue.
const MAX_NAMES: usize = 5;

/// What is known about the call beside its verdict.
#[derive(Debug, Clone)]
pub(crate) struct About<'a> {
    /// The name as it was emitted.
    pub(crate) called: &'a str,
    pub(crate) tool: Option<&'a Tool>,
    /// What the arguments have to fit.
    pub(crate) schema: Option<&'a Schema>,
    /// The arguments as they were sent.
    pub(crate) sent: &'a str,
    /// The same as a value, where it can be read as one.
    pub(crate) value: Option<Value>,
    pub(crate) declared: &'a [Tool],
    /// Whether the text is JSON for its own sake and no call of a tool.
    pub(crate) plain: bool,
    pub(crate) limits: Limits,
    pub(crate) max_chars: usize,
}

/// One labelled line, and the share of all characters that it may take, in percent.
struct Line {
    label: &'static str,
    text: String,
    share: usize,
}

/// The feedback for a verdict that does not run.
pub(crate) fn write(verdict: &Verdict<'_>, about: &About<'_>) -> String {
    let nothing = Refusal::default();
    let refusal = verdict.refusal().unwrap_or(&nothing);
    let lines = match (verdict.outcome(), refusal.reason) {
        (Outcome::Truncated, _) => about.truncated(refusal),
        (_, Some(Reason::Ambiguous)) => about.ambiguous(refusal),
        (_, Some(Reason::UnknownTool)) => about.unknown_tool(),
        (_, Some(Reason::Limit)) => about.limit(),
        (_, Some(Reason::Policy)) => about.policy(refusal),
        (_, Some(Reason::Schema)) => about.schema(refusal),
        _ => about.unreadable(),
    };
    let mut out = if about.plain {
        "JSON rejected: the text was not used.".to_owned()
    } else {
        format!("Tool call rejected: {} was not run.", about.title())
    };
    for line in lines {
        if line.text.is_empty() {
            continue;
        }
        out.push('\n');
        out.push_str(line.label);
        out.push_str(": ");
        out.push_str(&clip(&line.text, about.max_chars * line.share / 100));
    }
    clip(&out, about.max_chars)
}

fn line(label: &'static str, share: usize, text: impl Into<String>) -> Line {
    Line { label, text: text.into(), share }
}

impl About<'_> {
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

    /// What the model sent, in a word.
    fn noun(&self) -> &'static str {
        if self.plain { "the text" } else { "the arguments" }
    }

    fn are(&self) -> &'static str {
        if self.plain { "the text is" } else { "the arguments are" }
    }

    fn got(&self) -> Line {
        line("Got", 20, clip_middle(self.sent.trim(), self.max_chars * 20 / 100))
    }

    /// The fields of the tool in a sentence.
    fn fields(&self) -> String {
        self.schema.map(Schema::source).map_or_else(|| "one JSON object".to_owned(), slice::fields)
    }

    fn truncated(&self, refusal: &Refusal) -> Vec<Line> {
        let field = refusal.cut.as_deref().filter(|cut| !cut.is_empty());
        let where_cut =
            field.map_or_else(|| "before its end".to_owned(), |cut| format!("inside {}", place(cut)));
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
            format!("only about {length} characters fitted, so keep each call under {}", length / 2)
        };
        let pieces = match field {
            _ if self.plain => format!("{size}, and write the rest in a further answer."),
            Some(cut) => format!(
                "{size}: put the first part of {} into one call to {}, then add the rest with further calls that append or edit.",
                place(cut),
                self.title(),
            ),
            None => format!("{size}, and split the work over several calls to {}.", self.title()),
        };
        vec![
            line("Problem", 25, format!("the output was cut off {where_cut}; a partial call is never run.")),
            line("Complete", 15, list(&complete, 12)),
            line("Next", 40, pieces),
        ]
    }

    fn ambiguous(&self, refusal: &Refusal) -> Vec<Line> {
        let each = self.max_chars * 22 / 100;
        let mut readings = refusal.readings.iter().map(|reading| clip_middle(reading, each));
        let next = if self.tool.is_some() || self.plain {
            format!(
                "write {} again as strict JSON so that only one of these readings is possible: escape quotes inside strings as \\\" and close every string.",
                self.noun()
            )
        } else {
            "call one of these with exactly its name.".to_owned()
        };
        let problem = match refusal.readings.as_slice() {
            // The other reading is one in which a mark slipped; which mark, nobody knows.
            [_] => format!("it can be read in two ways: {}.", refusal.message),
            _ => "it can be read in two ways, and toolmend does not guess.".to_owned(),
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
        let mut near = closest_names(self.called, names(), MAX_NAMES);
        let label = if near.is_empty() && self.declared.len() <= MAX_NAMES * 2 {
            near = names().collect();
            "Available tools"
        } else {
            "Closest tools"
        };
        let near: Vec<String> = near.into_iter().map(|name| format!("`{name}`")).collect();
        let next = match near.as_slice() {
            [] => "use only the tools that were offered, with exactly their names.".to_owned(),
            [only] => format!("if you meant {only}, send the call again with exactly that name."),
            _ => "send the call again with exactly one of these names.".to_owned(),
        };
        let problem =
            if self.called.trim().is_empty() { "the call names no tool." } else { "no tool has this name." };
        vec![
            line("Problem", 15, problem),
            line(label, 50, list(&near, MAX_NAMES * 2)),
            line("Next", 20, next),
        ]
    }

    fn limit(&self) -> Vec<Line> {
        let problem = if self.sent.len() > self.limits.bytes {
            format!("{} not valid JSON and, at {} bytes, too long to repair.", self.are(), self.sent.len())
        } else {
            format!("{} nested too deep or a number in it is too large.", self.are())
        };
        let next = format!(
            "send less at once: at most {} levels of nesting, and long content split over several calls.",
            self.limits.depth
        );
        vec![line("Problem", 25, problem), line("Next", 30, next)]
    }

    fn policy(&self, refusal: &Refusal) -> Vec<Line> {
        if self.plain {
            let next = "send it again as strict JSON.";
            return vec![
                line("Problem", 25, format!("{} not exact, and {}.", self.are(), refusal.message)),
                line("Next", 25, next),
            ];
        }
        vec![
            line("Problem", 25, format!("the call is not exact, and {}.", refusal.message)),
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
            format!("{} empty.", self.are())
        } else {
            format!("{} not valid JSON.", self.are())
        };
        let next = format!(
            "send {} again as one JSON object: keys and strings in double quotes, quotes inside strings as \\\", line breaks as \\n, nothing before or after it.",
            self.noun()
        );
        vec![
            line("Problem", 15, problem),
            line("Expected", 28, self.fields()),
            self.got(),
            line("Next", 26, next),
        ]
    }

    fn schema(&self, refusal: &Refusal) -> Vec<Line> {
        let nothing = Value::Object(serde_json::Map::new());
        let sent = self.value.as_ref().or(self.sent.trim().is_empty().then_some(&nothing));
        let (Some(schema), Some(sent)) = (self.schema, sent) else { return self.unreadable() };
        let findings = violation::findings(&refusal.violations, schema.source(), sent);
        let mut findings = findings.into_iter();
        let Some(first) = findings.next() else { return self.unreadable() };
        let others: Vec<String> = findings.map(|finding| finding.problem).collect();
        vec![
            line("Problem", 20, format!("{}.", first.problem)),
            line("Expected", 24, first.expected),
            line("Got", 14, first.got),
            line("Also wrong", 12, list(&others, 5)),
            line("Fine as sent", 8, list(&violation::fine(&refusal.violations, schema.source(), sent), 12)),
            line("Next", 18, format!("{}, then send the call again.", first.next)),
        ]
    }
}

/// A place in the arguments, for people and models.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{pointer}`") }
}

#[cfg(test)]
mod tests;
