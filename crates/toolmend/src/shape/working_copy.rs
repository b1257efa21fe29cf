//! The document between two rounds of repair, and what changes would make of it.
//!
//! The text, its parsed value and its faults always belong together. Only the parts of the value that changed are parsed
//! again.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::pointer;
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::Repair;
use crate::schema::Schema;

use super::candidate::Candidate;
use super::hint_check;
use super::mismatch::Change;
use crate::schema::fault::{self, Fault};

/// The text, its value, what is wrong with it, and the patches that led to it.
#[derive(Debug, Clone)]
pub(super) struct WorkingCopy<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) value: Value,
    pub(super) faults: Vec<Fault>,
    pub(super) layers: Vec<Patch>,
    pub(super) notes: Vec<String>,
    /// The repairs, if all that was done is one revision that replaced whole values by scalars.
    pub(super) repairs: Option<Vec<Repair>>,
}

/// What some changes would make of a document.
#[derive(Debug)]
pub(super) struct Revision {
    text: String,
    /// The parts of the value that change, with their pointers. Swapping them in twice changes nothing.
    parts: Vec<(String, Value)>,
    /// What is wrong afterwards. If that is nothing, the parts are swapped in already: such a revision is always accepted.
    pub(super) faults: Vec<Fault>,
    layers: Vec<Patch>,
    notes: Vec<String>,
    repairs: Option<Vec<Repair>>,
}

impl<'t> WorkingCopy<'t> {
    pub(super) fn new(text: &'t str, value: Value, schema: &Schema, policy: &Policy) -> Self {
        let faults = find_faults(schema, policy, &value);
        WorkingCopy {
            text: Cow::Borrowed(text),
            value,
            faults,
            layers: Vec::new(),
            notes: Vec::new(),
            repairs: None,
        }
    }

    /// What the changes would make of this document; `None` if that is not JSON. If something is still wrong then, the
    /// document stays unchanged: it only lends its value to the validator.
    pub(super) fn attempt_changes(
        &mut self,
        candidates: &mut [Candidate<'_>],
        schema: &Schema,
        policy: &Policy,
    ) -> Option<Revision> {
        let repairs = if self.layers.is_empty() { whole_value_repairs(candidates) } else { None };
        let (text, layers) = apply_changes(&self.text, candidates);
        let mut parts = parse_parts(&text, &layers, candidates)?;
        let scalars = parts
            .iter()
            .all(|(region, part)| !region.is_empty() && !matches!(part, Value::Array(_) | Value::Object(_)));
        let repairs = repairs.filter(|repairs| scalars && parts.len() == repairs.len());
        self.swap(&mut parts);
        debug_assert!(
            serde_json::from_str::<Value>(&text).is_ok_and(|whole| whole == self.value),
            "the parts do not make the whole: {text}"
        );
        // If the key is written twice, dropping one member reveals the other.
        let revived = candidates.iter().any(|candidate| {
            candidate.change.drops && pointer::get_mut(&mut self.value, &candidate.fault.path).is_some()
        });
        let faults = if revived {
            None
        } else if schema.accepts(&self.value) {
            Some(hint_check::violated_hints(schema, policy, &self.value))
        } else {
            Some(find_faults(schema, policy, &self.value))
        };
        if faults.as_ref().is_none_or(|faults| !faults.is_empty()) {
            self.swap(&mut parts);
        }
        let faults = faults?;
        let notes = candidates.iter().filter_map(|candidate| candidate.change.note.clone()).collect();
        Some(Revision { text, parts, faults, layers, notes, repairs })
    }

    /// Accepts a revision that was made from this document.
    pub(super) fn accept(&mut self, mut revision: Revision) {
        if !revision.faults.is_empty() {
            self.swap(&mut revision.parts);
        }
        self.text = Cow::Owned(revision.text);
        self.faults = revision.faults;
        self.repairs = revision.repairs;
        append(&mut self.layers, revision.layers);
        append(&mut self.notes, revision.notes);
    }

    fn swap(&mut self, parts: &mut [(String, Value)]) {
        for (region, part) in parts {
            if let Some(position) = pointer::get_mut(&mut self.value, region) {
                std::mem::swap(position, part);
            }
        }
    }
}

/// The repairs of changes that each replace one value as a whole; `None` if there are other changes.
fn whole_value_repairs(candidates: &[Candidate<'_>]) -> Option<Vec<Repair>> {
    let replacement = |candidate: &Candidate<'_>| match &candidate.change {
        Change { edits, within, drops: false, node: None, .. } if within.is_empty() => match &edits[..] {
            [only] if (only.start, only.end) == (candidate.span.start, candidate.span.end) => {
                Some(Repair::new(only.kind, candidate.region().to_owned(), Some(candidate.span.clone())))
            }
            _ => None,
        },
        _ => None,
    };
    if candidates.len() > FEW {
        return None;
    }
    let mut repairs: Vec<Repair> = candidates.iter().map(replacement).collect::<Option<_>>()?;
    repairs.sort_by_key(|repair| repair.at.as_ref().map(|at| at.start));
    Some(repairs)
}

/// Like `extend`, but moves the first list instead of copying it.
fn append<T>(all: &mut Vec<T>, more: Vec<T>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.extend(more);
    }
}

