//! Plain text as the value of a tool's main field.
//!
//! A model that writes `src/main.rs` for `read_file` means its path. It does so only if the text has the form of that
//! field's values: a sentence, a refusal, an encoded blob or a list item has not, and neither has text with JSON in it. One
//! table says which form a field has, another one which field a well-known tool means.

use super::notation::{begins_with_member, holds_member};
use super::value_form::{self, ValueForm};
use super::{Finish, MendedText, ReadContext, command_line, spelled_out_field, surrounding_text};
use crate::json::strict;
use crate::json::text::{quote, quote_into, unquote};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::{Guide, KeyFit, SchemaPosition, Types, fold};

/// The field that a plain value goes to, by the tool's name. Without a schema the first name counts, otherwise the first one
/// that is declared.
const MAIN_FIELDS: &[(&[&str], &[&str])] = &[
    (
        &["file", "path", "file_path", "filename"],
        &["read_file", "write_file", "patch_file", "rollback_file", "read", "write", "patch", "rollback"],
    ),
    (
        &["dir", "path", "directory", "cwd"],
        &[
            "list_directory",
            "git_status",
            "git_diff",
            "git_log",
            "git_changed",
            "git_branch",
            "run_tests",
            "clean_backups",
            "tree",
            "test",
            "clean",
        ],
    ),
    (&["term", "query", "pattern"], &["search_files", "search"]),
    (&["cmd", "command"], &["run_command", "exec", "@coder", "coder"]),
    (&["command", "cmd"], &["bash", "shell", "Bash"]),
    (&["file_path", "path"], &["Read", "Write", "Edit"]),
    (&["pattern", "query"], &["Glob", "Grep"]),
];

/// The most declared keys that a plain value is searched for.
const MAX_KEYS: usize = 16;

/// Wraps a whole text that is one plain value, or one JSON string, into the tool's main field.
// Case: syntax/main-field
// Case: syntax/main-field-command
// Case: syntax/main-field-json-string
// Case: syntax/main-field-declared-table
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<MendedText> {
    // A plain value has no end of its own, so one that may be cut off is not taken.
    if context.tool.is_none() || context.finish == Finish::Length {
        return None;
    }
    let trimmed = text.trim();
    let other_notation = ['{', '[', '<', '`', '\'', '｛', '［', '【', '＂'];
    if trimmed.is_empty() || trimmed.starts_with(other_notation) || is_call_or_key(trimmed, context) {
        return None;
    }
    let quoted = trimmed.starts_with('"');
    let (field, position) = find_field(context)?;
    let is_key = |word: &str| context.guide.declares_key(context.guide.root(), word);
    if spelled_out_field::is_spelled_out(trimmed, &field, is_key) {
        return None;
    }
    let form = value_form::of_field(&field, position, context);
    let value = if quoted {
        if strict::check_string(trimmed.as_bytes(), 0) != Ok(trimmed.len()) {
            return None;
        }
        let string = unquote(trimmed).into_owned();
        let holds_members =
            holds_arguments(&string, context.guide) || begins_with_member(&string, context.guide);
        let fits = form.accepts_string(&string) && !holds_members;
        fits.then(|| quote(&string))?
    } else {
        // Text with flags is a command line: the value of a command, or arguments for `command_line` to read.
        let has_flags = trimmed.split_whitespace().any(|word| word.starts_with("--") && word.len() > 2);
        if has_flags && (!form.has_flags() || command_line::begins_with_subcommand(trimmed, context)) {
            return None;
        }
        let value = if form.keeps_blanks() { text } else { trimmed };
        let holds_members = holds_member(value, context.guide)
            || holds_quoted_key(value, context.guide)
            || begins_with_flag(trimmed, context.guide);
        let is_code = form == ValueForm::Code;
        let fits = form.accepts_bare(value)
            && !holds_json(value)
            && !holds_members
            && (is_code || !is_call_of_values(trimmed) && !ends_in_structure(trimmed));
        fits.then(|| quote(value))?
    };
    let mut json = String::from("{");
    quote_into(&mut json, &field);
    json.push(':');
    json.push_str(&value);
    json.push('}');
    let patch = Patch::new(vec![Edit::new(0..text.len(), json.clone(), RepairKind::MainFieldWrapped)]);
    Some(MendedText { text: json, layers: vec![patch] })
}

/// The field that a plain value goes to, if there is one and nothing else is required.
fn find_field(context: &ReadContext<'_>) -> Option<(String, SchemaPosition)> {
    let (guide, root, tool) = (context.guide, context.guide.root(), context.tool?);
    if !guide.declares(root) {
        // Without declared fields only the hint or the well-known name says what is meant.
        let field = context.main_field.or_else(|| main_field_of(tool, |names| names.first().copied()))?;
        return (guide.root() == SchemaPosition::ANY || context.main_field.is_some())
            .then(|| (field.to_owned(), SchemaPosition::ANY));
    }
    let declared = |name: &str| match guide.match_key(root, name) {
        KeyFit::Declared(index) => guide.properties(root).nth(index).map(|(name, ..)| name),
        _ => None,
    };
    let is_string = |position| guide.types(position).has(Types::STRING);
    let mut required = guide.properties(root).filter(|(.., required)| *required);
    let field = match (context.main_field, required.next(), required.next()) {
        (Some(field), ..) => declared(field)?,
        (None, Some((name, ..)), None) => name,
        (None, Some(_), Some(_)) => return None,
        (None, None, _) => {
            let known = main_field_of(tool, |names| names.iter().find_map(|name| declared(name)));
            let mut strings = guide.properties(root).filter(|(_, position, _)| is_string(*position));
            let only = strings.next().filter(|_| strings.next().is_none()).map(|(name, ..)| name);
            known.or(only)?
        }
    };
    let (name, position, _) = guide.properties(root).find(|(name, ..)| *name == field)?;
    let complete = guide.properties(root).all(|(other, _, required)| !required || other == name);
    (complete && is_string(position)).then(|| (name.to_owned(), position))
}

