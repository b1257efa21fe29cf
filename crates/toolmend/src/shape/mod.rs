//! Schema-guided repair: JSON to the shape that the tool declares, only where the schema disagrees.
//!
//! The validator says what is wrong where; [`repairs`] holds the repairs in the order in which they are tried
//! there; [`engine`] tries them and lets the validator judge. No repair rewrites the document: each is a few
//! edits on the text, so whatever was right stays byte for byte as it came.

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

pub(crate) use self::rules::{embedded_json, enum_match, envelope, member_edits, number, scalar};

use serde_json::Value;

use crate::patch::Patch;
use crate::policy::Policy;
use crate::repair::Repair;
use crate::schema::Schema;
use crate::verdict::Violation;

use self::engine::Engine;
use self::mismatch::Ground;
use self::working_copy::State;

/// What became of a strict value under its schema.
#[derive(Debug)]
pub(crate) enum Fit {
    /// It fits as it is, hints included.
    Fits,
    /// It fits now. The patches lead from the given text to `text`, first to last; `value` is what was validated.
    /// `repairs` are known already where scalars were put in the place of values and nothing else was done.
    Mended {
        text: String,
        value: Value,
        layers: Vec<Patch>,
        notes: Vec<String>,
        repairs: Option<Vec<Repair>>,
    },
    /// It does not fit; these are the places, after every repair that helped.
    Unfit { violations: Vec<Violation> },
}

/// Fits `text`, strict JSON whose parsed form is `value`, to the schema.
pub(crate) fn fit(text: &str, value: Value, schema: &Schema, policy: &Policy, tool: Option<&str>) -> Fit {
    if schema.accepts(&value) && hint_check::hints(schema, policy, &value).is_empty() {
        return Fit::Fits;
    }
    let mut state = State::new(text, value, schema, policy);
    if policy.repairs() && text.len() <= policy.limits.bytes {
        state = Engine::new(Ground { schema, policy, tool }, text.len()).run(state);
    }
    if state.faults.is_empty() {
        let State { text, value, layers, notes, repairs, .. } = state;
        return Fit::Mended { text: text.into_owned(), value, layers, notes, repairs };
    }
    let mut violations: Vec<Violation> =
        state.faults.iter().filter_map(|fault| hint_check::violation(schema, fault)).collect();
    violations.extend(schema.violations(&state.value));
    Fit::Unfit { violations }
}
