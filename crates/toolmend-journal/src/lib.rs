//! The journal of the gateway: every call that was not clean, and counters for all calls.
//!
//! # The path of an entry
//!
//! 1. The gateway judges a call and describes it as an [`Entry`]. A clean call needs no entry; it only raises a counter
//!    ([`Journal::count_clean_call`]).
//! 2. [`Journal::record`] puts the entry into a bounded queue (`queue`, `pending`) and returns. The caller never waits for
//!    a database. An entry that finds the queue full is dropped and counted.
//! 3. The writer thread (`writer`) takes entries out in batches, removes the values that must not be stored (`masking`),
//!    and hands the batch to its [`Store`]. If the database refuses a batch, the writer tries again before it drops it.
//! 4. The store (`store/write`) writes the entries, the kinds of their repairs and the counters in one transaction, so lists
//!    and charts agree even if the process is killed. The same statements serve `SQLite` and `PostgreSQL`
//!    (`store/database`).
//! 5. Readers use [`Journal::with_store`] or open a [`Store`] of their own: pages of the list ([`Store::list`]), one entry
//!    ([`Store::entry`]), charts ([`Store::chart`]).
//! 6. The writer thread removes entries that are too old, and the oldest ones when they take up too much space (`store/prune`).
//!
//! # Example
//!
//! ```
//! use toolmend_journal::{Entry, Filter, Journal, Location, Options, Series};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let location = Location::Sqlite(folder.path().join("journal.db"));
//! let journal = Journal::open(Options::new(location)).unwrap();
//! journal.count_clean_call("chat", "http://127.0.0.1:8080", "qwen3", "read_file", 1200);
//! journal.record(Entry::new(Series {
//!     surface: "chat".into(),
//!     upstream: "http://127.0.0.1:8080".into(),
//!     model: "qwen3".into(),
//!     tool: "read_file".into(),
//!     outcome: "truncated".into(),
//! }));
//! assert!(journal.flush(std::time::Duration::from_secs(10)));
//! let page = journal.with_store(|store| store.list(&Filter::default(), None, 50)).unwrap();
//! assert_eq!(page.entries[0].series.outcome.as_ref(), "truncated");
//! ```

#![forbid(unsafe_code)]

mod entry;
mod error;
mod id;
mod journal;
mod location;
mod masking;
mod options;
mod pending;
mod query;
mod queue;
mod store;
mod writer;

pub use crate::entry::{Entry, EntrySummary, RepairRecord, Series, StoredValues};
pub use crate::error::Error;
pub use crate::id::{Id, InvalidId};
pub use crate::journal::Journal;
pub use crate::location::Location;
pub use crate::options::Options;
pub use crate::pending::WriteCounts;
pub use crate::query::{
    Chart, ChartLine, ChartRange, Filter, GroupBy, KnownNames, ModelToolCounts, Page, Usage,
};
pub use crate::store::Store;
