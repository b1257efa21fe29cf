//! The handle of a journal that is written in the background.
//!
//! Recording never waits: entries go into a queue, and one thread of its own writes them. This module never contains
//! statements; those are in [`crate::store`].

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::entry::Entry;
use crate::error::Error;
use crate::location::Location;
use crate::options::Options;
use crate::pending::{Pending, WriteCounts};
use crate::store::Store;
use crate::writer::{BATCH_ENTRIES, Writer};

/// A journal that is written in the background. Dropping it writes everything that is still in the queue.
///
/// See the [crate documentation](crate) for an example.
#[derive(Debug)]
pub struct Journal {
    options: Options,
    pending: Arc<Pending>,
    reader: Mutex<Option<Store>>,
}

impl Journal {
    /// Opens a journal and starts its writer thread.
    ///
    /// A database server that cannot be reached is not an error: the writer thread keeps trying to connect. Until it
    /// succeeds, entries wait in the queue, and are dropped and counted when the queue is full.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is not a journal of this version.
    pub fn open(options: Options) -> Result<Self, Error> {
        // On a thread of its own: the PostgreSQL client must not run inside an event loop, and the caller may be in one.
        let opened = std::thread::scope(|scope| scope.spawn(|| Store::open(&options.location)).join());
        let opened = opened.unwrap_or_else(|_| Err(Error::new(&options.location, "it cannot be opened")));
        let store = match opened {
            Ok(store) => Some(store),
            Err(error) if matches!(options.location, Location::Postgres(_)) => {
                tracing::warn!("{error}; trying again in the background");
                None
            }
            Err(error) => return Err(error),
        };
        let pending = Arc::new(Pending::default());
        let writer = Writer::new(store, options.clone(), Arc::clone(&pending));
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| Error::new(&options.location, error))?;
        Ok(Journal { options, pending, reader: Mutex::new(None) })
    }

    /// Returns the options that the journal was opened with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Records an entry. It is written within a fraction of a second.
    ///
    /// Never waits: if the queue is full, the entry is dropped and counted.
    pub fn record(&self, mut entry: Entry) {
        entry.shorten_texts();
        if !self.pending.queue.put(entry, BATCH_ENTRIES) {
            self.pending.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Counts a clean call. Charts need all calls, and nothing else of a clean call is stored.
    pub fn count_clean_call(&self, surface: &str, upstream: &str, model: &str, tool: &str, micros: u64) {
        self.pending.count_clean_call(surface, upstream, model, tool, micros);
    }

    /// Returns how many entries were written and lost so far.
    pub fn counts(&self) -> WriteCounts {
        self.pending.counts()
    }

    /// Returns a function that does the same as [`Journal::counts`] and may outlive the journal.
    pub fn counts_reader(&self) -> impl Fn() -> WriteCounts + Send + Sync + 'static {
        let pending = Arc::clone(&self.pending);
        move || pending.counts()
    }

    /// Waits until all entries recorded so far are written, but no longer than `timeout`. Returns whether the writer thread
    /// answered in time.
    pub fn flush(&self, timeout: Duration) -> bool {
        let (done, wait) = sync_channel(1);
        self.pending.queue.request_flush(done);
        wait.recv_timeout(timeout).is_ok()
    }

    /// Calls `work` with a store of its own, for reading and deleting.
    ///
    /// This waits for the database, so it must not be called on a thread that serves requests. The connection is kept for
    /// the next call, unless `work` fails.
    ///
    /// # Errors
    ///
    /// If the database cannot be opened, or if `work` fails.
    pub fn with_store<T>(&self, work: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = match reader.take() {
            Some(store) => store,
            None => Store::open(&self.options.location)?,
        };
        let answer = work(&mut store)?;
        *reader = Some(store);
        Ok(answer)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.pending.queue.close();
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Closing a connection blocks, and an event loop may be dropping the journal.
        if let Some(store) = reader {
            std::thread::spawn(move || drop(store));
        }
    }
}
