//! What values of a field look like: paths, commands, queries, URLs, patterns, code, names.
//!
//! The form of a field comes from its hint, else from its name. Text that a model wrote without quotes must have the form
//! completely; a string in quotes is a value by itself and must only be no refusal.

use super::ReadContext;
use super::value_words::{
    CODE_STARTS, COMMANDS, FILES, PLACEHOLDERS, PROGRAMS, REFUSALS, REMARKS, SENTENCE_WORDS, WORK_WORDS,
};
use crate::schema::guide::{SchemaPosition, fold};
use crate::schema::hints::Semantic;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    Path,
    Command,
    Url,
    Query,
    Pattern,
    Code,
    Patch,
    /// A name or a few words: a city, a key, a title.
    Name,
    /// Anything a person may say. Without quotes, nothing tells such a text from what the model says itself.
    Words,
}

/// The form of a field by its name, without case and separators.
const FIELD_FORMS: &[(ValueForm, &[&str])] = &[
    (
        ValueForm::Path,
        &[
            "path",
            "file",
            "filepath",
            "filename",
            "dir",
            "directory",
            "folder",
            "absolutepath",
            "relativepath",
            "root",
            "rootpath",
            "cwd",
            "workdir",
            "notebookpath",
            "dirpath",
            "directorypath",
            "targetfile",
            "paths",
            "files",
            "relativeworkspacepath",
            "uripath",
        ],
    ),
    (ValueForm::Command, &["command", "cmd", "commands", "script", "shell", "commandline", "bash"]),
    (ValueForm::Url, &["url", "uri", "link", "href", "endpoint", "website", "urls"]),
    (
        ValueForm::Query,
        &["query", "q", "term", "search", "searchterm", "searchquery", "keyword", "keywords", "needle"],
    ),
    (ValueForm::Pattern, &["pattern", "regex", "glob", "globpattern", "expression", "regexp", "filepattern"]),
    (
        ValueForm::Code,
        &[
            "code",
            "source",
            "sql",
            "statement",
            "manifest",
            "snippet",
            "program",
            "selector",
            "xpath",
            "latex",
            "javascript",
            "python",
            "sourcecode",
            "yaml",
            "html",
            "css",
            "formula",
        ],
    ),
    (ValueForm::Patch, &["patch", "diff", "patchtext"]),
    (
        ValueForm::Words,
        &[
            "question",
            "message",
            "text",
            "prompt",
            "content",
            "body",
            "description",
            "answer",
            "thought",
            "summary",
            "note",
            "comment",
            "instruction",
            "instructions",
            "task",
            "goal",
            "reason",
            "feedback",
            "value",
        ],
    ),
];

/// The form of a field's values.
pub(super) fn of_field(field: &str, position: SchemaPosition, context: &ReadContext<'_>) -> ValueForm {
    match context.guide.semantic(position) {
        Some(Semantic::AbsolutePath | Semantic::RelativePath) => return ValueForm::Path,
        Some(Semantic::Code) => return ValueForm::Code,
        Some(Semantic::Url) => return ValueForm::Url,
        Some(Semantic::Shell) => return ValueForm::Command,
        None => {}
    }
    let folded = fold(field);
    let named = FIELD_FORMS.iter().find(|(_, names)| names.contains(&folded.as_str())).map(|row| row.0);
    // `input` says nothing, but the tool may.
    let tool = context.tool.map(fold).unwrap_or_default();
    match named {
        Some(form) => form,
        None if tool.contains("patch") => ValueForm::Patch,
        None => ValueForm::Name,
    }
}

impl ValueForm {
    /// Whether blanks at the ends are part of the value.
    pub(super) fn keeps_blanks(self) -> bool {
        matches!(self, ValueForm::Code | ValueForm::Patch)
    }

    /// Whether words that begin with two dashes are part of such a value.
    pub(super) fn has_flags(self) -> bool {
        matches!(self, ValueForm::Command | ValueForm::Code | ValueForm::Patch)
    }

    /// Whether a string in quotes can be such a value.
    pub(super) fn accepts_string(self, text: &str) -> bool {
        let says_no = begins_with(text, REFUSALS) || is_placeholder(text);
        match self {
            ValueForm::Code | ValueForm::Patch | ValueForm::Words => !text.trim().is_empty() && !says_no,
            _ => self.accepts_bare(text.trim()),
        }
    }

