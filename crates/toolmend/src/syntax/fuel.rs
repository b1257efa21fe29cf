//! Fuel: what the reader may still spend on a text.
//!
//! Every byte that the reader looks at costs a unit, and what takes longer than looking at a byte costs as many units as
//! bytes could be looked at meanwhile: a unit is a nanosecond or two. All rules pay from the same tank, also those that only look
//! ([`Cell`] makes that possible), so that the sum is bounded, whatever the text makes them do.

use std::cell::Cell;

/// Units for each byte of the text. A byte is looked at a few times: as part of a string, by what looks ahead, and again
/// when the reader goes back to a choice.
const UNITS_PER_BYTE: usize = 64;
/// More units for each of the first bytes, because short texts are often looked at more.
const UNITS_PER_FIRST_BYTE: usize = 256;
const FIRST_BYTES: usize = 512;
/// Units for a text of any length.
const UNITS_AT_LEAST: usize = 1 << 15;

#[derive(Debug)]
pub(crate) struct Fuel(Cell<usize>);

impl Fuel {
    pub(crate) fn for_text(text: &str) -> Self {
        let first = text.len().min(FIRST_BYTES) * UNITS_PER_FIRST_BYTE;
        Fuel(Cell::new(text.len().saturating_mul(UNITS_PER_BYTE) + first + UNITS_AT_LEAST))
    }

    pub(super) fn left(&self) -> usize {
        self.0.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    /// Pays for work; false if no fuel is left.
    #[inline]
    pub(super) fn spend(&self, work: usize) -> bool {
        let before = self.0.get();
        self.0.set(before.saturating_sub(work));
        #[cfg(test)]
        meter::add(before - self.0.get());
        !self.is_empty()
    }

    /// Ends the search.
    pub(super) fn drain(&self) {
        self.0.set(0);
    }

    /// Gives back what a comparison in debug builds spent, which release builds do not make.
    pub(super) fn restore(&self, left: usize) {
        #[cfg(test)]
        meter::subtract(left.saturating_sub(self.0.get()));
        self.0.set(left);
    }
}

/// What the readers of this thread have spent, so that tests can compare it.
#[cfg(test)]
pub(crate) mod meter {
    use std::cell::Cell;

    thread_local! {
        static SPENT: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add(work: usize) {
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
