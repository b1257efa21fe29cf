//! The little that both databases have in common: statements with numbers and texts in, rows of them out.

use std::fmt;

/// A number, a text or nothing.
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

/// One row of an answer.
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

/// What a database says where it does not do what it is asked for.
#[derive(Debug)]
pub(crate) struct Trouble(pub(crate) String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) type Done<T = ()> = Result<T, Trouble>;

/// The words of a database where they differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// A number that is the primary key.
    pub(crate) key: &'static str,
    /// A number that the database counts up, and that is the primary key.
    pub(crate) serial: &'static str,
    /// Behind a table that is nothing but its primary key.
    pub(crate) packed: &'static str,
    /// Begins a transaction that writes.
    pub(crate) begin: &'static str,
}

/// A connection.
///
/// Statements have parameters `$1`, `$2` and so on. Their first places must stand in this order: one of the databases
/// counts them by their order and not by their names.
pub(crate) trait Database: Send {
    fn words(&self) -> Words;

    /// Runs statements without parameters.
    fn run(&mut self, sql: &str) -> Done;

    /// Runs one statement; gives how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Done<u64>;

    fn query(&mut self, sql: &str, values: &[Value]) -> Done<Vec<Row>>;

    /// Inserts rows, all of one width. `head` says where, `tail` what to do with those that are there.
    fn insert(&mut self, head: &str, tail: &str, rows: Vec<Vec<Value>>) -> Done;

    /// Gives room back where much was deleted.
    fn shrink(&mut self) -> Done;
}
