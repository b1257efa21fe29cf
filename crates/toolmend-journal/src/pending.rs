//! What callers share with the writer thread: the queue of entries, the counts of clean calls, and how many entries were
//! written.
//!
//! Clean calls are most calls, so they are only counted: a lock, a hash and two additions. Nothing here waits for a
//! database.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::entry::Series;
use crate::queue::EntryQueue;
use crate::store::CleanCalls;

/// How many series of clean calls are kept until the next write. Calls of further series are not counted.
const MAX_CLEAN_SERIES: usize = 16_384;

/// How many entries were written and lost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteCounts {
    /// Entries that are in the database.
    pub written: u64,
    /// Entries that were dropped because the queue was full or the database kept refusing them.
    pub dropped: u64,
    /// Attempts to write a batch that failed. A failed batch is tried again.
    pub failures: u64,
}

/// What callers share with the writer thread.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) written: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) queue: EntryQueue,
    hasher: RandomState,
    clean: Mutex<HashMap<u64, (Series, CleanCalls)>>,
}

impl Pending {
    /// Counts one clean call.
    pub(crate) fn count_clean_call(
        &self,
        surface: &str,
        upstream: &str,
        model: &str,
        tool: &str,
        micros: u64,
    ) {
        // The key is a hash of the names, so a known series is found without building one. The hash has a random secret:
        // a collision would only add the call to another series, and callers cannot provoke one.
        let key = self.hasher.hash_one((surface, upstream, model, tool));
        let mut clean = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if !clean.contains_key(&key) && clean.len() >= MAX_CLEAN_SERIES {
            return;
        }
        let (_, counted) = clean.entry(key).or_insert_with(|| {
            let series = Series {
                surface: surface.into(),
                upstream: upstream.into(),
                model: model.into(),
                tool: tool.into(),
                outcome: "clean".into(),
            };
            (series, CleanCalls::default())
        });
        counted.calls += 1;
        counted.micros += micros;
    }

    /// Takes the clean calls that were counted since the last time.
    pub(crate) fn take_clean_calls(&self) -> Vec<(Series, CleanCalls)> {
        let mut clean = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if clean.is_empty() { Vec::new() } else { std::mem::take(&mut *clean).into_values().collect() }
    }

    pub(crate) fn counts(&self) -> WriteCounts {
        WriteCounts {
            written: self.written.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }
}
