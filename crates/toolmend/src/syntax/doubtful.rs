//! Readings that involve a guess, and the slips that explain the same text.
//!
//! The tolerant reader follows one reading of a text and looks at rivals where it knows of any. The search for single
//! slips knows no likely readings, but it misses none. This module puts the two side by side. Which of them fit the
//! schema, and so which of them count, is decided by the pipeline.

use std::collections::HashMap;

use super::contested_reading::nests;
use super::document::{PlainReading, rate_strict_value, read_plain};
use super::{
    CorrectedText, DoubtfulReading, Likelihood, MendedText, ReadContext, Reading, completed_cut,
    disputed_edits, edited_strings, implausible_reading, other_meaning, slips,
};
use crate::json::text::compact_json;
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::syntax::Finish;
use crate::verdict::{Reason, Refusal};

/// Looks for slips that explain a text as well as the tolerant reader does, if its reading involves a guess.
pub(super) fn compare_with_slips(text: &str, plain: PlainReading, context: &ReadContext<'_>) -> Reading {
    let PlainReading { own, start, marks } = plain;
    let is_settled = match &own {
        Reading::One(_) => marks == 0,
        Reading::Several(_) | Reading::Doubtful(_) => true,
        // After a cut nothing is completed, and a slip that explains it is no better.
        Reading::Cut(_) => context.finish == Finish::Length,
        Reading::Refused(refusal) => refusal.reason == Some(Reason::Limit),
    };
    if let Reading::One(mended) = &own
        && let Some(swap) = mended.layers.iter().find_map(|patch| comma_after_digits(text, patch))
        && let Some(rival) = read_corrected(text, swap, context)
    {
        let likelihood = Likelihood::Usual;
        let corrected =
            vec![CorrectedText { mended: rival, completes: false, is_partial: false, likelihood, misfit: 0 }];
        return Reading::Doubtful(Box::new(DoubtfulReading { own, marks: 1, corrected, incomplete: false }));
    }
    // A guess that gives an object the same key twice drops a value.
    // Case: syntax/guess-with-a-key-twice
    let own = match own {
        Reading::One(mended) if marks > 0 && has_duplicate_keys(&mended.text) => Reading::Refused(Refusal {
            reason: Some(Reason::Syntax),
            message: "an object would have the same key twice".to_owned(),
            ..Refusal::default()
        }),
        own => own,
    };
    let Some(start) = start.filter(|_| !is_settled) else { return own };
    let slips = slips::find_corrections(text, start);
    if slips.corrections.is_empty() {
        return own;
    }
    let mut corrected: Vec<(CorrectedText, String)> = Vec::new();
    for correction in slips.corrections {
        let replaces_colon = correction.edit.with == "," && text[correction.edit.start..].starts_with(':');
        let Some(mended) = read_corrected(text, correction.edit, context) else { continue };
        // An object that has a key twice is no correction.
        // Case: syntax/closer-lost-or-key-twice
        if has_duplicate_keys(&mended.text)
            || has_odd_keys(&mended.text)
            || replaces_colon && is_pair(&mended.text)
            || implausible_reading::find_objection(text, &mended, false, context).is_some()
        {
            continue;
        }
        let value = compact_json(&mended.text);
        // It cannot be the answer, but it is a rival of others.
        // Case: syntax/third-quote-raw
        let is_disputed = disputed_edits::find_dispute(text, &mended, context).is_some()
            || other_meaning::find_objection(text, &mended, context).is_some()
            || objects_to_rest(text, &mended, context);
        let least = if is_disputed { Likelihood::OddText } else { Likelihood::Usual };
        // One that explains only a part of a string is as good a rival as before.
        let is_partial = explains_a_part(text, &mended, context);
        let completes_cut = || completed_cut::find_cut(text, &mended, context.finish).is_some();
        let completes = correction.completes || completes_cut();
        let likelihood = correction.likelihood.max(least);
        if let Some((known, _)) = corrected.iter_mut().find(|(_, known)| *known == value) {
            known.completes &= completes;
            known.is_partial &= is_partial;
            known.likelihood = known.likelihood.min(likelihood);
        } else {
            let misfit = rate_strict_value(&mended.text, context.guide);
            corrected.push((CorrectedText { mended, completes, is_partial, likelihood, misfit }, value));
        }
    }
    let corrected = corrected.into_iter().map(|(text, _)| text).collect();
    // Without fuel, corrections could not be read that may be right.
    let incomplete = slips.incomplete || context.fuel.is_empty();
    Reading::Doubtful(Box::new(DoubtfulReading { own, marks, corrected, incomplete }))
}

