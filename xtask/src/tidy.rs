//! Rules about the source that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::root;

/// A file that is longer is not read in one sitting.
const MOST_CODE_LINES: usize = 800;

/// Every Rust file of the project.
fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                rust_files(&path, out);
            }
        } else if name.ends_with(".rs") {
            out.push(path);
        }
    }
}

/// Lines that are neither blank nor comments.
fn code_lines(source: &str) -> usize {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn no_file_is_too_long() {
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    assert!(files.len() > 20, "the files were not found");
    for file in files {
        let lines = code_lines(&fs::read_to_string(&file).unwrap());
        assert!(lines <= MOST_CODE_LINES, "{} has {lines} lines of code: split it", file.display());
    }
}

#[test]
fn comments_and_blank_lines_are_no_code() {
    assert_eq!(code_lines("//! a\n\nfn b() {}\n    // c\n}\n"), 2);
}
