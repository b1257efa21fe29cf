//! Which top-level modules of a crate use which.
//!
//! Reads source text only. Items that are reached through a method or an inferred type leave no path and are not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, tokenize_without_tests};

/// The files of a crate's `src` folder: their paths below the root of the workspace, and their text.
pub(super) type Sources = BTreeMap<String, String>;

/// A place in one top-level module that names an item of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) from: String,
    pub(super) to: String,
    /// `path:line`.
    pub(super) at: String,
}

/// The top-level modules of a crate and the uses between them.
#[derive(Debug, Default)]
pub(super) struct ModuleGraph {
    pub(super) modules: BTreeSet<String>,
    pub(super) uses: Vec<Use>,
    pub(super) problems: Vec<String>,
}

/// What a name at the crate root refers to.
#[derive(Debug, Clone)]
enum RootName {
    Module(String),
    OtherCrate,
}

/// A path in the source, from the crate root on.
#[derive(Debug, PartialEq, Eq)]
struct FoundPath<'s> {
    segments: Vec<&'s str>,
    /// The name after `as`.
    alias: Option<&'s str>,
    line: usize,
}

/// Finds the uses between the top-level modules of the crate whose root file this is.
pub(super) fn find_uses(sources: &Sources, root_file: &str) -> ModuleGraph {
    let mut graph = ModuleGraph::default();
    let Some(root) = sources.get(root_file) else {
        graph.problems.push(format!("{root_file}: not found"));
        return graph;
    };
    let tokens = tokenize_without_tests(root);
    graph.modules = top_level_modules(&tokens);
    let names = root_names(&tokens, &graph.modules);
    let folder = root_file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut files = vec![ModuleFile { path: root_file.to_owned(), folder, module: Vec::new() }];
    while let Some(file) = files.pop() {
        let Some(source) = sources.get(&file.path) else { continue };
        let tokens = tokenize_without_tests(source);
        let mut scan = Scan { tokens: &tokens, file: &file, names: &names, graph: &mut graph };
        for (name, module, line) in scan.run() {
            match find_module_file(sources, &file, &module, &name) {
                Some(found) => files.push(found),
                None => graph.problems.push(format!("{}:{line}: no file for module `{name}`", file.path)),
            }
        }
    }
    graph.uses.sort_by(|one, other| (&one.from, &one.to, &one.at).cmp(&(&other.from, &other.to, &other.at)));
    graph
}

#[derive(Debug)]
struct ModuleFile {
    path: String,
    /// Where the files of its submodules are.
    folder: String,
    /// The path of the module from the crate root on.
    module: Vec<String>,
}

/// Finds the file of a module that `file` declares with `mod name;` inside the module `parent`.
fn find_module_file(
    sources: &Sources,
    file: &ModuleFile,
    parent: &[String],
    name: &str,
) -> Option<ModuleFile> {
    let mut folder = file.folder.clone();
    // Inline modules around the declaration are folders too.
    for segment in parent.iter().skip(file.module.len()).map(String::as_str).chain([name]) {
        folder.push('/');
        folder.push_str(segment);
    }
    let mut paths = [format!("{folder}.rs"), format!("{folder}/mod.rs")].into_iter();
    let path = paths.find(|path| sources.contains_key(path))?;
    let module = parent.iter().cloned().chain([name.to_owned()]).collect();
    Some(ModuleFile { path, folder, module })
}

fn top_level_modules(tokens: &[Token<'_>]) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    let mut depth = 0_usize;
    for pair in tokens.windows(2) {
        match pair[0].text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            "mod" if depth == 0 => {
                modules.insert(pair[1].text.to_owned());
            }
            _ => {}
        }
    }
    modules
}

