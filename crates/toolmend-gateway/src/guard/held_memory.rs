//! The memory that requests and answers hold, all of them together.
//!
//! If it is full, the largest has to leave, not the latest: otherwise a few requests that never end would keep all others out. A
//! stream that holds a call passes on what it holds, and a request that still arrives is refused. What is complete and was sent to a
//! server stays.
//!
//! Two rules keep what is large from harming what is small. What holds less than its share never has to leave, and what is large
//! never gets the last quarter.

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
    /// What can be told to leave: streams, and requests that still arrive.
    holds: Mutex<HashMap<u64, Arc<HoldState>>>,
    next_hold: AtomicU64,
}

/// What one stream or request holds.
#[derive(Debug, Default)]
struct HoldState {
    bytes: AtomicUsize,
    is_released: AtomicBool,
    wake: Notify,
}

impl HoldState {
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Relaxed)
    }
}

impl HeldMemory {
    pub(crate) fn new(limit: usize, observer: Arc<Observer>) -> Arc<Self> {
        Arc::new(HeldMemory {
            observer,
            limit: AtomicUsize::new(limit),
            total: AtomicUsize::new(0),
            holds: Mutex::default(),
            next_hold: AtomicU64::new(0),
        })
    }

    /// Uses another limit from now on.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Makes the largest holds leave until the others fit. Returns whether they fit then, with `own` bytes of one of them; only holds of
    /// more than these leave.
    fn make_room(&self, own: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let limit_of_own = if own > SMALL { limit / 4 * 3 } else { limit };
        if self.total.load(Ordering::Relaxed) <= limit_of_own {
            return true;
        }
        let holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        let leaving: usize =
            holds.values().filter(|state| state.is_released()).map(|state| state.bytes()).sum();
        let mut staying = self.total.load(Ordering::Relaxed).saturating_sub(leaving);
        // If all of them together took half of the room, each would have this much.
        let share = limit / 2 / holds.values().filter(|state| state.bytes() > 0).count().max(1);
        while staying > limit_of_own {
            self.observer.metrics.count_limit(Limit::HeldTotal);
            let may_leave = |state: &&Arc<HoldState>| !state.is_released() && state.bytes() > own.max(share);
            let Some(largest) = holds.values().filter(may_leave).max_by_key(|state| state.bytes()) else {
                return false;
            };
            largest.is_released.store(true, Ordering::Relaxed);
            largest.wake.notify_one();
            staying = staying.saturating_sub(largest.bytes());
        }
        true
    }
}

/// What holds no more bytes than this is small.
const SMALL: usize = 256 << 10;

/// Something that can be told to leave, for as long as this exists.
#[derive(Debug)]
struct Hold {
    memory: Arc<HeldMemory>,
    state: Arc<HoldState>,
    number: u64,
}

impl Hold {
    fn new(memory: &Arc<HeldMemory>) -> Self {
        let number = memory.next_hold.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(HoldState::default());
        let mut holds = memory.holds.lock().unwrap_or_else(PoisonError::into_inner);
        holds.insert(number, Arc::clone(&state));
        drop(holds);
        Hold { memory: Arc::clone(memory), state, number }
    }

