//! Which keys mean the same argument: by their letters, by a typing error, or by the table of synonyms.
//!
//! Names carry meaning. A key is never taken for another because nothing else is left over, so a key that resembles no
//! declared one stays what it is.

use crate::schema::guide::fold;
use crate::spelling::edit_distance;

/// Names that mean the same thing as the argument of a tool, folded. A row has only names that any tool's author would
/// use for the same value: `pattern` is not `regex`, because it may be a glob.
// Case: shape/synonym-for-required-key
const SYNONYMS: [&[&str]; 23] = [
    &["path", "file", "filepath", "filename", "pathname", "absolutepath", "targetfile", "filetoread"],
    &["dir", "directory", "folder", "dirpath", "directorypath", "folderpath", "dirname"],
    &["cwd", "workdir", "workingdir", "workingdirectory"],
    &["command", "cmd", "commandline", "shellcommand", "bashcommand"],
    &["content", "text", "body", "filecontent", "filetext", "textcontent"],
    &["query", "q", "search", "searchquery", "searchterm", "querystring", "searchstring", "searchtext"],
    &["url", "uri", "link", "href", "weburl", "webpage"],
    &["regex", "regexp", "regularexpression", "regexpattern"],
    &["message", "msg", "messagetext"],
    &["code", "sourcecode"],
    &["language", "lang"],
    &["description", "desc"],
    &["expression", "expr"],
    &["oldstring", "oldstr", "oldtext", "oldcontent"],
    &["newstring", "newstr", "newtext", "newcontent"],
    &["maxresults", "limit", "numresults", "resultlimit", "maxitems"],
    &["email", "emailaddress", "mail"],
    &["phone", "phonenumber", "telephone"],
    &["recipient", "to", "recipientemail"],
    &["sqlquery", "sql", "sqlstatement"],
    &["identifier", "id"],
    &["color", "colour"],
    &["center", "centre"],
];

/// Names of parts, the names of the other part, and the name of the whole, folded. A part is not the whole if the other part
/// is there.
const PARTS: [(&[&str], &[&str], &[&str]); 3] = [
    (
        &["file", "filename", "pathname", "targetfile"],
        &[
            "dir",
            "directory",
            "folder",
            "dirpath",
            "directorypath",
            "folderpath",
            "dirname",
            "basedir",
            "basepath",
            "root",
            "parent",
            "parentdir",
            "cwd",
            "workdir",
            "workingdir",
            "workingdirectory",
            "location",
            "base",
        ],
        &["path", "filepath", "absolutepath"],
    ),
    (
        &["url", "uri", "link", "href", "weburl", "webpage"],
        &["baseurl", "host", "hostname", "domain", "port", "scheme", "querystring"],
        &["url", "uri", "link", "href", "weburl"],
    ),
    (
        &["command", "cmd", "shellcommand", "bashcommand"],
        &["args", "arguments", "argv", "flags", "options"],
        &["command", "cmd", "commandline", "shellcommand", "bashcommand"],
    ),
];

/// Whether `other` is the rest of what `key` begins, so that the key alone is not the whole that `name` stands for.
// Case: shape/key-completed-by-its-sibling
pub(super) fn completes(other: &str, key: &str, name: &str) -> bool {
    let [other, key, name] = [other, key, name].map(|word| fold(undecorated(word)));
    let has = |row: &[&str], word: &String| row.contains(&word.as_str());
    PARTS.iter().any(|(parts, rests, wholes)| has(parts, &key) && has(rests, &other) && has(wholes, &name))
}

/// Whether two names stand for the same argument in the table of synonyms.
fn are_synonyms(one: &str, other: &str) -> bool {
    let (one, other) = (fold(one), fold(other));
    SYNONYMS.iter().any(|row| row.contains(&one.as_str()) && row.contains(&other.as_str()))
}

