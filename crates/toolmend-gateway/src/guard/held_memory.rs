//! The memory that requests and answers hold, all of them together.
//!
//! A request body that does not fit is refused. A stream that holds a call cannot be refused any more: if all holds together
//! are too large, the largest is told to pass on what it holds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::observe::{Limit, Observer};

/// All bytes that are held at the moment.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    observer: Arc<Observer>,
    limit: AtomicUsize,
    total: AtomicUsize,
    streams: Mutex<HashMap<u64, Arc<HoldState>>>,
    next_stream: AtomicU64,
}

/// What one stream holds.
#[derive(Debug, Default)]
struct HoldState {
    bytes: AtomicUsize,
    is_released: AtomicBool,
    wake: Notify,
}

impl HeldMemory {
    pub(crate) fn new(limit: usize, observer: Arc<Observer>) -> Arc<Self> {
        Arc::new(HeldMemory {
            observer,
            limit: AtomicUsize::new(limit),
            total: AtomicUsize::new(0),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(0),
        })
    }

    /// Uses another limit from now on.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Whether all holds together are too large.
    fn is_full(&self) -> bool {
        self.total.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed)
    }

    /// Tells the largest stream to pass on what it holds, unless those that were told before are enough.
    fn release_largest(&self) {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let held = |state: &Arc<HoldState>| state.bytes.load(Ordering::Relaxed);
        let leaving = streams.values().filter(|state| state.is_released.load(Ordering::Relaxed));
        let leaving: usize = leaving.map(held).sum();
        let staying = self.total.load(Ordering::Relaxed).saturating_sub(leaving);
        if staying <= self.limit.load(Ordering::Relaxed) {
            return;
        }
        let candidates = streams.values().filter(|state| !state.is_released.load(Ordering::Relaxed));
        if let Some(largest) = candidates.max_by_key(|state| held(state)).filter(|state| held(state) > 0) {
            largest.is_released.store(true, Ordering::Relaxed);
            largest.wake.notify_one();
            self.observer.metrics.count_limit(Limit::HeldTotal);
        }
    }
}

/// Bytes of a request or of a whole answer. They are given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<HeldMemory>,
    bytes: usize,
}

impl Reservation {
    /// Returns an empty reservation.
    pub(crate) fn new(memory: &Arc<HeldMemory>) -> Self {
        Reservation { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Reserves more bytes. Returns whether they fit; otherwise nothing changes.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let before = self.memory.total.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > self.memory.limit.load(Ordering::Relaxed) {
            self.memory.total.fetch_sub(more, Ordering::Relaxed);
            self.memory.observer.metrics.count_limit(Limit::HeldTotal);
            return false;
        }
        self.bytes += more;
        self.memory.observer.metrics.add_buffered_bytes(i64::try_from(more).unwrap_or(0));
        true
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.total.fetch_sub(self.bytes, Ordering::Relaxed);
        self.memory.observer.metrics.add_buffered_bytes(-i64::try_from(self.bytes).unwrap_or(0));
    }
}

/// The bytes that one stream holds back.
#[derive(Debug)]
pub(crate) struct StreamHold {
    memory: Arc<HeldMemory>,
    state: Arc<HoldState>,
    number: u64,
}

impl StreamHold {
    /// Returns the hold of a new stream.
    pub(crate) fn new(memory: &Arc<HeldMemory>) -> Self {
        let number = memory.next_stream.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(HoldState::default());
        let mut streams = memory.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.insert(number, Arc::clone(&state));
        drop(streams);
        StreamHold { memory: Arc::clone(memory), state, number }
    }

    /// Sets the number of bytes. If all streams together hold too much, the largest is released.
    pub(crate) fn set(&self, bytes: usize) {
        let before = self.state.bytes.swap(bytes, Ordering::Relaxed);
        if bytes == before {
            return;
        }
        let change = i64::try_from(bytes).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX);
        self.memory.observer.metrics.add_held_bytes(change);
        if bytes < before {
            self.memory.total.fetch_sub(before - bytes, Ordering::Relaxed);
        } else {
            self.memory.total.fetch_add(bytes - before, Ordering::Relaxed);
            if self.memory.is_full() {
                self.memory.release_largest();
            }
        }
    }

    /// Whether this stream has to pass on what it holds.
    pub(crate) fn is_released(&self) -> bool {
        self.state.is_released.load(Ordering::Relaxed)
    }

    /// Waits until this stream has to pass on what it holds.
    pub(crate) async fn released(&self) {
        while !self.is_released() {
            self.state.wake.notified().await;
        }
    }
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        self.set(0);
        self.memory.streams.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_what_ends_makes_room() {
        let memory = HeldMemory::new(100, Arc::default());
        let mut first = Reservation::new(&memory);
        assert!(first.grow(60) && !first.grow(60) && first.grow(40));
        let mut second = Reservation::new(&memory);
        assert!(!second.grow(1));
        drop(first);
        assert!(second.grow(100));
    }

    #[test]
    fn the_largest_stream_is_released() {
        let memory = HeldMemory::new(100, Arc::default());
        let [small, large, last] = [30, 50, 10].map(|bytes| {
            let hold = StreamHold::new(&memory);
            hold.set(bytes);
            hold
        });
        assert!(![&small, &large, &last].iter().any(|hold| hold.is_released()));
        last.set(40);
        assert_eq!([&small, &large, &last].map(StreamHold::is_released), [false, true, false]);
        // The next one is released only if what the first held was not enough.
        large.set(0);
        last.set(45);
        assert!(!last.is_released());
        last.set(80);
        assert_eq!([&small, &last].map(StreamHold::is_released), [false, true]);
        drop((small, large, last));
        assert_eq!(memory.total.load(Ordering::Relaxed), 0);
    }
}