    async fn released(&self) {
        while !self.state.is_released() {
            self.state.wake.notified().await;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.memory.holds.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

/// Bytes of a request or of a whole answer. They are given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<HeldMemory>,
    bytes: usize,
    /// While a request arrives.
    hold: Option<Hold>,
}

impl Reservation {
    /// Returns an empty reservation.
    pub(crate) fn new(memory: &Arc<HeldMemory>) -> Self {
        Reservation { memory: Arc::clone(memory), bytes: 0, hold: None }
    }

    /// Returns an empty reservation for something that can still be refused.
    pub(crate) fn refusable(memory: &Arc<HeldMemory>) -> Self {
        Reservation { memory: Arc::clone(memory), bytes: 0, hold: Some(Hold::new(memory)) }
    }

    /// Reserves more bytes. Returns whether they fit; otherwise nothing changes.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let own = self.bytes + more;
        self.memory.total.fetch_add(more, Ordering::Relaxed);
        if let Some(hold) = &self.hold {
            hold.state.bytes.store(own, Ordering::Relaxed);
        }
        if !self.memory.make_room(own) {
            self.memory.total.fetch_sub(more, Ordering::Relaxed);
            if let Some(hold) = &self.hold {
                hold.state.bytes.store(self.bytes, Ordering::Relaxed);
            }
            return false;
        }
        self.bytes = own;
        self.memory.observer.metrics.add_buffered_bytes(i64::try_from(more).unwrap_or(0));
        true
    }

    /// Sets the number of bytes of something that cannot be refused any more. If it is too much, others have to leave.
    pub(crate) fn set(&mut self, bytes: usize) {
        let change = i64::try_from(bytes).unwrap_or(i64::MAX) - i64::try_from(self.bytes).unwrap_or(i64::MAX);
        if change == 0 {
            return;
        }
        self.memory.observer.metrics.add_buffered_bytes(change);
        if bytes < self.bytes {
            self.memory.total.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        } else {
            self.memory.total.fetch_add(bytes - self.bytes, Ordering::Relaxed);
            self.memory.make_room(0);
        }
        self.bytes = bytes;
        if let Some(hold) = &self.hold {
            hold.state.bytes.store(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the number of reserved bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Waits until this has to leave.
    pub(crate) async fn released(&self) {
        match &self.hold {
            Some(hold) => hold.released().await,
            None => std::future::pending().await,
        }
    }

    /// Records that everything has arrived, so that it is not refused any more.
    pub(crate) fn complete(&mut self) {
        self.hold = None;
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
    hold: Hold,
}

impl StreamHold {
    /// Returns the hold of a new stream.
    pub(crate) fn new(memory: &Arc<HeldMemory>) -> Self {
        StreamHold { hold: Hold::new(memory) }
    }

    /// Sets the number of bytes. If everything together is too much, the largest is released.
    pub(crate) fn set(&self, bytes: usize) {
        let Hold { memory, state, .. } = &self.hold;
        let before = state.bytes.swap(bytes, Ordering::Relaxed);
        if bytes == before {
            return;
        }
        let change = i64::try_from(bytes).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX);
        memory.observer.metrics.add_held_bytes(change);
        if bytes < before {
            memory.total.fetch_sub(before - bytes, Ordering::Relaxed);
        } else {
            memory.total.fetch_add(bytes - before, Ordering::Relaxed);
            // A stream can always leave, so it does not matter whether it is this one.
            memory.make_room(0);
        }
    }

    /// Whether this stream has to pass on what it holds.
    pub(crate) fn is_released(&self) -> bool {
        self.hold.state.is_released()
    }

    /// Waits until this stream has to pass on what it holds.
    pub(crate) async fn released(&self) {
        self.hold.released().await;
    }
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        self.set(0);
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
    fn what_cannot_be_refused_counts_and_makes_others_leave() {
        let memory = HeldMemory::new(100, Arc::default());
        let stream = StreamHold::new(&memory);
        stream.set(60);
        let mut answer = Reservation::new(&memory);
        answer.set(110);
        assert!(stream.is_released());
        assert!(!Reservation::new(&memory).grow(1));
        answer.set(10);
        assert_eq!((answer.bytes(), memory.total.load(Ordering::Relaxed)), (10, 70));
        drop((answer, stream));
        assert_eq!(memory.total.load(Ordering::Relaxed), 0);
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

    #[test]
    fn a_request_that_arrives_slowly_keeps_no_other_out() {
        let memory = HeldMemory::new(100, Arc::default());
        let mut slow = Reservation::refusable(&memory);
        assert!(slow.grow(90));
        let mut small = Reservation::refusable(&memory);
        assert!(small.grow(20), "the larger one leaves");
        let is_released = |reservation: &Reservation| reservation.hold.as_ref().unwrap().state.is_released();
        assert!(is_released(&slow) && !is_released(&small));
        let mut large = Reservation::refusable(&memory);
        assert!(large.grow(80), "what leaves makes room already");
        assert!(!large.grow(30), "the largest is this one");
        large.complete();
        assert!(!small.grow(10), "what is complete stays");
        drop((slow, small, large));
        assert_eq!(memory.total.load(Ordering::Relaxed), 0);
        assert!(memory.holds.lock().unwrap().is_empty());
    }

    #[test]
    fn what_is_large_leaves_room_for_what_is_small() {
        let memory = HeldMemory::new(64 << 20, Arc::default());
        let small = StreamHold::new(&memory);
        small.set(10 << 10);
        let mut large = Reservation::new(&memory);
        assert!(large.grow(40 << 20) && !large.grow(10 << 20), "the last quarter is not for it");
        assert!(Reservation::refusable(&memory).grow(SMALL));
        // What cannot be refused may take everything. Nobody who holds little has to leave for it.
        large.set(70 << 20);
        assert!(!small.is_released());
        let greedy = StreamHold::new(&memory);
        greedy.set(40 << 20);
        assert!(greedy.is_released() && !small.is_released());
    }
}
