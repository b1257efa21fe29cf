//! A change proposed by one rule for one fault, and how it is remembered if it fails.

use std::ops::Range;

use super::mismatch::{Change, SchemaMismatch};
use super::rules::{About, RULES};
use crate::schema::fault::{self, Fault, FaultId};

/// A rule tried at a fault: the fault, the length of the value, and the index of the rule. The length distinguishes the
/// same fault about another value.
pub(super) type Attempt = (FaultId, usize, usize);

/// The change that a rule proposes for a fault.
#[derive(Debug)]
pub(super) struct Candidate<'f> {
    pub(super) fault: &'f Fault,
    /// The union branches that the fault is in.
    pub(super) scope: String,
    /// The value that the change is about. No two changes of one round are about the same value.
    pub(super) node: usize,
    /// The length of the value at the fault.
    pub(super) length: usize,
    /// The span of the value whose content changes.
    pub(super) span: Range<usize>,
    /// The index of the rule in the table.
    pub(super) rule: usize,
    pub(super) change: Change,
}

impl<'f> Candidate<'f> {
    pub(super) fn new(
        mismatch: &SchemaMismatch<'_>,
        scope: &str,
        fault: &'f Fault,
        rule: usize,
        change: Change,
    ) -> Self {
        let node = mismatch.node();
        let outer = node
            .parent
            .filter(|_| change.drops || change.in_parent)
            .map_or(node, |parent| &mismatch.tree.nodes[parent]);
        Candidate {
            fault,
            scope: scope.to_owned(),
            node: change.node.unwrap_or(mismatch.id),
            length: node.span.len(),
            span: outer.span.clone(),
            rule,
            change,
        }
    }

    /// What is remembered if this fails. A change to the whole object fails for all of its faults.
    pub(super) fn attempt(&self) -> Attempt {
        let id = match RULES[self.rule].about {
            About::Object => (self.fault.path.clone(), String::new(), String::new()),
            About::Value | About::Member => self.fault.id(),
        };
        (id, self.length, self.rule)
    }

    /// JSON pointer of the value whose content changes.
    pub(super) fn region(&self) -> &str {
        if self.change.drops || self.change.in_parent {
            fault::parent_path(&self.fault.path)
        } else {
            &self.fault.path
        }
    }
}
