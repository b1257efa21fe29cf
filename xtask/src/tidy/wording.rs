//! Phrases that comments and pages avoid, and paths that exist only on one machine.
//!
//! The list is short on purpose: a phrase is on it only if there is a better one wherever it could be used.

use super::Tree;

/// A phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("as it came", "unchanged, as received"),
    ("everybody", "name who it is"),
    ("is no call", "is not a call"),
    ("made anew", "rebuilt"),
    ("somebody", "name who it is"),
    ("stands in ", "is in"),
    ("taken apart", "split"),
    ("takes apart", "splits"),
    ("what became of", "the outcome of"),
    ("words for the model", "feedback for the model"),
];

/// The beginnings of paths to personal folders.
const PERSONAL_FOLDERS: [&str; 3] = ["/home/", "/root/", "/Users/"];

/// The folder of this check, which names what it looks for.
const OWN_FOLDER: &str = "xtask/src/tidy/";

/// Returns the lines that use such a phrase or path.
pub(super) fn check_wording(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    // Cases of the corpus are texts of models.
    let files =
        tree.files().filter(|(path, _)| !path.starts_with(OWN_FOLDER) && !path.starts_with("corpus/"));
    for (path, text) in files {
        for (index, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", index + 1);
            let prose = find_prose(path, line).unwrap_or_default();
            for (phrase, better) in PHRASES.iter().filter(|(phrase, _)| prose.contains(phrase)) {
                problems.push(format!("{at}: avoid \"{}\"; write: {better}", phrase.trim()));
            }
            // Tests may use any path as data.
            let folders = PERSONAL_FOLDERS.iter().filter(|_| !path.contains("/tests/"));
            for folder in folders.filter(|folder| has_path(line, folder)) {
                problems.push(format!("{at}: a path below {folder} exists on one machine only"));
            }
        }
    }
    problems
}

/// Returns the part of a line that is prose: a line of a page, or a comment.
fn find_prose<'l>(path: &str, line: &'l str) -> Option<&'l str> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "md" => Some(line),
        "rs" | "cjs" | "mjs" | "cts" | "ts" => line.find("//").map(|at| &line[at..]),
        "py" | "toml" => line.find('#').map(|at| &line[at..]),
        _ => None,
    }
}

/// Whether the line contains a path that begins with this folder.
fn has_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|before| !before.is_alphanumeric() && !"_-.$}*".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_comments_and_pages_only() {
        let tree = Tree::from_files(&[
            (
                "a.rs",
                "let everybody = \"what became of it\";\n// What became of it\nx(); // what became of it",
            ),
            ("b.md", "It stands in line."),
            ("c.case", "everybody"),
        ]);
        assert_eq!(
            check_wording(&tree),
            [
                "a.rs:3: avoid \"what became of\"; write: the outcome of",
                "b.md:1: avoid \"stands in\"; write: is in"
            ]
        );
    }

    #[test]
    fn personal_folders_are_found_everywhere() {
        let tree = Tree::from_files(&[("a.rs", "let a = \"/home/me/x\";\nlet b = \"src/home/x\";")]);
        assert_eq!(check_wording(&tree), ["a.rs:1: a path below /home/ exists on one machine only"]);
    }
}
