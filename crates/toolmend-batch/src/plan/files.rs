//! Finds the inputs, and decides where the output of each one goes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::format::{FORMATS, Format};

/// An input file and its output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePair {
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
    pub(crate) input_format: Format,
    pub(crate) output_format: Format,
}

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InputFile {
    path: PathBuf,
    /// The path of its output in the output folder.
    relative: PathBuf,
}

/// Patterns match what they match in a shell.
const SHELL_RULES: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Finds all input files, in the order of their names, and the output file of each. `out` is the output file or folder.
pub(crate) fn pair_files(
    inputs: &[PathBuf],
    out: &Path,
    format: Option<Format>,
) -> Result<Vec<FilePair>, Failure> {
    let mut files = Vec::new();
    for input in inputs {
        files.extend(find_files(input)?);
    }
    let single = matches!((inputs, files.as_slice()), ([input], [file]) if *input == file.path);
    let one_file = single && !out.is_dir() && !ends_in_slash(out);
    let mut pairs = Vec::with_capacity(files.len());
    for file in files {
        let input_format = Format::detect(&file.path).map_err(Failure::read(&file.path))?;
        let (output_format, output) = if one_file {
            (format.or_else(|| Format::from_file_name(out)).unwrap_or(input_format), out.to_owned())
        } else {
            let output_format = format.unwrap_or(input_format);
            let name = file.relative.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name =
                if output_format == input_format { name } else { output_format.replace_extension(&name) };
            (output_format, out.join(file.relative.with_file_name(name)))
        };
        pairs.push(FilePair { input: file.path, output, input_format, output_format });
    }
    check_conflicts(&pairs)?;
    Ok(pairs)
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Fails if two inputs have the same output, or if an output is an input.
fn check_conflicts(pairs: &[FilePair]) -> Result<(), Failure> {
    let mut outputs: HashMap<&Path, &Path> = HashMap::new();
    for pair in pairs {
        if let Some(other) = outputs.insert(&pair.output, &pair.input) {
            let (one, other, output) = (other.display(), pair.input.display(), pair.output.display());
            return Err(Failure::Request(format!(
                "{one} and {other} would both be written to {output}; clean them in two runs, or name the folder above them"
            )));
        }
    }
    let sources: HashSet<PathBuf> =
        pairs.iter().filter_map(|pair| fs::canonicalize(&pair.input).ok()).collect();
    for pair in pairs {
        if fs::canonicalize(&pair.output).is_ok_and(|output| sources.contains(&output)) {
            return Err(Failure::Request(format!(
                "{} is an input and would be overwritten; name another output with --out",
                pair.output.display()
            )));
        }
    }
    Ok(())
}

/// Finds the files of one input: a file, the files in a folder, or the matches of a pattern.
fn find_files(input: &Path) -> Result<Vec<InputFile>, Failure> {
    if input.is_dir() {
        return find_files_in_folder(input);
    }
    let text = input.to_string_lossy();
    if input.exists() || !text.contains(['*', '?', '[']) {
        let relative = input.file_name().unwrap_or_default().into();
        fs::metadata(input).map_err(Failure::read(input))?;
        return Ok(vec![InputFile { path: input.to_owned(), relative }]);
    }
    let wrong =
        |error: &dyn std::fmt::Display| Failure::Request(format!("the pattern {text} is invalid: {error}"));
    let mut found = Vec::new();
    for path in glob::glob_with(&text, SHELL_RULES).map_err(|error| wrong(&error))? {
        let path = path.map_err(|error| wrong(&error))?;
        if path.is_file() {
            let relative = path.strip_prefix(literal_folders(&text)).unwrap_or(&path).to_owned();
            found.push(InputFile { path, relative });
        }
    }
    if found.is_empty() {
        return Err(Failure::Request(format!("no file matches the pattern {text}")));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns the folders of a pattern before its first special character.
fn literal_folders(pattern: &str) -> &Path {
    let special = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    Path::new(pattern[..special].rfind('/').map_or("", |slash| &pattern[..=slash]))
}

/// Finds the files in a folder, at any depth, whose extension is that of a known format.
fn find_files_in_folder(folder: &Path) -> Result<Vec<InputFile>, Failure> {
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
            } else if Format::from_file_name(&path).is_some() {
                let relative = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                found.push(InputFile { path, relative });
            }
        }
    }
    if found.is_empty() {
        let extensions: Vec<_> =
            FORMATS.iter().flat_map(|row| row.2).map(|extension| format!(".{extension}")).collect();
        let message =
            format!("there is no file in {} that ends in {}", folder.display(), extensions.join(", "));
        return Err(Failure::Request(message));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create_files() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.jsonl", "a/x.jsonl", "a/y.parquet", ".hidden.jsonl", "notes.txt"] {
            let path = folder.path().join("in").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name.ends_with("parquet") { "PAR1" } else { "" }).unwrap();
        }
        folder
    }

    fn names(pairs: &[FilePair], folder: &Path) -> Vec<String> {
        let relative = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        pairs.iter().map(|pair| format!("{} > {}", relative(&pair.input), relative(&pair.output))).collect()
    }

    #[test]
    fn outputs_of_folders_and_patterns_keep_their_relative_paths() {
        let folder = create_files();
        let (root, out) = (folder.path(), folder.path().join("out"));
        let all =
            ["in/a/x.jsonl > out/a/x.jsonl", "in/a/y.parquet > out/a/y.parquet", "in/b.jsonl > out/b.jsonl"];
        assert_eq!(names(&pair_files(&[root.join("in")], &out, None).unwrap(), root), all);
        let found = pair_files(&[root.join("in/**/*.jsonl")], &out, Some(Format::Parquet)).unwrap();
        assert_eq!(names(&found, root), ["in/a/x.jsonl > out/a/x.parquet", "in/b.jsonl > out/b.parquet"]);
        let one = pair_files(&[root.join("in/b.jsonl")], &root.join("c.parquet"), None).unwrap();
        assert_eq!(names(&one, root), ["in/b.jsonl > c.parquet"]);
        assert_eq!(one[0].output_format, Format::Parquet);
    }

    #[test]
    fn conflicts_are_reported_before_anything_is_written() {
        let folder = create_files();
        let (root, out) = (folder.path(), folder.path().join("out"));
        let assert_refused = |inputs: &[PathBuf], out: &Path, format, expected: &str| {
            let message = pair_files(inputs, out, format).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        let same = [root.join("in/b.jsonl"), root.join("in/b.jsonl")];
        assert_refused(&same, &out, None, "would both be written to");
        assert_refused(&[root.join("in")], &root.join("in"), None, "is an input and would be overwritten");
        assert_refused(&[root.join("none.jsonl")], &out, None, "cannot read");
        assert_refused(&[root.join("*.nothing")], &out, None, "no file matches");
        fs::create_dir(root.join("empty")).unwrap();
        assert_refused(&[root.join("empty")], &out, None, "that ends in .jsonl");
    }
}
