//! The loop: pick repairs for what is wrong, try them, keep what helps, go back where it does not.
//!
//! Repairs are tried together, one at each place, so that a thousand wrong numbers cost as many passes as one.
//! A repair that only uncovers the next fault is kept on trial: if the place does not become right, the
//! document goes back to where it was and the next row of the table has its turn.

use std::collections::{BTreeMap, HashSet};

use crate::json::tree::Tree;

use super::candidate::{Attempt, Pick};
use super::candidate_selector::Chooser;
use super::effect::{Judgement, judge};
use super::mismatch::{Change, Ground};
use super::working_copy::{State, Step};
use crate::schema::fault::{self, Fault};

/// How many repairs may be on trial, one within the other.
const MAX_TRIALS: usize = 8;
/// Bytes that may be parsed and validated over all tries of one document, and how few or many tries that is.
const WORK: usize = 4 << 20;
const TRIES: (usize, usize) = (16, 128);

pub(super) struct Engine<'a, 't> {
    ground: Ground<'a>,
    /// Rows of the table that did not help.
    failed: HashSet<Attempt>,
    trials: Vec<Trial<'t>>,
    /// Tries that are left.
    budget: usize,
    /// Whether repairs are tried one by one, after several together could not be told apart.
    one_by_one: bool,
}

/// A repair that must still prove itself, and the document before it.
struct Trial<'t> {
    before: State<'t>,
    opened: Vec<Opened>,
}

/// A repair that uncovered more, and where.
type Opened = (Attempt, String);

impl<'a, 't> Engine<'a, 't> {
    pub(super) fn new(ground: Ground<'a>, bytes: usize) -> Self {
        Engine {
            ground,
            failed: HashSet::new(),
            trials: Vec::new(),
            budget: (WORK / bytes.max(1)).clamp(TRIES.0, TRIES.1),
            one_by_one: false,
        }
    }

    /// Works until nothing is wrong or nothing helps.
    pub(super) fn run(mut self, mut state: State<'t>) -> State<'t> {
        while !state.faults.is_empty() {
            let faults = std::mem::take(&mut state.faults);
            let picks = if self.budget == 0 { Vec::new() } else { self.pick(&state, &faults) };
            let stuck = picks.is_empty();
            match self.round(&mut state, &faults, picks) {
                Some((step, opened)) => {
                    if !opened.is_empty() {
                        let before = State { faults, ..state.clone() };
                        self.trials.push(Trial { before, opened });
                    }
                    state.take(step);
                    self.trials.retain(|trial| trial.open(&state.faults).next().is_some());
                }
                None => state.faults = faults,
            }
            if !stuck {
                continue;
            }
            let Some(trial) = self.trials.pop() else { break };
            self.failed.extend(trial.open(&state.faults));
            state = trial.before;
        }
        state
    }

    /// Tries the picks together. What comes back holds those that help, with those that still have to prove it.
    fn round(
        &mut self,
        state: &mut State<'t>,
        faults: &[Fault],
        mut picks: Vec<Pick<'_>>,
    ) -> Option<(Step, Vec<Opened>)> {
        let Some(step) = self.make(state, &mut picks) else { return self.give_up(&picks) };
        if step.faults.is_empty() {
            return Some((step, Vec::new()));
        }
        let verdicts = judge(faults, &step.faults, &picks);
        if verdicts.iter().copied().all(Judgement::is_fine) {
            return self.admit(step, &picks, &verdicts);
        }
        let alone = picks.len() == 1;
        let mut good = Vec::new();
        for (pick, verdict) in picks.into_iter().zip(verdicts) {
            match verdict {
                Judgement::Helped | Judgement::Opened => good.push(pick),
                Judgement::Unclear if !alone => self.one_by_one = true,
                Judgement::Failed | Judgement::Unclear => {
                    self.failed.insert(pick.attempt());
                }
            }
        }
        if good.is_empty() {
            return None;
        }
        let Some(step) = self.make(state, &mut good) else { return self.give_up(&good) };
        if step.faults.is_empty() {
            return Some((step, Vec::new()));
        }
        let verdicts = judge(faults, &step.faults, &good);
        if verdicts.iter().copied().all(Judgement::is_fine) {
            self.admit(step, &good, &verdicts)
        } else {
            self.give_up(&good)
        }
    }

    fn make(&mut self, state: &mut State<'t>, picks: &mut [Pick<'_>]) -> Option<Step> {
        if picks.is_empty() {
            return None;
        }
        self.budget = self.budget.saturating_sub(1);
        state.attempt(picks, self.ground.schema, self.ground.policy)
    }