/// `[4,12,]`: in an array without blanks, a comma after two digits may have slipped past the last one. Returns the edit
/// that moves it back.
// Case: syntax/comma-between-digits-or-after
fn comma_after_digits(text: &str, patch: &Patch) -> Option<Edit> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let trailing = patch.edits().iter().filter(|edit| edit.kind == RepairKind::TrailingCommaRemoved);
    trailing.map(|edit| edit.start).find_map(|comma| {
        let last = comma.checked_sub(1).filter(|&last| last > 0 && is_digit(last) && is_digit(last - 1))?;
        let swapped = text.get(last..comma)?;
        (bytes.get(comma + 1) == Some(&b']'))
            .then(|| Edit::new(last..comma + 1, format!(",{swapped}"), RepairKind::MarksSwapped))
    })
}

/// The value of a text with one slip corrected, if it needs no further guess.
fn read_corrected(text: &str, correction: Edit, context: &ReadContext<'_>) -> Option<MendedText> {
    let patch = Patch::new(vec![correction]);
    let corrected = patch.apply(text);
    let mut layers = vec![patch];
    if crate::json::strict::check(&corrected, context.policy.limits.depth).is_ok() {
        return Some(MendedText { text: corrected, layers });
    }
    let PlainReading { own: Reading::One(mut mended), marks: 0, .. } = read_plain(&corrected, context) else {
        return None;
    };
    layers.append(&mut mended.layers);
    Some(MendedText { text: mended.text, layers })
}

/// Whether an edit of the correction, or one of the corrected text, leaves a string in two notations.
fn explains_a_part(text: &str, mended: &MendedText, context: &ReadContext<'_>) -> bool {
    let objects =
        |text: &str, mended: &MendedText| edited_strings::find_objection(text, mended, context).is_some();
    objects(text, mended)
        || mended.layers.split_first().filter(|(_, rest)| !rest.is_empty()).is_some_and(|(slip, rest)| {
            let rest = MendedText { text: mended.text.clone(), layers: rest.to_vec() };
            objects(&slip.apply(text), &rest)
        })
}

/// Whether the corrected text itself is read in a way that nobody meant.
fn objects_to_rest(text: &str, mended: &MendedText, context: &ReadContext<'_>) -> bool {
    let Some((slip, rest)) = mended.layers.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return false;
    };
    let corrected = slip.apply(text);
    let rest = MendedText { text: mended.text.clone(), layers: rest.to_vec() };
    implausible_reading::find_objection(&corrected, &rest, false, context).is_some()
        || other_meaning::find_objection(&corrected, &rest, context).is_some()
}

/// Whether an object of this strict text has a key twice.
pub(crate) fn has_duplicate_keys(text: &str) -> bool {
    has_key_twice(text, |_, _, _| true)
}

/// Whether an object of this strict text has a key twice, with values that are written differently.
pub(crate) fn has_contradicting_keys(text: &str) -> bool {
    has_key_twice(text, |tree, one, other| compact_json(tree.source(one)) != compact_json(tree.source(other)))
}

/// Whether an object of this strict text has a key twice, with two values that count.
fn has_key_twice(text: &str, counts: impl Fn(&Tree<'_>, usize, usize) -> bool) -> bool {
    let tree = Tree::of_strict(text);
    (0..tree.nodes.len()).filter(|&id| tree.nodes[id].kind == Kind::Object).any(|id| {
        let mut known = HashMap::new();
        tree.children(id).any(|child| {
            let before = tree.key(child).and_then(|key| known.insert(key, child));
            before.is_some_and(|before| counts(&tree, before, child))
        })
    })
}

/// Whether a key of this strict text has brackets that do not pair up: it is a piece of structure.
// Case: syntax/key-with-a-closer
fn has_odd_keys(text: &str) -> bool {
    let tree = Tree::of_strict(text);
    (0..tree.nodes.len()).filter_map(|id| tree.key(id)).any(|key| !nests(key.as_bytes()))
}

/// Whether this strict text is an array of a string and one more value. `["key": "value"]` is an object of Swift sooner than a
/// list with a mistyped comma.
// Case: syntax/object-in-square-brackets
fn is_pair(text: &str) -> bool {
    let tree = Tree::of_strict(text);
    if tree.nodes.is_empty() {
        return false;
    }
    let kinds: Vec<Kind> = tree.children(0).map(|child| tree.nodes[child].kind).collect();
    tree.nodes[0].kind == Kind::Array && kinds.len() == 2 && kinds[0] == Kind::String
}

/// The edits that assume a lost, doubled or mistyped mark. Superfluous marks in a row are one edit, and count one by one.
pub(super) fn count_guesses(patch: &Patch) -> usize {
    let guessed = |edit: &&Edit| edit.kind.info().is_guess || edit.kind == RepairKind::ValueQuoted;
    patch.edits().iter().filter(guessed).map(|edit| (edit.end - edit.start).max(1)).sum()
}
