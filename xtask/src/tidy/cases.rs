//! Comments that name the corpus case that made a rule necessary.
//!
//! A comment line `// Case: syntax/bare-keys, syntax/backticks` names files below `corpus`, with or without their extension.

use super::Tree;

/// Returns the citations whose file does not exist.
pub(super) fn check_cases(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let sources = tree.rust_files().filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"));
    for (path, text) in sources {
        for (index, line) in text.lines().enumerate() {
            for case in cited_cases(line) {
                let exists =
                    tree.contains(&format!("corpus/{case}")) || tree.contains(&format!("corpus/{case}.case"));
                if !exists {
                    problems.push(format!(
                        "{path}:{}: cites the case `{case}`, but there is no corpus/{case}.case",
                        index + 1
                    ));
                }
            }
        }
    }
    problems
}

fn cited_cases(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim());
    let list = comment.and_then(|text| text.strip_prefix("Case:").or_else(|| text.strip_prefix("Cases:")));
    list.into_iter().flat_map(|list| list.split(',')).map(|case| case.trim().trim_matches(['`', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_does_not_exist_is_reported() {
        let tree = Tree::from_files(&[
            ("corpus/syntax/here.case", ""),
            ("corpus/dialects/a/b.case", ""),
            (
                "crates/toolmend/src/a.rs",
                "// Case: syntax/here, dialects/a/b.case\n    /// Case: `syntax/here`.\n// Case: syntax/gone\nlet a = \"// Case: c\";",
            ),
        ]);
        assert_eq!(
            check_cases(&tree),
            [
                "crates/toolmend/src/a.rs:3: cites the case `syntax/gone`, but there is no corpus/syntax/gone.case"
            ]
        );
    }
}
