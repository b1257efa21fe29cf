//! The loop: pick repairs for what is wrong, try them, keep what helps, go back where it does not.
//!
//! Repairs are tried together, one at each place, so that a thousand wrong numbers cost as many passes as one.
//! A repair that only uncovers the next fault is kept on trial: if the place does not become right, the
//! document goes back to where it was and the next row of the table has its turn.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::json::pointer;
use crate::json::tree::{Kind, Tree};
use crate::policy::Policy;
use crate::schema::Schema;

use super::fault::{self, Fault, FaultId, Scoped, Wants};
use super::site::{Change, Site};
use super::state::State;
use super::table::TABLE;

/// How many repairs may be on trial, one within the other.
const MAX_TRIALS: usize = 8;
/// Bytes that may be parsed and validated over all tries of one document.
const WORK: usize = 32 << 20;

pub(super) struct Engine<'a, 't> {
    schema: &'a Schema,
    policy: &'a Policy,
    tool: Option<&'a str>,
    /// Rows of the table that did not help.
    failed: HashSet<Attempt>,
    trials: Vec<Trial<'t>>,
    /// Tries that are left.
    budget: usize,
    /// Whether repairs are tried one by one, after several together could not be told apart.
    one_by_one: bool,
}

/// A row of the table at a fault. The length tells the same fault about another value.
type Attempt = (FaultId, usize, usize);

/// A repair that must still prove itself, and the document before it.
struct Trial<'t> {
    before: State<'t>,
    opened: Vec<(Attempt, String)>,
}

/// A repair chosen for a fault.
struct Pick {
    attempt: Attempt,
    scope: String,
    node: usize,
    /// Pointer of the value whose inside changes.
    region: String,
    row: usize,
    change: Change,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Judgement {
    /// The fault is gone and nothing new is wrong.
    Helped,
    /// What is wrong now is inside of what changed.
    Opened,
    /// The fault stays, or something new is wrong.
    Failed,
    /// Something new is wrong further up, and this repair may not be the one to blame.
    Unclear,
}

impl<'a, 't> Engine<'a, 't> {
    pub(super) fn new(schema: &'a Schema, policy: &'a Policy, tool: Option<&'a str>, bytes: usize) -> Self {
        Engine {
            schema,
            policy,
            tool,
            failed: HashSet::new(),
            trials: Vec::new(),
            budget: (WORK / bytes.max(1)).clamp(24, 400),
            one_by_one: false,
        }
    }

