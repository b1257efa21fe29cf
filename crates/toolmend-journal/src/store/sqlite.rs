//! A journal in an `SQLite` file.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};

use super::database::{Database, DatabaseError, DatabaseResult, Row, SqlDialect, Value};

/// How long to wait while another process holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        DatabaseError(error.to_string())
    }
}

/// A connection to an `SQLite` file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, create: bool) -> DatabaseResult<Self> {
        if let (Some(folder), true) = (path.parent(), create) {
            std::fs::create_dir_all(folder).map_err(|error| DatabaseError(error.to_string()))?;
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(64);
        // With a write-ahead log, readers and the writer do not wait for each other. A process that is killed loses nothing
        // that was committed. The log is only synced at checkpoints, so a power failure may lose the last entries.
        connection.execute_batch(
            "PRAGMA auto_vacuum = INCREMENTAL;
             PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             PRAGMA journal_size_limit = 67108864;
             PRAGMA mmap_size = 268435456;
             PRAGMA cache_size = -16384;",
        )?;
        restrict_access(path);
        Ok(Sqlite { connection })
    }
}

/// Lets only the owner read the file, because arguments of tools may be confidential.
fn restrict_access(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // This fails for a file of another user. Then the permissions of the folder must suffice.
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl Database for Sqlite {
    fn sql_dialect(&self) -> SqlDialect {
        SqlDialect {
            key: "INTEGER PRIMARY KEY",
            serial: "INTEGER PRIMARY KEY",
            clustered: "WITHOUT ROWID",
            // Locks the file for writing from the start. Locking it later fails if another process wrote in between.
            begin: "BEGIN IMMEDIATE",
            lock_creation: None,
        }
    }

    fn execute_batch(&mut self, sql: &str) -> DatabaseResult {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> DatabaseResult<u64> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.execute(rusqlite::params_from_iter(values))? as u64)
    }

    fn insert_rows(&mut self, head: &str, tail: &str, rows: Vec<Vec<Value>>) -> DatabaseResult {
        let Some(first) = rows.first() else { return Ok(()) };
        let placeholders = vec!["?"; first.len()].join(", ");
        let mut statement =
            self.connection.prepare_cached(&format!("{head} VALUES ({placeholders}) {tail}"))?;
        for row in &rows {
            statement.execute(rusqlite::params_from_iter(row))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> DatabaseResult<Vec<Row>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |at| {
                Ok::<_, rusqlite::Error>(match row.get_ref(at)? {
                    ValueRef::Integer(number) => Value::Int(number),
                    ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                    _ => Value::Null,
                })
            };
            out.push(Row((0..width).map(value).collect::<Result<_, _>>()?));
        }
        Ok(out)
    }

    fn reclaim_space(&mut self) -> DatabaseResult {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum(2000)")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }
}
