//! Files, folders and patterns, and where what becomes of them goes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::format::Format;

/// One file, and the file that is written for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) format: Format,
    pub(crate) target: Format,
}

/// A file with the part of its path that is kept in the folder for the output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    path: PathBuf,
    kept: PathBuf,
}

/// Patterns find what they find in a shell.
const HIDDEN_STAYS_HIDDEN: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// All files that are meant, in the order of their names, with their places in `out`.
pub(crate) fn pairs(inputs: &[PathBuf], out: &Path, wanted: Option<Format>) -> Result<Vec<Pair>, Failure> {
    let mut files = Vec::new();
    for input in inputs {
        files.extend(expand(input)?);
    }
    let single = matches!((inputs, files.as_slice()), ([input], [file]) if *input == file.path);
    let one_file = single && !out.is_dir() && !ends_in_slash(out);
    let mut pairs = Vec::with_capacity(files.len());
    for file in files {
        let format = Format::of_file(&file.path).map_err(Failure::read(&file.path))?;
        let (target, to) = if one_file {
            (wanted.or_else(|| Format::of_name(out)).unwrap_or(format), out.to_owned())
        } else {
            let target = wanted.unwrap_or(format);
            let name = file.kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = if target == format { name } else { target.renamed(&name) };
            (target, out.join(file.kept.with_file_name(name)))
        };
        pairs.push(Pair { from: file.path, to, format, target });
    }
    no_clash(&pairs)?;
    Ok(pairs)
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Two files must not become one, and none may become its own source.
fn no_clash(pairs: &[Pair]) -> Result<(), Failure> {
    let mut places: HashMap<&Path, &Path> = HashMap::new();
    for pair in pairs {
        if let Some(other) = places.insert(&pair.to, &pair.from) {
            let (one, other, to) = (other.display(), pair.from.display(), pair.to.display());
            return Err(Failure::Asked(format!(
                "{one} and {other} would both become {to}; clean them in two runs, or name the folder above them"
            )));
        }
    }
    let sources: HashSet<PathBuf> =
        pairs.iter().filter_map(|pair| fs::canonicalize(&pair.from).ok()).collect();
    for pair in pairs {
        if fs::canonicalize(&pair.to).is_ok_and(|to| sources.contains(&to)) {
            return Err(Failure::Asked(format!(
                "{} is read and would be written; name another place with --out",
                pair.to.display()
            )));
        }
    }
    Ok(())
}

/// A file as it is, the files below a folder, or what a pattern finds.
fn expand(input: &Path) -> Result<Vec<Named>, Failure> {
    if input.is_dir() {
        return below(input);
    }
    let text = input.to_string_lossy();
    if input.exists() || !text.contains(['*', '?', '[']) {
        let kept = input.file_name().unwrap_or_default().into();
        fs::metadata(input).map_err(Failure::read(input))?;
        return Ok(vec![Named { path: input.to_owned(), kept }]);
    }
    let wrong =
        |error: &dyn std::fmt::Display| Failure::Asked(format!("the pattern {text} is wrong: {error}"));
    let mut found = Vec::new();
    for path in glob::glob_with(&text, HIDDEN_STAYS_HIDDEN).map_err(|error| wrong(&error))? {
        let path = path.map_err(|error| wrong(&error))?;
        if path.is_file() {
            let kept = path.strip_prefix(fixed_part(&text)).unwrap_or(&path).to_owned();
            found.push(Named { path, kept });
        }
    }
    if found.is_empty() {
        return Err(Failure::Asked(format!("nothing fits the pattern {text}")));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The folders of a pattern up to its first special character.
fn fixed_part(pattern: &str) -> &Path {
    let special = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    Path::new(pattern[..special].rfind('/').map_or("", |slash| &pattern[..=slash]))
}

/// The files below a folder whose names say that they hold rows.
fn below(folder: &Path) -> Result<Vec<Named>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(Failure::read(&next))? {
            let path = entry.map_err(Failure::read(&next))?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
            if hidden {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if Format::of_name(&path).is_some() {
                let kept = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                found.push(Named { path, kept });
            }
        }
    }
    if found.is_empty() {
        let ends: Vec<_> =
            crate::format::FORMATS.iter().flat_map(|row| row.2).map(|end| format!(".{end}")).collect();
        let message = format!("{} holds no file that ends in {}", folder.display(), ends.join(", "));
        return Err(Failure::Asked(message));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.jsonl", "a/x.jsonl", "a/y.parquet", ".hidden.jsonl", "notes.txt"] {
            let path = folder.path().join("in").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name.ends_with("parquet") { "PAR1" } else { "" }).unwrap();
        }
        folder
    }

    fn names(pairs: &[Pair], folder: &Path) -> Vec<String> {
        let short = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        pairs.iter().map(|pair| format!("{} > {}", short(&pair.from), short(&pair.to))).collect()
    }

    #[test]
    fn folders_and_patterns_keep_their_shape() {
        let folder = tree();
        let (root, out) = (folder.path(), folder.path().join("out"));
        let all =
            ["in/a/x.jsonl > out/a/x.jsonl", "in/a/y.parquet > out/a/y.parquet", "in/b.jsonl > out/b.jsonl"];
        assert_eq!(names(&pairs(&[root.join("in")], &out, None).unwrap(), root), all);
        let found = pairs(&[root.join("in/**/*.jsonl")], &out, Some(Format::Parquet)).unwrap();
        assert_eq!(names(&found, root), ["in/a/x.jsonl > out/a/x.parquet", "in/b.jsonl > out/b.parquet"]);
        let one = pairs(&[root.join("in/b.jsonl")], &root.join("c.parquet"), None).unwrap();
        assert_eq!(names(&one, root), ["in/b.jsonl > c.parquet"]);
        assert_eq!(one[0].target, Format::Parquet);
    }

    #[test]
    fn clashes_are_said_before_anything_is_written() {
        let folder = tree();
        let (root, out) = (folder.path(), folder.path().join("out"));
        let refused = |inputs: &[PathBuf], out: &Path, wanted, expected: &str| {
            let message = pairs(inputs, out, wanted).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        let same = [root.join("in/b.jsonl"), root.join("in/b.jsonl")];
        refused(&same, &out, None, "would both become");
        refused(&[root.join("in")], &root.join("in"), None, "is read and would be written");
        refused(&[root.join("none.jsonl")], &out, None, "cannot read");
        refused(&[root.join("*.nothing")], &out, None, "nothing fits");
        fs::create_dir(root.join("empty")).unwrap();
        refused(&[root.join("empty")], &out, None, "holds no file that ends in .jsonl");
    }
}
