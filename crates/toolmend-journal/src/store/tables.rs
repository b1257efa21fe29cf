//! The tables, and how old ones are recognised.

use super::database::{Database, Done, Trouble};

/// Counts up with every change of the tables.
const VERSION: i64 = 2;
/// A number that nobody else locks.
const LOCK: i64 = 7_468_117_032;

/// What says how the other tables are laid out.
const META: &str =
    "CREATE TABLE IF NOT EXISTS journal_meta (name TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL)";

/// `{key}`, `{serial}` and `{packed}` are the words of the database.
///
/// Texts stand last in a row: reading what stands before them does not touch their pages. An entry has many kinds, and an
/// index entry for each of them would cost more than all the rest, so entries point to the set of their kinds: there are few
/// different ones.
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
    id {key},
    text TEXT NOT NULL
);
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
    after_text TEXT
);
CREATE INDEX IF NOT EXISTS journal_entries_series ON journal_entries (series, id, kinds);
CREATE INDEX IF NOT EXISTS journal_entries_kinds ON journal_entries (kinds, id);
CREATE TABLE IF NOT EXISTS journal_rollups (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    series BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    PRIMARY KEY (span, start, series)
) {packed};
CREATE TABLE IF NOT EXISTS journal_kind_rollups (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    series BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (span, start, kind, series)
) {packed};
CREATE TABLE IF NOT EXISTS journal_sizes (
    hour {key},
    entries BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
";

/// Makes the tables where they are missing.
pub(crate) fn make(database: &mut dyn Database) -> Done {
    let words = database.words();
    let tables = TABLES
        .replace("{key}", words.key)
        .replace("{serial}", words.serial)
        .replace("{packed}", words.packed);
    database.run(words.begin)?;
    let made = make_within(database, &tables);
    database.run(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made
}

fn make_within(database: &mut dyn Database, tables: &str) -> Done {
    // Several gateways may start at once. A file is locked by its transaction.
    if database.words().packed.is_empty() {
        database.run(&format!("SELECT pg_advisory_xact_lock({LOCK})"))?;
    }
    database.run(META)?;
    let first = "INSERT INTO journal_meta (name, number) VALUES ('version', $1) ON CONFLICT DO NOTHING";
    database.execute(first, &[VERSION.into()])?;
    let found = database.query("SELECT number FROM journal_meta WHERE name = 'version'", &[])?;
    let found = found.first().map_or(0, |row| row.int(0));
    if found > VERSION {
        return Err(Trouble(format!(
            "it was written by a newer toolmend (version {found} of the tables, this one knows {VERSION}); update toolmend, or name another place"
        )));
    }
    if found < VERSION {
        return Err(Trouble(format!(
            "it was written before the first release (version {found} of the tables, this one writes {VERSION}); remove it, or name another place"
        )));
    }
    database.run(tables)
}
