//! The repair loop: propose changes for what is wrong, try them, keep what helps, undo what does not.
//!
//! Changes are tried together, one for each value, so that a thousand wrong numbers cost as many passes as one. A change
//! that only uncovers the next fault is kept on trial: if its value does not become right, the document goes back to
//! where it was, and the next rule of the table is tried.
//!
//! The engine knows no rule by name. It stops after a number of tries that depends on the size of the document.

use std::collections::{BTreeMap, HashSet};

use crate::json::tree::Tree;

use super::candidate::{Attempt, Candidate};
use super::candidate_selector::CandidateSelector;
use super::effect::{Effect, judge_effects};
use super::mismatch::{Change, RepairContext};
use super::working_copy::{Revision, WorkingCopy};
use crate::schema::fault::{self, Fault};

/// How many changes may be on trial, one within the other.
const MAX_TRIALS: usize = 8;
/// Bytes that may be parsed and validated over all tries of one document, and the least and most tries.
const WORK: usize = 2 << 20;
const TRIES: (usize, usize) = (16, 128);
/// The most faults that one change may settle, if changes are tried one by one.
const FAULTS_PER_TRY: usize = 4;

pub(super) struct Engine<'a, 't> {
    context: RepairContext<'a>,
    /// Rules that did not help, with the faults they were tried for.
    failed: HashSet<Attempt>,
    trials: Vec<Trial<'t>>,
    /// Tries that are left.
    budget: usize,
    /// Whether changes are tried one by one, because the effects of several could not be told apart.
    one_by_one: bool,
}

/// Changes that must still prove themselves, and the document before them.
struct Trial<'t> {
    before: WorkingCopy<'t>,
    opened: Vec<Opened>,
}

/// A change that uncovered more, and where.
type Opened = (Attempt, String);

impl<'a, 't> Engine<'a, 't> {
    pub(super) fn new(context: RepairContext<'a>, bytes: usize) -> Self {
        Engine {
            context,
            failed: HashSet::new(),
            trials: Vec::new(),
            budget: (WORK / bytes.max(1)).clamp(TRIES.0, TRIES.1),
            one_by_one: false,
        }
    }

