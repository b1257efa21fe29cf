//! Splits a name as the model emitted it into the name itself, residue of the chat template, and arguments glued to it.
//!
//! A split is all or nothing: if any part cannot be explained, the name is not split. Tools are not looked up here.

use crate::json::{strict, text};
use crate::shape::envelope;

/// Words of chat templates that follow a leaked token.
const CHANNEL_WORDS: &[&str] = &["commentary", "analysis", "final", "json", "code", "python"];
/// Quotes and punctuation that mean nothing at the edge of a name.
const EDGE_CHARS: &[char] = &['"', '\'', '`', '*', ',', '>', ';', '\\'];

/// A notation that writes arguments as pairs of tags.
struct PairNotation {
    key_open: &'static str,
    /// Whether the opening tag of the key may be missing or be another marker.
    key_open_optional: bool,
    key_close: &'static str,
    value_open: &'static str,
    value_close: &'static str,
}

const PAIR_NOTATIONS: &[PairNotation] = &[
    PairNotation {
        key_open: "<arg_key>",
        key_open_optional: true,
        key_close: "</arg_key>",
        value_open: "<arg_value>",
        value_close: "</arg_value>",
    },
    PairNotation {
        key_open: "<parameter=",
        key_open_optional: false,
        key_close: ">",
        value_open: "",
        value_close: "</parameter>",
    },
];

/// Arguments that the model wrote into the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GluedArguments {
    /// The arguments as text.
    Text(String),
    /// The parenthesised part of a function call.
    Call(String),
}

/// The parts of an emitted name.
#[derive(Debug)]
pub(crate) struct NameParts<'e> {
    pub(crate) core: &'e str,
    pub(crate) glued: Option<GluedArguments>,
}

/// Splits an emitted name, if every byte of it belongs to one of the parts.
pub(crate) fn split_emitted_name(emitted: &str) -> Option<NameParts<'_>> {
    let start = skip_prefix(emitted);
    let end = start.find(|ch: char| !(ch.is_alphanumeric() || "-_.:/@$".contains(ch))).unwrap_or(start.len());
    let (core, rest) = start.split_at(end);
    let core = core.trim_end_matches(['.', ':', '/', '-']);
    if core.is_empty() {
        return None;
    }
    match explain_suffix(rest) {
        Suffix::Residue => Some(NameParts { core, glued: None }),
        Suffix::Arguments(glued) => Some(NameParts { core, glued: Some(glued) }),
        Suffix::Unexplained => None,
    }
}

/// The name without the backslashes that Markdown wants before punctuation: `get\_airport`.
pub(crate) fn without_markdown_escapes(emitted: &str) -> Option<String> {
    let escaped = emitted.contains("\\_") || emitted.contains("\\.") || emitted.contains("\\-");
    escaped.then(|| emitted.replace("\\_", "_").replace("\\.", ".").replace("\\-", "-"))
}

/// One half of a name that was written twice in a row. The number and the word of a host may be between the halves, where a
/// whole header was written twice: `f:0functions.f`.
// Case: dialects/kimi_k2/doubled-header
pub(crate) fn half_of_doubled(emitted: &str) -> Option<&str> {
    let (first, second) = emitted.split_at_checked(emitted.len() / 2)?;
    if first == second && !first.is_empty() {
        return Some(first);
    }
    let (first, rest) = emitted.split_once(':')?;
    let second = rest.trim_start_matches(|ch: char| ch.is_ascii_digit());
    let is_numbered = second.len() < rest.len();
    (is_numbered && !first.is_empty() && second.strip_prefix("functions.") == Some(first)).then_some(first)
}

/// The name between a host's word and a number, whose separators were lost: `functionsexec5` is `functions.exec:5`.
pub(crate) fn between_host_marks(emitted: &str) -> Option<&str> {
    let rest = emitted.strip_prefix("functions")?;
    let name = rest.trim_end_matches(|ch: char| ch.is_ascii_digit());
    (name.len() < rest.len() && !name.is_empty()).then_some(name)
}

/// What follows a name.
enum Suffix {
    /// Nothing, or only residue.
    Residue,
    Arguments(GluedArguments),
    Unexplained,
}

impl Suffix {
    fn text(arguments: &str) -> Self {
        Suffix::Arguments(GluedArguments::Text(arguments.to_owned()))
    }
}