    /// Several repairs that fail together may each be fine alone.
    fn give_up(&mut self, picks: &[Pick<'_>]) -> Option<(Step, Vec<Opened>)> {
        match picks {
            [] => {}
            [pick] => {
                self.failed.insert(pick.attempt());
            }
            _ => self.one_by_one = true,
        }
        None
    }

    /// Lets a step pass unless too much is on trial.
    fn admit(
        &mut self,
        step: Step,
        picks: &[Pick<'_>],
        verdicts: &[Judgement],
    ) -> Option<(Step, Vec<Opened>)> {
        let opened = picks.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Judgement::Opened);
        let opened: Vec<Opened> =
            opened.map(|(pick, _)| (pick.attempt(), pick.region().to_owned())).collect();
        if !opened.is_empty() && self.trials.len() >= MAX_TRIALS {
            self.failed.extend(opened.into_iter().map(|(attempt, _)| attempt));
            return None;
        }
        Some((step, opened))
    }

    /// Repairs for the faults, as far as they do not meet and the limit on edits has room.
    fn pick<'f>(&self, state: &State<'_>, faults: &'f [Fault]) -> Vec<Pick<'f>> {
        let tree = Tree::of(&state.text);
        let mut chooser = Chooser::new(self.ground, &tree, faults, &self.failed);
        let mut picks = Vec::with_capacity(faults.len().min(16));
        for fault in faults {
            chooser.choose(fault, "", &mut picks);
            if self.one_by_one && !picks.is_empty() {
                picks.truncate(1);
                break;
            }
        }
        let used: usize = state.layers.iter().map(|layer| layer.edits().len()).sum();
        let mut room = self.ground.policy.limits.edits.saturating_sub(used);
        if let [only] = &picks[..]
            && only.change.edits.len() <= room
        {
            return picks;
        }
        let mut nodes = HashSet::new();
        let mut spans: BTreeMap<usize, usize> = BTreeMap::new();
        picks.retain(|pick| {
            let edits = &pick.change.edits;
            let fits = edits.len() <= room && is_free(&spans, &pick.change) && nodes.insert(pick.node);
            if fits {
                room -= edits.len();
                spans.extend(edits.iter().map(|edit| (edit.start, edit.end)));
            }
            fits
        });
        picks
    }
}

impl Trial<'_> {
    /// The repairs at whose places something is still wrong.
    fn open(&self, faults: &[Fault]) -> impl Iterator<Item = Attempt> {
        let wrong: HashSet<&str> = faults.iter().flat_map(|fault| fault::upwards(&fault.path)).collect();
        let open = self.opened.iter().filter(move |(_, region)| wrong.contains(region.as_str()));
        open.map(|(attempt, _)| attempt.clone())
    }
}

/// Whether a change meets none of the spans that are taken.
fn is_free(spans: &BTreeMap<usize, usize>, change: &Change) -> bool {
    change.edits.iter().all(|edit| {
        let before = spans
            .range(..=edit.start)
            .next_back()
            .is_none_or(|(&start, &end)| end <= edit.start && !(start == edit.start && end == start));
        before && spans.range(edit.start..).next().is_none_or(|(&start, _)| edit.end <= start)
    })
}
