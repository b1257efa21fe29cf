//! What the gateway remembers: every call that was not clean, and counters for those that were.
//!
//! [`Journal`] is the door for those who must not wait: entries go into a bounded queue, and one thread writes them in
//! batches. [`Store`] is the journal in its database, a file or `PostgreSQL`, with the same statements for both.
//!
//! ```
//! use toolmend_journal::{Entry, Filter, Journal, Options, Place, Series};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let place = Place::Sqlite(folder.path().join("journal.db"));
//! let journal = Journal::open(Options::new(place)).unwrap();
//! journal.clean("chat", "http://127.0.0.1:8080", "qwen3", "read_file", 1200);
//! journal.record(Entry::new(Series {
//!     surface: "chat".into(),
//!     upstream: "http://127.0.0.1:8080".into(),
//!     model: "qwen3".into(),
//!     tool: "read_file".into(),
//!     outcome: "truncated".into(),
//! }));
//! assert!(journal.flush(std::time::Duration::from_secs(10)));
//! let page = journal.ask(|store| store.list(&Filter::default(), None, 50)).unwrap();
//! assert_eq!(page.entries[0].series.outcome.as_ref(), "truncated");
//! ```

#![forbid(unsafe_code)]

mod entry;
mod error;
mod id;
mod journal;
mod place;
mod query;
mod queue;
mod store;
mod values;
mod writer;

pub use crate::entry::{Change, Entry, Series, Summary};
pub use crate::error::Error;
pub use crate::id::{Id, NoId};
pub use crate::journal::{Counts, Journal, Options};
pub use crate::place::Place;
pub use crate::query::{By, Chart, Filter, Held, Line, Names, Page, Pair, Range};
pub use crate::store::Store;
pub use crate::values::Values;