    /// Whether text without quotes is such a value and nothing else.
    pub(super) fn accepts_bare(self, text: &str) -> bool {
        let body = text.trim();
        let said = body.trim_start_matches(['(', '[', '*', '_']);
        let talks = begins_with(said, REFUSALS) || begins_with(said, REMARKS);
        if body.is_empty() || talks || is_list_item(body) || is_encoded(body) {
            return false;
        }
        // Work words are searched for; elsewhere they stand for a value that is not there.
        let is_searched =
            matches!(self, ValueForm::Query | ValueForm::Pattern) && is_one_of(body, WORK_WORDS);
        if is_template(body) || !has_content(body) {
            return false;
        }
        if is_placeholder(body.trim_matches(['(', ')', '[', ']', '<', '>'])) && !is_searched {
            return false;
        }
        if !matches!(self, ValueForm::Command | ValueForm::Code | ValueForm::Patch) && begins_with_label(body)
        {
            return false;
        }
        match self {
            ValueForm::Path => is_path(body),
            ValueForm::Command => is_command(body),
            ValueForm::Url => is_url(body),
            ValueForm::Query => {
                is_one_line(body) && (is_sql(body) || !is_sentence(body)) && words(body) <= 16
            }
            ValueForm::Pattern => is_one_line(body) && !is_sentence(body) && words(body) <= 8,
            ValueForm::Code => is_code(body),
            ValueForm::Patch => is_patch(body),
            ValueForm::Name => is_name(body),
            ValueForm::Words => false,
        }
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r'])
}

/// Whether the text begins with one of these, as words of their own.
fn begins_with(text: &str, openings: &[&str]) -> bool {
    let head: String = text.trim_start().chars().take(24).flat_map(char::to_lowercase).collect();
    let head = head.replace('’', "'");
    openings.iter().any(|opening| {
        head.strip_prefix(opening).is_some_and(|rest| {
            // Chinese, Japanese and Korean have no blanks between words.
            let open_ended = opening.ends_with([' ', ',', '.', ':'])
                || opening.ends_with("apolog")
                || opening.chars().all(|ch| ch >= '\u{2e80}');
            // `error.log` and `sure/x` are names.
            let goes_on = rest.starts_with(|ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '/'));
            let is_name = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
            open_ended || !goes_on && !is_name
        })
    })
}

fn is_placeholder(text: &str) -> bool {
    is_one_of(text, PLACEHOLDERS)
}

/// Whether the text says what should be there: `path/to/your/file`, `your_path_here`.
// Case: syntax/main-field-placeholder
fn is_template(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let starts = ["path/to/", "/path/to/", "your_", "your-", "unknown_", "some_"];
    let is_filled_in = ["${", "{{"].iter().any(|open| text.starts_with(open)) && text.ends_with('}');
    let is_cut = text.strip_prefix("...").is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    is_filled_in
        || is_cut
        || words(text) == 1
            && (starts.iter().any(|start| lower.starts_with(start)) || lower.ends_with("_here"))
}

/// Whether the text has letters or digits. Few values are marks alone.
fn has_content(text: &str) -> bool {
    text.contains(char::is_alphanumeric) || matches!(text, "." | ".." | "/" | "~" | "*" | "**" | "./" | "../")
}

/// Whether the text is one of these words, with nothing but a remark about it.
fn is_one_of(text: &str, list: &[&str]) -> bool {
    let trimmed = text.trim();
    let head = trimmed.split(['(', ':']).next().unwrap_or_default().trim().trim_end_matches(['.', '!']);
    let whole = if trimmed.chars().all(|ch| matches!(ch, '.' | '…')) { "..." } else { head };
    // `.` and `..` are paths.
    !matches!(trimmed, "." | "..") && list.iter().any(|word| word.eq_ignore_ascii_case(whole))
}

fn is_list_item(text: &str) -> bool {
    let digits = text.trim_start_matches(|ch: char| ch.is_ascii_digit());
    ["- ", "* ", "• ", "+ "].iter().any(|bullet| text.starts_with(bullet))
        || digits.len() < text.len() && [". ", ") "].iter().any(|mark| digits.starts_with(mark))
}

/// Whether the text is percent-encoded, base64, or an object in hexadecimal digits.
fn is_encoded(text: &str) -> bool {
    let percent = text
        .as_bytes()
        .windows(3)
        .filter(|triple| triple[0] == b'%' && triple[1].is_ascii_hexdigit() && triple[2].is_ascii_hexdigit());
    if text.starts_with('%') && percent.count() > 1 {
        return true;
    }
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && text.len() >= 32 && text.len().is_multiple_of(2) && text.starts_with("7b") {
        return true;
    }
    let is_base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let has = |wanted: fn(&u8) -> bool| text.as_bytes().iter().any(wanted);
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let dense = text.len() >= 16 && text.bytes().all(is_base64) && !text.contains(['-', '_']);
    dense
        && (text.ends_with('=')
            || mixed && text.len().is_multiple_of(4) && (text.len() >= 32 || !text.contains('/')))
}