    /// Works until nothing is wrong or nothing helps.
    pub(super) fn run(mut self, mut state: State<'t>) -> State<'t> {
        while !state.faults.is_empty() {
            let picks = if self.budget == 0 { Vec::new() } else { self.pick(&state) };
            if !picks.is_empty() {
                self.round(&mut state, picks);
            } else if let Some(trial) = self.trials.pop() {
                state = trial.before;
                if trial.opened.len() == 1 {
                    self.failed.extend(trial.opened.into_iter().map(|(attempt, _)| attempt));
                } else {
                    self.one_by_one = true;
                }
            } else {
                break;
            }
        }
        state
    }

    /// Tries the picks together and keeps those that help.
    fn round(&mut self, state: &mut State<'t>, picks: Vec<Pick>) {
        let Some(next) = self.make(state, &picks) else { return self.give_up(picks) };
        if next.faults.is_empty() {
            *state = next;
            return;
        }
        let verdicts = judge(&state.faults, &next.faults, &picks);
        let fine = |verdict: &Judgement| matches!(verdict, Judgement::Helped | Judgement::Opened);
        if verdicts.iter().all(fine) {
            return self.keep(state, next, &picks, &verdicts);
        }
        let alone = picks.len() == 1;
        let mut good = Vec::new();
        for (pick, verdict) in picks.into_iter().zip(verdicts) {
            match verdict {
                Judgement::Helped | Judgement::Opened => good.push(pick),
                Judgement::Unclear if !alone => self.one_by_one = true,
                Judgement::Failed | Judgement::Unclear => {
                    self.failed.insert(pick.attempt);
                }
            }
        }
        if good.is_empty() {
            return;
        }
        let Some(next) = self.make(state, &good) else { return self.give_up(good) };
        let verdicts = judge(&state.faults, &next.faults, &good);
        if next.faults.is_empty() || verdicts.iter().all(fine) {
            self.keep(state, next, &good, &verdicts);
        } else {
            self.give_up(good);
        }
    }

    fn make(&mut self, state: &State<'t>, picks: &[Pick]) -> Option<State<'t>> {
        self.budget = self.budget.saturating_sub(1);
        let changes: Vec<&Change> = picks.iter().map(|pick| &pick.change).collect();
        state.with(&changes, self.schema, self.policy)
    }

    /// Several repairs that fail together may each be fine alone.
    fn give_up(&mut self, picks: Vec<Pick>) {
        if picks.len() == 1 {
            self.failed.extend(picks.into_iter().map(|pick| pick.attempt));
        } else {
            self.one_by_one = true;
        }
    }

    fn keep(&mut self, state: &mut State<'t>, next: State<'t>, picks: &[Pick], verdicts: &[Judgement]) {
        let opened: Vec<(Attempt, String)> = picks
            .iter()
            .zip(verdicts)
            .filter(|(_, verdict)| **verdict == Judgement::Opened)
            .map(|(pick, _)| (pick.attempt.clone(), pick.region.clone()))
            .collect();
        if !opened.is_empty() {
            if self.trials.len() >= MAX_TRIALS {
                self.failed.extend(opened.into_iter().map(|(attempt, _)| attempt));
                return;
            }
            self.trials.push(Trial { before: state.clone(), opened });
        }
        *state = next;
        self.trials.retain(|trial| {
            trial
                .opened
                .iter()
                .any(|(_, region)| state.faults.iter().any(|fault| fault::is_within(&fault.path, region)))
        });
    }

    /// The first row that has something to say, for every fault, as far as the changes do not meet.
    fn pick(&self, state: &State<'_>) -> Vec<Pick> {
        let tree = Tree::of(&state.text);
        let places = locate(&tree, &state.faults);
        let mut picks = Vec::new();
        let mut nodes = HashSet::new();
        let mut spans: BTreeMap<usize, usize> = BTreeMap::new();
        let mut edits = state.layers.iter().map(|layer| layer.edits().len()).sum::<usize>();
        for fault in &state.faults {
            for pick in self.candidates(&tree, &places, fault, "") {
                edits += pick.change.edits.len();
                if edits > self.policy.limits.edits {
                    return picks;
                }
                if nodes.contains(&pick.node) || !is_free(&spans, &pick.change) {
                    continue;
                }
                nodes.insert(pick.node);
                spans.extend(pick.change.edits.iter().map(|edit| (edit.start, edit.end)));
                picks.push(pick);
                if self.one_by_one {
                    return picks;
                }
            }
        }
        picks
    }

    /// What could be done about a fault: one repair, or for a union the repairs of its closest branch.
    fn candidates(
        &self,
        tree: &Tree<'_>,
        places: &HashMap<&str, usize>,
        fault: &Fault,
        scope: &str,
    ) -> Vec<Pick> {
        let Wants::Union(branches) = &fault.wants else {
            return self.candidate(tree, places, fault, scope).into_iter().collect();
        };
        let mut best: Option<((usize, usize), Vec<Pick>)> = None;
        let mut tied = false;
        for (index, branch) in branches.iter().enumerate() {
            let scope = fault::inner_scope(scope, fault, index);
            let picks: Vec<Pick> =
                branch.iter().flat_map(|fault| self.candidates(tree, places, fault, &scope)).collect();
            let Some(row) = picks.iter().map(|pick| pick.row).min() else { continue };
            let rank = (fault::distance(branch, &fault.path), row);
            match &best {
                Some((other, _)) if *other < rank => {}
                Some((other, there)) if *other == rank => {
                    tied |= !there.iter().map(|pick| &pick.change).eq(picks.iter().map(|pick| &pick.change));
                }
                _ => {
                    best = Some((rank, picks));
                    tied = false;
                }
            }
        }
        // Two branches that are equally close and want different repairs: nobody can tell which was meant.
        best.filter(|_| !tied).map(|(_, picks)| picks).unwrap_or_default()
    }

    fn candidate(
        &self,
        tree: &Tree<'_>,
        places: &HashMap<&str, usize>,
        fault: &Fault,
        scope: &str,
    ) -> Option<Pick> {
        let id = *places.get(fault.path.as_str())?;
        let site = Site { tree, id, fault, schema: self.schema, policy: self.policy, tool: self.tool };
        let length = tree.nodes[id].span.len();
        for (row, entry) in TABLE.iter().enumerate() {
            if !self.policy.allows(entry.kind) {
                continue;
            }
            let Some(change) = (entry.attempt)(&site) else { continue };
            let attempt = (fault.id(), length, row);
            if self.failed.contains(&attempt) {
                continue;
            }
            let region = if change.in_parent { fault::parent(&fault.path) } else { &fault.path };
            return Some(Pick {
                attempt,
                scope: scope.to_owned(),
                node: id,
                region: region.to_owned(),
                row,
                change,
            });
        }
        None
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

/// The nodes at the paths of the faults.
fn locate<'f>(tree: &Tree<'_>, faults: &'f [Fault]) -> HashMap<&'f str, usize> {
    let scoped = fault::all(faults);
    let paths: HashSet<&'f str> = scoped.iter().map(|Scoped { fault, .. }| fault.path.as_str()).collect();
    // Each search walks past the elements before; with many, one walk over all nodes is shorter.
    if paths.len() <= 8 {
        return paths.into_iter().filter_map(|path| Some((path, tree.find(path)?))).collect();
    }
    let mut out = HashMap::with_capacity(paths.len());
    let mut path = String::new();
    // Open containers: id, length of the path above, index of the next element.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        while let Some(&(top, length, _)) = open.last() {
            path.truncate(length);
            if id < tree.nodes[top].after {
                break;
            }
            open.pop();
        }
        if let Some((_, _, index)) = open.last_mut() {
            match tree.key(id) {
                Some(key) => pointer::push(&mut path, &key),
                None => pointer::push(&mut path, &index.to_string()),
            }
            *index += 1;
        }
        if let Some(&known) = paths.get(path.as_str()) {
            out.insert(known, id);
        }
        if matches!(node.kind, Kind::Array | Kind::Object) {
            open.push((id, path.len(), 0));
        }
    }
    out
}

/// What became of each pick.
fn judge(before: &[Fault], after: &[Fault], picks: &[Pick]) -> Vec<Judgement> {
    let known: HashSet<FaultId> = fault::all(before).iter().map(|scoped| scoped.fault.id()).collect();
    let after = fault::all(after);
    let now: HashSet<FaultId> = after.iter().map(|scoped| scoped.fault.id()).collect();
    let mut regions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, pick) in picks.iter().enumerate() {
        regions.entry(&pick.region).or_default().push(index);
    }
    let mut inside = vec![false; picks.len()];
    let mut above = vec![false; picks.len()];
    // A hint that is violated only now has its own repair.
    for Scoped { scope, fault } in &after {
        if known.contains(&fault.id()) || fault.is_hint() {
            continue;
        }
        // Branches that a repair did not aim at may see the new value as they like.
        let concerns = |index: &usize| {
            let own = &picks[*index].scope;
            own.starts_with(scope.as_str()) || scope.starts_with(own.as_str())
        };
        let mut path = fault.path.as_str();
        let owners = loop {
            match regions.get(path) {
                Some(owners) => break Some(owners),
                None if path.is_empty() => break None,
                None => path = fault::parent(path),
            }
        };
        if let Some(owners) = owners {
            let dropped = owners.iter().copied().find(|&index| drops(&picks[index], fault));
            let blamed = owners.iter().copied().filter(|index| dropped.is_none_or(|one| one == *index));
            blamed.filter(concerns).for_each(|index| inside[index] = true);
        } else {
            let under = (0..picks.len()).filter(|&index| fault::is_within(&picks[index].region, &fault.path));
            under.filter(concerns).for_each(|index| above[index] = true);
        }
    }
    picks
        .iter()
        .enumerate()
        .map(|(index, pick)| {
            let gone = !now.contains(&pick.attempt.0);
            match (TABLE[pick.row].opens, gone, inside[index], above[index]) {
                (_, _, _, true) => Judgement::Unclear,
                (_, true, false, false) => Judgement::Helped,
                (true, ..) => Judgement::Opened,
                (false, ..) => Judgement::Failed,
            }
        })
        .collect()
}

/// Whether this fault misses just the member that the pick dropped.
fn drops(pick: &Pick, fault: &Fault) -> bool {
    let Wants::Key(name) = &fault.wants else { return false };
    let mut path = fault.path.clone();
    pointer::push(&mut path, name);
    pick.change.in_parent && pick.attempt.0.0 == path
}
