//! Fuel: what the reader may still spend on a text.
//!
//! Every byte that the reader looks at costs a unit, and what takes longer than looking at a byte costs as many units as
//! bytes could be looked at meanwhile: a unit is a nanosecond or two. All rules pay from the same tank, also those that only look
//! ([`Cell`] makes that possible), so that the sum is bounded, whatever the text makes them do.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Units for each byte of the text. A byte is looked at a few times: as part of a string, by what looks ahead, and again
/// when the reader goes back to a choice.
const UNITS_PER_BYTE: usize = 64;
/// More units for each of the first bytes, because short texts are often looked at more.
const UNITS_PER_FIRST_BYTE: usize = 256;
const FIRST_BYTES: usize = 512;
/// Units for a text of any length.
const UNITS_AT_LEAST: usize = 1 << 15;

/// The message if a text is refused because its fuel is used up.
pub(crate) const OUT_OF_FUEL: &str = "the text needs more work than its size allows";

/// What it costs to begin with a text that is not strict, whatever it is.
const START: usize = 1 << 12;

#[derive(Debug)]
pub(crate) struct Fuel {
    left: Cell<usize>,
    /// What was in the tank at first.
    filled: usize,
    /// What was thrown away when the search was ended.
    drained: Cell<usize>,
}

impl Fuel {
    pub(crate) fn for_text(text: &str) -> Self {
        Fuel::for_text_within(text, usize::MAX)
    }

    /// The fuel for a text, but no more than this.
    fn for_text_within(text: &str, most: usize) -> Self {
        let first = text.len().min(FIRST_BYTES) * UNITS_PER_FIRST_BYTE;
        let enough = text.len().saturating_mul(UNITS_PER_BYTE) + first + UNITS_AT_LEAST;
        let filled = enough.min(most);
        Fuel { left: Cell::new(filled), filled, drained: Cell::new(0) }
    }

    fn spent(&self) -> usize {
        self.filled - self.left() - self.drained.get()
    }

    pub(super) fn left(&self) -> usize {
        self.left.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    /// Pays for work; false if no fuel is left.
    #[inline]
    pub(super) fn spend(&self, work: usize) -> bool {
        let before = self.left.get();
        self.left.set(before.saturating_sub(work));
        #[cfg(test)]
        meter::add(before - self.left.get());
        !self.is_empty()
    }

    /// Ends the search.
    pub(super) fn drain(&self) {
        self.drained.set(self.drained.get() + self.left.replace(0));
    }

    /// Gives back what a comparison in debug builds spent, which release builds do not make.
    pub(super) fn restore(&self, left: usize) {
        #[cfg(test)]
        meter::subtract(left.saturating_sub(self.left.get()));
        self.left.set(left);
    }
}

/// What the texts of one output may spend together.
///
/// A text of any length has fuel to begin with, so that an output of a thousand broken calls would cost as much as a
/// text a hundred times as long. The output therefore limits what its calls get.
// Not a `Cell`, because a stream may be shared between threads.
#[derive(Debug, Default)]
pub(crate) struct Allowance(AtomicUsize);

impl Allowance {
    pub(crate) fn new(units: usize) -> Self {
        Allowance(AtomicUsize::new(units))
    }

    pub(crate) fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds to what may be spent.
    pub(crate) fn grant(&self, units: usize) {
        self.0.fetch_add(units, Ordering::Relaxed);
    }

    /// Pays for work.
    pub(crate) fn spend(&self, work: usize) {
        self.0.store(self.left().saturating_sub(work), Ordering::Relaxed);
    }

    /// Runs what needs fuel for a text, and pays for it. Without an allowance, the text has as much as it may need; with
    /// one that is used up, nothing runs.
    pub(crate) fn refuel<T>(
        allowance: Option<&Allowance>,
        text: &str,
        run: impl FnOnce(&Fuel) -> T,
    ) -> Option<T> {
        let Some(allowance) = allowance else { return Some(run(&Fuel::for_text(text))) };
        if allowance.left() == 0 {
            return None;
        }
        allowance.spend(START);
        #[cfg(test)]
        meter::add(START);
        let fuel = Fuel::for_text_within(text, allowance.left());
        let result = run(&fuel);
        allowance.spend(fuel.spent());
        Some(result)
    }
}

/// What the readers of this thread have spent, so that tests can compare it.
#[cfg(test)]
pub(crate) mod meter {
    use std::cell::Cell;

    thread_local! {
        static SPENT: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn add(work: usize) {
        SPENT.with(|spent| spent.set(spent.get() + work));
    }

    pub(super) fn subtract(work: usize) {
        SPENT.with(|spent| spent.set(spent.get() - work));
    }

    /// What `run` spends.
    pub(crate) fn measure<T>(run: impl FnOnce() -> T) -> (T, usize) {
        SPENT.with(|spent| spent.set(0));
        let result = run();
        (result, SPENT.with(Cell::get))
    }
}
