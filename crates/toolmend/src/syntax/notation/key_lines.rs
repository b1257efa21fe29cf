//! Lines of `key: value` or `key = value`, also as bullets with marked keys.
//!
//! Every line is one member. A value ends with its line, so a value that holds another declared key with a separator is
//! doubtful, and the text is not in this notation.

use super::members::Event;
use crate::json::strict;
use crate::json::text::unquote;
use crate::schema::guide::Guide;
use crate::syntax::ReadContext;

/// Marks around a key or a value, in Markdown and elsewhere.
const MARKS: &[&str] = &["**", "__", "`", "\"", "'"];

/// Reads a whole text as one member a line.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let mut events = vec![Event::Object(None)];
    let mut style: Option<(bool, u8)> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let body = strip_bullet(line);
        let entry = split_entry(body, context.guide)?;
        let own = (body.len() < line.len(), entry.separator);
        // One notation: bullets and the separator are the same in all lines.
        if *style.get_or_insert(own) != own {
            return None;
        }
        events.push(Event::Key(entry.key.to_owned()));
        let value = read_value(entry.value, entry.separator, own.0 || entry.marked, context.guide)?;
        // A key in quotes is JSON's, and then so is its value.
        let is_json = |value: &str| strict::check(value, strict::MAX_DEPTH).is_ok();
        if body.starts_with(['"', '\'']) && matches!(value, Event::Bare(_)) && !is_json(entry.value) {
            return None;
        }
        events.push(value);
    }
    events.push(Event::Close);
    // Where bare values of `=` hold blanks, quotes are not needed, so those around another value may be text.
    let spaced = events.iter().any(|event| matches!(event, Event::Bare(word) if word.contains(' ')));
    let quoted = events.iter().any(|event| matches!(event, Event::Quoted(_)));
    let mixed = spaced && quoted && style.is_some_and(|(_, separator)| separator == b'=');
    (!mixed).then_some(events)
}

/// Whether the text begins with a declared key and a separator, as a text in some notation does. A key in quotes is JSON's.
pub(in crate::syntax) fn begins_with_member(text: &str, guide: &Guide) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let body = strip_bullet(line);
    !body.starts_with(['"', '\'', '{', '[']) && split_entry(body, guide).is_some()
}

struct Entry<'t> {
    key: &'t str,
    separator: u8,
    value: &'t str,
    /// Whether the key is marked.
    marked: bool,
}

/// The line without its bullet or number.
fn strip_bullet(line: &str) -> &str {
    for bullet in ["- ", "* ", "• ", "+ "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return rest.trim_start();
        }
    }
    let digits = line.trim_start_matches(|ch: char| ch.is_ascii_digit());
    match digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")) {
        Some(rest) if digits.len() < line.len() => rest.trim_start(),
        _ => line,
    }
}

/// The declared key that a line begins with, its separator and the rest.
fn split_entry<'t>(line: &'t str, guide: &Guide) -> Option<Entry<'t>> {
    let mark = MARKS.iter().find(|mark| line.starts_with(**mark)).copied().unwrap_or_default();
    let body = &line[mark.len()..];
    let end = body
        .find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.' | '$' | '@' | ' ')))
        .unwrap_or(body.len());
    let key = body[..end].trim_end();
    let mut rest = body[key.len()..].trim_start();
    // `**key:** value` has its colon inside the marks.
    let inner = rest.strip_prefix(':').filter(|rest| !mark.is_empty() && rest.starts_with(mark));
    let (separator, value) = if let Some(inner) = inner {
        (b':', &inner[mark.len()..])
    } else {
        rest = rest.strip_prefix(mark)?.trim_start();
        let separator = *rest.as_bytes().first().filter(|byte| matches!(byte, b':' | b'='))?;
        (separator, &rest[1..])
    };
    // `path:x` may be a URL or a label, and `==`, `=>` and `:=` are operators.
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    if separator == b':' && !apart || value.starts_with(['=', '>', '~']) {
        return None;
    }
    guide.declares_key(guide.root(), key).then(|| Entry {
        key,
        separator,
        value: value.trim(),
        marked: !mark.is_empty(),
    })
}

