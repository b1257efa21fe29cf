//! Nothing is missing: the corpus shows every repair of the syntax layer and every dialect, and what is known about a
//! dialect is in its row.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
    assert!(
        missing.is_empty(),
        "corpus/syntax has no case with {missing:?}: add a file with `repairs: KIND`"
    );
}

/// Every dialect has cases with one call, several calls, typical damage and a truncated call.
#[test]
fn every_dialect_has_its_cases() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/dialects"));
    let missing: Vec<_> = toolmend::dialects()
        .iter()
        .flat_map(|dialect| {
            ["single", "parallel", "malformed", "truncated"].map(|case| (dialect.name(), case))
        })
        .filter(|(dialect, case)| !root.join(dialect).join(case).with_extension("case").exists())
        .map(|(dialect, case)| format!("corpus/dialects/{dialect}/{case}.case"))
        .collect();
    assert!(
        missing.is_empty(),
        "every row needs these cases (corpus/README.md describes their format); add {}",
        missing.join(", ")
    );
}

/// Names of rows that mean something else in code that reads no model output, such as the language of a code fence.
const ORDINARY_WORDS: &[&str] = &["yaml"];

/// What is known about a dialect is a property of its row, and the code asks for the property.
#[test]
fn only_the_table_names_dialects() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let names: Vec<String> = toolmend::dialects().iter().map(|row| format!("\"{}\"", row.name())).collect();
    let mut found = Vec::new();
    for path in source_files(source) {
        let inside = path.strip_prefix(source).unwrap().to_string_lossy().replace('\\', "/");
        let is_table = inside.starts_with("dialect/table/") || inside == "dialect/models.rs";
        if is_table || inside.ends_with("tests.rs") || inside.contains("/tests/") {
            continue;
        }
        let reads_output = ["dialect/", "mender/", "stream/"].iter().any(|folder| inside.starts_with(folder));
        let text = fs::read_to_string(&path).unwrap();
        // Unit tests are the last item of a file.
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
        for (index, line) in code.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with("//") {
                continue;
            }
            let is_word = |name: &str| !reads_output && ORDINARY_WORDS.contains(&name);
            let hits =
                names.iter().filter(|name| line.contains(name.as_str()) && !is_word(name.trim_matches('"')));
            found.extend(hits.map(|name| format!("src/{inside}:{}: {name}", index + 1)));
        }
    }
    assert!(
        found.is_empty(),
        "dialects are named outside src/dialect/table; make each of these a field of `Dialect` in \
         src/dialect/table/mod.rs and ask the row for it:\n{}",
        found.join("\n")
    );
}

/// All Rust files below a folder, in a stable order.
fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut out = Vec::new();
    for path in entries {
        if path.is_dir() {
            out.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out
}
