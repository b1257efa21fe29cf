//! Whether the documentation of the library shows how each public function is used.

use super::Tree;

/// The crate that users call. What the other crates offer to each other is shown by the example of its type or module.
const LIBRARY: &str = "crates/toolmend/src/";

/// Returns the public functions of the library whose documentation has no example.
pub(super) fn check_examples(tree: &Tree) -> Vec<String> {
    let files = tree.rust_files().filter(|(path, _)| path.starts_with(LIBRARY));
    files
        .flat_map(|(path, text)| {
            let missing = find_functions_without_example(text).into_iter();
            missing.map(move |(line, name)| {
                format!("{path}:{line}: `{name}` is public; add an example to its documentation")
            })
        })
        .collect()
}

/// Returns the lines and names of public functions without an example, up to the tests of the file.
fn find_functions_without_example(source: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut has_example = false;
    let lines = source.lines().map(str::trim).enumerate();
    for (index, line) in lines.take_while(|(_, line)| *line != "#[cfg(test)]") {
        if line.starts_with("///") || line.starts_with('#') || line.starts_with("$(#") {
            has_example |= line.contains("```");
            continue;
        }
        let function = line.strip_prefix("pub ").map(|rest| rest.trim_start_matches("const "));
        if let Some(function) = function.and_then(|rest| rest.strip_prefix("fn "))
            && !has_example
        {
            let name = function.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            found.push((index + 1, name.unwrap_or_default()));
        }
        has_example = false;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_function_without_an_example_is_found() {
        let source = "/// Adds.\n///\n/// ```\n/// add();\n/// ```\n#[must_use]\npub fn add() {}\n\n/// Removes.\n\
                      pub const fn remove() {}\n\npub(crate) fn hidden() {}\n\n#[cfg(test)]\npub fn helper() {}\n";
        assert_eq!(find_functions_without_example(source), [(10, "remove")]);
    }

    #[test]
    fn every_public_function_of_the_library_has_an_example() {
        let tree = Tree::read().expect("the tree");
        assert_eq!(check_examples(&tree), [""; 0]);
    }
}