/// Words of arguments that are one letter or two away from other such words. A key with one of them is no typing error.
const WORDS: [&str; 177] = [
    "accept",
    "access",
    "acquire",
    "active",
    "advice",
    "advise",
    "affect",
    "append",
    "batch",
    "begin",
    "board",
    "branch",
    "casual",
    "causal",
    "cause",
    "change",
    "chart",
    "class",
    "close",
    "code",
    "contact",
    "content",
    "context",
    "contract",
    "cost",
    "count",
    "country",
    "county",
    "create",
    "current",
    "data",
    "date",
    "delete",
    "depend",
    "depth",
    "desert",
    "dessert",
    "destroy",
    "device",
    "devise",
    "disable",
    "disabled",
    "domain",
    "effect",
    "enable",
    "enabled",
    "event",
    "exact",
    "except",
    "excess",
    "exclude",
    "excludes",
    "expect",
    "expected",
    "export",
    "external",
    "extract",
    "field",
    "file",
    "filter",
    "folder",
    "form",
    "formal",
    "format",
    "former",
    "frame",
    "from",
    "grade",
    "graph",
    "group",
    "hash",
    "head",
    "host",
    "image",
    "import",
    "include",
    "includes",
    "insert",
    "interface",
    "internal",
    "interval",
    "item",
    "label",
    "large",
    "layer",
    "level",
    "line",
    "link",
    "list",
    "local",
    "match",
    "median",
    "medium",
    "message",
    "mission",
    "mobile",
    "mode",
    "model",
    "module",
    "name",
    "node",
    "note",
    "page",
    "parent",
    "part",
    "patch",
    "path",
    "place",
    "plan",
    "plane",
    "point",
    "port",
    "post",
    "prepend",
    "price",
    "print",
    "product",
    "products",
    "project",
    "projects",
    "public",
    "quality",
    "quantity",
    "range",
    "rate",
    "reason",
    "region",
    "remote",
    "remove",
    "replay",
    "reply",
    "require",
    "reserve",
    "reverse",
    "role",
    "root",
    "route",
    "rule",
    "scope",
    "score",
    "sealed",
    "search",
    "section",
    "select",
    "session",
    "shape",
    "share",
    "short",
    "side",
    "signed",
    "singed",
    "site",
    "size",
    "sort",
    "source",
    "space",
    "stage",
    "start",
    "state",
    "status",
    "store",
    "style",
    "subject",
    "table",
    "task",
    "text",
    "thorough",
    "through",
    "title",
    "track",
    "trail",
    "trial",
    "type",
    "united",
    "untied",
    "user",
    "version",
];

/// The most edits that a typing error in a word of so many letters has. Short words are too close to each other.
// Case: shape/other-word-is-no-typing-error
const fn most_edits(letters: usize) -> usize {
    match letters {
        0..=5 => 0,
        6..=8 => 1,
        _ => 2,
    }
}

/// Whether `key` can be `name` with one or a few letters wrong. Only one word of it may be, and its first letter must be
/// right: `min_price` is not `max_price`, and `encoding` is not `decoding`.
// Case: shape/typing-error-in-key
fn is_typing_error(key: &str, name: &str) -> bool {
    let (given, meant) = (words(key), words(name));
    if given.len() != meant.len() {
        // A separator was lost as well.
        return is_misspelt(&given.concat(), &meant.concat(), 1);
    }
    let mut wrong = given.iter().zip(&meant).filter(|(given, meant)| given != meant);
    match (wrong.next(), wrong.next()) {
        (Some((given, meant)), None) => is_misspelt(given, meant, most_edits(meant.chars().count())),
        _ => false,
    }
}

fn is_misspelt(given: &str, meant: &str, edits: usize) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (given.chars().collect(), meant.chars().collect());
    let comparable =
        one.len() <= MAX_NAME && other.len() <= MAX_NAME && one.len().abs_diff(other.len()) <= edits;
    let letters = one.iter().chain(&other).all(|ch| ch.is_alphabetic());
    let edits = edits.min(most_edits(one.len().min(other.len())));
    comparable
        && letters
        && one.first() == other.first()
        && !WORDS.contains(&given)
        && edit_distance(&one, &other) <= edits
}

/// The longest name that is compared letter by letter.
const MAX_NAME: usize = 64;

