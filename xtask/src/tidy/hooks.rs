//! Framework hooks: each has a module, a test and a section in the docs.
//!
//! The modules of the Python package are read from their folder, those of the Node package from `exports` in package.json.

use super::Tree;

const PYTHON_MODULES: &str = "crates/toolmend-python/python/toolmend/";
const PYTHON_TESTS: &str = "crates/toolmend-python/tests/";
const NODE_MODULES: &str = "crates/toolmend-node/js/";
const NODE_TESTS: &str = "crates/toolmend-node/tests/";
/// Data engines. They run in `cargo xtask cluster` and are described with the other ways to clean many calls.
const ENGINES: [&str; 4] = ["duckdb", "polars", "ray", "spark"];

/// Interfaces of other packages. They need no framework, and have a page of their own.
const REPLACEMENTS: [&str; 2] = ["json_repair", "jsonrepair"];
const REPLACEMENTS_PAGE: &str = "docs/json-repair.md";

/// Returns the files that are missing for a hook.
pub(super) fn check_hooks(tree: &Tree) -> Vec<String> {
    let mut problems = check_python(tree);
    problems.extend(check_node(tree));
    problems
}

fn check_python(tree: &Tree) -> Vec<String> {
    let modules = tree.files().filter_map(|(path, _)| {
        let name = path.strip_prefix(PYTHON_MODULES)?.strip_suffix(".py")?;
        (!name.starts_with('_') && !name.contains('/')).then_some(name)
    });
    let modules: Vec<&str> = modules.collect();
    let mut problems = Vec::new();
    for name in &modules {
        let module = format!("{PYTHON_MODULES}{name}.py");
        let import = format!("toolmend.{name}");
        if ENGINES.contains(name) {
            let folder = format!("{PYTHON_TESTS}cluster/");
            if !tree.files().any(|(path, text)| path.starts_with(&folder) && mentions(text, &import)) {
                problems.push(format!("{module}: no script in {folder} uses `{import}`"));
            }
            problems.extend(check_page(tree, &module, "docs/scale.md", &import));
        } else if REPLACEMENTS.contains(name) {
            problems.extend(check_file(tree, &module, &format!("{PYTHON_TESTS}test_{name}.py")));
            problems.extend(check_page(tree, &module, REPLACEMENTS_PAGE, &import));
        } else {
            problems.extend(check_file(tree, &module, &format!("{PYTHON_TESTS}hooks/test_{name}.py")));
            problems.extend(check_page(tree, &module, "docs/hooks.md", &import));
        }
    }
    for (path, _) in tree.files() {
        let test = path.strip_prefix(PYTHON_TESTS).and_then(|path| path.strip_prefix("hooks/test_"));
        if let Some(name) = test.and_then(|path| path.strip_suffix(".py"))
            && !modules.contains(&name)
        {
            problems.push(format!("{path}: tests a hook that does not exist: {PYTHON_MODULES}{name}.py"));
        }
    }
    problems
}

fn check_node(tree: &Tree) -> Vec<String> {
    let Some(manifest) = tree.text("package.json") else {
        return vec!["package.json: not found".to_owned()];
    };
    let mut problems = Vec::new();
    for name in exported_names(manifest) {
        let module = format!("package.json (\"./{name}\")");
        for extension in ["cjs", "mjs", "d.cts", "d.mts"] {
            problems.extend(check_file(tree, &module, &format!("{NODE_MODULES}{name}.{extension}")));
        }
        // A part of an entry point is tested with the rest of it.
        let whole = name.split('/').next().unwrap_or(name);
        problems.extend(check_file(tree, &module, &format!("{NODE_TESTS}{whole}.test.mjs")));
        let page = if REPLACEMENTS.contains(&whole) { REPLACEMENTS_PAGE } else { "docs/hooks.md" };
        problems.extend(check_page(tree, &module, page, &format!("toolmend/{name}")));
    }
    problems
}

/// Returns the entry points that `exports` lists beside the package itself.
fn exported_names(manifest: &str) -> impl Iterator<Item = &str> {
    let keys = manifest.lines().filter_map(|line| {
        let (name, _) = line.trim().strip_prefix("\"./")?.split_once("\":")?;
        Some(name)
    });
    keys.filter(|name| *name != "package.json")
}

