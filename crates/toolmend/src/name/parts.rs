//! A name as it was emitted, taken apart into the name, what leaked around it, and arguments glued to it.

use crate::json::{strict, text};
use crate::shape::envelope;

/// Words of chat templates that follow a leaked token.
const CHANNEL_WORDS: &[&str] = &["commentary", "analysis", "final", "json", "code", "python"];
/// Quotes and punctuation that mean nothing at the edge of a name.
const EDGE: &[char] = &['"', '\'', '`', '*', ',', '>', ';', '\\'];

/// A notation of arguments as tagged pairs.
struct Pairs {
    key_open: &'static str,
    /// Whether the key's opener may be missing or be some other marker.
    key_open_drops: bool,
    key_close: &'static str,
    value_open: &'static str,
    value_close: &'static str,
}

const PAIRS: &[Pairs] = &[
    Pairs {
        key_open: "<arg_key>",
        key_open_drops: true,
        key_close: "</arg_key>",
        value_open: "<arg_value>",
        value_close: "</arg_value>",
    },
    Pairs {
        key_open: "<parameter=",
        key_open_drops: false,
        key_close: ">",
        value_open: "",
        value_close: "</parameter>",
    },
];

/// Arguments that stood in the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Glued {
    /// The arguments as text.
    Text(String),
    /// The bracketed part of a function call.
    Call(String),
}

/// What an emitted name consists of.
#[derive(Debug)]
pub(crate) struct Parts<'e> {
    pub(crate) core: &'e str,
    pub(crate) glued: Option<Glued>,
}

/// The parts, where every byte is explained by one of them.
pub(crate) fn take_apart(emitted: &str) -> Option<Parts<'_>> {
    let start = skip_leading(emitted);
    let end = start.find(|ch: char| !(ch.is_alphanumeric() || "-_.:/@$".contains(ch))).unwrap_or(start.len());
    let (core, rest) = start.split_at(end);
    let core = core.trim_end_matches(['.', ':', '/', '-']);
    if core.is_empty() {
        return None;
    }
    match explain(rest) {
        Rest::Nothing => Some(Parts { core, glued: None }),
        Rest::Arguments(glued) => Some(Parts { core, glued: Some(glued) }),
        Rest::Unexplained => None,
    }
}

/// What follows a name.
enum Rest {
    /// Nothing that matters.
    Nothing,
    Arguments(Glued),
    Unexplained,
}

impl Rest {
    fn text(arguments: &str) -> Self {
        Rest::Arguments(Glued::Text(arguments.to_owned()))
    }
}

fn explain(rest: &str) -> Rest {
    if rest.starts_with('(') {
        return Rest::Arguments(Glued::Call(rest.to_owned()));
    }
    if let Some(pairs) = PAIRS.iter().find_map(|form| form.read(rest)) {
        return Rest::Arguments(Glued::Text(pairs));
    }
    let rest = skip_edge(rest);
    let words = rest.split_whitespace().all(|word| CHANNEL_WORDS.contains(&word));
    if words {
        return Rest::Nothing;
    }
    if rest.starts_with('{') {
        return Rest::text(value_at_start(rest));
    }
    if let Some(value) = led_in_by(rest, envelope::holds_arguments) {
        return Rest::text(value_at_start(value));
    }
    let key = rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-')).unwrap_or(rest.len());
    let is_pair = key > 0 && rest[key..].trim_start().starts_with('=');
    if is_pair { Rest::text(rest) } else { Rest::Unexplained }
}

impl Pairs {
    /// The pairs as a JSON object of strings; the schema gives them their types later.
    fn read(&self, source: &str) -> Option<String> {
        let mut out = String::from("{");
        let mut keys: Vec<&str> = Vec::new();
        let mut rest = source;
        loop {
            let opened = skip_edge_until(rest, self.key_open);
            let Some(from_key) = opened.strip_prefix(self.key_open).or(self.key_open_drops.then_some(opened))
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

/// The strict value that `source` starts with, where only closers follow it; else all of it.
fn value_at_start(source: &str) -> &str {
    match strict::check_value(source, 0, 128) {
        Ok(end) if skip_edge(source[end..].trim_start_matches(['}', ')', ']', ' ', '\n'])).is_empty() => {
            &source[..end]
        }
        _ => source,
    }
}

/// Without the leaked tokens, quotes and keys before the name.
fn skip_leading(emitted: &str) -> &str {
    let mut rest = emitted;
    loop {
        let before = rest.len();
        rest = skip_edge(rest);
        rest = rest.strip_prefix("<function=").unwrap_or(rest);
        rest = led_in_by(rest, leads_in_a_name).unwrap_or(rest);
        if rest.len() == before {
            return rest;
        }
    }
}

fn skip_edge(source: &str) -> &str {
    skip_edge_until(source, "\0")
}

/// Without leading white space, quotes and markers, up to `stop`.
fn skip_edge_until<'s>(source: &'s str, stop: &str) -> &'s str {
    let mut rest = source;
    loop {
        rest = rest.trim_start_matches(|ch: char| {
            ch.is_whitespace() || EDGE.contains(&ch) || matches!(ch, '\u{200b}'..='\u{200d}' | '\u{feff}')
        });
        if rest.starts_with(stop) {
            return rest;
        }
        match marker_at_start(rest) {
            Some(length) => rest = &rest[length..],
            None => return rest,
        }
    }
}

/// The length of a special token or a tag without attributes that the text starts with.
fn marker_at_start(source: &str) -> Option<usize> {
    if let Some(rest) = source.strip_prefix("[TOOL_CALLS]") {
        return Some(source.len() - rest.len());
    }
    let inside = source.strip_prefix('<')?;
    let end = inside.find('>')?;
    let word = |ch: char| ch.is_alphanumeric() || "|｜▁_/-:".contains(ch);
    (end > 0 && inside[..end].chars().all(word)).then_some(end + 2)
}

/// In a piece of JSON, or in a header.
fn leads_in_a_name(key: &str) -> bool {
    envelope::holds_name(key) || matches!(key, "to" | "recipient")
}

/// What follows `key":` or `key=`, with an opening brace or quote before the key where there is one.
fn led_in_by(source: &str, is_key: fn(&str) -> bool) -> Option<&str> {
    let start = source.trim_start_matches(['{', '"', '\'', ',', ' ', '\n']);
    let end = start.find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_'))?;
    let (key, rest) = start.split_at(end);
    if !is_key(key) {
        return None;
    }
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    rest.strip_prefix([':', '=']).map(str::trim_start)
}