/// The words of a name, in lower case: `filePath`, `file_path` and `file-path` have two.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for ch in name.chars() {
        let starts = !ch.is_alphanumeric() || (ch.is_uppercase() && was_lower);
        if starts && out.last().is_some_and(|word| !word.is_empty()) {
            out.push(String::new());
        }
        was_lower = ch.is_lowercase() || ch.is_ascii_digit();
        if let Some(word) = out.last_mut().filter(|_| ch.is_alphanumeric()) {
            word.extend(ch.to_lowercase());
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

/// Whether one name is the plural of the other.
pub(super) fn is_plural_of(one: &str, other: &str) -> bool {
    let (one, other) = (fold(one), fold(other));
    let (short, long) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    let Some(ending) = long.strip_prefix(short.trim_end_matches('y')) else { return false };
    let ends_in_y = short.ends_with('y');
    short.len() >= 2 && if ends_in_y { matches!(ending, "ies" | "ys") } else { matches!(ending, "s" | "es") }
}

/// Whether a key means a name: they have the same letters, one is the plural of the other, the key has a typing error, or
/// they are synonyms.
pub(super) fn means(key: &str, name: &str) -> bool {
    // A comment mark takes the key back.
    let is_marked = key.trim_start().starts_with(['#', '/']);
    let key = undecorated(key);
    let is_alike = || fold(key) == fold(name) || is_plural_of(key, name) || are_synonyms(key, name);
    !is_marked && is_name(key) && !adds_letter(key, name) && (is_alike() || is_typing_error(key, name))
}

/// Whether one name is the other with a word of one letter after it: a unit or an axis (`timeout_s`, `position_x`).
// Case: shape/unit-of-one-letter
fn adds_letter(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let (short, long) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    long.len() == short.len() + 1
        && long.starts_with(short)
        && long.last().is_some_and(|word| word.chars().count() == 1)
}

/// Whether a key could be a name. Anything else is the wreck of something else.
fn is_name(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|ch| ch.is_alphanumeric() || "_-. ".contains(ch))
}

/// What models write around a key: marks of Markdown, markup, options and templates.
const MARKS: [char; 19] =
    ['*', '`', '"', '\'', '<', '>', ':', '=', '$', '@', '#', '{', '}', '[', ']', '(', ')', '?', '-'];
/// Words that a schema or a page of documentation has beside a key.
const ANNOTATIONS: [&str; 13] = [
    "string", "str", "integer", "int", "number", "float", "boolean", "bool", "array", "list", "object",
    "required", "optional",
];
/// What models put in front of a key, with a point.
const PREFIXES: [&str; 7] = ["arguments", "args", "parameters", "params", "input", "kwargs", "self"];

/// A key without what is not part of its name: `"<path>"`, `path*`, `path (string, required)`, `--path`, `args.path`.
// Case: shape/decorated-keys
pub(super) fn undecorated(key: &str) -> &str {
    let key = key.trim();
    let bare = match key.split_once(['(', ':', '[']) {
        Some((name, note)) if is_annotation(note) => name,
        _ => key,
    };
    let bare = bare.trim_matches(|ch: char| MARKS.contains(&ch) || ch.is_whitespace());
    match bare.split_once('.') {
        Some((prefix, rest)) if PREFIXES.contains(&fold(prefix).as_str()) => rest,
        _ => bare,
    }
}

fn is_annotation(note: &str) -> bool {
    let mut words = note.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| ANNOTATIONS.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_they_resemble() {
        for (key, name) in [
            ("file", "path"),
            ("File_Path", "filename"),
            ("cmd", "command"),
            ("comand", "command"),
            ("cmomand", "command"),
            ("commmand", "command"),
            ("descrption", "description"),
            ("filepth", "file_path"),
            ("paths", "path"),
            ("query", "queries"),
            ("<path>", "path"),
            ("path (string, required)", "path"),
            ("path: string", "path"),
            ("**path**", "path"),
            ("arguments.path", "path"),
            ("colour", "color"),
        ] {
            assert!(means(key, name), "{key} means {name}");
        }
    }

    #[test]
    fn other_words_are_not_errors() {
        for (key, name) in [
            ("error", "command"),
            ("thought", "path"),
            ("cwd", "command"),
            ("context", "content"),
            ("date", "data"),
            ("node", "mode"),
            ("min_price", "max_price"),
            ("includes", "excludes"),
            ("encoding", "decoding"),
            ("altitude", "latitude"),
            ("user_ip", "user_id"),
            ("image1", "image2"),
            ("src", "dst"),
            ("pat", "path"),
            ("quality", "quantity"),
            ("interval", "internal"),
            ("file<arg_key", "path"),
            ("pattern", "regex"),
            ("name", "title"),
            ("", "path"),
        ] {
            assert!(!means(key, name), "{key} does not mean {name}");
        }
    }

    #[test]
    fn synonyms_are_in_one_row_only() {
        let mut all: Vec<&str> = SYNONYMS.iter().flat_map(|row| row.iter().copied()).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "a name in two rows means two things");
        assert!(all.iter().all(|name| fold(name) == *name), "synonyms are compared folded");
    }
}
