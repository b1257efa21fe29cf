//! The door for those who must not wait: entries go into a queue, one thread writes them.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::entry::{Entry, Series};
use crate::error::Error;
use crate::place::Place;
use crate::queue::Queue;
use crate::store::{Clean, Store};
use crate::values::Values;
use crate::writer::{BATCH, Writer};

/// How many different series of clean calls wait at most.
const CLEAN: usize = 16_384;

/// How a journal is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where.
    pub place: Place,
    /// How much of the arguments is stored.
    pub values: Values,
    /// Entries that are older go.
    pub days: u32,
    /// When entries take more, the oldest go.
    pub megabytes: u32,
}

impl Options {
    /// Everything is stored, for thirty days, in at most a gigabyte.
    pub fn new(place: Place) -> Self {
        Options { place, values: Values::Whole, days: 30, megabytes: 1024 }
    }
}

/// What became of the entries so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Entries that are in the database.
    pub written: u64,
    /// Entries that found no room in the queue.
    pub dropped: u64,
    /// Times that the database did not take a batch; it is tried again.
    pub failures: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) written: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) queue: Queue,
    clean: Mutex<HashMap<u64, (Series, Clean)>>,
}

impl Shared {
    /// The clean calls since the last time.
    pub(crate) fn take_clean(&self) -> Vec<(Series, Clean)> {
        let mut clean = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if clean.is_empty() { Vec::new() } else { std::mem::take(&mut *clean).into_values().collect() }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            written: self.written.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }
}

/// A journal that is written in the background. Dropping the last handle writes what waits.
#[derive(Debug)]
pub struct Journal {
    options: Options,
    shared: Arc<Shared>,
    hasher: RandomState,
    reader: Mutex<Option<Store>>,
}

impl Journal {
    /// Opens a journal and starts its thread.
    ///
    /// A database server that cannot be reached is no error: it is tried again until it can be, and entries are
    /// dropped and counted meanwhile.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub fn open(options: Options) -> Result<Self, Error> {
        // On a thread of its own: the client of the database server must not run inside of somebody's event loop.
        let opened = std::thread::scope(|scope| scope.spawn(|| Store::open(&options.place)).join());
        let opened = opened.unwrap_or_else(|_| Err(Error::new(&options.place, "it cannot be opened")));
        let store = match opened {
            Ok(store) => Some(store),
            Err(error) if matches!(options.place, Place::Postgres(_)) => {
                tracing::warn!("{error}; it is tried again in the background");
                None
            }
            Err(error) => return Err(error),
        };
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(store, options.clone(), Arc::clone(&shared));
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| Error::new(&options.place, error))?;
        Ok(Journal { options, shared, hasher: RandomState::new(), reader: Mutex::new(None) })
    }

    /// How it is kept.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Writes an entry down, soon. Never waits: where there is no room the entry is dropped and counted.
    pub fn record(&self, mut entry: Entry) {
        entry.shorten();
        if !self.shared.queue.put(entry, BATCH) {
            self.shared.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Counts a call that was clean.
    pub fn clean(&self, surface: &str, upstream: &str, model: &str, tool: &str, micros: u64) {
        let key = self.hasher.hash_one((surface, upstream, model, tool));
        let mut clean = self.shared.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if !clean.contains_key(&key) && clean.len() >= CLEAN {
            return;
        }
        // Keys are hashes with a secret of their own: two that are alike happen once in many years.
        let (_, counted) = clean.entry(key).or_insert_with(|| {
            let series = Series {
                surface: surface.into(),
                upstream: upstream.into(),
                model: model.into(),
                tool: tool.into(),
                outcome: "clean".into(),
            };
            (series, Clean::default())
        });
        counted.calls += 1;
        counted.micros += micros;
    }

    /// What became of the entries so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// The same for those who outlive the journal.
    pub fn counter(&self) -> impl Fn() -> Counts + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        move || shared.counts()
    }

    /// Waits until everything so far is written, but not longer than that. Gives whether it is.
    pub fn flush(&self, patience: Duration) -> bool {
        let (done, wait) = sync_channel(1);
        self.shared.queue.flush(done);
        wait.recv_timeout(patience).is_ok()
    }

    /// Asks the journal something, on a connection of its own. Waits for the database: not for threads that serve.
    ///
    /// # Errors
    /// Where the database does not answer; the next time it is connected to anew.
    pub fn ask<T>(&self, question: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = match reader.take() {
            Some(store) => store,
            None => Store::open(&self.options.place)?,
        };
        let answer = question(&mut store)?;
        *reader = Some(store);
        Ok(answer)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.queue.close();
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Closing a connection waits, and the last handle may be dropped by an event loop.
        if let Some(store) = reader {
            std::thread::spawn(move || drop(store));
        }
    }
}
