//! Which rule is tried for a fault.
//!
//! The selector only proposes. Trying the changes and judging them is up to the engine.

use std::collections::{BTreeMap, HashSet};

use crate::json::tree::Tree;

use super::candidate::{Attempt, Candidate};
use super::mismatch::{RepairContext, SchemaMismatch};
use super::node_lookup::NodeLookup;
use super::rules::{About, RULES};
use crate::schema::fault::{self, Fault, Wants};

/// The faults of one object that are looked at without success before the rest is skipped.
const MAX_MISSES: usize = 8;

/// Chooses rules for one state of a document.
pub(super) struct CandidateSelector<'c> {
    context: RepairContext<'c>,
    tree: &'c Tree<'c>,
    lookup: NodeLookup<'c>,
    failed: &'c HashSet<Attempt>,
    /// What is known about the objects whose members are wrong. A hostile object has thousands of faults, and many rules
    /// read all of it.
    objects: BTreeMap<usize, Object>,
}

#[derive(Default)]
struct Object {
    /// Bits of the rules that propose nothing for this object.
    idle: u64,
    /// Whether a change is chosen that concerns the whole object.
    taken: bool,
    misses: usize,
}

impl<'c> CandidateSelector<'c> {
    pub(super) fn new(
        context: RepairContext<'c>,
        tree: &'c Tree<'c>,
        faults: &'c [Fault],
        failed: &'c HashSet<Attempt>,
    ) -> Self {
        let lookup = NodeLookup::of(tree, faults);
        CandidateSelector { context, tree, lookup, failed, objects: BTreeMap::new() }
    }

    /// Adds what could be done about a fault: one change, or for a union the changes of its closest branch.
    pub(super) fn choose<'f>(&mut self, fault: &'f Fault, scope: &str, out: &mut Vec<Candidate<'f>>) {
        let Wants::Union(branches) = &fault.wants else {
            out.extend(self.first_candidate(fault, scope));
            return;
        };
        let mut best: Option<((usize, usize), Vec<Candidate<'f>>)> = None;
        let mut tied = false;
        for (index, branch) in branches.iter().enumerate() {
            // Each branch is judged on its own, so what is known about objects does not carry over.
            let known = std::mem::take(&mut self.objects);
            let scope = fault::branch_scope(scope, fault, index);
            let mut candidates = Vec::new();
            for fault in branch {
                self.choose(fault, &scope, &mut candidates);
            }
            self.objects = known;
            let Some(rule) = candidates.iter().map(|candidate| candidate.rule).min() else { continue };
            let rank = (fault::distance(branch, &fault.path), rule);
            match &best {
                Some((other, _)) if *other < rank => {}
                Some((other, there)) if *other == rank => {
                    tied |= !there
                        .iter()
                        .map(|candidate| &candidate.change)
                        .eq(candidates.iter().map(|candidate| &candidate.change));
                }
                _ => {
                    best = Some((rank, candidates));
                    tied = false;
                }
            }
        }
        // Two branches that are equally close and ask for different changes: either may have been meant.
        out.extend(best.filter(|_| !tied).into_iter().flat_map(|(_, candidates)| candidates));
    }

    /// The first rule that proposes something and has not failed.
    fn first_candidate<'f>(&mut self, fault: &'f Fault, scope: &str) -> Option<Candidate<'f>> {
        let id = self.lookup.find(self.tree, &fault.path)?;
        if !matches!(fault.wants, Wants::Key(_) | Wants::NoKey(_)) {
            return self.search_rules(fault, scope, id, &mut Object::default());
        }
        let mut object = self.objects.remove(&id).unwrap_or_default();
        let candidate = if object.taken || object.misses >= MAX_MISSES {
            None
        } else {
            self.search_rules(fault, scope, id, &mut object)
        };
        object.misses += usize::from(candidate.is_none());
        object.taken |= candidate.as_ref().is_some_and(|candidate| candidate.node == id);
        self.objects.insert(id, object);
        candidate
    }

    fn search_rules<'f>(
        &self,
        fault: &'f Fault,
        scope: &str,
        id: usize,
        object: &mut Object,
    ) -> Option<Candidate<'f>> {
        let mismatch = SchemaMismatch::new(self.tree, id, fault, self.context);
        for (index, rule) in RULES.iter().enumerate() {
            if object.idle >> index & 1 == 1 {
                continue;
            }
            let Some(change) = rule.propose_for_schema(&mismatch) else {
                object.idle |= u64::from(rule.about == About::Object) << index;
                continue;
            };
            if !self.context.policy.allows(rule.kind) {
                continue;
            }
            let candidate = Candidate::new(&mismatch, scope, fault, index, change);
            if self.failed.is_empty() || !self.failed.contains(&candidate.attempt()) {
                return Some(candidate);
            }
        }
        None
    }
}
