//! What is not to be stored is nowhere in the database.

use toolmend_journal::{Journal, Options, Place, Values};

use crate::rig::{PATIENCE, full};

#[test]
fn values_are_stored_as_far_as_they_may_be() {
    for (values, before, after) in [
        (Values::Whole, Some("{'path': 'naïve\u{0}', }"), Some("{\"path\": \"naïve\"}")),
        (Values::Masked, Some("{'path': 'xxxxxx\u{0}', }"), Some("{\"path\": \"xxxxxx\"}")),
        (Values::None, None, None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let options = Options { values, ..Options::new(Place::Sqlite(path.clone())) };
        let journal = Journal::open(options).unwrap();
        let entry = full("a", "read", "mended", &["x"]);
        journal.record(entry.clone());
        assert!(journal.flush(PATIENCE));
        let found = journal.ask(|store| store.entry(entry.id)).unwrap().unwrap();
        assert_eq!((found.before.as_deref(), found.after.as_deref()), (before, after));
        assert_eq!((found.values, found.before_bytes), (values, entry.before_bytes));
        assert_eq!(found.feedback.is_some(), values == Values::Whole);
        let mut stored = Vec::new();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            stored.extend(std::fs::read(file.unwrap().path()).unwrap());
        }
        let shown = String::from_utf8_lossy(&stored).contains("naïve");
        assert_eq!(shown, values == Values::Whole, "{values:?}");
    }
}