fn check_file(tree: &Tree, module: &str, path: &str) -> Option<String> {
    (!tree.contains(path)).then(|| format!("{module}: {path} is missing"))
}

fn check_page(tree: &Tree, module: &str, page: &str, import: &str) -> Option<String> {
    let is_described = tree.text(page).is_some_and(|text| mentions(text, import));
    (!is_described).then(|| format!("{module}: {page} has no section that uses `{import}`"))
}

/// Whether a name is in a text as a whole, and not as the beginning of another.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let next = text[at + name.len()..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "{\n  \"exports\": {\n    \".\": {},\n    \"./sdk\": {},\n    \"./package.json\": \"./package.json\"\n  }\n}";

    fn complete() -> Vec<(&'static str, &'static str)> {
        vec![
            ("package.json", MANIFEST),
            ("crates/toolmend-node/js/sdk.cjs", ""),
            ("crates/toolmend-node/js/sdk.mjs", ""),
            ("crates/toolmend-node/js/sdk.d.cts", ""),
            ("crates/toolmend-node/js/sdk.d.mts", ""),
            ("crates/toolmend-node/tests/sdk.test.mjs", ""),
            ("crates/toolmend-python/python/toolmend/__init__.py", ""),
            ("crates/toolmend-python/python/toolmend/chain.py", ""),
            ("crates/toolmend-python/python/toolmend/ray.py", ""),
            ("crates/toolmend-python/tests/hooks/test_chain.py", ""),
            ("crates/toolmend-python/tests/cluster/on_ray.py", "from toolmend.ray import mend"),
            ("docs/hooks.md", "toolmend.chain\ntoolmend/sdk"),
            ("docs/scale.md", "toolmend.ray"),
        ]
    }

    #[track_caller]
    fn check_without(forgotten: &str, expected: &str) {
        let mut files = complete();
        files.retain(|(path, _)| *path != forgotten);
        assert_eq!(check_hooks(&Tree::from_files(&files)), [expected]);
    }

    #[test]
    fn a_complete_hook_passes() {
        assert_eq!(check_hooks(&Tree::from_files(&complete())), [""; 0]);
    }

    #[test]
    fn what_was_forgotten_is_named() {
        check_without(
            "crates/toolmend-python/tests/hooks/test_chain.py",
            "crates/toolmend-python/python/toolmend/chain.py: crates/toolmend-python/tests/hooks/test_chain.py is missing",
        );
        check_without(
            "crates/toolmend-python/python/toolmend/chain.py",
            "crates/toolmend-python/tests/hooks/test_chain.py: tests a hook that does not exist: crates/toolmend-python/python/toolmend/chain.py",
        );
        check_without(
            "crates/toolmend-python/tests/cluster/on_ray.py",
            "crates/toolmend-python/python/toolmend/ray.py: no script in crates/toolmend-python/tests/cluster/ uses `toolmend.ray`",
        );
        check_without(
            "docs/scale.md",
            "crates/toolmend-python/python/toolmend/ray.py: docs/scale.md has no section that uses `toolmend.ray`",
        );
        check_without(
            "crates/toolmend-node/js/sdk.d.mts",
            "package.json (\"./sdk\"): crates/toolmend-node/js/sdk.d.mts is missing",
        );
        check_without(
            "crates/toolmend-node/tests/sdk.test.mjs",
            "package.json (\"./sdk\"): crates/toolmend-node/tests/sdk.test.mjs is missing",
        );
    }

    #[test]
    fn a_hook_without_a_section_is_reported() {
        let mut files = complete();
        files.retain(|(path, _)| *path != "docs/hooks.md");
        files.push(("docs/hooks.md", "toolmend.chained toolmend/sdk-2"));
        assert_eq!(
            check_hooks(&Tree::from_files(&files)),
            [
                "crates/toolmend-python/python/toolmend/chain.py: docs/hooks.md has no section that uses `toolmend.chain`",
                "package.json (\"./sdk\"): docs/hooks.md has no section that uses `toolmend/sdk`",
            ]
        );
    }
}
