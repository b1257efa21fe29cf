//! The options of a journal.

use crate::entry::StoredValues;
use crate::location::Location;

/// How a journal is kept.
///
/// ```
/// use toolmend_journal::{Location, Options, StoredValues};
/// let options = Options { values: StoredValues::Masked, days: 7, ..Options::new(Location::parse("journal.db")) };
/// assert_eq!(options.megabytes, 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where the journal is stored.
    pub location: Location,
    /// How much of the arguments is stored.
    pub values: StoredValues,
    /// Entries older than this many days are removed.
    pub days: u32,
    /// The oldest entries are removed when all entries together take up more than this many megabytes.
    pub megabytes: u32,
}

impl Options {
    /// Options that store all values, for thirty days, in at most one gigabyte.
    pub fn new(location: Location) -> Self {
        Options { location, values: StoredValues::Whole, days: 30, megabytes: 1024 }
    }
}
