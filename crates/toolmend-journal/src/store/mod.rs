//! The journal in its database: one set of statements for both kinds.

mod charts;
mod database;
mod lists;
mod postgres;
mod prune;
mod sqlite;
mod tables;
mod write;

use std::collections::HashMap;
use std::fmt;

use self::database::{Database, Done};
use self::postgres::Postgres;
use self::sqlite::Sqlite;
pub(crate) use self::write::Clean;
use crate::entry::Series;
use crate::error::Error;
use crate::place::Place;

/// An open journal.
pub struct Store {
    place: Place,
    database: Box<dyn Database>,
    /// Ids of names that are known already.
    series: HashMap<Series, i64>,
    /// For each series, the one of its model and tool alone.
    pairs: HashMap<i64, i64>,
    kinds: HashMap<String, i64>,
    kind_sets: HashMap<String, i64>,
    schemas: std::collections::HashSet<i64>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a journal, and makes it where it is not there.
    ///
    /// # Errors
    /// Where the database cannot be opened, or was written by a newer version. [`Place::Off`] cannot be opened.
    pub fn open(place: &Place) -> Result<Self, Error> {
        Self::open_with(place, true)
    }

    /// Opens a journal that is there.
    ///
    /// # Errors
    /// As [`Store::open`], and where there is none.
    pub fn open_existing(place: &Place) -> Result<Self, Error> {
        if let Place::Sqlite(path) = place
            && !path.exists()
        {
            return Err(Error::new(
                place,
                "there is no such file; `toolmend serve` makes it, or name another with --journal",
            ));
        }
        Self::open_with(place, false)
    }

    fn open_with(place: &Place, create: bool) -> Result<Self, Error> {
        let opened: Done<Box<dyn Database>> = match place {
            Place::Off => return Err(Error::new(place, "it is turned off")),
            Place::Sqlite(path) => {
                Sqlite::open(path, create).map(|database| Box::new(database) as Box<dyn Database>)
            }
            Place::Postgres(url) => {
                Postgres::open(url).map(|database| Box::new(database) as Box<dyn Database>)
            }
        };
        let made = opened.and_then(|mut database| tables::make(&mut *database).map(|()| database));
        let database = made.map_err(|trouble| Error::new(place, trouble))?;
        Ok(Store {
            place: place.clone(),
            database,
            series: HashMap::new(),
            pairs: HashMap::new(),
            kinds: HashMap::new(),
            kind_sets: HashMap::new(),
            schemas: std::collections::HashSet::new(),
        })
    }

    /// Does something wholly or not at all.
    fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Done<T>) -> Result<T, Error> {
        let begin = self.database.words().begin;
        let result = self.database.run(begin).and_then(|()| work(self)).and_then(|done| {
            self.database.run("COMMIT")?;
            Ok(done)
        });
        result.map_err(|trouble| {
            // What was learned in it is not true any more. Where going back fails the connection is lost anyway.
            self.series.clear();
            self.pairs.clear();
            self.kinds.clear();
            self.kind_sets.clear();
            self.schemas.clear();
            let _ = self.database.run("ROLLBACK");
            Error::new(&self.place, trouble)
        })
    }

    fn told<T>(&self, result: Done<T>) -> Result<T, Error> {
        result.map_err(|trouble| Error::new(&self.place, trouble))
    }
}
