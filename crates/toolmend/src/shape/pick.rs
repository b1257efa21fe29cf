//! A repair chosen for a fault.

use std::ops::Range;

use super::fault::{self, Fault, FaultId};
use super::site::Change;

/// A row of the table at a fault. The length tells the same fault about another value.
pub(super) type Attempt = (FaultId, usize, usize);

/// A repair chosen for a fault.
#[derive(Debug)]
pub(super) struct Pick<'f> {
    pub(super) fault: &'f Fault,
    /// The union branches that the fault stands in.
    pub(super) scope: String,
    /// The value at the fault, and its length.
    pub(super) node: usize,
    pub(super) length: usize,
    /// The span of the value whose inside changes.
    pub(super) span: Range<usize>,
    /// The row of the table.
    pub(super) row: usize,
    pub(super) change: Change,
}

impl Pick<'_> {
    pub(super) fn attempt(&self) -> Attempt {
        (self.fault.id(), self.length, self.row)
    }

    /// JSON pointer of the value whose inside changes.
    pub(super) fn region(&self) -> &str {
        if self.change.in_parent { fault::parent(&self.fault.path) } else { &self.fault.path }
    }
}
