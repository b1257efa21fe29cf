//! The manifests of the crates: each published one says what the registry shows, and no dependency is unused.

use super::Tree;

/// The manifest of the workspace.
const WORKSPACE: &str = "Cargo.toml";

/// What the registry, docs.rs and the compiler read. A key of a package, or a section.
const REQUIRED: &[&str] = &[
    "version.workspace",
    "license.workspace",
    "repository.workspace",
    "homepage.workspace",
    "description",
    "keywords",
    "categories",
    "readme",
    "include",
    "rust-version",
];
const DOCS_SECTION: &str = "package.metadata.docs.rs";

/// Returns what is missing from the manifests, and the dependencies that no source names.
pub(super) fn check_manifests(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let workspace = read_entries(tree.text(WORKSPACE).unwrap_or_default());
    let members: Vec<String> = tree
        .text(WORKSPACE)
        .unwrap_or_default()
        .lines()
        .skip_while(|line| !line.starts_with("members"))
        .skip(1)
        .map_while(|line| Some(format!("{}/", line.trim().strip_prefix('"')?.trim_end_matches(['"', ',']))))
        .collect();
    let mut inherited = Vec::new();
    for folder in &members {
        let path = format!("{folder}Cargo.toml");
        let Some(text) = tree.text(&path) else {
            problems.push(format!("{WORKSPACE}: the member {folder} has no Cargo.toml"));
            continue;
        };
        let entries = read_entries(text);
        let is_published = !entries.iter().any(|entry| entry.is("package", "publish"));
        let sections: Vec<&str> = entries.iter().map(|entry| entry.section).collect();
        if is_published {
            let missing = REQUIRED.iter().filter(|key| !entries.iter().any(|entry| entry.has(key)));
            problems.extend(missing.map(|key| format!("{path}: `{key}` is missing from [package]")));
            if !sections.contains(&DOCS_SECTION) {
                problems.push(format!("{path}: the section [{DOCS_SECTION}] is missing"));
            }
        }
        let dependencies = entries.iter().filter(|entry| entry.section.ends_with("dependencies"));
        for entry in dependencies {
            inherited.push(entry.name());
            if !is_named(tree, folder, &members, entry.name()) {
                let (line, name) = (entry.line, entry.name());
                problems.push(format!("{path}:{line}: no source names the dependency `{name}`; remove it"));
            }
        }
    }
    for entry in workspace.iter().filter(|entry| entry.section == "workspace.dependencies") {
        if !inherited.contains(&entry.name()) {
            let (line, name) = (entry.line, entry.name());
            problems.push(format!("{WORKSPACE}:{line}: no crate has the dependency `{name}`; remove it"));
        }
    }
    problems
}

/// Whether a source of the crate in this folder names the dependency. Crates in folders below it are others.
fn is_named(tree: &Tree, folder: &str, members: &[String], dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    let is_other = |path: &str| {
        members
            .iter()
            .any(|member| member != folder && member.starts_with(folder) && path.starts_with(member.as_str()))
    };
    let mut sources = tree.rust_files().filter(|(path, _)| path.starts_with(folder) && !is_other(path));
    sources.any(|(_, text)| {
        text.match_indices(&name).any(|(at, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    })
}

/// A line `key = value` of a manifest.
#[derive(Debug)]
pub(super) struct Entry<'t> {
    pub(super) line: usize,
    pub(super) section: &'t str,
    pub(super) key: &'t str,
    pub(super) value: &'t str,
}

impl<'t> Entry<'t> {
    pub(super) fn is(&self, section: &str, key: &str) -> bool {
        self.section == section && self.key == key
    }

    /// Whether this entry of a package gives it a value for the key, alone or from the workspace.
    fn has(&self, key: &str) -> bool {
        self.section == "package" && (self.key == key || self.key.strip_suffix(".workspace") == Some(key))
    }

    /// The name of a dependency.
    fn name(&self) -> &'t str {
        self.key.split('.').next().unwrap_or_default()
    }
}

/// Reads the lines of a manifest that begin a value. Tables of dependencies are always written on one line here.
pub(super) fn read_entries(text: &str) -> Vec<Entry<'_>> {
    let (mut entries, mut section) = (Vec::new(), "");
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.trim_end().strip_suffix(']')) {
            section = name.trim_matches(['[', ']']);
        } else if let Some((key, value)) = line.split_once('=')
            && line.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            entries.push(Entry { line: index + 1, section, key: key.trim(), value: value.trim() });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_dependencies_and_missing_metadata_are_reported() {
        let package = "[package]\nname = \"one\"\nversion.workspace = true\nlicense.workspace = true\n\
                       repository.workspace = true\nhomepage.workspace = true\ndescription.workspace = true\n\
                       keywords.workspace = true\ncategories = []\nreadme = \"README.md\"\ninclude = [\"/src\"]\n";
        let manifest = format!(
            "{package}\n[dependencies]\nused-name = \"1\"\nused = \"1\"\n[target.'cfg(unix)'.dependencies]\nc = \"1\"\n"
        );
        let tree = Tree::from_files(&[
            (
                "Cargo.toml",
                "members = [\n    \"one\",\n    \"one/two\",\n]\n[workspace.dependencies]\nlost = \"1\"\nd = \"1\"\n",
            ),
            ("one/Cargo.toml", &manifest),
            ("one/src/lib.rs", "use used_name::x;\nmod unused;"),
            (
                "one/two/Cargo.toml",
                "[package]\npublish = false\n[dev-dependencies]\nd = { workspace = true }\n",
            ),
            ("one/two/src/lib.rs", "use d::used; use c::d;"),
        ]);
        assert_eq!(
            check_manifests(&tree),
            [
                "one/Cargo.toml: `rust-version` is missing from [package]",
                "one/Cargo.toml: the section [package.metadata.docs.rs] is missing",
                "one/Cargo.toml:15: no source names the dependency `used`; remove it",
                "one/Cargo.toml:17: no source names the dependency `c`; remove it",
                "Cargo.toml:6: no crate has the dependency `lost`; remove it",
            ]
        );
    }
}
