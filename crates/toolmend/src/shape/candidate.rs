//! A repair chosen for a fault.

use std::ops::Range;

use super::mismatch::{Change, Site};
use super::rules::{About, TABLE};
use crate::schema::fault::{self, Fault, FaultId};

/// A row of the table at a fault. The length tells the same fault about another value.
pub(super) type Attempt = (FaultId, usize, usize);

/// A repair chosen for a fault.
#[derive(Debug)]
pub(super) struct Pick<'f> {
    pub(super) fault: &'f Fault,
    /// The union branches that the fault stands in.
    pub(super) scope: String,
    /// The value that the change is about: no two changes of one round are about the same.
    pub(super) node: usize,
    /// The length of the value at the fault.
    pub(super) length: usize,
    /// The span of the value whose inside changes.
    pub(super) span: Range<usize>,
    /// The row of the table.
    pub(super) row: usize,
    pub(super) change: Change,
}

impl<'f> Pick<'f> {
    pub(super) fn new(site: &Site<'_>, scope: &str, fault: &'f Fault, row: usize, change: Change) -> Self {
        let node = site.node();
        let outer = node.parent.filter(|_| change.drops).map_or(node, |parent| &site.tree.nodes[parent]);
        Pick {
            fault,
            scope: scope.to_owned(),
            node: change.node.unwrap_or(site.id),
            length: node.span.len(),
            span: outer.span.clone(),
            row,
            change,
        }
    }

    /// What is remembered where this fails. What concerns the whole object fails for all of its faults.
    pub(super) fn attempt(&self) -> Attempt {
        let id = match TABLE[self.row].about {
            About::Object => (self.fault.path.clone(), String::new(), String::new()),
            About::Value | About::Member => self.fault.id(),
        };
        (id, self.length, self.row)
    }

    /// JSON pointer of the value whose inside changes.
    pub(super) fn region(&self) -> &str {
        if self.change.drops { fault::parent(&self.fault.path) } else { &self.fault.path }
    }
}
