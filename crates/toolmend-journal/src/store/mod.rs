//! The journal in its database.
//!
//! One set of statements serves both databases; `sqlite` and `postgres` only run them. A [`Store`] is one connection and
//! blocks on it. It never runs in the background and never masks values: that is the task of the writer thread.

mod charts;
mod database;
mod hash;
mod lists;
#[cfg(feature = "postgres")]
mod postgres;
mod prune;
mod sqlite;
mod tables;
mod write;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use self::database::{Database, DatabaseResult};
#[cfg(feature = "postgres")]
use self::postgres::Postgres;
use self::sqlite::Sqlite;
pub(crate) use self::write::CleanCalls;
use crate::entry::Series;
use crate::error::Error;
use crate::location::Location;

/// An open journal: one connection to its database.
///
/// All methods wait for the database.
///
/// ```
/// use toolmend_journal::{Filter, Location, Store};
/// # let folder = tempfile::tempdir().unwrap();
/// let mut store = Store::open(&Location::Sqlite(folder.path().join("journal.db")))?;
/// assert!(store.list(&Filter::default(), None, 50)?.entries.is_empty());
/// assert_eq!(store.usage()?.entries, 0);
/// # Ok::<(), toolmend_journal::Error>(())
/// ```
pub struct Store {
    location: Location,
    database: Box<dyn Database>,
    ids: KnownIds,
}

/// Ids of names and texts that this connection has looked up before.
#[derive(Debug, Default)]
struct KnownIds {
    series: HashMap<Series, i64>,
    /// For each series, the series of its model and tool alone.
    pairs: HashMap<i64, i64>,
    kinds: HashMap<String, i64>,
    kind_sets: HashMap<String, i64>,
    schemas: HashMap<Arc<str>, i64>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("location", &self.location).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a journal, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If the database cannot be opened, or if its tables have another version. [`Location::Off`] cannot be opened.
    pub fn open(location: &Location) -> Result<Self, Error> {
        Self::open_with(location, true)
    }

    /// Opens a journal that exists.
    ///
    /// # Errors
    ///
    /// As for [`Store::open`], and if there is no such file.
    pub fn open_existing(location: &Location) -> Result<Self, Error> {
        if let Location::Sqlite(path) = location
            && !path.exists()
        {
            return Err(Error::new(
                location,
                "there is no such file; `toolmend serve` creates it, or name another one with --journal",
            ));
        }
        Self::open_with(location, false)
    }

    fn open_with(location: &Location, create: bool) -> Result<Self, Error> {
        let opened: DatabaseResult<Box<dyn Database>> = match location {
            Location::Off => return Err(Error::new(location, "it is turned off")),
            Location::Sqlite(path) => {
                Sqlite::open(path, create).map(|database| Box::new(database) as Box<dyn Database>)
            }
            #[cfg(not(feature = "postgres"))]
            Location::Postgres(_) => {
                return Err(Error::new(
                    location,
                    "this build has no PostgreSQL; use one with the feature `postgres`, or a file",
                ));
            }
            #[cfg(feature = "postgres")]
            Location::Postgres(url) => {
                Postgres::open(url).map(|database| Box::new(database) as Box<dyn Database>)
            }
        };
        let created =
            opened.and_then(|mut database| tables::create_tables(&mut *database).map(|()| database));
        let database = created.map_err(|error| Error::new(location, error))?;
        Ok(Store { location: location.clone(), database, ids: KnownIds::default() })
    }

    /// Runs `work` in a transaction, which is rolled back if `work` fails.
    fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> DatabaseResult<T>) -> Result<T, Error> {
        let begin = self.database.sql_dialect().begin;
        let result = self.database.execute_batch(begin).and_then(|()| work(self)).and_then(|done| {
            self.database.execute_batch("COMMIT")?;
            Ok(done)
        });
        result.map_err(|error| {
            // The transaction may have created ids that do not exist any more.
            self.ids = KnownIds::default();
            // If the rollback fails, the connection is lost, and the transaction with it.
            let _ = self.database.execute_batch("ROLLBACK");
            Error::new(&self.location, error)
        })
    }

    /// Adds the location of the journal to an error.
    fn with_location<T>(&self, result: DatabaseResult<T>) -> Result<T, Error> {
        result.map_err(|error| Error::new(&self.location, error))
    }
}
