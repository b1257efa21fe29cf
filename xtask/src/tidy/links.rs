//! Links between the pages: each leads to a file, a folder or a heading that exists.

use std::path::Path;

use super::Tree;
use crate::markdown::{find_anchors, find_links};

/// Returns the links that lead nowhere.
pub(super) fn check_links(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, page) in tree.files().filter(|(path, _)| is_page(path)) {
        for link in find_links(page) {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            let at = format!("{path}:{}", link.line);
            let (file, anchor) = link.target.split_once('#').unwrap_or((link.target, ""));
            let Some(place) = resolve(path, file) else {
                problems.push(format!("{at}: the link {} leads out of the project", link.target));
                continue;
            };
            let folder = format!("{place}/");
            if !tree.contains(&place) && !tree.files().any(|(file, _)| file.starts_with(&folder)) {
                problems
                    .push(format!("{at}: the link {} leads to {place}, which does not exist", link.target));
            } else if !anchor.is_empty()
                && is_page(&place)
                && !find_anchors(tree.text(&place).unwrap_or_default()).iter().any(|it| it == anchor)
            {
                problems.push(format!("{at}: {place} has no heading #{anchor}"));
            }
        }
    }
    problems
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// Returns the path that a link of this page leads to. `None` if it leads out of the project.
pub(crate) fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_reported() {
        let tree = Tree::from_files(&[
            ("README.md", "[a](docs/a.md#one) [b](docs) [c](https://example.com) [d](#top)\n# Top"),
            (
                "docs/a.md",
                "# One\n[a](../README.md#top) [b](b.md)\n[c](../../out) [d](#two) [e](./a.md#three)",
            ),
        ]);
        assert_eq!(
            check_links(&tree),
            [
                "docs/a.md:2: the link b.md leads to docs/b.md, which does not exist",
                "docs/a.md:3: the link ../../out leads out of the project",
                "docs/a.md:3: docs/a.md has no heading #two",
                "docs/a.md:3: docs/a.md has no heading #three",
            ]
        );
    }
}