/// Whether the text is said rather than given: it ends like a sentence, or two of its words are a sentence's.
fn is_sentence(text: &str) -> bool {
    let count = text
        .split_whitespace()
        .filter(|word| {
            let bare = word.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase().replace('’', "'");
            SENTENCE_WORDS.contains(&bare.as_str())
        })
        .count();
    let ends = text.ends_with(['.', '!', '?', ':', '。']) && !text.ends_with("..");
    let many = words(text) > 1;
    count >= 2 || ends && many && (count > 0 || text.starts_with(char::is_uppercase) || words(text) > 3)
}

/// Whether the text begins with a word and a separator, as a member does.
fn begins_with_label(text: &str) -> bool {
    let end = text.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-' | '"' | '\'' | ' ')));
    end.is_some_and(|end| {
        text[end..].starts_with('=') || text[end..].starts_with(": ") || &text[end..] == ":"
    })
}

/// A name: a few plain words.
fn is_name(text: &str) -> bool {
    let plain = |ch: char| ch.is_alphanumeric() || " _-.,'’&/@#+".contains(ch);
    text.chars().all(plain) && !is_sentence(text) && words(text) <= 5 && text.len() <= 80
}

/// A path: one line without the marks of other text, and blanks only if it has separators or an extension.
fn is_path(text: &str) -> bool {
    let odd = text.contains(['\n', '\r', '\t', '"', '`', '<', '>', '|', '{', '}', ';', '=', '\0'])
        || text.contains("://");
    if odd || text.contains(": ") || text.starts_with('-') || text.len() > 1024 {
        return false;
    }
    let has_separator = text.contains(['/', '\\']);
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=10).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let rooted = text.starts_with(['/', '.', '~'])
        || text.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    match words(text) {
        1 => {
            let is_entry = has_separator || rooted || text.contains('.') || FILES.contains(&text);
            let is_marked =
                text.contains(|ch: char| !ch.is_alphabetic()) || text.starts_with(char::is_uppercase);
            !text.ends_with(['!', '?', ',', ':'])
                && (matches!(text, "." | "..") || !is_sentence_word(text))
                && (is_entry || is_marked)
        }
        2..=8 => (rooted || has_separator && has_extension) && !is_sentence(text) && !text.contains(" /"),
        _ => false,
    }
}

/// One word that ends a sentence, such as `Done.`
fn is_sentence_word(text: &str) -> bool {
    text.strip_suffix('.').is_some_and(|word| word.chars().all(char::is_alphabetic))
}

/// A command: it begins with a program and is not a sentence. Prose is told by its words unless it has a shell's marks.
fn is_command(text: &str) -> bool {
    if text.contains("```") || text.len() > 1 << 16 || leaves_quote_open(text) {
        return false;
    }
    // Assignments may come before the program.
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let Some(program) = text.split_whitespace().find(|word| !is_assignment(word)) else { return false };
    let name = program.trim_start_matches(['(', '{', '!', '@']).rsplit('/').next().unwrap_or_default();
    let plain = |ch: char| ch.is_ascii_alphanumeric() || "_.+-$:;\"'\\~[".contains(ch);
    let is_name = !name.is_empty()
        && name.chars().all(plain)
        && (program.contains('/')
            || name.starts_with(|ch: char| ch.is_ascii_lowercase() || "$.[~_".contains(ch)))
        && !name.ends_with([':', ',']);
    if !is_name || text.starts_with(char::is_uppercase) && !text.contains('=') {
        return false;
    }
    // One plain word is a command only if it names a program.
    // Case: syntax/main-field-word
    if words(text) == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) && !PROGRAMS.contains(&text) {
        return false;
    }
    let rest = text.split_whitespace().skip(1);
    let has_marks = text.contains(['|', '>', '<', '$', '"', '\'', '\\', '*', ';', '='])
        || text.contains("&&")
        || rest.clone().any(|word| word.starts_with(['-', '/', '.', '~']) || word.contains('/'));
    // Words without any mark are a command only if the first one is a program: `cargo test`, but not `je ne peux pas`.
    let is_plain = text.chars().all(|ch| ch.is_alphabetic() || ch == ' ');
    if words(text) > 2 && is_plain && !PROGRAMS.contains(&name) && !COMMANDS.contains(&name) {
        return false;
    }
    let quotes_code = text.contains('`') && is_sentence(text);
    !quotes_code
        && (!is_sentence(text) || has_marks && !text.ends_with(['.', '!', '?']))
        && words(text) < 4096
}

