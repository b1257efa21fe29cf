//! A document between two repairs.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::strict;
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::schema::Schema;

use super::check;
use super::fault::Fault;
use super::site::Change;

/// The text, what it means, what is wrong with it, and how it came to be.
#[derive(Debug, Clone)]
pub(super) struct State<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) value: Cow<'t, Value>,
    pub(super) faults: Vec<Fault>,
    pub(super) layers: Vec<Patch>,
    pub(super) notes: Vec<String>,
}

impl<'t> State<'t> {
    pub(super) fn new(text: &'t str, value: &'t Value, schema: &Schema, policy: &Policy) -> Self {
        let faults = faults(schema, policy, value);
        State {
            text: Cow::Borrowed(text),
            value: Cow::Borrowed(value),
            faults,
            layers: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// This document with the changes made; nothing where that gives no JSON.
    pub(super) fn with(&self, changes: &[&Change], schema: &Schema, policy: &Policy) -> Option<State<'t>> {
        let mut layers = self.layers.clone();
        let text = apply(&self.text, changes, &mut layers);
        strict::check(&text, policy.limits.depth).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let faults = if schema.accepts(&value) {
            check::hints(schema, policy, &value)
        } else {
            faults(schema, policy, &value)
        };
        let notes = self.notes.iter().chain(changes.iter().filter_map(|change| change.note.as_ref()));
        Some(State {
            notes: notes.cloned().collect(),
            text: Cow::Owned(text),
            value: Cow::Owned(value),
            faults,
            layers,
        })
    }
}

/// Everything that is wrong with a value; hints come first.
fn faults(schema: &Schema, policy: &Policy, value: &Value) -> Vec<Fault> {
    let mut out = check::hints(schema, policy, value);
    out.extend(schema.faults(value));
    out
}

/// Makes the changes, which do not overlap, and adds the patches that do it.
fn apply(text: &str, changes: &[&Change], layers: &mut Vec<Patch>) -> String {
    let mut edits: Vec<Edit> = changes.iter().flat_map(|change| change.edits.iter().cloned()).collect();
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let patch = Patch::new(edits);
    let mut text = patch.apply(text);
    // What a change put in may need patches of its own; they know only the text that was put in.
    let mut nested: Vec<(usize, &[Patch])> = changes
        .iter()
        .filter(|change| !change.within.is_empty())
        .filter_map(|change| Some((patch.target(change.edits.first()?.start), change.within.as_slice())))
        .collect();
    layers.push(patch);
    for index in 0..nested.len() {
        let (offset, patches) = nested[index];
        for patch in patches {
            let shifted = patch.edits().iter().map(|edit| Edit {
                start: edit.start + offset,
                end: edit.end + offset,
                ..edit.clone()
            });
            let patch = Patch::new(shifted.collect());
            for (other, _) in &mut nested[index + 1..] {
                *other = patch.target(*other);
            }
            text = patch.apply(&text);
            layers.push(patch);
        }
    }
    text
}
