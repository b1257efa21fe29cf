//! Every row of the table of repairs has a rule that makes it, and an example that shows it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolmend::{Finish, FixOptions, Layer, Mender, REPAIRS, RepairInfo, Schema, Verdict, fix_with};

/// Where the rules of a layer are, below `src`.
fn folders(layer: Layer) -> &'static [&'static str] {
    match layer {
        Layer::Syntax => &["syntax"],
        // Arguments that are missing altogether are filled in before there is a value to fit.
        Layer::Shape => &["shape", "mender"],
        Layer::Name => &["name", "mender"],
        _ => &["dialect", "stream", "mender"],
    }
}

#[test]
fn every_repair_kind_has_a_rule() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    for row in REPAIRS {
        let variant = format!("RepairKind::{:?}", row.kind);
        let folders = folders(row.layer);
        let is_made = folders.iter().any(|folder| {
            rust_files(&source.join(folder))
                .iter()
                .any(|file| names(&fs::read_to_string(file).unwrap(), &variant))
        });
        assert!(
            is_made,
            "src/repair.rs has a row for `{}`, but no file in src/{} makes it: {variant} is not named there",
            row.name,
            folders.join(" or src/"),
        );
    }
}

#[test]
fn the_example_of_every_syntax_repair_shows_it() {
    // Some repairs need to know which keys are required, which tool is called, or that the output is complete.
    let schema = |required| Schema::new(&json!({"type": "object", "required": required})).unwrap();
    let options = [
        FixOptions::new(),
        FixOptions::new().schema(schema(json!([]))).finish(Finish::Stop),
        FixOptions::new().schema(schema(json!(["a", "b"]))),
    ];
    let mender = Mender::new(&json!([{"name": "read", "parameters": {
        "type": "object",
        "properties": {"file": {"type": "string"}},
        "required": ["file"],
    }}]));
    let mender = mender.unwrap();
    let unknown = Mender::new(&json!([{"name": "read"}])).unwrap();
    let mut wrong = Vec::new();
    for row in REPAIRS.iter().filter(|row| row.layer == Layer::Syntax) {
        let (before, after) = row.example;
        let is_shown = options.iter().any(|options| shows(row, after, &fix_with(before, options)))
            || [&mender, &unknown].iter().any(|mender| shows(row, after, &mender.mend("read", before)));
        if !is_shown {
            wrong.push(format!("`{}` does not turn {before} into {after}", row.name));
        }
    }
    assert!(wrong.is_empty(), "wrong examples in src/repair.rs:\n{}", wrong.join("\n"));
}

fn shows(row: &RepairInfo, after: &str, verdict: &Verdict<'_>) -> bool {
    verdict.json() == Some(after) && verdict.repairs().iter().any(|repair| repair.kind == row.kind)
}

/// Whether a text names a variant as a whole, and not as the beginning of another.
fn names(text: &str, variant: &str) -> bool {
    let mut found = text.match_indices(variant).map(|(at, _)| text[at + variant.len()..].chars().next());
    found.any(|next| next.is_none_or(|next| !next.is_alphanumeric()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out
}
