//! The bounded queue of units that wait for a worker.
//!
//! A unit weighs the memory that it will take. The queue counts units until they are written, not only until a worker takes
//! them, so it bounds the memory of the whole run.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue that limits the number and the weight of all items that were put in and not released yet.
#[derive(Debug)]
pub(crate) struct BoundedQueue<T> {
    state: Mutex<State<T>>,
    has_items: Condvar,
    has_room: Condvar,
    max_items: usize,
    max_weight: usize,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// The number of items that are not released.
    items: usize,
    /// Their weight.
    weight: usize,
    /// Nothing will be put in any more.
    closed: bool,
    /// All threads must end.
    stopped: bool,
}

impl<T> BoundedQueue<T> {
    pub(crate) fn new(max_items: usize, max_weight: usize) -> Self {
        let state = State { waiting: VecDeque::new(), items: 0, weight: 0, closed: false, stopped: false };
        BoundedQueue {
            state: Mutex::new(state),
            has_items: Condvar::new(),
            has_room: Condvar::new(),
            max_items,
            max_weight,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room and puts an item in. An item that is heavier than the limit gets in alone. Returns `false` if the queue was
    /// stopped.
    pub(crate) fn put(&self, item: T, weight: usize) -> bool {
        let is_full = |state: &mut State<T>| {
            let heavy = state.weight + weight > self.max_weight || state.items >= self.max_items;
            !state.stopped && state.items > 0 && heavy
        };
        let mut state =
            self.has_room.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return false;
        }
        state.items += 1;
        state.weight += weight;
        state.waiting.push_back(item);
        drop(state);
        self.has_items.notify_one();
        true
    }

    /// Waits for the next item. Returns `None` if no more will come.
    pub(crate) fn take(&self) -> Option<T> {
        let is_idle = |state: &mut State<T>| state.waiting.is_empty() && !state.closed && !state.stopped;
        let mut state =
            self.has_items.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        if state.stopped { None } else { state.waiting.pop_front() }
    }

    /// Releases an item that was taken, so that there is room for another.
    pub(crate) fn release(&self, weight: usize) {
        let mut state = self.lock();
        state.items = state.items.saturating_sub(1);
        state.weight = state.weight.saturating_sub(weight);
        drop(state);
        self.has_room.notify_all();
    }

    /// Says that nothing will be put in any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.has_items.notify_all();
    }

    /// Makes all threads end that wait for room or for items.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.has_items.notify_all();
        self.has_room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_items_pass_and_the_limits_hold() {
        let queue = BoundedQueue::new(4, 10);
        let (items, heavy) = (1000, 50);
        thread::scope(|scope| {
            let worker = || {
                let mut sum = 0;
                while let Some((item, weight)) = queue.take() {
                    assert!(queue.lock().weight <= 10 || queue.lock().weight == heavy);
                    assert!(queue.lock().items <= 4);
                    sum += item;
                    queue.release(weight);
                }
                sum
            };
            let workers = [scope.spawn(worker), scope.spawn(worker)];
            for item in 0..items {
                let weight = if item == 500 { heavy } else { item % 7 + 1 };
                assert!(queue.put((item, weight), weight));
            }
            queue.close();
            let sum: usize = workers.map(|worker| worker.join().unwrap()).iter().sum();
            assert_eq!(sum, items * (items - 1) / 2);
        });
        queue.stop();
        assert!(!queue.put((0, 100), 100));
    }
}
