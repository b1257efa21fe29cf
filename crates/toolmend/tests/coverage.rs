//! The corpus shows every repair of the syntax layer at work.

use std::collections::BTreeSet;
use std::fs;

use toolmend::{Layer, REPAIRS};

#[test]
fn every_syntax_repair_has_a_case() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/syntax");
    let mut shown = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let case = fs::read_to_string(entry.unwrap().path()).unwrap();
        let kinds = case.lines().find_map(|line| line.strip_prefix("repairs: ")).unwrap_or_default();
        shown.extend(kinds.split(", ").map(ToOwned::to_owned));
    }
    let missing: Vec<_> = REPAIRS
        .iter()
        .filter(|row| row.layer == Layer::Syntax && !shown.contains(row.name))
        .map(|row| row.name)
        .collect();
    assert!(missing.is_empty(), "no case in corpus/syntax shows {missing:?}");
}
