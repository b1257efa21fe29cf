//! A pool of large buffers that all threads reuse.
//!
//! Units are megabytes long. Freed memory of that size goes back to the system, which has to clear it page by page before it
//! hands it out again. That takes longer than filling it.

use std::sync::{Mutex, PoisonError};

/// Buffers that are not in use.
#[derive(Debug)]
pub(crate) struct BufferPool {
    idle: Mutex<Vec<Vec<u8>>>,
    /// How many bytes they hold at most.
    max_bytes: usize,
}

impl BufferPool {
    /// Creates a pool that keeps at most this many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        BufferPool { idle: Mutex::new(Vec::new()), max_bytes }
    }

    /// Returns a buffer with at least this capacity. It still holds the bytes that it was given back with.
    pub(crate) fn take(&self, capacity: usize) -> Vec<u8> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The smallest buffer that is large enough: another thread may need a larger one.
        let fitting = idle.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= capacity);
        let found = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(at, _)| at);
        match found {
            Some(at) => idle.swap_remove(at),
            None => Vec::with_capacity(capacity),
        }
    }

    /// Gives a buffer back. If the pool holds too much, it frees the smallest buffers: they are the least likely to be large
    /// enough next time.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        if buffer.capacity() == 0 {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(buffer);
        while idle.iter().map(Vec::capacity).sum::<usize>() > self.max_bytes {
            let fitting = idle.iter().enumerate().filter(|(_, buffer)| buffer.capacity() <= self.max_bytes);
            let smallest = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(at, _)| at);
            let too_large = idle.iter().position(|buffer| buffer.capacity() > self.max_bytes);
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
    fn buffers_are_reused_and_bounded() {
        let buffers = BufferPool::new(500);
        let capacity = |buffer: &Vec<u8>| buffer.capacity();
        for size in [100, 300, 200, 5000, 0] {
            buffers.give_back(Vec::with_capacity(size));
        }
        assert_eq!(capacity(&buffers.take(150)), 200, "the smallest buffer that is large enough");
        assert_eq!(capacity(&buffers.take(150)), 300);
        assert_eq!(capacity(&buffers.take(50)), 50, "no buffer is left");
        buffers.give_back(vec![7; 20]);
        assert_eq!(buffers.take(10), [7; 20]);
        buffers.give_back(Vec::new());
        assert!(buffers.idle.lock().unwrap().is_empty(), "empty buffers are not kept");
    }
}
