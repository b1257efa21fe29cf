//! Work that waits for a worker. There is never more of it than memory was set aside for.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue with a limit on the number and the weight of everything that was put in and not released yet.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    work: Condvar,
    room: Condvar,
    most_items: usize,
    most_weight: usize,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    items: usize,
    weight: usize,
    /// No more will come.
    closed: bool,
    /// Nothing counts any more.
    stopped: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(most_items: usize, most_weight: usize) -> Self {
        let state = State { waiting: VecDeque::new(), items: 0, weight: 0, closed: false, stopped: false };
        Queue {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            most_items,
            most_weight,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room; something that is too heavy for all of it gets in when nothing else is there. Says whether it
    /// still counts.
    pub(crate) fn put(&self, item: T, weight: usize) -> bool {
        let full = |state: &mut State<T>| {
            let heavy = state.weight + weight > self.most_weight || state.items >= self.most_items;
            !state.stopped && state.items > 0 && heavy
        };
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return false;
        }
        state.items += 1;
        state.weight += weight;
        state.waiting.push_back(item);
        drop(state);
        self.work.notify_one();
        true
    }

    /// The next item, or nothing when no more will come.
    pub(crate) fn take(&self) -> Option<T> {
        let idle = |state: &mut State<T>| state.waiting.is_empty() && !state.closed && !state.stopped;
        let mut state = self.work.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        if state.stopped { None } else { state.waiting.pop_front() }
    }

    /// What was put in is done with.
    pub(crate) fn release(&self, weight: usize) {
        let mut state = self.lock();
        state.items = state.items.saturating_sub(1);
        state.weight = state.weight.saturating_sub(weight);
        drop(state);
        self.room.notify_all();
    }

    /// No more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// Everybody goes home.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.work.notify_all();
        self.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn everything_gets_through_and_never_too_much_at_once() {
        let queue = Queue::new(4, 10);
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
