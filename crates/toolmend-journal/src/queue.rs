//! The bounded queue between callers, which must not wait, and the writer thread.
//!
//! The writer thread is woken for a full batch and not for each entry, because waking a thread costs more than writing an
//! entry. The queue never blocks the callers: when it is full, it refuses the entry.

use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::entry::Entry;

/// How many entries the queue holds at most.
const MAX_ENTRIES: usize = 8192;
/// How many bytes of entries the queue holds at most. The last entry may exceed it.
const MAX_BYTES: usize = 32 << 20;

/// Entries that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct EntryQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Entry>,
    bytes: usize,
    /// How many entries were taken out so far.
    taken: u64,
    /// Flush requests. Each is answered once this many entries were taken out and written.
    flushes: Vec<(u64, SyncSender<()>)>,
    closed: bool,
}

/// What the writer thread gets.
#[derive(Debug)]
pub(crate) struct QueuedBatch {
    pub(crate) entries: Vec<Entry>,
    /// Must be answered once the writer thread has tried to write these entries.
    pub(crate) flushes: Vec<SyncSender<()>>,
    /// Whether the queue is closed, so nothing follows.
    pub(crate) last: bool,
}

impl EntryQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry and returns `true`, or returns `false` if the queue is full. Wakes the writer thread when a batch of
    /// `batch` entries is complete.
    pub(crate) fn put(&self, entry: Entry, batch: usize) -> bool {
        let size = entry.memory();
        let mut waiting = self.lock();
        if waiting.entries.len() >= MAX_ENTRIES || waiting.bytes > MAX_BYTES {
            return false;
        }
        waiting.bytes += size;
        waiting.entries.push(entry);
        let wake = waiting.entries.len() == batch;
        drop(waiting);
        if wake {
            self.changed.notify_one();
        }
        true
    }

    /// Asks for a message to `done` when everything that is in the queue now is written.
    pub(crate) fn request_flush(&self, done: SyncSender<()>) {
        let mut waiting = self.lock();
        let until = waiting.taken + waiting.entries.len() as u64;
        waiting.flushes.push((until, done));
        drop(waiting);
        self.changed.notify_one();
    }

    /// Closes the queue: the writer thread takes out the rest and ends.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits for `most` entries or a flush request, but no longer than `timeout`, and takes out at most `most` entries.
    pub(crate) fn take(&self, most: usize, timeout: Duration) -> QueuedBatch {
        let until = Instant::now() + timeout;
        let mut waiting = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // With `most` = 0 the writer cannot take anything, so nothing is worth waking it for.
            let ready = most > 0 && (waiting.entries.len() >= most || !waiting.flushes.is_empty());
            if ready || waiting.closed || left.is_zero() {
                return waiting.take(most);
            }
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Waiting {
    fn take(&mut self, most: usize) -> QueuedBatch {
        // A closed queue gives everything, because there is no next time.
        let count = if self.closed { self.entries.len() } else { most.min(self.entries.len()) };
        let entries: Vec<Entry> = if count == self.entries.len() {
            std::mem::take(&mut self.entries)
        } else {
            self.entries.drain(..count).collect()
        };
        self.bytes -= entries.iter().map(Entry::memory).sum::<usize>();
        self.taken += entries.len() as u64;
        let taken = self.taken;
        let flushes = self.flushes.extract_if(.., |(until, _)| *until <= taken);
        QueuedBatch { entries, flushes: flushes.map(|(_, done)| done).collect(), last: self.closed }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::entry::Series;

    const LONG: Duration = Duration::from_mins(10);

    fn entry() -> Entry {
        let name: Arc<str> = "x".into();
        Entry::new(Series {
            surface: Arc::clone(&name),
            upstream: Arc::clone(&name),
            model: Arc::clone(&name),
            tool: Arc::clone(&name),
            outcome: name,
        })
    }

    #[test]
    fn a_full_batch_is_taken_at_once_and_the_rest_waits() {
        let queue = EntryQueue::default();
        for _ in 0..5 {
            assert!(queue.put(entry(), 3));
        }
        assert_eq!(queue.take(3, LONG).entries.len(), 3);
        assert_eq!(queue.take(3, Duration::ZERO).entries.len(), 2);
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn a_flush_is_answered_after_the_entries_recorded_before_it() {
        let queue = EntryQueue::default();
        let (done, _wait) = sync_channel(1);
        for _ in 0..4 {
            queue.put(entry(), 100);
        }
        queue.request_flush(done);
        queue.put(entry(), 100);
        assert!(queue.take(3, LONG).flushes.is_empty());
        assert_eq!(queue.take(3, LONG).flushes.len(), 1);
    }

    #[test]
    fn a_closed_queue_gives_everything() {
        let queue = EntryQueue::default();
        for _ in 0..4 {
            queue.put(entry(), 100);
        }
        queue.close();
        let taken = queue.take(0, LONG);
        assert_eq!((taken.entries.len(), taken.last), (4, true));
    }

    #[test]
    fn a_full_queue_refuses_entries() {
        let queue = EntryQueue::default();
        assert!((0..MAX_ENTRIES).all(|_| queue.put(entry(), 1)));
        assert!(!queue.put(entry(), 1));
        queue.take(1, LONG);
        assert!(queue.put(entry(), 1));
    }
}
