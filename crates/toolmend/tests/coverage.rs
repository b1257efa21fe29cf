//! The corpus shows every repair of the syntax layer and every dialect at work.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

/// Every dialect is shown with one call, several calls, a typical breakage and a cut.
#[test]
fn every_dialect_is_shown() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/dialects"));
    let missing: Vec<_> = toolmend::dialects()
        .iter()
        .flat_map(|dialect| {
            ["single", "parallel", "malformed", "truncated"].map(|case| (dialect.name(), case))
        })
        .filter(|(dialect, case)| !root.join(dialect).join(case).with_extension("case").exists())
        .collect();
    assert!(missing.is_empty(), "corpus/dialects has no {missing:?}");
}
