//! An XML element whose attributes are the arguments: `<read_file path="a.txt" limit="5" />`.
//!
//! Arguments in elements of their own are read by the dialects.

use super::members::Event;
use crate::schema::guide::fold;
use crate::syntax::ReadContext;

/// Elements that may stand for the tool.
const ELEMENTS: &[&str] = &[
    "tool",
    "toolcall",
    "tooluse",
    "invoke",
    "function",
    "functioncall",
    "call",
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "command",
    "action",
];
/// Attributes that may name the tool.
const NAMES: &[&str] = &["name", "tool", "function", "toolname"];
/// The entities that XML has.
const ENTITIES: &[(&str, char)] = &[("quot", '"'), ("apos", '\''), ("lt", '<'), ("gt", '>'), ("amp", '&')];

/// Reads a whole text as one element without content.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let text = text.trim();
    let body = text.strip_prefix('<')?;
    let end = body.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.' | ':')))?;
    let (element, mut rest) = body.split_at(end);
    let folded = fold(element);
    let is_tool = |name: &str| context.tool.is_some_and(|tool| fold(tool) == fold(name));
    if !is_tool(element) && !ELEMENTS.contains(&folded.as_str()) {
        return None;
    }
    let mut events = vec![Event::Object(None)];
    loop {
        let trimmed = rest.trim_start();
        if let Some(after) = trimmed.strip_prefix("/>") {
            rest = after;
            break;
        }
        if let Some(content) = trimmed.strip_prefix('>') {
            rest = content
                .trim_start()
                .strip_prefix("</")?
                .strip_prefix(element)?
                .trim_start()
                .strip_prefix('>')?;
            break;
        }
        // Attributes stand apart.
        if trimmed.len() == rest.len() {
            return None;
        }
        let (name, after) = trimmed.split_once('=')?;
        let quote = after.chars().next().filter(|ch| matches!(ch, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        if value.contains(['<', '\n']) {
            return None;
        }
        let (name, value) = (name.trim_end(), decode(value)?);
        let guide = context.guide;
        let names_tool = NAMES.contains(&fold(name).as_str()) && is_tool(&value);
        if !names_tool || guide.declares_key(guide.root(), name) {
            events.extend([Event::Key(name.to_owned()), Event::Bare(value)]);
        }
        rest = after;
    }
    events.push(Event::Close);
    rest.trim().is_empty().then_some(events)
}

/// The text with its entities decoded. An ampersand that begins none is itself, as in a URL.
fn decode(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let name_len =
            rest.bytes().take(10).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
        if rest.as_bytes().get(name_len) != Some(&b';') || name_len == 0 {
            if rest.starts_with('#') {
                return None;
            }
            out.push('&');
            continue;
        }
        let name = &rest[..name_len];
        let known = ENTITIES.iter().find(|(known, _)| *known == name).map(|row| row.1);
        let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        });
        out.push(known.or_else(|| char::from_u32(number?))?);
        rest = &rest[name_len + 1..];
    }
    out.push_str(rest);
    Some(out)
}
