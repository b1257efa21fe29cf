//! One version for everything that is released, and one for the compiler that builds it.

use super::Tree;
use super::manifests::read_entries;

/// Text in front of a version: the files in which it is looked for end like this.
struct Place {
    file: &'static str,
    before: &'static str,
}

/// Where the version of a release is written, besides the manifests.
const RELEASE_PLACES: &[Place] = &[
    // In the text, a version of toolmend as registries and container engines spell it.
    Place { file: ".md", before: "toolmend:" },
    Place { file: ".md", before: "toolmend@" },
    Place { file: ".md", before: "toolmend==" },
    Place { file: ".md", before: "toolmend = \"" },
    Place { file: ".yaml", before: "/toolmend:" },
];
/// Where the version of the compiler is written.
const COMPILER_PLACES: &[Place] = &[
    Place { file: "Dockerfile", before: "FROM rust:" },
    Place { file: ".yml", before: "rustup toolchain install " },
    Place { file: ".yml", before: "rustup default " },
];

/// Returns the places that name another version than the workspace.
pub(super) fn check_versions(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let workspace = read_entries(tree.text("Cargo.toml").unwrap_or_default());
    let of_package = |key: &str| {
        let entry = workspace.iter().find(|entry| entry.is("workspace.package", key));
        entry.map_or("", |entry| entry.value.trim_matches('"'))
    };
    let (version, compiler) = (of_package("version"), of_package("rust-version"));
    let mut report = |path: &str, line: usize, found: &str, expected: &str| {
        let place = if line == 0 { path.to_owned() } else { format!("{path}:{line}") };
        problems.push(format!("{place}: expected the version {expected} of Cargo.toml, found {found}"));
    };
    for entry in workspace.iter().filter(|entry| entry.value.contains("path = ")) {
        if !entry.value.contains(&format!("version = \"{version}\"")) {
            report("Cargo.toml", entry.line, entry.value, version);
        }
    }
    for (path, text) in tree.files() {
        let name = path.rsplit('/').next().unwrap_or_default();
        if name == "package.json" || name == "package-lock.json" {
            for (line, found) in find_package_versions(text).filter(|(_, found)| *found != version) {
                report(path, line, found, version);
            }
        }
        for (places, expected) in [(RELEASE_PLACES, version), (COMPILER_PLACES, compiler)] {
            let places = places.iter().filter(|place| path.ends_with(place.file));
            for (line, found) in places.flat_map(|place| find_versions(text, place.before)) {
                // A document may name the series alone.
                if found != expected && !expected.starts_with(&format!("{found}.")) {
                    report(path, line, found, expected);
                }
            }
        }
    }
    let changes = tree.text("CHANGELOG.md").unwrap_or_default();
    if !changes.contains("\n## Unreleased\n") && !changes.contains(&format!("\n## {version}")) {
        report("CHANGELOG.md", 0, "neither it nor `Unreleased`", version);
    }
    let python = read_entries(tree.text("pyproject.toml").unwrap_or_default());
    for entry in python.iter().filter(|entry| entry.is("project", "version")) {
        if entry.value.trim_matches('"') != version {
            report("pyproject.toml", entry.line, entry.value, version);
        }
    }
    problems
}

/// Returns the versions that follow this text, with their lines.
fn find_versions<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    text.lines().enumerate().flat_map(move |(index, line)| {
        line.match_indices(before).filter_map(move |(at, _)| {
            let rest = &line[at + before.len()..];
            let mut end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            // Anything else after a hyphen is not part of the version, such as the variant of an image.
            if ["-alpha", "-beta", "-rc"].iter().any(|stage| rest[end..].starts_with(stage)) {
                let is_other = |c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c);
                end = rest.find(is_other).unwrap_or(rest.len());
            }
            let found = rest[..end].trim_end_matches('.');
            // Without a point it is a port.
            found.contains('.').then_some((index + 1, found))
        })
    })
}

/// Returns the versions of a package of ours for npm: the line after its name, also in a lock file and for its own packages.
fn find_package_versions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let value = |line: &'_ str, key: &str| -> Option<String> {
        let rest = line.trim().strip_prefix(&format!("\"{key}\": \""))?;
        Some(rest.trim_end_matches(',').trim_end_matches('"').to_owned())
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, pair) in lines.windows(2).enumerate() {
        let is_ours = value(pair[0], "name").is_some_and(|name| is_our_package(&name));
        if is_ours && value(pair[1], "version").is_some() {
            let version = pair[1].split('"').nth(3).unwrap_or_default();
            found.push((index + 2, version));
        }
    }
    // Platform packages that the main one installs.
    for (index, line) in lines.iter().enumerate() {
        let mut parts = line.split('"').skip(1).step_by(2);
        if let (Some(name), Some(version)) = (parts.next(), parts.next())
            && name.starts_with("@toolmend/")
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            found.push((index + 1, version));
        }
    }
    found.into_iter()
}

fn is_our_package(name: &str) -> bool {
    name == "toolmend" || name.starts_with("@toolmend/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.package]\nversion = \"1.2.3\"\nrust-version = \"1.95\"\n\
                             [workspace.dependencies]\na = { path = \"a\", version = \"1.2.3\" }\n";

    #[test]
    fn other_versions_are_found_everywhere() {
        let old = WORKSPACE.replace("version = \"1.2.3\" }", "version = \"1.2.2\" }");
        let tree = Tree::from_files(&[
            ("Cargo.toml", &old),
            ("CHANGELOG.md", "# Changelog\n\n## 1.2.2\n"),
            ("Dockerfile", "FROM rust:1.94-slim\n"),
            (".github/workflows/a.yml", "run: rustup toolchain install 1.95 && rustup default 1.93"),
            (
                "a/package.json",
                "{\n  \"name\": \"toolmend\",\n  \"version\": \"1.2.2\",\n  \"@toolmend/x\": \"1.2.1\"\n}",
            ),
            ("b/package.json", "{\n  \"name\": \"other\",\n  \"version\": \"1.2.2\"\n}"),
            ("d.yaml", "image: x/toolmend:1.2.3-rc.1"),
            ("docs/a.md", "`toolmend = \"1.2\"`, `toolmend = \"1.1\"`, http://toolmend:4242"),
            ("pyproject.toml", "[project]\nversion = \"1.2.4\"\n"),
        ]);
        let found: Vec<_> = check_versions(&tree)
            .iter()
            .map(|problem| {
                problem.replace(": expected the version ", " ").replace(" of Cargo.toml, found", "")
            })
            .collect();
        assert_eq!(
            found,
            [
                "Cargo.toml:5 1.2.3 { path = \"a\", version = \"1.2.2\" }",
                ".github/workflows/a.yml:1 1.95 1.93",
                "Dockerfile:1 1.95 1.94",
                "a/package.json:3 1.2.3 1.2.2",
                "a/package.json:4 1.2.3 1.2.1",
                "d.yaml:1 1.2.3 1.2.3-rc.1",
                "docs/a.md:1 1.2.3 1.1",
                "CHANGELOG.md 1.2.3 neither it nor `Unreleased`",
                "pyproject.toml:2 1.2.3 \"1.2.4\"",
            ]
        );
    }
}