fn explain_suffix(rest: &str) -> Suffix {
    if rest.starts_with('(') {
        return Suffix::Arguments(GluedArguments::Call(rest.to_owned()));
    }
    if let Some(pairs) = PAIR_NOTATIONS.iter().find_map(|notation| notation.read_pairs(rest)) {
        return Suffix::Arguments(GluedArguments::Text(pairs));
    }
    let rest = skip_edge(rest);
    let words = rest.split_whitespace().all(|word| CHANNEL_WORDS.contains(&word));
    if words {
        return Suffix::Residue;
    }
    if rest.starts_with('{') {
        return Suffix::text(leading_value(rest));
    }
    if let Some(value) = after_key(rest, envelope::holds_arguments) {
        return Suffix::text(leading_value(value));
    }
    let key = rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-')).unwrap_or(rest.len());
    let is_pair = key > 0 && rest[key..].trim_start().starts_with('=');
    if is_pair { Suffix::text(rest) } else { Suffix::Unexplained }
}

impl PairNotation {
    /// Reads the pairs into a JSON object of strings. The schema gives them their types later.
    fn read_pairs(&self, source: &str) -> Option<String> {
        let mut out = String::from("{");
        let mut keys: Vec<&str> = Vec::new();
        let mut rest = source;
        loop {
            let opened = skip_edge_until(rest, self.key_open);
            let Some(from_key) =
                opened.strip_prefix(self.key_open).or(self.key_open_optional.then_some(opened))
            else {
                rest = opened;
                break;
            };
            let Some((key, after)) = from_key.split_once(self.key_close) else {
                rest = opened;
                break;
            };
            let key = key.trim();
            let after = if self.value_open.is_empty() { after } else { after.trim_start() };
            let (value, after) = after.strip_prefix(self.value_open)?.split_once(self.value_close)?;
            if key.is_empty()
                || key.contains(|ch: char| ch.is_whitespace() || "<>\"".contains(ch))
                || keys.contains(&key)
            {
                return None;
            }
            if !keys.is_empty() {
                out.push(',');
            }
            keys.push(key);
            text::quote_into(&mut out, key);
            out.push(':');
            text::quote_into(&mut out, value);
            rest = after;
        }
        out.push('}');
        (!keys.is_empty() && skip_edge(rest).is_empty()).then_some(out)
    }
}

/// Returns the strict value that `source` starts with, if only closing brackets follow it, otherwise all of it.
fn leading_value(source: &str) -> &str {
    match strict::check_value(source, 0, 128) {
        Ok(end) if skip_edge(source[end..].trim_start_matches(['}', ')', ']', ' ', '\n'])).is_empty() => {
            &source[..end]
        }
        _ => source,
    }
}

/// Skips leaked tokens, quotes and keys before the name.
fn skip_prefix(emitted: &str) -> &str {
    let mut rest = emitted;
    loop {
        let before = rest.len();
        rest = skip_edge(rest);
        rest = rest.strip_prefix("<function=").unwrap_or(rest);
        rest = after_key(rest, is_name_key).unwrap_or(rest);
        if rest.len() == before {
            return rest;
        }
    }
}

fn skip_edge(source: &str) -> &str {
    skip_edge_until(source, "\0")
}

/// Skips white space, quotes and markers, up to `stop`.
fn skip_edge_until<'s>(source: &'s str, stop: &str) -> &'s str {
    let mut rest = source;
    loop {
        rest = rest.trim_start_matches(|ch: char| {
            ch.is_whitespace()
                || EDGE_CHARS.contains(&ch)
                || matches!(ch, '\u{200b}'..='\u{200d}' | '\u{feff}')
        });
        if rest.starts_with(stop) {
            return rest;
        }
        match leading_marker(rest) {
            Some(length) => rest = &rest[length..],
            None => return rest,
        }
    }
}

/// Returns the length of the special token, or the tag without attributes, that the text starts with.
fn leading_marker(source: &str) -> Option<usize> {
    if let Some(rest) = source.strip_prefix("[TOOL_CALLS]") {
        return Some(source.len() - rest.len());
    }
    let inside = source.strip_prefix('<')?;
    let end = inside.find('>')?;
    let word = |ch: char| ch.is_alphanumeric() || "|｜▁_/-:".contains(ch);
    (end > 0 && inside[..end].chars().all(word)).then_some(end + 2)
}

/// Returns whether this key comes before a name, in a piece of JSON or in a header.
fn is_name_key(key: &str) -> bool {
    envelope::holds_name(key) || matches!(key, "to" | "recipient")
}

/// Returns what follows `key":` or `key=`. An opening brace or quote may come before the key.
fn after_key(source: &str, is_key: fn(&str) -> bool) -> Option<&str> {
    let start = source.trim_start_matches(['{', '"', '\'', ',', ' ', '\n']);
    let end = start.find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_'))?;
    let (key, rest) = start.split_at(end);
    if !is_key(key) {
        return None;
    }
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    rest.strip_prefix([':', '=']).map(str::trim_start)
}
