//! A document between two repairs.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::pointer;
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::Repair;
use crate::schema::Schema;

use super::candidate::Pick;
use super::hint_check;
use super::mismatch::Change;
use crate::schema::fault::{self, Fault};

/// The text, what it means, what is wrong with it, and how it came to be.
#[derive(Debug, Clone)]
pub(super) struct State<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) value: Value,
    pub(super) faults: Vec<Fault>,
    pub(super) layers: Vec<Patch>,
    pub(super) notes: Vec<String>,
    /// The repairs, where all that was done is one step that put scalars in the place of values.
    pub(super) repairs: Option<Vec<Repair>>,
}

/// What some changes make of a document.
#[derive(Debug)]
pub(super) struct Step {
    text: String,
    /// The parts of the value that change, with their pointers. Swapping them twice changes nothing.
    parts: Vec<(String, Value)>,
    /// What is wrong afterwards. Where that is nothing, the document has the parts already: such a step is always taken.
    pub(super) faults: Vec<Fault>,
    layers: Vec<Patch>,
    notes: Vec<String>,
    repairs: Option<Vec<Repair>>,
}

impl<'t> State<'t> {
    pub(super) fn new(text: &'t str, value: Value, schema: &Schema, policy: &Policy) -> Self {
        let faults = faults(schema, policy, &value);
        State {
            text: Cow::Borrowed(text),
            value,
            faults,
            layers: Vec::new(),
            notes: Vec::new(),
            repairs: None,
        }
    }

    /// What the changes would make of this document; nothing where that is no JSON. Where something is wrong with that, the
    /// document stays as it is: it only lends its value to the validator.
    pub(super) fn attempt(
        &mut self,
        picks: &mut [Pick<'_>],
        schema: &Schema,
        policy: &Policy,
    ) -> Option<Step> {
        let repairs = if self.layers.is_empty() { replacements(picks) } else { None };
        let (text, layers) = apply(&self.text, picks);
        let mut parts = parts(&text, &layers, picks)?;
        let scalars = parts
            .iter()
            .all(|(region, part)| !region.is_empty() && !matches!(part, Value::Array(_) | Value::Object(_)));
        let repairs = repairs.filter(|repairs| scalars && parts.len() == repairs.len());
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
            Some(hint_check::hints(schema, policy, &self.value))
        } else {
            Some(faults(schema, policy, &self.value))
        };
        if faults.as_ref().is_none_or(|faults| !faults.is_empty()) {
            self.swap(&mut parts);
        }
        let faults = faults?;
        let notes = picks.iter().filter_map(|pick| pick.change.note.clone()).collect();
        Some(Step { text, parts, faults, layers, notes, repairs })
    }

    /// Takes a step that was made from this document.
    pub(super) fn take(&mut self, mut step: Step) {
        if !step.faults.is_empty() {
            self.swap(&mut step.parts);
        }
        self.text = Cow::Owned(step.text);
        self.faults = step.faults;
        self.repairs = step.repairs;
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

/// The repairs of changes that each replace one value as a whole; nothing where there are others.
fn replacements(picks: &[Pick<'_>]) -> Option<Vec<Repair>> {
    let replacement = |pick: &Pick<'_>| match &pick.change {
        Change { edits, within, drops: false, node: None, .. } if within.is_empty() => match &edits[..] {
            [only] if (only.start, only.end) == (pick.span.start, pick.span.end) => {
                Some(Repair::new(only.kind, pick.region().to_owned(), Some(pick.span.clone())))
            }
            _ => None,
        },
        _ => None,
    };
    if picks.len() > FEW {
        return None;
    }
    let mut repairs: Vec<Repair> = picks.iter().map(replacement).collect::<Option<_>>()?;
    repairs.sort_by_key(|repair| repair.at.as_ref().map(|at| at.start));
    Some(repairs)
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
    let edits = layer.edits().iter();
    let before: isize = edits.clone().filter(|edit| edit.start < start).map(growth).sum();
    let within: isize = edits.filter(|edit| start <= edit.start && edit.end <= end).map(growth).sum();
    (start.wrapping_add_signed(before), end.wrapping_add_signed(before + within))
}

/// Everything that is wrong with a value; hints come first.
fn faults(schema: &Schema, policy: &Policy, value: &Value) -> Vec<Fault> {
    let mut out = schema.faults(value);
    out.splice(..0, hint_check::hints(schema, policy, value));
    out
}

/// Makes the changes, which do not overlap, and gives the patches that do it.
fn apply(text: &str, picks: &mut [Pick<'_>]) -> (String, Vec<Patch>) {
    // What a change put in may need patches of its own; they know only the text that was put in.
    let nested = picks.iter().map(|pick| &pick.change).filter(|change| !change.within.is_empty());
    let mut nested: Vec<(usize, Vec<Patch>)> =
        nested.filter_map(|change| Some((change.edits.first()?.start, change.within.clone()))).collect();
    nested.sort_by_key(|(start, _)| *start);
    let mut edits: Vec<Edit> = match picks {
        // Nothing is tried twice alone, so a single change can give its edits away.
        [only] => std::mem::take(&mut only.change.edits),
        several => several.iter().flat_map(|pick| pick.change.edits.iter().cloned()).collect(),
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
