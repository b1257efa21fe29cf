//! Entries on their way from those who must not wait to the thread that writes.
//!
//! The thread is woken for a whole batch and not for each entry: waking it costs more than writing one down.

use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::entry::Entry;

/// How many entries wait at most, and how many bytes.
const MOST: usize = 8192;
const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Entry>,
    bytes: usize,
    /// How many entries were taken so far.
    taken: u64,
    /// Who wants to know when so many entries are taken and written.
    flushes: Vec<(u64, SyncSender<()>)>,
    closed: bool,
}

/// What the thread that writes gets.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) entries: Vec<Entry>,
    /// Answered when the entries are written, or could not be.
    pub(crate) flushes: Vec<SyncSender<()>>,
    /// Nothing will follow.
    pub(crate) last: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an entry in, unless there is no room. Whoever writes is woken where `batch` of them wait.
    pub(crate) fn put(&self, entry: Entry, batch: usize) -> bool {
        let size = entry.size();
        let mut waiting = self.lock();
        if waiting.entries.len() >= MOST || waiting.bytes > MOST_BYTES {
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

    /// Asks to be told when everything so far is written.
    pub(crate) fn flush(&self, done: SyncSender<()>) {
        let mut waiting = self.lock();
        let until = waiting.taken + waiting.entries.len() as u64;
        waiting.flushes.push((until, done));
        drop(waiting);
        self.changed.notify_one();
    }

    /// Nothing will follow.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits until there are this many entries, or somebody asked for a flush, but not longer than that. Takes no more.
    pub(crate) fn take(&self, most: usize, patience: Duration) -> Taken {
        let until = Instant::now() + patience;
        let mut waiting = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // Where nothing can be taken, nothing is worth waking up for.
            let ready = most > 0 && (waiting.entries.len() >= most || !waiting.flushes.is_empty());
            if ready || waiting.closed || left.is_zero() {
                return waiting.take(most);
            }
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Waiting {
    fn take(&mut self, most: usize) -> Taken {
        // Where nothing follows there is no later.
        let count = if self.closed { self.entries.len() } else { most.min(self.entries.len()) };
        let entries: Vec<Entry> = if count == self.entries.len() {
            std::mem::take(&mut self.entries)
        } else {
            self.entries.drain(..count).collect()
        };
        self.bytes -= entries.iter().map(Entry::size).sum::<usize>();
        self.taken += entries.len() as u64;
        let taken = self.taken;
        let flushes = self.flushes.extract_if(.., |(until, _)| *until <= taken);
        Taken { entries, flushes: flushes.map(|(_, done)| done).collect(), last: self.closed }
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
    fn a_whole_batch_wakes_and_the_rest_waits() {
        let queue = Queue::default();
        for _ in 0..5 {
            assert!(queue.put(entry(), 3));
        }
        assert_eq!(queue.take(3, LONG).entries.len(), 3);
        assert_eq!(queue.take(3, Duration::ZERO).entries.len(), 2);
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn a_flush_is_answered_behind_what_was_there_before_it() {
        let queue = Queue::default();
        let (done, _wait) = sync_channel(1);
        for _ in 0..4 {
            queue.put(entry(), 100);
        }
        queue.flush(done);
        queue.put(entry(), 100);
        assert!(queue.take(3, LONG).flushes.is_empty());
        assert_eq!(queue.take(3, LONG).flushes.len(), 1);
    }

    #[test]
    fn a_queue_that_is_closed_gives_everything() {
        let queue = Queue::default();
        for _ in 0..4 {
            queue.put(entry(), 100);
        }
        queue.close();
        let taken = queue.take(0, LONG);
        assert_eq!((taken.entries.len(), taken.last), (4, true));
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let queue = Queue::default();
        assert!((0..MOST).all(|_| queue.put(entry(), 1)));
        assert!(!queue.put(entry(), 1));
        queue.take(1, LONG);
        assert!(queue.put(entry(), 1));
    }
}
