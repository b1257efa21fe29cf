//! Licences, sources and duplicates of the crates that are built into what is released.
//!
//! The rules are in `deny.toml`. A scheduled workflow runs `cargo deny` itself, which also knows about vulnerabilities; it takes minutes
//! to build, so the test command checks the rules that need only Cargo.

use std::collections::{BTreeMap, BTreeSet};

use super::CRATES;
use crate::command::{TaskError, capture_output, cargo_command, workspace_root};
use crate::files::read_file;

const RULES: &str = "deny.toml";
/// The crates of the packages for Python and Node, which are built, not published.
const PACKAGES: &[&str] = &["toolmend-python", "toolmend-node"];

/// Checks every crate that a published one depends on, with all features, on every platform.
pub(super) fn check_dependencies() -> Result<(), TaskError> {
    let rules = Rules::parse(&read_file(&workspace_root().join(RULES))?);
    let mut tree = cargo_command(&["tree", "--all-features", "--target", "all", "--edges", "normal,build"]);
    tree.args(["--prefix", "none", "--format", "{p}|{l}"]);
    for name in CRATES.iter().chain(PACKAGES) {
        tree.args(["--package", name]);
    }
    let output = capture_output("cargo tree", &mut tree)?;
    if !output.status.success() {
        return Err(TaskError(format!("`cargo tree` failed ({})", output.status)));
    }
    let lock = read_file(&workspace_root().join("Cargo.lock"))?;
    let mut problems = rules.check(&String::from_utf8_lossy(&output.stdout));
    let foreign = lock.lines().filter(|line| {
        line.starts_with("source = ") && !line.contains("+https://github.com/rust-lang/crates.io-index")
    });
    problems.extend(foreign.map(|line| format!("Cargo.lock: {line}; only crates.io is allowed")));
    TaskError::from_missed(&problems)
}

/// The parts of `deny.toml` that are checked here.
#[derive(Debug, Default)]
struct Rules {
    licences: BTreeSet<String>,
    /// Crates that may be there in several versions.
    duplicates: BTreeSet<String>,
}

impl Rules {
    /// Reads the lists `allow` and `skip`. Every entry is on a line of its own.
    fn parse(text: &str) -> Rules {
        let mut rules = Rules::default();
        let mut list = "";
        for line in text.lines().map(str::trim) {
            if let Some((key, "[")) = line.split_once(" = ") {
                list = key;
            } else if let Some(entry) = line.split('"').nth(1).filter(|_| !line.starts_with('#')) {
                match list {
                    "allow" => rules.licences.insert(entry.to_owned()),
                    "skip" => rules.duplicates.insert(entry.to_owned()),
                    _ => false,
                };
            } else if line == "]" {
                list = "";
            }
        }
        rules
    }

    /// Checks lines such as `name v1.0.0|MIT OR Apache-2.0`. Cargo marks repeated ones with `(*)`.
    fn check(&self, tree: &str) -> Vec<String> {
        let mut problems = BTreeSet::new();
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in tree.lines().map(|line| line.trim_end_matches(" (*)")) {
            let Some((package, licence)) = line.split_once('|') else { continue };
            let mut words = package.split(' ');
            let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            versions.entry(name).or_default().insert(version);
            if !self.is_allowed(licence) {
                problems.insert(format!("{package}: {RULES} does not allow the licence `{licence}`"));
            }
        }
        for (name, found) in &versions {
            let is_listed = self.duplicates.contains(*name);
            let list = found.iter().copied().collect::<Vec<_>>().join(", ");
            if found.len() > 1 && !is_listed {
                problems.insert(format!(
                    "{name} is there in several versions ({list}); update one, or list it under `skip` in {RULES}"
                ));
            }
        }
        for name in &self.duplicates {
            if versions.get(name.as_str()).is_none_or(|found| found.len() < 2) {
                problems.insert(format!("{RULES}: {name} is there once; remove it from `skip`"));
            }
        }
        problems.into_iter().collect()
    }

    /// Whether one side of the expression is allowed. Licences joined with `AND` all have to be.
    fn is_allowed(&self, expression: &str) -> bool {
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        // In reverse Polish notation: `AND` binds more tightly than `OR`.
        let (mut values, mut operators): (Vec<bool>, Vec<&str>) = (Vec::new(), Vec::new());
        let words: Vec<&str> = spaced.split_whitespace().collect();
        for (index, word) in words.iter().enumerate() {
            match *word {
                "(" => operators.push("("),
                ")" => {
                    apply_while(&mut values, &mut operators, |operator| operator != "(");
                    operators.pop();
                }
                "AND" | "OR" => {
                    apply_while(&mut values, &mut operators, |operator| operator == "AND");
                    operators.push(word);
                }
                // The exception belongs to the licence in front of it, and only allows more.
                "WITH" => {}
                _ if index > 0 && words[index - 1] == "WITH" => {}
                licence => values.push(self.licences.contains(licence)),
            }
        }
        apply_while(&mut values, &mut operators, |_| true);
        values == [true]
    }
}

/// Applies the operators on top of the stack to the values.
fn apply_while(values: &mut Vec<bool>, operators: &mut Vec<&str>, may_apply: fn(&str) -> bool) {
    while let Some(operator) = operators.pop_if(|operator| may_apply(operator)) {
        let (Some(right), Some(left)) = (values.pop(), values.pop()) else { return };
        values.push(if operator == "AND" { left && right } else { left || right });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules::parse(
            "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\", # why\n]\n[bans]\nskip = [\n    \"old\",\n    \"gone\",\n]\n",
        )
    }

    #[test]
    fn expressions_are_judged_by_the_list() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("MIT AND Zlib", true),
            ("(GPL-3.0 OR MIT) AND Zlib", true),
            ("(GPL-3.0 OR MIT) AND Unicode-3.0", false),
            ("GPL-3.0 AND Zlib OR MIT", true),
            ("MIT OR Zlib AND GPL-3.0", true),
            ("MIT WITH LLVM-exception OR GPL-3.0", true),
        ] {
            assert_eq!(rules().is_allowed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn licences_and_duplicates_are_reported() {
        let tree = "a v1.0.0 (/x)|MIT\nold v1.0.0|MIT\nold v2.0.0|MIT\nnew v1.0.0|MIT\nnew v2.0.0|MIT\nold v1.0.0|MIT (*)\nb v1.0.0|GPL-3.0\n";
        assert_eq!(
            rules().check(tree),
            [
                "b v1.0.0: deny.toml does not allow the licence `GPL-3.0`",
                "deny.toml: gone is there once; remove it from `skip`",
                "new is there in several versions (v1.0.0, v2.0.0); update one, or list it under `skip` in deny.toml",
            ]
        );
    }
}