/// The value of a line; `None` if it may be more or less than the text says.
fn read_value(value: &str, separator: u8, marked: bool, guide: &Guide) -> Option<Event> {
    let Some(first) = value.chars().next() else {
        return (separator == b'=').then(|| Event::Bare(String::new()));
    };
    if matches!(first, '{' | '[') && strict::check(value, strict::MAX_DEPTH).is_ok() {
        return Some(Event::Bare(value.to_owned()));
    }
    match first {
        '"' => {
            let whole = strict::check_string(value.as_bytes(), 0) == Ok(value.len());
            return whole.then(|| Event::Quoted(unquote(value).into_owned()));
        }
        '\'' => {
            let inner = value.strip_prefix('\'')?.strip_suffix('\'')?;
            // In YAML and TOML a backslash is text here, elsewhere it may be an escape.
            let escapes = separator == b'=' && inner.contains('\\');
            return (!inner.contains('\'') && !escapes).then(|| Event::Quoted(inner.to_owned()));
        }
        '`' => {
            let inner = value.strip_prefix('`')?.strip_suffix('`')?;
            return (marked && !inner.contains('`')).then(|| Event::Bare(inner.to_owned()));
        }
        // Anchors, tags and block scalars are YAML's, if they are anything. `*.rs` and `!target` are patterns.
        '|' | '>' => return None,
        '&' | '!' | '*'
            if value.contains(' ') || value[1..].bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            return None;
        }
        _ => {}
    }
    // Percent signs that no query string explains are remains of one.
    let encoded = separator == b'=' && value.matches('%').count() > 1 && !value.contains(' ');
    let doubtful = has_comment(value)
        || encoded
        || holds_member(value, guide)
        || holds_label(value)
        || value.ends_with([',', ';'])
        || value.starts_with([',', ';', ']', '}', ')', '=', '\\'])
        || has_lost_quote(value);
    (!doubtful).then(|| Event::Bare(value.to_owned()))
}

/// Whether the text ends with a quote that nothing opens.
pub(super) fn has_lost_quote(value: &str) -> bool {
    ['"', '\''].into_iter().any(|quote| value.ends_with(quote) && value.matches(quote).count() % 2 == 1)
}

/// Whether the text goes on with a word and a separator after a comma, as the next member would: `a.txt, limt: 5`.
fn holds_label(value: &str) -> bool {
    value.split([',', ';']).skip(1).any(|part| {
        let part = part.trim_start();
        let end =
            part.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-'))).unwrap_or(part.len());
        let rest = part[end..].trim_start_matches([' ', '"', '\'']);
        end > 0 && (rest.starts_with('=') || rest.starts_with(": "))
    })
}

/// Whether a `#` in the text may begin a comment. `#12` is a number of something.
fn has_comment(value: &str) -> bool {
    value.match_indices(" #").any(|(at, _)| !value[at + 2..].starts_with(|ch: char| ch.is_ascii_digit()))
}

/// Whether a declared key with a separator is in the text.
pub(in crate::syntax) fn holds_member(text: &str, guide: &Guide) -> bool {
    let mut word = 0;
    let mut after_word = false;
    for (at, ch) in text.char_indices() {
        let in_word = ch.is_alphanumeric() || matches!(ch, '_' | '-');
        if in_word && !after_word {
            word = at;
        }
        let separates = match ch {
            ':' => !text[at + 1..].starts_with(['/', '\\', ':']),
            '=' => !text[at + 1..].starts_with('='),
            _ => false,
        };
        if separates {
            let key =
                text[word..at].trim_end().trim_end_matches(['"', '\'', '`', '*', '”', '’', '\\']).trim_end();
            let key = key.rsplit(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-'))).next();
            if key.is_some_and(|key| !key.is_empty() && guide.declares_key(guide.root(), key)) {
                return true;
            }
            word = at + 1;
        }
        after_word = in_word;
    }
    false
}
