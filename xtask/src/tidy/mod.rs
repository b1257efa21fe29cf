//! `cargo xtask tidy`: rules about the tree that no compiler checks.
//!
//! Every check is a function from the files of the tree to a list of problems. Nothing is written.

mod cases;
mod examples;
mod hooks;
mod links;
mod manifests;
mod modules;
mod order;
mod paths;
mod sizes;
mod tokens;
mod versions;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub(crate) use self::links::resolve as resolve_link;
use self::modules::{Sources, find_uses};
use self::sizes::FileSizes;

use crate::command::{TaskError, print_line, workspace_root};

/// The only hidden folder that is part of the project as far as these checks go.
const WORKFLOWS_FOLDER: &str = ".github";

/// Folders of other people's files, and of what is built.
const SKIPPED_FOLDERS: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// Runs every check and prints every problem.
pub(crate) fn run() -> Result<(), TaskError> {
    let tree = Tree::read()?;
    let sizes = FileSizes::measure(&tree);
    print_line(&sizes.summary());
    let mut problems = check_modules(&tree);
    problems.extend(sizes.check());
    problems.extend(cases::check_cases(&tree));
    problems.extend(examples::check_examples(&tree));
    problems.extend(hooks::check_hooks(&tree));
    problems.extend(links::check_links(&tree));
    problems.extend(manifests::check_manifests(&tree));
    problems.extend(paths::check_paths(&tree));
    problems.extend(versions::check_versions(&tree));
    problems.extend(wording::check_wording(&tree));
    for problem in &problems {
        print_line(problem);
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(TaskError(format!("tidy found {count} problem{}", if count == 1 { "" } else { "s" }))),
    }
}

/// Checks the dependencies between the top-level modules of every crate.
fn check_modules(tree: &Tree) -> Vec<String> {
    let orders = order::read_orders(tree.text("ARCHITECTURE.md").unwrap_or_default());
    let mut problems = Vec::new();
    let mut crates = BTreeSet::new();
    for (path, _) in tree.files() {
        let name = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        crates.extend(name.map(|(name, _)| name).filter(|name| !name.contains('/')));
    }
    for name in &crates {
        let folder = format!("crates/{name}/src/");
        let sources: Sources = tree
            .rust_files()
            .filter(|(path, _)| path.starts_with(&folder))
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        let mut roots = ["lib.rs", "main.rs"].into_iter().map(|file| format!("{folder}{file}"));
        let Some(root_file) = roots.find(|path| sources.contains_key(path)) else { continue };
        let graph = find_uses(&sources, &root_file);
        problems.extend(graph.problems.iter().cloned());
        problems.extend(order::check_cycles(name, &graph));
        // One module has no order.
        if graph.modules.len() > 1 || orders.contains_key(*name) {
            problems.extend(order::check_order(name, &graph, orders.get(*name).map(Vec::as_slice)));
        }
    }
    for name in orders.keys().filter(|name| !crates.contains(name.as_str())) {
        problems.push(format!("ARCHITECTURE.md: there is an order for {name}, but no crates/{name}"));
    }
    problems
}

/// The files of the project, by their paths below the root of the workspace. Files that are not UTF-8 have no text.
#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    fn read() -> Result<Tree, TaskError> {
        let mut tree = Tree::default();
        tree.read_folder(&workspace_root(), "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), TaskError> {
        let failed = |error| TaskError(format!("cannot read {}: {error}", folder.display()));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if !entry.path().is_dir() {
                let bytes = fs::read(entry.path()).map_err(failed)?;
                self.files.insert(path, String::from_utf8(bytes).unwrap_or_default());
            } else if (!name.starts_with('.') || name == WORKFLOWS_FOLDER)
                && !SKIPPED_FOLDERS.contains(&name.as_str())
            {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            }
        }
        Ok(())
    }

    #[cfg(test)]
    fn from_files(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }

    fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files()
            .filter(|(path, _)| Path::new(path).extension().is_some_and(|extension| extension == "rs"))
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_without_an_order_and_orders_without_a_crate_are_reported() {
        let tree = Tree::from_files(&[
            ("ARCHITECTURE.md", "## Module order\n```text order gone\na\n```\n"),
            ("crates/one/src/lib.rs", "mod a; mod b;"),
            ("crates/one/src/a.rs", "use crate::b;"),
            ("crates/one/src/b.rs", "use crate::a;"),
            ("crates/two/src/main.rs", "mod a;"),
            ("crates/two/src/a.rs", ""),
        ]);
        assert_eq!(
            check_modules(&tree),
            [
                "one: the modules a, b depend on one another, for example:\n    a uses b  crates/one/src/a.rs:1\n    \
                 b uses a  crates/one/src/b.rs:1",
                "ARCHITECTURE.md: the section `## Module order` has no block for one; this one would hold today:\n\
                 ```text order one\n```",
                "ARCHITECTURE.md: there is an order for gone, but no crates/gone",
            ]
        );
    }
}
