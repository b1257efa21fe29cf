//! A document between two repairs.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::pointer;
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::schema::Schema;

use super::check;
use super::fault::{self, Fault};
use super::pick::Pick;

/// The text, what it means, what is wrong with it, and how it came to be.
#[derive(Debug, Clone)]
pub(super) struct State<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) value: Value,
    pub(super) faults: Vec<Fault>,
    pub(super) layers: Vec<Patch>,
    pub(super) notes: Vec<String>,
}

/// What some changes make of a document.
#[derive(Debug)]
pub(super) struct Step {
    text: String,
    /// The parts of the value that change, with their pointers. Swapping them twice changes nothing.
    parts: Vec<(String, Value)>,
    pub(super) faults: Vec<Fault>,
    layers: Vec<Patch>,
    notes: Vec<String>,
}

impl<'t> State<'t> {
    pub(super) fn new(text: &'t str, value: Value, schema: &Schema, policy: &Policy) -> Self {
        let faults = faults(schema, policy, &value);
        State { text: Cow::Borrowed(text), value, faults, layers: Vec::new(), notes: Vec::new() }
    }

    /// What the changes would make of this document; nothing where that is no JSON. The document stays as it
    /// is, it only lends its value to the validator.
    pub(super) fn attempt(&mut self, picks: &[Pick<'_>], schema: &Schema, policy: &Policy) -> Option<Step> {
        let (text, layers) = apply(&self.text, picks);
        let mut parts = parts(&text, &layers, picks)?;
        self.swap(&mut parts);
        debug_assert!(
            serde_json::from_str::<Value>(&text).is_ok_and(|whole| whole == self.value),
            "the parts do not make the whole: {text}"
        );
        // With the key written twice, dropping one member brings the other to life.
        let revived = picks
            .iter()
            .any(|pick| pick.change.drops && pointer::get_mut(&mut self.value, &pick.fault.path).is_some());
        let faults = if revived {
            None
        } else if schema.accepts(&self.value) {
            Some(check::hints(schema, policy, &self.value))
        } else {
            Some(faults(schema, policy, &self.value))
        };
        self.swap(&mut parts);
        let faults = faults?;
        let notes = picks.iter().filter_map(|pick| pick.change.note.clone()).collect();
        Some(Step { text, parts, faults, layers, notes })
    }

    /// Takes a step that was made from this document.
    pub(super) fn take(&mut self, mut step: Step) {
        self.swap(&mut step.parts);
        self.text = Cow::Owned(step.text);
        self.faults = step.faults;
        append(&mut self.layers, step.layers);
        append(&mut self.notes, step.notes);
    }

    fn swap(&mut self, parts: &mut [(String, Value)]) {
        for (region, part) in parts {
            if let Some(place) = pointer::get_mut(&mut self.value, region) {
                std::mem::swap(place, part);
            }
        }
    }
}

/// Like `extend`, but the first step costs nothing.
fn append<T>(all: &mut Vec<T>, more: Vec<T>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.extend(more);
    }
}

/// The parts of the value that the changes concern, as they are in the changed text. Only what changed is
/// parsed, where that is little.
fn parts(text: &str, layers: &[Patch], picks: &[Pick<'_>]) -> Option<Vec<(String, Value)>> {
    if picks.len() > FEW || picks.iter().any(|pick| pick.region().is_empty()) {
        return Some(vec![(String::new(), serde_json::from_str(text).ok()?)]);
    }
    let mut out: Vec<(String, Value)> = Vec::with_capacity(picks.len());
    for pick in picks {
        let region = pick.region();
        let inside_other = picks
            .iter()
            .any(|other| other.region().len() < region.len() && fault::is_within(region, other.region()));
        if inside_other || out.iter().any(|(known, _)| known == region) {
            continue;
        }
        let span = layers.iter().fold((pick.span.start, pick.span.end), |span, layer| moved(layer, span));
        out.push((region.to_owned(), serde_json::from_str(text.get(span.0..span.1)?).ok()?));
    }
    Some(out)
}

/// Up to this many changes are parsed one by one.
const FEW: usize = 4;

/// Where the span of a value stands after a patch, insertions at its ends included.
fn moved(layer: &Patch, (start, end): (usize, usize)) -> (usize, usize) {
    let shift = |edits: &mut dyn Iterator<Item = &Edit>| {
        edits.map(|edit| edit.with.len().cast_signed() - (edit.end - edit.start).cast_signed()).sum()
    };
    let before: isize = shift(&mut layer.edits().iter().filter(|edit| edit.start < start));
    let within: isize =
        shift(&mut layer.edits().iter().filter(|edit| start <= edit.start && edit.end <= end));
    (start.wrapping_add_signed(before), end.wrapping_add_signed(before + within))
}

/// Everything that is wrong with a value; hints come first.
fn faults(schema: &Schema, policy: &Policy, value: &Value) -> Vec<Fault> {
    let mut out = check::hints(schema, policy, value);
    out.extend(schema.faults(value));
    out
}

/// Makes the changes, which do not overlap, and gives the patches that do it.
fn apply(text: &str, picks: &[Pick<'_>]) -> (String, Vec<Patch>) {
    let mut edits: Vec<Edit> = picks.iter().flat_map(|pick| pick.change.edits.iter().cloned()).collect();
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let patch = Patch::new(edits);
    let mut text = patch.apply(text);
    // What a change put in may need patches of its own; they know only the text that was put in.
    let mut nested: Vec<(usize, &[Patch])> = picks
        .iter()
        .map(|pick| &pick.change)
        .filter(|change| !change.within.is_empty())
        .filter_map(|change| Some((patch.target(change.edits.first()?.start), change.within.as_slice())))
        .collect();
    let mut layers = vec![patch];
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
    (text, layers)
}