/// The field of a well-known tool, as `choose` picks it from the names that it has. The exact name of the tool counts first.
/// Otherwise case and separators do not matter, as long as only one field results: `READ` is `read` or `Read`.
// Case: syntax/main-field-either-case
fn main_field_of<'f>(
    tool: &str,
    choose: impl Fn(&'static [&'static str]) -> Option<&'f str>,
) -> Option<&'f str> {
    if let Some((names, _)) = MAIN_FIELDS.iter().find(|(_, tools)| tools.contains(&tool)) {
        return choose(names);
    }
    let folded = fold(tool);
    let alike = MAIN_FIELDS.iter().filter(|(_, tools)| tools.iter().any(|name| fold(name) == folded));
    let mut fields = alike.filter_map(|(names, _)| choose(names));
    let field = fields.next()?;
    fields.all(|other| other == field).then_some(field)
}

/// Whether a tool has a name that the table knows, in any case and with any separators.
pub(crate) fn is_well_known_tool(name: &str) -> bool {
    let folded = fold(name);
    MAIN_FIELDS.iter().any(|(_, tools)| tools.iter().any(|tool| fold(tool) == folded))
}

/// Whether the text is a call of the tool, a list of words that starts with a key, a key by itself, or ends in a marker.
// Case: syntax/call-is-no-main-field
// Case: syntax/key-is-no-main-field
fn is_call_or_key(text: &str, context: &ReadContext<'_>) -> bool {
    let tool = context.tool.unwrap_or_default();
    let is_word = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.');
    let name = text.split('(').next().unwrap_or_default().trim();
    let is_call =
        name.len() < text.len() && name.rsplit('.').next().is_some_and(|name| fold(name) == fold(tool));
    let listed = text.trim_start_matches('(');
    let word = &listed[..listed.find(|ch| !is_word(ch)).unwrap_or(listed.len())];
    let is_key = |word: &str| context.guide.declares_key(context.guide.root(), word);
    let in_list = listed.len() < text.len() && is_key(word);
    // A piece of the tool's own name is no value.
    // Case: syntax/piece-of-the-name-of-the-tool
    let is_name = text.len() > 3 && tool.starts_with(text);
    let alone = text.lines().next().is_some_and(|line| is_key(line.trim()));
    is_call && !name.is_empty()
        || is_name
        || in_list
        || alone
        || surrounding_text::last_residue(text).is_some()
}

/// Whether the text is a call with a string among its arguments: `search("a", 10)`. Its arguments are several values.
// Case: syntax/call-by-position-is-no-main-field
fn is_call_of_values(text: &str) -> bool {
    let Some((name, arguments)) = text.split_once('(') else { return false };
    let is_name = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '.');
    let Some(arguments) = arguments.strip_suffix(')') else { return false };
    !name.is_empty() && name.chars().all(is_name) && arguments.trim_start().starts_with(['"', '\'', '`'])
}

/// Whether the text ends like an object: `foo", "limit": 5}`. Its beginning is lost.
// Case: syntax/end-of-an-object-is-no-main-field
fn ends_in_structure(text: &str) -> bool {
    let body = text.trim_end_matches(['}', ']', ' ', '\n']);
    let closes = body.len() < text.len() && super::contested_reading::nests(body.as_bytes());
    closes && text.matches('"').count() % 2 == 1
}

/// Whether the text contains an object with a quoted key.
fn holds_json(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let inner = text[at + 1..].trim_start();
        let Some(key) = inner.strip_prefix('"') else { return false };
        let end = key.bytes().take(64).position(|byte| byte == b'"');
        end.is_some_and(|end| key[end + 1..].trim_start().starts_with(':'))
    })
}

/// Whether a declared key is in quotes, as in the objects of most languages: `mapOf("path" to "a.txt")`. The code of the mark
/// counts as well: `\u0022path\u0022`.
// Case: syntax/main-field-holds-its-key
fn holds_quoted_key(text: &str, guide: &Guide) -> bool {
    let quoted = |key: &str| {
        text.match_indices(key).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + key.len()..]);
            before.ends_with(['"', '\'']) && after.starts_with(['"', '\'', '\\'])
                || before.ends_with("u0022") && after.starts_with("\\u0022")
                || before.ends_with("x22") && after.starts_with("\\x22")
        })
    };
    guide.properties(guide.root()).take(MAX_KEYS).any(|(key, ..)| !key.is_empty() && quoted(key))
}

/// Whether the text begins with a declared key as a flag: `--path a.txt`.
fn begins_with_flag(text: &str, guide: &Guide) -> bool {
    let Some(flag) = text.strip_prefix("--") else { return false };
    let end = flag.find(|ch: char| ch.is_whitespace() || ch == '=').unwrap_or(flag.len());
    guide.declares_key(guide.root(), &flag[..end])
}

/// Whether a string holds the arguments themselves: an object with a declared key.
fn holds_arguments(text: &str, guide: &Guide) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let inner = text[at + 1..].trim_start().trim_start_matches(['"', '\'', '\\']);
        let end = inner.bytes().take(64).position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
        end.is_some_and(|end| guide.declares_key(guide.root(), &inner[..end]))
    })
}
