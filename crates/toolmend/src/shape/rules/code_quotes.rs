//! Curly quotes in code, made straight. Only if the policy asks for it, and never in prose.

use serde_json::Value;

use crate::json::text::quote;
use crate::repair::RepairKind;

use crate::schema::fault::{HintKind, Wants};
use crate::schema::hints::Semantic;
use crate::shape::mismatch::{Change, SchemaMismatch};

/// File name extensions of code.
const EXTENSIONS: [&str; 60] = [
    "go",
    "py",
    "js",
    "ts",
    "jsx",
    "tsx",
    "java",
    "c",
    "cpp",
    "h",
    "hpp",
    "rs",
    "rb",
    "php",
    "swift",
    "kt",
    "scala",
    "cs",
    "r",
    "m",
    "mm",
    "sh",
    "bash",
    "zsh",
    "fish",
    "sql",
    "json",
    "yaml",
    "yml",
    "toml",
    "xml",
    "html",
    "css",
    "scss",
    "less",
    "lua",
    "pl",
    "pm",
    "ex",
    "exs",
    "erl",
    "hrl",
    "hs",
    "elm",
    "clj",
    "lisp",
    "el",
    "vim",
    "conf",
    "ini",
    "env",
    "dockerfile",
    "tf",
    "hcl",
    "proto",
    "graphql",
    "gql",
    "makefile",
    "cmake",
    "gradle",
];
/// Names of files that are code without an extension.
const FILES: [&str; 12] = [
    "makefile",
    "dockerfile",
    "jenkinsfile",
    "vagrantfile",
    "gemfile",
    "rakefile",
    "guardfile",
    "procfile",
    ".gitignore",
    ".dockerignore",
    ".eslintrc",
    ".prettierrc",
];
/// Fields that name the file.
const PATHS: [&str; 6] = ["path", "file", "file_path", "filepath", "filename", "absolute_path"];
/// Fields that hold what goes into it. Text that must match the file byte for byte, such as `old_string`, is not among
/// them.
const CONTENTS: [&str; 10] = [
    "content",
    "contents",
    "text",
    "file_text",
    "code",
    "source",
    "new_string",
    "new_str",
    "new_text",
    "replace",
];

/// Whether the member `key` of `object` is code: by its hint, or by the name of the file beside it.
pub(in crate::shape) fn is_code(object: &Value, key: &str, semantic: Option<Semantic>) -> bool {
    let beside = || {
        CONTENTS.contains(&key)
            && PATHS.iter().filter_map(|name| object.get(name)?.as_str()).any(is_code_file)
    };
    semantic == Some(Semantic::Code) || (semantic.is_none() && beside())
}

fn is_code_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    FILES.contains(&name.as_str())
        || name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// The text with straight quotes, if that changes it. A line that has straight quotes of the same kind keeps its curly
/// ones: they may be inside a string, which straight ones would end.
pub(in crate::shape) fn straighten_quotes(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (single, double) = (line.contains('\''), line.contains('"'));
        out.extend(line.chars().map(|ch| match ch {
            '\u{2018}' | '\u{2019}' | '\u{2032}' if !single => '\'',
            '\u{201C}' | '\u{201D}' | '\u{2033}' if !double => '"',
            other => other,
        }));
    }
    (out != text).then_some(out)
}

/// Curly quotes in code to straight ones.
pub(super) fn normalise_code_quotes(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Hint(HintKind::CodeQuotes) = mismatch.fault.wants else { return None };
    let text = straighten_quotes(&mismatch.string()?)?;
    Some(mismatch.replace(quote(&text), RepairKind::CodeQuotesNormalised))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn code_is_known_by_its_hint_or_its_file() {
        assert!(is_code(&json!({"path": "src/Main.RS"}), "content", None));
        assert!(is_code(&json!({"file_path": "/app/Dockerfile"}), "new_string", None));
        assert!(!is_code(&json!({"path": "notes.md"}), "content", None));
        assert!(!is_code(&json!({"path": "a.rs"}), "old_string", None));
        assert!(!is_code(&json!({"path": "a.rs"}), "content", Some(Semantic::Shell)));
        assert!(is_code(&json!({}), "snippet", Some(Semantic::Code)));
    }

    #[test]
    fn quotes_inside_strings_stay() {
        assert_eq!(straighten_quotes("print(“x”)").as_deref(), Some("print(\"x\")"));
        assert_eq!(straighten_quotes("a = \"he said “x”\""), None);
        assert_eq!(straighten_quotes("x = ‘a’\ny = 'b’s'\n").as_deref(), Some("x = 'a'\ny = 'b’s'\n"));
        assert_eq!(straighten_quotes("plain"), None);
    }
}
