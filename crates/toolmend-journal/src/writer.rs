//! The writer thread: takes entries out of the queue and writes them in batches, and removes old ones.
//!
//! It writes about five times a second, or as soon as a batch is full. A batch that fails is tried again, with longer
//! and longer pauses. While the database cannot be opened, the batch waits; the queue fills up and then drops entries. A
//! database that can be opened and still refuses a batch will keep refusing it, so the writer gives up after a few attempts.
//! Callers never wait for any of this.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use crate::entry::{Entry, Series};
use crate::error::Error;
use crate::id::millis_now;
use crate::masking::remove_values;
use crate::options::Options;
use crate::pending::Pending;
use crate::store::{CleanCalls, Store};

/// How many entries one transaction writes at most.
pub(crate) const BATCH_ENTRIES: usize = 512;
/// How long an entry waits for its batch to fill up.
const WRITE_INTERVAL: Duration = Duration::from_millis(200);
/// How often the writer looks for entries to remove.
const PRUNE_INTERVAL: Duration = Duration::from_mins(1);
/// After this many new entries it looks even if the interval is not over.
const PRUNE_ENTRIES: u64 = 20_000;
/// The pause after the first failure. It doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The pause if the database cannot be opened.
const UNREACHABLE_PAUSE: Duration = Duration::from_secs(2);
/// How often a batch is tried before it is dropped.
const MAX_ATTEMPTS: u32 = 5;
/// The shortest time between two warnings.
const WARN_INTERVAL: Duration = Duration::from_secs(10);

/// The state of the writer thread.
pub(crate) struct Writer {
    store: Option<Store>,
    options: Options,
    pending: Arc<Pending>,
    batch: Vec<Entry>,
    clean: HashMap<Series, CleanCalls>,
    flushes: Vec<SyncSender<()>>,
    /// When a batch was last tried.
    last_attempt: Instant,
    /// The next attempt must not be made before this time, because the last one failed.
    paused_until: Option<Instant>,
    /// How many attempts to write the current batch have failed.
    failed_attempts: u32,
    /// When old entries were last removed, and how many entries had been written then.
    last_prune: Option<(Instant, u64)>,
    last_warning: Option<Instant>,
    /// How many dropped entries the warnings have reported.
    reported_drops: u64,
}

impl Writer {
    pub(crate) fn new(store: Option<Store>, options: Options, pending: Arc<Pending>) -> Self {
        Writer {
            store,
            options,
            pending,
            batch: Vec::new(),
            clean: HashMap::new(),
            flushes: Vec::new(),
            last_attempt: Instant::now(),
            paused_until: None,
            failed_attempts: 0,
            last_prune: None,
            last_warning: None,
            reported_drops: 0,
        }
    }

    /// Writes until the queue is closed.
    pub(crate) fn run(mut self) {
        loop {
            let due = self.paused_until.unwrap_or(self.last_attempt + WRITE_INTERVAL);
            let timeout =
                due.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), WRITE_INTERVAL);
            // A full batch is one that could not be written. Then the next entries stay in the queue.
            let taken = self.pending.queue.take(BATCH_ENTRIES.saturating_sub(self.batch.len()), timeout);
            self.batch.extend(taken.entries.into_iter().map(|mut entry| {
                remove_values(&mut entry, self.options.values);
                entry
            }));
            self.flushes.extend(taken.flushes);
            if taken.last {
                return self.write_now();
            }
            self.write_if_due();
        }
    }

    /// Writes the batch if it is full, if a flush was requested, or if it has waited long enough.
    fn write_if_due(&mut self) {
        self.warn_of_drops();
        if let Some(until) = self.paused_until {
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() && self.flushes.is_empty() {
                return;
            }
        }
        if self.batch.len() >= BATCH_ENTRIES
            || !self.flushes.is_empty()
            || self.last_attempt.elapsed() >= WRITE_INTERVAL
        {
            self.write_now();
            self.prune();
        }
    }

    fn write_now(&mut self) {
        self.last_attempt = Instant::now();
        for (series, more) in self.pending.take_clean_calls() {
            let counted = self.clean.entry(series).or_default();
            counted.calls += more.calls;
            counted.micros += more.micros;
        }
        match self.write_batch() {
            Ok(()) => {
                self.pending.written.fetch_add(self.batch.len() as u64, Relaxed);
                self.clear_batch();
            }
            Err(error) => self.handle_failure(&error),
        }
        for done in self.flushes.drain(..) {
            // The caller may have stopped waiting.
            let _ = done.try_send(());
        }
    }

    fn write_batch(&mut self) -> Result<(), Error> {
        if self.batch.is_empty() && self.clean.is_empty() {
            return Ok(());
        }
        if self.store.is_none() {
            self.store = Some(Store::open(&self.options.location)?);
        }
        let clean: Vec<(Series, CleanCalls)> =
            self.clean.iter().map(|(series, counted)| (series.clone(), *counted)).collect();
        match &mut self.store {
            Some(store) => store.write(&self.batch, &clean, millis_now()),
            None => Ok(()),
        }
    }

    fn clear_batch(&mut self) {
        self.batch.clear();
        self.clean.clear();
        self.paused_until = None;
        self.failed_attempts = 0;
    }

    fn handle_failure(&mut self, error: &Error) {
        self.pending.failures.fetch_add(1, Relaxed);
        // Failing to connect does not count as an attempt: the batch itself may be fine.
        let opened = self.store.take().is_some();
        if opened {
            self.failed_attempts += 1;
        }
        if self.failed_attempts >= MAX_ATTEMPTS {
            self.pending.dropped.fetch_add(self.batch.len() as u64, Relaxed);
            self.clear_batch();
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failed_attempts.min(5));
        self.paused_until = Some(Instant::now() + if opened { pause } else { UNREACHABLE_PAUSE });
        if self.may_warn() {
            tracing::warn!("{error}; entries wait in the queue and are dropped when it is full");
        }
    }

    /// Removes entries that are too old or take up too much space, one piece at a time.
    fn prune(&mut self) {
        let written = self.pending.written.load(Relaxed);
        let due = self
            .last_prune
            .is_none_or(|(at, after)| at.elapsed() >= PRUNE_INTERVAL || written - after >= PRUNE_ENTRIES);
        let Some(store) = self.store.as_mut().filter(|_| due && self.paused_until.is_none()) else { return };
        let oldest = millis_now() - i64::from(self.options.days) * 86_400_000;
        match store.prune(oldest, u64::from(self.options.megabytes) << 20) {
            // There is more to remove. It is due again after the next batch.
            Ok(true) => {}
            Ok(false) => self.last_prune = Some((Instant::now(), written)),
            Err(error) => {
                self.last_prune = Some((Instant::now(), written));
                if self.may_warn() {
                    tracing::warn!("{error}; old entries are kept for now");
                }
            }
        }
    }

    fn warn_of_drops(&mut self) {
        let dropped = self.pending.dropped.load(Relaxed);
        if dropped > self.reported_drops && self.may_warn() {
            tracing::warn!(
                dropped = dropped - self.reported_drops,
                "the journal {} is too slow; entries were dropped",
                self.options.location
            );
            self.reported_drops = dropped;
        }
    }

    /// Whether the last warning is long enough ago. If so, the caller must warn now.
    fn may_warn(&mut self) -> bool {
        let may = self.last_warning.is_none_or(|last| last.elapsed() >= WARN_INTERVAL);
        if may {
            self.last_warning = Some(Instant::now());
        }
        may
    }
}
