//! What both databases have in common: statements with integers and texts as parameters, and rows of them as answers.
//!
//! All other modules of the store build statements for both databases. Only [`SqlDialect`] and the implementations of
//! [`Database`] differ.

use std::fmt;

/// A parameter of a statement or a column of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Value::Null, Value::from)
    }
}

/// A row of an answer. Its getters return zero or an empty text for a column of another type.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> i64 {
        match self.0.get(at) {
            Some(Value::Int(number)) => *number,
            _ => 0,
        }
    }

    pub(crate) fn count(&self, at: usize) -> u64 {
        u64::try_from(self.int(at)).unwrap_or(0)
    }

    pub(crate) fn bytes(&self, at: usize) -> usize {
        usize::try_from(self.int(at)).unwrap_or(0)
    }

    pub(crate) fn text(&self, at: usize) -> &str {
        match self.0.get(at) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    pub(crate) fn optional(&self, at: usize) -> Option<String> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// The message of a database that failed.
#[derive(Debug)]
pub(crate) struct DatabaseError(pub(crate) String);

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) type DatabaseResult<T = ()> = Result<T, DatabaseError>;

/// The fragments of SQL in which the databases differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SqlDialect {
    /// The type of an integer column that is the primary key.
    pub(crate) key: &'static str,
    /// The type of an integer column that is the primary key and that the database counts up.
    pub(crate) serial: &'static str,
    /// Ends the definition of a table whose rows are stored in its primary key.
    pub(crate) clustered: &'static str,
    /// Begins a transaction that writes.
    pub(crate) begin: &'static str,
    /// Makes a transaction wait for others that create the tables. `None` if beginning the transaction does that already.
    pub(crate) lock_creation: Option<&'static str>,
}

/// A connection.
///
/// Parameters are written `$1`, `$2` and so on, and must appear for the first time in this order: `SQLite` numbers them by
/// their order of appearance, `PostgreSQL` by their names.
pub(crate) trait Database: Send {
    /// Returns the fragments of SQL for this database.
    fn sql_dialect(&self) -> SqlDialect;

    /// Runs statements without parameters.
    fn execute_batch(&mut self, sql: &str) -> DatabaseResult;

    /// Runs one statement and returns how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> DatabaseResult<u64>;

    /// Runs one statement and returns its rows.
    fn query(&mut self, sql: &str, values: &[Value]) -> DatabaseResult<Vec<Row>>;

    /// Inserts rows, all with the same number of columns. `head` is the `INSERT INTO` clause, `tail` the `ON CONFLICT`
    /// clause.
    fn insert_rows(&mut self, head: &str, tail: &str, rows: Vec<Vec<Value>>) -> DatabaseResult;

    /// Gives the space of deleted rows back to the system.
    fn reclaim_space(&mut self) -> DatabaseResult;
}