    /// Repairs until nothing is wrong or nothing helps.
    pub(super) fn run(mut self, mut document: WorkingCopy<'t>) -> WorkingCopy<'t> {
        while !document.faults.is_empty() {
            let faults = std::mem::take(&mut document.faults);
            // One by one, so many would never be done.
            if self.one_by_one && faults.len() > FAULTS_PER_TRY * self.budget {
                self.budget = 0;
            }
            let candidates =
                if self.budget == 0 { Vec::new() } else { self.propose_candidates(&document, &faults) };
            let stuck = candidates.is_empty();
            match self.try_candidates(&mut document, &faults, candidates) {
                Some((revision, opened)) => {
                    if !opened.is_empty() {
                        let before = WorkingCopy { faults, ..document.clone() };
                        self.trials.push(Trial { before, opened });
                    }
                    document.accept(revision);
                    self.trials.retain(|trial| trial.still_open(&document.faults).next().is_some());
                }
                None => document.faults = faults,
            }
            if !stuck {
                continue;
            }
            let Some(trial) = self.trials.pop() else { break };
            self.failed.extend(trial.still_open(&document.faults));
            document = trial.before;
        }
        document
    }

    /// Tries the candidates together. Returns a revision with those that help, and those that still have to prove it.
    fn try_candidates(
        &mut self,
        document: &mut WorkingCopy<'t>,
        faults: &[Fault],
        mut candidates: Vec<Candidate<'_>>,
    ) -> Option<(Revision, Vec<Opened>)> {
        let Some(revision) = self.make_revision(document, &mut candidates) else {
            return self.give_up(&candidates);
        };
        if revision.faults.is_empty() {
            return Some((revision, Vec::new()));
        }
        let effects = judge_effects(faults, &revision.faults, &candidates);
        if effects.iter().copied().all(Effect::is_fine) {
            return self.admit(revision, &candidates, &effects);
        }
        let alone = candidates.len() == 1;
        let mut good = Vec::new();
        for (candidate, effect) in candidates.into_iter().zip(effects) {
            match effect {
                Effect::Helped | Effect::Opened => good.push(candidate),
                Effect::Unclear if !alone => self.one_by_one = true,
                Effect::Failed | Effect::Unclear => {
                    self.failed.insert(candidate.attempt());
                }
            }
        }
        if good.is_empty() {
            return None;
        }
        let Some(revision) = self.make_revision(document, &mut good) else { return self.give_up(&good) };
        if revision.faults.is_empty() {
            return Some((revision, Vec::new()));
        }
        let effects = judge_effects(faults, &revision.faults, &good);
        if effects.iter().copied().all(Effect::is_fine) {
            self.admit(revision, &good, &effects)
        } else {
            self.give_up(&good)
        }
    }

    fn make_revision(
        &mut self,
        document: &mut WorkingCopy<'t>,
        candidates: &mut [Candidate<'_>],
    ) -> Option<Revision> {
        if candidates.is_empty() {
            return None;
        }
        self.budget = self.budget.saturating_sub(1);
        document.attempt_changes(candidates, self.context.schema, self.context.policy)
    }

    /// Several changes that fail together may each be fine alone.
    fn give_up(&mut self, candidates: &[Candidate<'_>]) -> Option<(Revision, Vec<Opened>)> {
        match candidates {
            [] => {}
            [candidate] => {
                self.failed.insert(candidate.attempt());
            }
            _ => self.one_by_one = true,
        }
        None
    }

    /// Accepts a revision unless too much is on trial.
    fn admit(
        &mut self,
        revision: Revision,
        candidates: &[Candidate<'_>],
        effects: &[Effect],
    ) -> Option<(Revision, Vec<Opened>)> {
        let opened = candidates.iter().zip(effects).filter(|(_, effect)| **effect == Effect::Opened);
        let opened: Vec<Opened> =
            opened.map(|(candidate, _)| (candidate.attempt(), candidate.region().to_owned())).collect();
        if !opened.is_empty() && self.trials.len() >= MAX_TRIALS {
            self.failed.extend(opened.into_iter().map(|(attempt, _)| attempt));
            return None;
        }
        Some((revision, opened))
    }

    /// Changes for the faults, as far as they do not overlap and the limit on edits allows.
    fn propose_candidates<'f>(&self, document: &WorkingCopy<'_>, faults: &'f [Fault]) -> Vec<Candidate<'f>> {
        let tree = Tree::of_strict(&document.text);
        let mut selector = CandidateSelector::new(self.context, &tree, faults, &self.failed);
        let mut candidates = Vec::with_capacity(faults.len().min(16));
        for fault in faults {
            selector.choose(fault, "", &mut candidates);
            if self.one_by_one && !candidates.is_empty() {
                candidates.truncate(1);
                break;
            }
        }
        let used: usize = document.layers.iter().map(|layer| layer.edits().len()).sum();
        let mut room = self.context.policy.limits.edits.saturating_sub(used);
        if let [only] = &candidates[..]
            && only.change.edits.len() <= room
        {
            return candidates;
        }
        let mut nodes = HashSet::new();
        let mut spans: BTreeMap<usize, usize> = BTreeMap::new();
        candidates.retain(|candidate| {
            let edits = &candidate.change.edits;
            let fits =
                edits.len() <= room && is_free(&spans, &candidate.change) && nodes.insert(candidate.node);
            if fits {
                room -= edits.len();
                spans.extend(edits.iter().map(|edit| (edit.start, edit.end)));
            }
            fits
        });
        candidates
    }
}

impl Trial<'_> {
    /// The changes that left something wrong inside what they changed.
    fn still_open(&self, faults: &[Fault]) -> impl Iterator<Item = Attempt> {
        let wrong: HashSet<&str> =
            faults.iter().flat_map(|fault| fault::enclosing_paths(&fault.path)).collect();
        let open = self.opened.iter().filter(move |(_, region)| wrong.contains(region.as_str()));
        open.map(|(attempt, _)| attempt.clone())
    }
}

/// Whether a change overlaps none of the spans that are taken.
fn is_free(spans: &BTreeMap<usize, usize>, change: &Change) -> bool {
    change.edits.iter().all(|edit| {
        let before = spans
            .range(..=edit.start)
            .next_back()
            .is_none_or(|(&start, &end)| end <= edit.start && !(start == edit.start && end == start));
        before && spans.range(edit.start..).next().is_none_or(|(&start, _)| edit.end <= start)
    })
}