/// Resolves the names that the root file imports or exports.
fn root_names(tokens: &[Token<'_>], modules: &BTreeSet<String>) -> BTreeMap<String, RootName> {
    let mut names = BTreeMap::new();
    let (mut at, mut depth) = (0, 0_usize);
    while at < tokens.len() {
        match tokens[at].text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "use" if depth == 0 => {
                let mut found = Vec::new();
                at = read_use_tree(tokens, at + 1, &[], &mut found);
                for path in found {
                    let mut segments = path.segments.as_slice();
                    while let ["crate" | "self", rest @ ..] = segments {
                        segments = rest;
                    }
                    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { continue };
                    let target = if modules.contains(*first) {
                        RootName::Module((*first).to_owned())
                    } else {
                        RootName::OtherCrate
                    };
                    names.insert(path.alias.unwrap_or(last).to_owned(), target);
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    names
}

/// Reads a path or a tree of paths that begins at `at`. Returns the position after it.
fn read_use_tree<'s>(
    tokens: &[Token<'s>],
    mut at: usize,
    prefix: &[&'s str],
    found: &mut Vec<FoundPath<'s>>,
) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token<'s>| token.text);
    let line = tokens.get(at).map_or(0, |token| token.line);
    let mut segments = prefix.to_vec();
    loop {
        match text(at) {
            "{" => {
                at += 1;
                while !matches!(text(at), "}" | "") {
                    if text(at) == "," {
                        at += 1;
                    } else {
                        let start = at;
                        at = read_use_tree(tokens, at, &segments, found);
                        // Anything that is no path, so that a stray sign cannot stop the reading.
                        at = at.max(start + 1);
                    }
                }
                return at + 1;
            }
            "*" => {
                segments.push("*");
                at += 1;
                break;
            }
            // `a::{self}` means `a`.
            "self" if !segments.is_empty() => at += 1,
            word if word.starts_with(|letter: char| letter == '_' || letter.is_alphabetic()) => {
                segments.push(word);
                at += 1;
            }
            _ => break,
        }
        if text(at) != "::" {
            break;
        }
        at += 1;
    }
    let alias = (text(at) == "as").then(|| text(at + 1));
    if alias.is_some() {
        at += 2;
    }
    found.push(FoundPath { segments, alias, line });
    at
}

/// One pass over a file.
struct Scan<'a> {
    tokens: &'a [Token<'a>],
    file: &'a ModuleFile,
    names: &'a BTreeMap<String, RootName>,
    graph: &'a mut ModuleGraph,
}

impl Scan<'_> {
    /// Records every use, and returns the modules that are declared here: name, parent, line.
    fn run(&mut self) -> Vec<(String, Vec<String>, usize)> {
        let mut declared = Vec::new();
        let mut module = self.file.module.clone();
        // The brace depths at which inline modules end.
        let mut inline = Vec::new();
        let (mut at, mut depth) = (0, 0_usize);
        while at < self.tokens.len() {
            let token = self.tokens[at];
            let next = |offset: usize| self.tokens.get(at + offset).map_or("", |token| token.text);
            match token.text {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if inline.last() == Some(&depth) {
                        inline.pop();
                        module.pop();
                    }
                }
                "mod" if next(2) == ";" => declared.push((next(1).to_owned(), module.clone(), token.line)),
                "mod" if next(2) == "{" => {
                    inline.push(depth);
                    module.push(next(1).to_owned());
                }
                "crate" | "super" if next(1) == "::" && (at == 0 || self.tokens[at - 1].text != "::") => {
                    let mut found = Vec::new();
                    at = read_use_tree(self.tokens, at, &[], &mut found);
                    for path in &found {
                        self.record(&module, path);
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        declared
    }

    fn record(&mut self, module: &[String], path: &FoundPath<'_>) {
        let Some(from) = module.first() else { return };
        let mut above = module;
        let mut segments = path.segments.as_slice();
        if let ["crate", rest @ ..] = segments {
            (above, segments) = (&[], rest);
        }
        while let ["super", rest @ ..] = segments {
            above = above.split_last().map_or(&[], |(_, above)| above);
            segments = rest;
        }
        let at = format!("{}:{}", self.file.path, path.line);
        // A path that ends inside a top-level module stays in the one it comes from.
        let ([], Some(&first)) = (above, segments.first()) else { return };
        let to = match self.names.get(first) {
            _ if self.graph.modules.contains(first) => first.to_owned(),
            Some(RootName::Module(module)) => module.clone(),
            Some(RootName::OtherCrate) => return,
            None if first == "*" => {
                self.graph
                    .problems
                    .push(format!("{at}: imports everything from the crate root; name the modules"));
                return;
            }
            None => {
                self.graph.problems.push(format!(
                    "{at}: `{first}` is defined in the crate root; move it into a module, so that modules do not depend on the root"
                ));
                return;
            }
        };
        if to != *from {
            self.graph.uses.push(Use { from: from.clone(), to, at });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A crate in memory: its root file is `src/lib.rs`.
    pub(crate) fn sources(files: &[(&str, &str)]) -> Sources {
        files.iter().map(|(path, text)| (format!("src/{path}"), (*text).to_owned())).collect()
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], uses: &[&str], problems: &[&str]) {
        let graph = find_uses(&sources(files), "src/lib.rs");
        let found: Vec<_> =
            graph.uses.iter().map(|found| format!("{} {}->{}", found.at, found.from, found.to)).collect();
        assert_eq!((found, graph.problems), (owned(uses), owned(problems)));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn uses_are_found_in_imports_and_expressions() {
        check(
            &[
                ("lib.rs", "mod a; mod b; mod c; mod d;"),
                ("a.rs", "use crate::{b::X, c::{Y, z::{self, Q as R}}};\nfn f() { crate::d::g::<u8>() }"),
                ("b.rs", "pub(in crate::b) struct X;\nuse super::c;"),
                ("c/mod.rs", "mod z; use self::z::Q; use super::d;"),
                ("c/z.rs", "use super::super::b::X;\nuse super::Y; use crate::c::Z;"),
                ("d.rs", ""),
            ],
            &[
                "src/a.rs:1 a->b",
                "src/a.rs:1 a->c",
                "src/a.rs:1 a->c",
                "src/a.rs:1 a->c",
                "src/a.rs:2 a->d",
                "src/b.rs:2 b->c",
                "src/c/z.rs:1 c->b",
                "src/c/mod.rs:1 c->d",
            ],
            &[],
        );
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        check(
            &[
                ("lib.rs", "mod a; mod b; #[cfg(test)] mod tests;"),
                (
                    "a.rs",
                    "/// [`crate::b::X`]\n// crate::b\nconst A: &str = \"crate::b\";\n#[cfg(test)]\nmod tests { use crate::b; }",
                ),
                ("b/mod.rs", "#[cfg(test)] mod tests;"),
                ("b/tests.rs", "use crate::a;"),
                ("tests.rs", "use crate::a;"),
            ],
            &[],
            &[],
        );
    }

    #[test]
    fn names_at_the_root_lead_to_their_module() {
        check(
            &[
                (
                    "lib.rs",
                    "mod a; mod b; mod c; use other_crate as json; pub use crate::{b::X, c::{Y as Z}}; pub use self::b::w;",
                ),
                ("a.rs", "use crate::{X, Z};\nuse crate::json::Value;\nuse super::w;"),
                ("b.rs", ""),
                ("c.rs", ""),
            ],
            &["src/a.rs:1 a->b", "src/a.rs:3 a->b", "src/a.rs:1 a->c"],
            &[],
        );
    }

    #[test]
    fn modules_may_not_use_the_root() {
        check(
            &[("lib.rs", "mod a; fn helper() {}"), ("a.rs", "use crate::helper;\nuse crate::*;")],
            &[],
            &[
                "src/a.rs:1: `helper` is defined in the crate root; move it into a module, so that modules do not depend on the root",
                "src/a.rs:2: imports everything from the crate root; name the modules",
            ],
        );
    }

    #[test]
    fn inline_modules_are_modules() {
        check(
            &[
                (
                    "lib.rs",
                    "mod a { use super::b::X; mod c { use super::super::b; use super::Y; } use super::b; } mod b;",
                ),
                ("b.rs", "mod c { use crate::a; }\nuse super::a::Z;"),
            ],
            &[
                "src/lib.rs:1 a->b",
                "src/lib.rs:1 a->b",
                "src/lib.rs:1 a->b",
                "src/b.rs:1 b->a",
                "src/b.rs:2 b->a",
            ],
            &[],
        );
    }

    #[test]
    fn a_module_without_a_file_is_reported() {
        check(&[("lib.rs", "mod a;")], &[], &["src/lib.rs:1: no file for module `a`"]);
    }
}
