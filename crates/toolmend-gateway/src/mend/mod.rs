//! What becomes of a turn between its server and its client, on any surface and in both stream modes.

pub(crate) mod assembly;
pub(crate) mod judge;
pub(crate) mod lane;
pub(crate) mod leak;
pub(crate) mod live;
pub(crate) mod report;
pub(crate) mod track;
mod written;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// An id for a call that came without one.
pub(crate) fn new_id(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Two hashes with keys of their own: nobody can guess the next one, and no two are alike.
    let (left, right) = (RandomState::new().hash_one(count), RandomState::new().hash_one(!count));
    format!("{prefix}{left:016x}{:08x}", right >> 32)
}
