//! The tables of a journal, and the check of their version.
//!
//! A journal of the version before is brought up to date when it is opened; gateways that still run with it go on. Older and newer
//! ones are refused with a message that says what to do.

use super::database::{Database, DatabaseError, DatabaseResult};

/// The version of the tables. Raise it with every change.
const VERSION: i64 = 4;
/// What brings the tables of a version up to the next one, by the version that they have.
const MIGRATIONS: [(i64, &str); 1] = [(3, "ALTER TABLE journal_entries ADD COLUMN call_id TEXT")];
/// The table that holds the version.
const META: &str =
    "CREATE TABLE IF NOT EXISTS journal_meta (name TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL)";

/// All other tables. `{key}`, `{serial}` and `{clustered}` stand for the fragments of `SqlDialect`.
///
/// - Surface, server, model, tool and outcome together are a *series*. There are few, so entries and counters refer to them
///   by number, and a filter first selects series.
/// - An entry refers to the *set* of the kinds of its repairs, of which there are few as well. An index of single kinds
///   would have several rows for each entry, and keeping it cost more than everything else that is written.
/// - Long texts are the last columns of an entry: reading the columns before them does not touch their pages. The id of the call
///   came later, and is read only together with the texts.
/// - Schemas that no entry uses any more are removed with the entries, which needs the index of schemas.
/// - Counters (`rollups`) have a row for each span of time and series. Kinds are counted by model and tool only: by series,
///   there would be nearly as many counters as entries.
/// - A schema is found by its hash and compared by its text. The text cannot have an index of its own, because
///   `PostgreSQL` limits the length of an indexed value.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS journal_series (
    id {serial},
    surface TEXT NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    tool TEXT NOT NULL,
    outcome TEXT NOT NULL,
    UNIQUE (model, tool, outcome, surface, upstream)
);
CREATE TABLE IF NOT EXISTS journal_kinds (
    id {serial},
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS journal_kind_sets (
    id {serial},
    names TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS journal_schemas (
    id {serial},
    hash BIGINT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS journal_schemas_hash ON journal_schemas (hash);
CREATE TABLE IF NOT EXISTS journal_entries (
    id {key},
    series BIGINT NOT NULL,
    kinds BIGINT NOT NULL,
    size BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    before_bytes BIGINT NOT NULL,
    after_bytes BIGINT NOT NULL,
    schema BIGINT,
    stored TEXT NOT NULL,
    dialect TEXT,
    reason TEXT,
    called TEXT,
    cut TEXT,
    finish TEXT,
    message TEXT,
    repairs TEXT NOT NULL,
    feedback TEXT,
    before_text TEXT,
    after_text TEXT,
    call_id TEXT
);
CREATE INDEX IF NOT EXISTS journal_entries_series ON journal_entries (series, id, kinds);
CREATE INDEX IF NOT EXISTS journal_entries_kinds ON journal_entries (kinds, id);
CREATE INDEX IF NOT EXISTS journal_entries_schema ON journal_entries (schema);
CREATE TABLE IF NOT EXISTS journal_rollups (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    series BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    PRIMARY KEY (span, start, series)
) {clustered};
CREATE TABLE IF NOT EXISTS journal_kind_rollups (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    series BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (span, start, kind, series)
) {clustered};
CREATE TABLE IF NOT EXISTS journal_sizes (
    hour {key},
    entries BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
";

/// Creates the tables that are missing.
pub(crate) fn create_tables(database: &mut dyn Database) -> DatabaseResult {
    let dialect = database.sql_dialect();
    let tables = TABLES
        .replace("{key}", dialect.key)
        .replace("{serial}", dialect.serial)
        .replace("{clustered}", dialect.clustered);
    database.execute_batch(dialect.begin)?;
    let created = create_within_transaction(database, &tables);
    database.execute_batch(if created.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    created
}

fn create_within_transaction(database: &mut dyn Database, tables: &str) -> DatabaseResult {
    // Several gateways may start at the same time.
    if let Some(lock) = database.sql_dialect().lock_creation {
        database.execute_batch(lock)?;
    }
    database.execute_batch(META)?;
    let first = "INSERT INTO journal_meta (name, number) VALUES ('version', $1) ON CONFLICT DO NOTHING";
    database.execute(first, &[VERSION.into()])?;
    let found = database.query("SELECT number FROM journal_meta WHERE name = 'version'", &[])?;
    let found = found.first().map_or(0, |row| row.int(0));
    if found > VERSION {
        return Err(DatabaseError(format!(
            "a newer toolmend wrote it (its tables have version {found}, this toolmend knows version {VERSION}); update toolmend, or name another journal"
        )));
    }
    let oldest = MIGRATIONS.first().map_or(VERSION, |(from, _)| *from);
    if found < oldest {
        return Err(DatabaseError(format!(
            "it was written before the first release (its tables have version {found}, this toolmend writes version {VERSION}); remove it, or name another journal"
        )));
    }
    for (from, migration) in MIGRATIONS {
        if found <= from {
            database.execute_batch(migration)?;
        }
    }
    if found < VERSION {
        let update = "UPDATE journal_meta SET number = $1 WHERE name = 'version'";
        database.execute(update, &[VERSION.into()])?;
    }
    database.execute_batch(tables)
}
