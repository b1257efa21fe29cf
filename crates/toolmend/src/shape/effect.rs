//! Did it help? The faults before and after, laid to the charge of the repairs between.

use std::collections::{HashMap, HashSet};

use crate::json::pointer;

use super::candidate::Pick;
use super::rules::TABLE;
use crate::schema::fault::{self, Fault, FaultId, Scoped, Wants};

/// What a repair did to what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The fault is gone and nothing new is wrong.
    Helped,
    /// What is wrong now is inside of what changed.
    Opened,
    /// The fault stays, or something new is wrong.
    Failed,
    /// Something new is wrong further up, and this repair may not be the one to blame.
    Unclear,
}

impl Judgement {
    pub(super) fn is_fine(self) -> bool {
        matches!(self, Judgement::Helped | Judgement::Opened)
    }
}

/// What became of each pick.
pub(super) fn judge(before: &[Fault], after: &[Fault], picks: &[Pick<'_>]) -> Vec<Judgement> {
    let known: HashSet<FaultId> = fault::all(before).iter().map(|scoped| scoped.fault.id()).collect();
    let after = fault::all(after);
    let now: HashSet<FaultId> = after.iter().map(|scoped| scoped.fault.id()).collect();
    let mut regions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, pick) in picks.iter().enumerate() {
        regions.entry(pick.region()).or_default().push(index);
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
        let owners = fault::upwards(&fault.path).find_map(|path| regions.get(path));
        if let Some(owners) = owners {
            let dropped = owners.iter().copied().find(|&index| drops(&picks[index], fault));
            let blamed = owners.iter().copied().filter(|index| dropped.is_none_or(|one| one == *index));
            blamed.filter(concerns).for_each(|index| inside[index] = true);
        } else {
            let under =
                (0..picks.len()).filter(|&index| fault::is_within(picks[index].region(), &fault.path));
            under.filter(concerns).for_each(|index| above[index] = true);
        }
    }
    picks
        .iter()
        .enumerate()
        .map(|(index, pick)| {
            let gone = !now.contains(&pick.fault.id());
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
fn drops(pick: &Pick<'_>, fault: &Fault) -> bool {
    let Wants::Key(name) = &fault.wants else { return false };
    let mut path = fault.path.clone();
    pointer::push(&mut path, name);
    pick.change.drops && pick.fault.path == path
}
