//! Arguments that are missing, or that are glued to the name.
//!
//! This module chooses the text of the arguments. Reading and fitting it is the pipeline's work.

use serde_json::Value;

use crate::name::GluedArguments;
use crate::pipeline::Task;
use crate::repair::{Repair, RepairKind};
use crate::schema::Schema;
use crate::syntax::Finish;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

/// Judges arguments that are glued to the name. They count if there are no others. If there are, both have to agree.
pub(super) fn mend_glued_arguments<'t>(
    task: &Task<'_>,
    object: Option<&Schema>,
    glued: &GluedArguments,
    arguments: &'t str,
) -> Verdict<'t> {
    let text = match glued {
        GluedArguments::Text(text) => text.clone(),
        GluedArguments::Call(brackets) if is_blank(brackets.trim_matches(['(', ')'])) => "{}".to_owned(),
        GluedArguments::Call(brackets) => format!("{}{brackets}", task.tool.unwrap_or("f")),
    };
    let mut from_name = run_for_object(task, object, &text).into_owned();
    if matches!(arguments.trim(), "" | "{}" | "null") {
        for repair in &mut from_name.repairs {
            repair.at = None;
        }
        return from_name;
    }
    let verdict = mend_or_fill(task, object, arguments);
    let agree = text == "{}" || verdict.value() == from_name.value();
    if agree || !verdict.outcome.runs() || !from_name.outcome.runs() {
        return verdict;
    }
    let readings = [verdict.json(), from_name.json()];
    Verdict::refused(
        arguments,
        Outcome::Rejected,
        Refusal {
            reason: Some(Reason::Ambiguous),
            message: "the name contains other arguments than the call".to_owned(),
            readings: readings.into_iter().flatten().map(str::to_owned).collect(),
            ..Refusal::default()
        },
    )
}

/// Judges the arguments. Missing arguments are an empty object, if the tool can be called with one.
pub(super) fn mend_or_fill<'t>(task: &Task<'_>, object: Option<&Schema>, arguments: &'t str) -> Verdict<'t> {
    let blank = is_blank(arguments);
    let schema = task.schema.or(object);
    let null = is_null(arguments) && schema.is_some_and(|schema| !schema.accepts(&Value::Null));
    if blank && task.finish == Finish::Length {
        return Verdict::refused(
            arguments,
            Outcome::Truncated,
            Refusal {
                message: "the output ended before the arguments began".to_owned(),
                cut: Some(String::new()),
                ..Refusal::default()
            },
        );
    }
    if !(blank || null) || !task.policy.allows(RepairKind::EmptyArgumentsFilled) {
        return run_for_object(task, object, arguments);
    }
    let mut verdict = run_for_object(task, object, "{}");
    if !verdict.outcome.runs() {
        return Verdict { text: arguments.into(), ..verdict };
    }
    for repair in &mut verdict.repairs {
        repair.at = Some(0..arguments.len());
    }
    prepend_repairs(verdict, &[RepairKind::EmptyArgumentsFilled], Some(arguments.len()))
}

/// Runs the pipeline. Arguments must be an object, even if the tool has no schema.
fn run_for_object<'t>(task: &Task<'_>, object: Option<&Schema>, arguments: &'t str) -> Verdict<'t> {
    let verdict = task.run(arguments);
    let is_object = |json: &str| json.trim_start().starts_with('{');
    let objects = verdict.json().is_none_or(is_object) && verdict.values.iter().all(|json| is_object(json));
    if task.schema.is_some() || objects {
        return verdict;
    }
    Task { schema: object, ..*task }.run(arguments)
}

/// The verdict with these repairs before its own.
pub(super) fn prepend_repairs<'t>(
    mut verdict: Verdict<'t>,
    kinds: &[RepairKind],
    length: Option<usize>,
) -> Verdict<'t> {
    if verdict.outcome.runs() && !kinds.is_empty() {
        verdict.outcome = Outcome::Mended;
        let at = length.map(|length| 0..length);
        let before = kinds.iter().map(|&kind| Repair::new(kind, String::new(), at.clone()));
        verdict.repairs.splice(0..0, before);
    }
    verdict
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(super) fn is_null(text: &str) -> bool {
    text.trim() == "null"
}
