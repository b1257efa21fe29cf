//! Paths in the pages for contributors: each file and folder that they name exists.
//!
//! A path is looked up from the root of the workspace, and then in the `src` folder of every crate, because the pages
//! name the crate once for several files.

use super::Tree;

const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"];

/// Returns the paths that do not exist.
pub(super) fn check_paths(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for page in PAGES {
        let mut is_block = false;
        for (index, line) in tree.text(page).unwrap_or_default().lines().enumerate() {
            is_block ^= line.starts_with("```");
            let spans = line.split('`').skip(1).step_by(2).filter(|span| !is_block && is_path(span));
            for path in spans.filter(|path| !exists(tree, path)) {
                problems.push(format!("{page}:{}: `{path}` does not exist", index + 1));
            }
        }
    }
    problems
}

/// Whether a code span names a file or a folder of the tree. Placeholders such as `<name>` are none.
fn is_path(span: &str) -> bool {
    let is_plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let is_relative = !span.starts_with(['/', '.', '-']);
    let is_file = span.rsplit_once('.').is_some_and(|(_, extension)| ["rs", "md"].contains(&extension));
    is_plain && is_relative && (span.contains('/') || is_file)
}

fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let is_there = |file: &str| file == path || file.starts_with(&folder);
    tree.files().any(|(file, _)| {
        let inside = file.strip_prefix("crates/").and_then(|file| file.split_once("/src/"));
        is_there(file) || inside.is_some_and(|(_, file)| is_there(file))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_do_not_exist_are_reported() {
        let page = "`crates/one/src/a.rs` `a.rs` `b/` `b/c.rs` `gone.rs`\n```text\n`lost.rs`\n```\n`b/gone` `/v1/x` `<name>/x` `a --b`";
        let tree = Tree::from_files(&[
            ("ARCHITECTURE.md", page),
            ("crates/one/src/a.rs", ""),
            ("crates/two/src/b/c.rs", ""),
        ]);
        assert_eq!(
            check_paths(&tree),
            ["ARCHITECTURE.md:1: `gone.rs` does not exist", "ARCHITECTURE.md:5: `b/gone` does not exist"]
        );
    }
}
