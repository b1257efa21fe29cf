//! A journal in a file.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};

use super::database::{Database, Done, Row, Trouble, Value, Words};

/// As long as another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// A readable name for what `SQLite` calls an error.
impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Trouble(error.to_string())
    }
}

#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, create: bool) -> Done<Self> {
        if let (Some(folder), true) = (path.parent(), create) {
            std::fs::create_dir_all(folder).map_err(|error| Trouble(error.to_string()))?;
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(64);
        // Readers and the writer do not wait for each other, and a process that is killed loses nothing that was
        // committed. The log is synced at checkpoints: only a machine that loses power may lose the last entries.
        connection.execute_batch(
            "PRAGMA auto_vacuum = INCREMENTAL;
             PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             PRAGMA journal_size_limit = 67108864;
             PRAGMA mmap_size = 268435456;
             PRAGMA cache_size = -16384;",
        )?;
        private(path);
        Ok(Sqlite { connection })
    }
}

/// Arguments of tools are nobody else's business.
fn private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Where that cannot be set, for example on a file of another user, the folder has to do.
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
    fn words(&self) -> Words {
        Words {
            key: "INTEGER PRIMARY KEY",
            serial: "INTEGER PRIMARY KEY",
            packed: "WITHOUT ROWID",
            // Takes the right to write at once: taking it later fails where somebody else wrote meanwhile.
            begin: "BEGIN IMMEDIATE",
        }
    }

    fn run(&mut self, sql: &str) -> Done {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Done<u64> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.execute(rusqlite::params_from_iter(values))? as u64)
    }

    fn insert(&mut self, head: &str, tail: &str, rows: Vec<Vec<Value>>) -> Done {
        let Some(first) = rows.first() else { return Ok(()) };
        let places = vec!["?"; first.len()].join(", ");
        let mut statement = self.connection.prepare_cached(&format!("{head} VALUES ({places}) {tail}"))?;
        for row in &rows {
            statement.execute(rusqlite::params_from_iter(row))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Done<Vec<Row>> {
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

    fn shrink(&mut self) -> Done {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum(2000)")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }
}
