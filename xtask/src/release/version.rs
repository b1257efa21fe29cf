//! `cargo xtask release --version X.Y.Z`: writes a version wherever the version of the workspace is.
//!
//! `cargo xtask tidy` knows these places too, and fails if one was missed.

use std::process::Command;

use crate::command::{TaskError, capture_output, cargo_command, print_line, run_command, workspace_root};
use crate::files::{read_file, write_file};

/// Files with the version, and the text around it; `{}` is the version.
const PLACES: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["\nversion = \"{}\"\n", ", version = \"{}\" }"]),
    ("package.json", &["\"name\": \"toolmend\",\n  \"version\": \"{}\""]),
    (
        "package-lock.json",
        &[
            "\"name\": \"toolmend\",\n  \"version\": \"{}\"",
            "\"name\": \"toolmend\",\n      \"version\": \"{}\"",
        ],
    ),
    ("deploy/kubernetes/deployment.yaml", &["/toolmend:{}"]),
];
const CHANGES: &str = "CHANGELOG.md";
const UNRELEASED: &str = "\n## Unreleased\n";

/// Replaces the version, and dates the changes since the last one.
pub(crate) fn set(version: &str) -> Result<(), TaskError> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let core = version.split('-').next().unwrap_or_default();
    if core.split('.').count() != 3 || !core.split('.').all(is_number) {
        return Err(TaskError(format!("expected a version such as 1.2.3 or 1.2.3-rc.1, found `{version}`")));
    }
    let root = workspace_root();
    let manifest = read_file(&root.join("Cargo.toml"))?;
    let old = find_version(&manifest).ok_or_else(|| TaskError("Cargo.toml has no version".to_owned()))?;
    for (file, patterns) in PLACES {
        let text = replace(&read_file(&root.join(file))?, patterns, old, version).map_err(|pattern| {
            TaskError(format!("{file}: {pattern:?} was not found with the version {old}"))
        })?;
        write_file(&root.join(file), text)?;
    }
    let output = capture_output("date", Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let today = String::from_utf8_lossy(&output.stdout);
    let changes = read_file(&root.join(CHANGES))?;
    if !changes.contains(UNRELEASED) {
        return Err(TaskError(format!("{CHANGES}: the section `## Unreleased` is missing")));
    }
    let section = format!("{UNRELEASED}\n## {version} ({})\n", today.trim());
    write_file(&root.join(CHANGES), changes.replacen(UNRELEASED, &section, 1))?;
    // The lock file has the versions of our crates too.
    run_command(&mut cargo_command(&["update", "--workspace", "--offline", "--quiet"]))?;
    print_line(&format!("{old} is now {version}; see `git diff`"));
    Ok(())
}

/// The version of the workspace.
fn find_version(manifest: &str) -> Option<&str> {
    manifest.split_once("\nversion = \"")?.1.split('"').next()
}

/// Replaces the version inside of each text. Every text has to be there.
fn replace<'p>(text: &str, patterns: &[&'p str], old: &str, new: &str) -> Result<String, &'p str> {
    patterns.iter().try_fold(text.to_owned(), |text, pattern| {
        let (before, after) = (pattern.replace("{}", old), pattern.replace("{}", new));
        if text.contains(&before) { Ok(text.replace(&before, &after)) } else { Err(*pattern) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_there() {
        let root = workspace_root();
        let manifest = read_file(&root.join("Cargo.toml")).unwrap();
        let version = find_version(&manifest).unwrap();
        for (file, patterns) in PLACES {
            let text = read_file(&root.join(file)).unwrap();
            let changed = replace(&text, patterns, version, "9.9.9-rc.1").unwrap();
            assert!(changed.contains("9.9.9-rc.1"), "{file}");
            assert_eq!(replace(&changed, patterns, "9.9.9-rc.1", version).unwrap(), text, "{file}");
        }
    }

    #[test]
    fn other_versions_stay() {
        let text =
            "[a]\nversion = \"1.0.0\"\n[b]\nx = { path = \"x\", version = \"1.0.0\" }\ny = \"1.0.0\"\n";
        let expected = text.replacen("1.0.0", "1.1.0", 2);
        assert_eq!(replace(text, PLACES[0].1, "1.0.0", "1.1.0").unwrap(), expected);
        assert!(replace(text, PLACES[0].1, "2.0.0", "1.1.0").is_err());
    }
}