/// Whether a shell would wait for the rest of a string. The text of a here document may have any quotes.
pub(super) fn leaves_quote_open(text: &str) -> bool {
    let mut open = None;
    let mut last = ' ';
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        match (open, ch) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '"' | '\'') => open = Some(ch),
            (None, '#') if last.is_whitespace() => {
                chars.find(|ch| *ch == '\n');
            }
            (Some(quote), ch) if quote == ch => open = None,
            _ => {}
        }
        last = ch;
    }
    open.is_some() && !text.contains("<<")
}

fn is_url(text: &str) -> bool {
    let body = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let scheme = body.is_some()
        || text.split_once("://").is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
        });
    let bare = text.starts_with("www.")
        || text.split('/').next().is_some_and(|host| {
            host.contains('.')
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
        });
    words(text) == 1
        && (scheme || bare)
        && !text.contains(['"', '<', '>', '`', '{'])
        && !text.ends_with(['.', ','])
}

fn is_sql(text: &str) -> bool {
    let verb = text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    let known = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "CREATE", "ALTER", "DROP", "EXPLAIN", "PRAGMA",
        "SHOW",
    ];
    known.contains(&verb.as_str()) && words(text) > 2 && text.contains(['*', '=', '(', ';', '"', ','])
}

/// Whether most lines have what code has.
fn is_code(text: &str) -> bool {
    if is_sql(text) {
        return true;
    }
    let (mut code, mut prose) = (0usize, 0usize);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let starts = CODE_STARTS.iter().any(|start| line.starts_with(start));
        let marks = line.contains(['(', ')', '=', '{', '}', '[', ']', ';', '<', '>', '\\', '#'])
            || line.ends_with(':') && words(line) <= 6 && line.starts_with(char::is_lowercase);
        if starts
            || marks && !(is_sentence(line) && line.ends_with('.') && line.starts_with(char::is_uppercase))
        {
            code += 1;
        } else {
            prose += 1;
        }
    }
    code > 0 && code >= prose
}

fn is_patch(text: &str) -> bool {
    text.starts_with("*** Begin Patch")
        || text.starts_with("diff --git ")
        || text.starts_with("--- ") && text.contains("\n+++ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: ValueForm, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(form.accepts_bare(text), "{form:?} should take {text:?}");
        }
        for text in no {
            assert!(!form.accepts_bare(text), "{form:?} should not take {text:?}");
        }
    }

    #[test]
    fn paths() {
        check(
            ValueForm::Path,
            &[
                "main.go",
                "src/main.rs",
                ".",
                "..",
                "./pkg",
                "C:\\temp\\a.cs",
                "Makefile",
                "~/notes",
                "./a b/c.txt",
            ],
            &[
                "Sorry, I cannot do that.",
                "Done.",
                "TODO",
                "the file main.go",
                "Error: file not found",
                "No arguments needed",
                "path: a.txt",
                "- a.txt",
                "a.txt\nb.txt",
                "%7B%22path%22%3A1%7D",
                "eyJwYXRoIjoiUkVBRE1FLm1kIn0=",
                "curl -X POST http://h/",
            ],
        );
    }

    #[test]
    fn commands() {
        check(
            ValueForm::Command,
            &[
                "ls -la",
                "go build ./...",
                "echo hello",
                "FOO=1 make test",
                "./run.sh --fast",
                "cd /tmp && ls",
                "git commit -m 'this is the fix'",
            ],
            &[
                "I cannot do that.",
                "Let me run `rm -rf build` first.",
                "See above",
                "TODO (step 4)",
                "The user wants it, but I should ask first.",
                "please delete the folder",
                "- rm -rf build",
                "run the tests and then report what is wrong",
                "Error: command not found",
                "done",
            ],
        );
    }

    #[test]
    fn other_forms() {
        check(ValueForm::Url, &["https://a.io/x?y=1", "example.com/a"], &["see https://a.io", "Done."]);
        check(ValueForm::Query, &["TODO", "rust borrow checker"], &["I could not find what you asked for."]);
        check(
            ValueForm::Name,
            &["Oslo", "New York"],
            &["I am not sure.", "The weather is nice today", "cty: Oslo", "f(city='Oslo')", "cty=Oslo"],
        );
        check(
            ValueForm::Code,
            &["print(1)\nx = 2", "SELECT * FROM t WHERE a = 1", "\\begin{a}\n\\end{a}"],
            &["I would write a loop here.", "Done", "First we open the file.\nThen we read it."],
        );
        check(ValueForm::Words, &[], &["What should I do?", "hello"]);
        assert!(ValueForm::Words.accepts_string("What should I do?"));
        assert!(!ValueForm::Words.accepts_string("Sorry, I cannot do that."));
    }
}
