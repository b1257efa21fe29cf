//! Buffers that go round: whoever is done with one leaves it for the next.
//!
//! Units are megabytes. Memory of that size goes back to the system when it is freed, and has to be cleared page by page when it
//! comes again, which takes longer than filling it.

use std::sync::{Mutex, PoisonError};

/// Buffers that nobody uses at the moment.
#[derive(Debug)]
pub(crate) struct Pool {
    idle: Mutex<Vec<Vec<u8>>>,
    /// How much memory they hold at most.
    most: usize,
}

impl Pool {
    /// Keeps no more than so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Pool { idle: Mutex::new(Vec::new()), most }
    }

    /// A buffer with room for so much. What it holds is what it was left with.
    pub(crate) fn take(&self, room: usize) -> Vec<u8> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The smallest that is large enough: others may need the large ones.
        let fitting = idle.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= room);
        let found = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(at, _)| at);
        match found {
            Some(at) => idle.swap_remove(at),
            None => Vec::with_capacity(room),
        }
    }

    /// Leaves a buffer for whoever needs one next. Where there are too many the smallest goes: what was too small before will be
    /// too small again.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        if buffer.capacity() == 0 {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(buffer);
        while idle.iter().map(Vec::capacity).sum::<usize>() > self.most {
            let fitting = idle.iter().enumerate().filter(|(_, buffer)| buffer.capacity() <= self.most);
            let smallest = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(at, _)| at);
            let too_large = idle.iter().position(|buffer| buffer.capacity() > self.most);
            if let Some(at) = too_large.or(smallest) {
                idle.swap_remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_again_and_are_bounded() {
        let pool = Pool::new(500);
        let room = |buffer: &Vec<u8>| buffer.capacity();
        for size in [100, 300, 200, 5000, 0] {
            pool.give(Vec::with_capacity(size));
        }
        assert_eq!(room(&pool.take(150)), 200, "the smallest that is large enough");
        assert_eq!(room(&pool.take(150)), 300);
        assert_eq!(room(&pool.take(50)), 50, "nothing else is left");
        pool.give(vec![7; 20]);
        assert_eq!(pool.take(10), [7; 20]);
        pool.give(Vec::new());
        assert!(pool.idle.lock().unwrap().is_empty(), "nothing is not kept");
    }
}
