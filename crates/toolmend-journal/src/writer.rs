//! The thread that writes: batches, retention, and patience with databases that do not answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use crate::entry::{Entry, Series};
use crate::error::Error;
use crate::id::millis_now;
use crate::journal::{Options, Shared};
use crate::store::{Clean, Store};

/// How many entries are written with one transaction at most.
pub(crate) const BATCH: usize = 512;
/// How long an entry waits for others at most.
const LINGER: Duration = Duration::from_millis(200);
/// How often it is looked for what is too old or too much.
const PRUNE: Duration = Duration::from_mins(1);
/// After so many entries it is looked for, too.
const PRUNE_ENTRIES: u64 = 20_000;
/// How long to wait after the first failure; twice as long after each of the next ones.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How long to wait where the database cannot be opened.
const UNREACHABLE_PAUSE: Duration = Duration::from_secs(2);
/// How often a batch is tried.
const MOST_TRIES: u32 = 5;
/// How often trouble is told at most.
const TELL: Duration = Duration::from_secs(10);

pub(crate) struct Writer {
    store: Option<Store>,
    options: Options,
    shared: Arc<Shared>,
    batch: Vec<Entry>,
    clean: HashMap<Series, Clean>,
    flushes: Vec<SyncSender<()>>,
    /// When the last batch was written, or tried.
    turned: Instant,
    /// Not before this moment, because the database did not take the last batch.
    paused: Option<Instant>,
    /// How often it did not take it.
    tries: u32,
    /// When it was last looked for what is too old or too much, and after how many entries.
    pruned: Option<(Instant, u64)>,
    told: Option<Instant>,
    told_dropped: u64,
}

impl Writer {
    pub(crate) fn new(store: Option<Store>, options: Options, shared: Arc<Shared>) -> Self {
        Writer {
            store,
            options,
            shared,
            batch: Vec::new(),
            clean: HashMap::new(),
            flushes: Vec::new(),
            turned: Instant::now(),
            paused: None,
            tries: 0,
            pruned: None,
            told: None,
            told_dropped: 0,
        }
    }

    /// Writes until nobody can put anything in any more.
    pub(crate) fn run(mut self) {
        loop {
            let due = self.paused.unwrap_or(self.turned + LINGER);
            let patience =
                due.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), LINGER);
            // Where the batch is full because it cannot be written, the next entries wait, or are dropped.
            let taken = self.shared.queue.take(BATCH.saturating_sub(self.batch.len()), patience);
            self.batch.extend(taken.entries.into_iter().map(|mut entry| {
                self.options.values.apply(&mut entry);
                entry
            }));
            self.flushes.extend(taken.flushes);
            if taken.last {
                return self.write_now();
            }
            self.turn();
        }
    }

    /// Writes where it is time.
    fn turn(&mut self) {
        self.tell_dropped();
        if let Some(until) = self.paused {
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() && self.flushes.is_empty() {
                return;
            }
        }
        if self.batch.len() >= BATCH || !self.flushes.is_empty() || self.turned.elapsed() >= LINGER {
            self.write_now();
            self.prune();
        }
    }

    fn write_now(&mut self) {
        self.turned = Instant::now();
        for (series, more) in self.shared.take_clean() {
            let counted = self.clean.entry(series).or_default();
            counted.calls += more.calls;
            counted.micros += more.micros;
        }
        match self.write() {
            Ok(()) => {
                self.shared.written.fetch_add(self.batch.len() as u64, Relaxed);
                self.done();
            }
            Err(error) => self.failed(&error),
        }
        for done in self.flushes.drain(..) {
            // Nobody waits any more: nothing to answer.
            let _ = done.try_send(());
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        if self.batch.is_empty() && self.clean.is_empty() {
            return Ok(());
        }
        if self.store.is_none() {
            self.store = Some(Store::open(&self.options.place)?);
        }
        let clean: Vec<(Series, Clean)> =
            self.clean.iter().map(|(series, counted)| (series.clone(), *counted)).collect();
        match &mut self.store {
            Some(store) => store.write(&self.batch, &clean, millis_now()),
            None => Ok(()),
        }
    }

    fn done(&mut self) {
        self.batch.clear();
        self.clean.clear();
        self.paused = None;
        self.tries = 0;
    }

    fn failed(&mut self, error: &Error) {
        self.shared.failures.fetch_add(1, Relaxed);
        // A database that can be opened and still does not take the batch never will.
        let opened = self.store.take().is_some();
        if opened {
            self.tries += 1;
        }
        if self.tries >= MOST_TRIES {
            self.shared.dropped.fetch_add(self.batch.len() as u64, Relaxed);
            self.done();
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.tries.min(5));
        self.paused = Some(Instant::now() + if opened { pause } else { UNREACHABLE_PAUSE });
        if self.may_tell() {
            tracing::warn!("{error}; entries wait, and are dropped when too many do");
        }
    }

    /// Takes out what is too old or too much, in pieces, as long as nothing waits to be written.
    fn prune(&mut self) {
        let written = self.shared.written.load(Relaxed);
        let due =
            self.pruned.is_none_or(|(at, after)| at.elapsed() >= PRUNE || written - after >= PRUNE_ENTRIES);
        let Some(store) = self.store.as_mut().filter(|_| due && self.paused.is_none()) else { return };
        let oldest = millis_now() - i64::from(self.options.days) * 86_400_000;
        match store.prune(oldest, u64::from(self.options.megabytes) << 20) {
            // The next piece after the next batch.
            Ok(true) => {}
            Ok(false) => self.pruned = Some((Instant::now(), written)),
            Err(error) => {
                self.pruned = Some((Instant::now(), written));
                if self.may_tell() {
                    tracing::warn!("{error}; old entries stay for now");
                }
            }
        }
    }

    fn tell_dropped(&mut self) {
        let dropped = self.shared.dropped.load(Relaxed);
        if dropped > self.told_dropped && self.may_tell() {
            tracing::warn!(
                dropped = dropped - self.told_dropped,
                "the journal {} is too slow, entries were dropped",
                self.options.place
            );
            self.told_dropped = dropped;
        }
    }

    fn may_tell(&mut self) -> bool {
        let may = self.told.is_none_or(|told| told.elapsed() >= TELL);
        if may {
            self.told = Some(Instant::now());
        }
        may
    }
}
