//! Values that must not be stored are nowhere in the database.

use toolmend_journal::{Journal, Location, Options, StoredValues};

use crate::support::{TIMEOUT, entry_with_all_fields};

#[test]
fn only_allowed_values_are_stored() {
    for (values, before, after) in [
        (StoredValues::Whole, Some("{'path': 'naïve\u{0}', }"), Some("{\"path\": \"naïve\"}")),
        (StoredValues::Masked, Some("{'path': 'xxxxxx\u{0}', }"), Some("{\"path\": \"xxxxxx\"}")),
        (StoredValues::None, None, None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let options = Options { values, ..Options::new(Location::Sqlite(path.clone())) };
        let journal = Journal::open(options).unwrap();
        let entry = entry_with_all_fields("a", "read", "mended", &["x"]);
        journal.record(entry.clone());
        assert!(journal.flush(TIMEOUT));
        let found = journal.with_store(|store| store.entry(entry.id)).unwrap().unwrap();
        assert_eq!((found.before.as_deref(), found.after.as_deref()), (before, after));
        assert_eq!((found.values, found.before_bytes), (values, entry.before_bytes));
        assert_eq!(found.feedback.is_some(), values == StoredValues::Whole);
        let mut stored = Vec::new();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            stored.extend(std::fs::read(file.unwrap().path()).unwrap());
        }
        let shown = String::from_utf8_lossy(&stored).contains("naïve");
        assert_eq!(shown, values == StoredValues::Whole, "{values:?}");
    }
}