/// The parts of the value that the changes concern, as they are in the changed text. If there are few changes, only what
/// changed is parsed.
fn parse_parts(text: &str, layers: &[Patch], candidates: &[Candidate<'_>]) -> Option<Vec<(String, Value)>> {
    if candidates.len() > FEW || candidates.iter().any(|candidate| candidate.region().is_empty()) {
        return Some(vec![(String::new(), serde_json::from_str(text).ok()?)]);
    }
    let mut out: Vec<(String, Value)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let region = candidate.region();
        let inside_other = candidates
            .iter()
            .any(|other| other.region().len() < region.len() && fault::is_within(region, other.region()));
        if inside_other || out.iter().any(|(known, _)| known == region) {
            continue;
        }
        let span = layers
            .iter()
            .fold((candidate.span.start, candidate.span.end), |span, layer| move_span(layer, span));
        out.push((region.to_owned(), serde_json::from_str(text.get(span.0..span.1)?).ok()?));
    }
    Some(out)
}

/// Up to this many changes are parsed one by one.
const FEW: usize = 4;

/// The span of a value after a patch, insertions at its ends included.
fn move_span(layer: &Patch, (start, end): (usize, usize)) -> (usize, usize) {
    let edits = layer.edits().iter();
    let before: isize = edits.clone().filter(|edit| edit.start < start).map(growth).sum();
    let within: isize = edits.filter(|edit| start <= edit.start && edit.end <= end).map(growth).sum();
    (start.wrapping_add_signed(before), end.wrapping_add_signed(before + within))
}

/// Everything that is wrong with a value; hints come first.
fn find_faults(schema: &Schema, policy: &Policy, value: &Value) -> Vec<Fault> {
    let mut out = schema.faults(value);
    out.splice(..0, hint_check::violated_hints(schema, policy, value));
    out
}

/// Applies the changes, which do not overlap, and returns the patches that do it.
fn apply_changes(text: &str, candidates: &mut [Candidate<'_>]) -> (String, Vec<Patch>) {
    // Text that a change puts in may need patches of its own, with offsets into that text alone.
    let nested =
        candidates.iter().map(|candidate| &candidate.change).filter(|change| !change.within.is_empty());
    let mut nested: Vec<(usize, Vec<Patch>)> =
        nested.filter_map(|change| Some((change.edits.first()?.start, change.within.clone()))).collect();
    nested.sort_by_key(|(start, _)| *start);
    let mut edits: Vec<Edit> = match candidates {
        // A single change is never tried again, so its edits can be moved.
        [only] => std::mem::take(&mut only.change.edits),
        several => several.iter().flat_map(|candidate| candidate.change.edits.iter().cloned()).collect(),
    };
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut before = edits.iter().peekable();
    let mut shift = 0;
    for (start, _) in &mut nested {
        while let Some(edit) = before.next_if(|edit| edit.start < *start) {
            shift += growth(edit);
        }
        *start = start.wrapping_add_signed(shift);
    }
    let mut layers = vec![Patch::new(edits)];
    let mut text = layers[0].apply(text);
    for depth in 0..nested.iter().map(|(_, patches)| patches.len()).max().unwrap_or(0) {
        let mut edits = Vec::new();
        let mut shift = 0;
        for (start, patches) in &mut nested {
            let at = *start;
            *start = at.wrapping_add_signed(shift);
            for edit in patches.get(depth).into_iter().flat_map(Patch::edits) {
                edits.push(Edit { start: edit.start + at, end: edit.end + at, ..edit.clone() });
                shift += growth(edit);
            }
        }
        let patch = Patch::new(edits);
        text = patch.apply(&text);
        layers.push(patch);
    }
    (text, layers)
}

/// How much longer an edit makes the text.
fn growth(edit: &Edit) -> isize {
    edit.with.len().cast_signed() - (edit.end - edit.start).cast_signed()
}
