//! Which repair is tried for a fault.

use std::collections::{BTreeMap, HashSet};

use crate::json::tree::Tree;

use super::candidate::{Attempt, Pick};
use super::mismatch::{Ground, Site};
use super::node_lookup::Places;
use super::rules::{About, Row, TABLE};
use crate::schema::fault::{self, Fault, Wants};

/// So many faults of one object are looked at in vain before the rest of them is left.
const MAX_MISSES: usize = 8;

/// Chooses repairs for one state of a document.
pub(super) struct Chooser<'c> {
    ground: Ground<'c>,
    tree: &'c Tree<'c>,
    places: Places<'c>,
    failed: &'c HashSet<Attempt>,
    /// What is known about the objects whose members are wrong. A hostile object has thousands of faults, and
    /// many repairs read all of it.
    objects: BTreeMap<usize, Object>,
}

#[derive(Default)]
struct Object {
    /// Bits of the rows that have nothing to say about this object.
    idle: u64,
    /// Whether a repair is chosen that concerns the whole object.
    taken: bool,
    misses: usize,
}

impl<'c> Chooser<'c> {
    pub(super) fn new(
        ground: Ground<'c>,
        tree: &'c Tree<'c>,
        faults: &'c [Fault],
        failed: &'c HashSet<Attempt>,
    ) -> Self {
        let places = Places::of(tree, faults);
        Chooser { ground, tree, places, failed, objects: BTreeMap::new() }
    }

    /// Adds what could be done about a fault: one repair, or for a union the repairs of its closest branch.
    pub(super) fn choose<'f>(&mut self, fault: &'f Fault, scope: &str, out: &mut Vec<Pick<'f>>) {
        let Wants::Union(branches) = &fault.wants else {
            out.extend(self.first(fault, scope));
            return;
        };
        let mut best: Option<((usize, usize), Vec<Pick<'f>>)> = None;
        let mut tied = false;
        for (index, branch) in branches.iter().enumerate() {
            // Each branch has a say of its own about an object.
            let known = std::mem::take(&mut self.objects);
            let scope = fault::inner_scope(scope, fault, index);
            let mut picks = Vec::new();
            for fault in branch {
                self.choose(fault, &scope, &mut picks);
            }
            self.objects = known;
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
        out.extend(best.filter(|_| !tied).into_iter().flat_map(|(_, picks)| picks));
    }

    /// The first row of the table that has something to say and has not failed.
    fn first<'f>(&mut self, fault: &'f Fault, scope: &str) -> Option<Pick<'f>> {
        let id = self.places.find(self.tree, &fault.path)?;
        if !matches!(fault.wants, Wants::Key(_) | Wants::NoKey(_)) {
            return self.search(fault, scope, id, &mut Object::default());
        }
        let mut object = self.objects.remove(&id).unwrap_or_default();
        let pick = if object.taken || object.misses >= MAX_MISSES {
            None
        } else {
            self.search(fault, scope, id, &mut object)
        };
        object.misses += usize::from(pick.is_none());
        object.taken |= pick.as_ref().is_some_and(|pick| pick.node == id);
        self.objects.insert(id, object);
        pick
    }

    fn search<'f>(&self, fault: &'f Fault, scope: &str, id: usize, object: &mut Object) -> Option<Pick<'f>> {
        let site = Site { tree: self.tree, id, fault, ground: self.ground };
        for (index, Row { kind, attempt, about, .. }) in TABLE.iter().enumerate() {
            if object.idle >> index & 1 == 1 {
                continue;
            }
            let Some(change) = attempt(&site) else {
                object.idle |= u64::from(*about == About::Object) << index;
                continue;
            };
            if !self.ground.policy.allows(*kind) {
                continue;
            }
            let pick = Pick::new(&site, scope, fault, index, change);
            if self.failed.is_empty() || !self.failed.contains(&pick.attempt()) {
                return Some(pick);
            }
        }
        None
    }
}
