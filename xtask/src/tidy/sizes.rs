//! How long files are.

use super::Tree;

/// A file that is longer is not read in one sitting.
const MOST_CODE_LINES: usize = 800;
/// Half of the files are at most this long.
const MOST_MEDIAN: usize = 200;

/// The Rust files of the tree, the shortest first: lines of code and path.
#[derive(Debug)]
pub(super) struct FileSizes<'t>(Vec<(usize, &'t str)>);

impl<'t> FileSizes<'t> {
    /// Counts the lines of every Rust file.
    pub(super) fn measure(tree: &'t Tree) -> Self {
        let mut sizes: Vec<_> =
            tree.rust_files().map(|(path, text)| (count_code_lines(text), path)).collect();
        sizes.sort_unstable();
        FileSizes(sizes)
    }

    fn median(&self) -> usize {
        self.0.get(self.0.len() / 2).map_or(0, |(lines, _)| *lines)
    }

    /// Returns the figures in one line.
    pub(super) fn summary(&self) -> String {
        let (longest, path) = self.0.last().copied().unwrap_or_default();
        let (count, median) = (self.0.len(), self.median());
        format!("{count} Rust files: the median has {median} lines of code, the longest {longest} ({path})")
    }

    /// Returns what is too long.
    pub(super) fn check(&self) -> Vec<String> {
        let long = self.0.iter().filter(|(lines, _)| *lines > MOST_CODE_LINES);
        let mut problems: Vec<String> = long
            .map(|(lines, path)| {
                format!("{path}: {lines} lines of code, at most {MOST_CODE_LINES}; split it")
            })
            .collect();
        let median = self.median();
        if median > MOST_MEDIAN {
            problems.push(format!("the median file has {median} lines of code, at most {MOST_MEDIAN}"));
        }
        problems
    }
}

/// Counts the lines that are neither blank nor comments.
fn count_code_lines(source: &str) -> usize {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_the_project_is_too_long() {
        let tree = Tree::read().unwrap();
        assert!(tree.rust_files().count() > 20, "the files were not found");
        assert_eq!(FileSizes::measure(&tree).check(), [""; 0]);
    }

    #[test]
    fn comments_and_blank_lines_are_not_code() {
        assert_eq!(count_code_lines("//! a\n\nfn b() {}\n    // c\n}\n"), 2);
    }

    #[test]
    fn long_files_and_a_high_median_are_reported() {
        let long = "x;\n".repeat(801);
        let tree = Tree::from_files(&[("a.rs", &long), ("b.rs", "x;"), ("c.rs", "x;"), ("d.md", &long)]);
        assert_eq!(FileSizes::measure(&tree).check(), ["a.rs: 801 lines of code, at most 800; split it"]);
        let tree = Tree::from_files(&[("a.rs", &"x;\n".repeat(201))]);
        assert_eq!(FileSizes::measure(&tree).check(), ["the median file has 201 lines of code, at most 200"]);
    }
}
