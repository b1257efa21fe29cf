//! Schema-guided repair: JSON to the shape that the tool declares, only where the schema disagrees.
//!
//! The validator says what is wrong and where. [`rules`] is the one table of shape rules, in the order in which they are
//! tried; the typed entry point reads it too. [`engine`] tries the rules and lets the validator judge the result.
//!
//! No rule rewrites the document. Each proposes a few edits on the text, so whatever was right stays byte for byte. A
//! value that the schema accepts is never touched (in a damaged text only its declared keys are respelled), and nothing leaves this module that the validator did not accept.

mod candidate;
mod candidate_selector;
mod effect;
mod engine;
mod hint_check;
mod mismatch;
mod node_lookup;
mod rules;
#[cfg(test)]
mod tests;
mod working_copy;

pub(crate) use self::mismatch::{Expectation, RefusalCause, Spelling, TypeMismatch};
use self::rules::OptionIndexes;
pub(crate) use self::rules::keys::respell_damaged;
pub(crate) use self::rules::{RULES, Rule, envelope};

use serde_json::Value;

use crate::patch::Patch;
use crate::policy::Policy;
use crate::repair::Repair;
use crate::schema::Schema;
use crate::verdict::Violation;

use self::engine::Engine;
use self::mismatch::RepairContext;
use self::working_copy::WorkingCopy;

/// The outcome for a strict value under its schema.
#[derive(Debug)]
pub(crate) enum Fit {
    /// It fits unchanged, hints included.
    Fits,
    /// It fits now. The patches lead from the given text to `text`, first to last; `value` is what was validated.
    /// `repairs` are known already if all that was done is to replace whole values by scalars.
    Mended {
        text: String,
        value: Value,
        layers: Vec<Patch>,
        notes: Vec<String>,
        repairs: Option<Vec<Repair>>,
    },
    /// It does not fit; these violations are left after every repair that helped.
    Unfit { violations: Vec<Violation> },
}

/// Fits `text`, strict JSON whose parsed form is `value`, to the schema.
pub(crate) fn fit(text: &str, value: Value, schema: &Schema, policy: &Policy, tool: Option<&str>) -> Fit {
    if schema.accepts(&value) && hint_check::violated_hints(schema, policy, &value).is_empty() {
        return Fit::Fits;
    }
    let mut document = WorkingCopy::new(text, value, schema, policy);
    if policy.repairs() && text.len() <= policy.limits.bytes {
        let options = &OptionIndexes::default();
        document = Engine::new(RepairContext { schema, policy, tool, options }, text.len()).run(document);
    }
    if document.faults.is_empty() {
        let WorkingCopy { text, value, layers, notes, repairs, .. } = document;
        return Fit::Mended { text: text.into_owned(), value, layers, notes, repairs };
    }
    let mut violations: Vec<Violation> =
        document.faults.iter().filter_map(|fault| hint_check::describe_violation(schema, fault)).collect();
    violations.extend(schema.violations(&document.value));
    Fit::Unfit { violations }
}
