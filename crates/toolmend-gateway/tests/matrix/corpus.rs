//! The outputs of the corpus, as far as a model server can send them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// One case of `corpus/dialects`. The library defines what it means, and its own tests check that.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) model: String,
    pub(crate) tools: Value,
    pub(crate) text: String,
    pub(crate) cut: bool,
}

/// Headers that no request can carry.
const NOT_ON_THE_WIRE: [&str; 7] =
    ["dialect", "policy", "reasoning_open", "calls", "tool_choice", "response_format", "parallel_tool_calls"];

pub(crate) fn recorded() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dialects");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in fs::read_dir(&root).expect("the corpus").flatten().filter(|entry| entry.path().is_dir()) {
        files.extend(fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.path()));
    }
    files.retain(|file| file.extension().is_some_and(|kind| kind == "case"));
    files.sort();
    files.iter().filter_map(|file| read(&root, file)).collect()
}

fn read(root: &Path, file: &Path) -> Option<Recorded> {
    let text = fs::read_to_string(file).expect("a case");
    let (head, body) = text.split_once("--- input\n")?;
    let (text, _) = body.rsplit_once("\n--- output\n")?;
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    if text.is_empty() || NOT_ON_THE_WIRE.iter().any(|name| header(name).is_some()) {
        return None;
    }
    let tools = match header("tools") {
        Some(name) if Path::new(name).extension().is_some_and(|kind| kind == "json") => {
            fs::read_to_string(root.join("tools").join(name)).expect("the tools of a case")
        }
        Some(list) => list.to_owned(),
        None => "[]".to_owned(),
    };
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    Some(Recorded {
        name: format!("{folder}/{}", file.file_stem().unwrap_or_default().to_string_lossy()),
        model: header("model").unwrap_or("m").to_owned(),
        tools: serde_json::from_str(&tools).unwrap_or_else(|_| json!([])),
        text: text.to_owned(),
        cut: matches!(header("finish"), Some("length" | "max_tokens")),
    })
}
