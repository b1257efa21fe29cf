//! Did a change help? Compares the faults before and after, and attributes them to the changes between.

use std::collections::{HashMap, HashSet};

use crate::json::pointer;

use super::candidate::Candidate;
use super::rules::RULES;
use crate::schema::fault::{self, Fault, FaultId, ScopedFault, Wants};

/// What a change did to the faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The fault is gone and nothing new is wrong.
    Helped,
    /// What is wrong now is inside what changed.
    Opened,
    /// The fault stays, or something new is wrong.
    Failed,
    /// Something new is wrong further up, and another change may be the cause.
    Unclear,
}

impl Effect {
    pub(super) fn is_fine(self) -> bool {
        matches!(self, Effect::Helped | Effect::Opened)
    }
}

/// The effect of each change.
pub(super) fn judge_effects(before: &[Fault], after: &[Fault], candidates: &[Candidate<'_>]) -> Vec<Effect> {
    let known: HashSet<FaultId> = fault::flatten(before).iter().map(|scoped| scoped.fault.id()).collect();
    let after = fault::flatten(after);
    let now: HashSet<FaultId> = after.iter().map(|scoped| scoped.fault.id()).collect();
    let mut regions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        regions.entry(candidate.region()).or_default().push(index);
    }
    // By region, so that those under a path are beside each other.
    let mut sorted: Vec<usize> = (0..candidates.len()).collect();
    sorted.sort_by_key(|&index| candidates[index].region());
    let mut inside = vec![false; candidates.len()];
    let mut above = vec![false; candidates.len()];
    // A hint that is violated only now has its own repair.
    for ScopedFault { scope, fault } in &after {
        if known.contains(&fault.id()) || fault.is_hint() {
            continue;
        }
        // What other branches of a union say about the new value does not matter.
        let concerns = |index: &usize| {
            let own = &candidates[*index].scope;
            own.starts_with(scope.as_str()) || scope.starts_with(own.as_str())
        };
        let owners = fault::enclosing_paths(&fault.path).find_map(|path| regions.get(path));
        if let Some(owners) = owners {
            let dropped =
                owners.iter().copied().find(|&index| misses_dropped_member(&candidates[index], fault));
            let blamed = owners.iter().copied().filter(|index| dropped.is_none_or(|one| one == *index));
            blamed.filter(concerns).for_each(|index| inside[index] = true);
        } else {
            let path = fault.path.as_str();
            let first = sorted.partition_point(|&index| candidates[index].region() < path);
            let near = sorted[first..].iter().copied();
            let near = near.take_while(|&index| candidates[index].region().starts_with(path));
            let under = near.filter(|&index| fault::is_within(candidates[index].region(), path));
            under.filter(concerns).for_each(|index| above[index] = true);
        }
    }
    candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| {
            let gone = !now.contains(&candidate.fault.id());
            match (RULES[candidate.rule].opens, gone, inside[index], above[index]) {
                (_, _, _, true) => Effect::Unclear,
                (_, true, false, false) => Effect::Helped,
                (true, ..) => Effect::Opened,
                (false, ..) => Effect::Failed,
            }
        })
        .collect()
}

/// Whether this fault misses just the member that the candidate dropped.
fn misses_dropped_member(candidate: &Candidate<'_>, fault: &Fault) -> bool {
    let Wants::Key(name) = &fault.wants else { return false };
    let mut path = fault.path.clone();
    pointer::push(&mut path, name);
    candidate.change.drops && candidate.fault.path == path
}
