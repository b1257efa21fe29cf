//! Flow collections of YAML: `{path: a.txt, pattern: '\d'}`, in a block or as the whole text.

use super::members::Event;
use super::yaml_scalar;
use crate::syntax::ReadContext;

/// Reads a whole text as a flow mapping. Most of them are read as damaged JSON as well, with repairs of single places. Only a
/// scalar in apostrophes that YAML reads in its own way needs this notation: a backslash in it is text.
pub(super) fn read_document(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let start = text.len() - text.trim_start().len();
    if !text[start..].starts_with('{') || !text.contains('\'') {
        return None;
    }
    let flow = read(text, start, context.policy.limits.depth)?;
    let is_yaml = flow.has_bare_text && flow.has_raw_backslash;
    let doubt = flow.may_fold || flow.breaks && is_yaml || flow.has_triple && !flow.has_bare_text;
    if !(is_yaml || flow.folds || doubt) || flow.breaks && !doubt || !text[flow.end..].trim().is_empty() {
        return None;
    }
    let mut events = flow.events;
    if doubt {
        events.push(Event::Doubt);
    }
    Some(events)
}

/// A flow collection.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one observation, and any of them may occur together"
)]
pub(super) struct Flow {
    pub(super) events: Vec<Event>,
    /// The position after its closing bracket.
    pub(super) end: usize,
    /// Whether a value is text without quotes, which JavaScript and Python do not have.
    has_bare_text: bool,
    /// Whether a backslash or a doubled apostrophe is in apostrophes.
    has_raw_backslash: bool,
    /// Whether a scalar begins with three apostrophes, as a string of Python may.
    has_triple: bool,
    /// Whether a quoted scalar is folded over lines as writers of YAML do it.
    folds: bool,
    /// Whether one may be: it has a single break like that.
    may_fold: bool,
    /// Whether one has line breaks that are text.
    pub(super) breaks: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Next {
    Value,
    KeyOrClose,
    ElementOrClose,
    After,
}

/// Reads the flow collection whose bracket is at `start`.
pub(super) fn read(text: &str, start: usize, depth: usize) -> Option<Flow> {
    let mut flow = Flow { end: start, ..Flow::default() };
    // Where each open bracket's event is, and whether it is an object's.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut next = Next::Value;
    let mut at = start;
    loop {
        at = text.len() - text[at..].trim_start().len();
        let ch = text[at..].chars().next()?;
        if ch == '#' {
            return None;
        }
        match (next, ch) {
            (Next::Value | Next::ElementOrClose, '{' | '[') => {
                if open.len() >= depth {
                    return None;
                }
                open.push((flow.events.len(), ch == '{'));
                let raw = Some(at..at);
                flow.events.push(if ch == '{' { Event::Object(raw) } else { Event::Array(raw) });
                next = if ch == '{' { Next::KeyOrClose } else { Next::ElementOrClose };
                at += 1;
            }
            (Next::KeyOrClose | Next::After, '}') | (Next::ElementOrClose | Next::After, ']') => {
                let (index, is_object) = open.pop()?;
                if is_object != (ch == '}') {
                    return None;
                }
                at += 1;
                if let Some(Event::Object(Some(raw)) | Event::Array(Some(raw))) = flow.events.get_mut(index) {
                    raw.end = at;
                }
                flow.events.push(Event::Close);
                next = Next::After;
                if open.is_empty() {
                    flow.end = at;
                    return Some(flow);
                }
            }
            (Next::After, ',') => {
                next = if open.last()?.1 { Next::KeyOrClose } else { Next::ElementOrClose };
                at += 1;
            }
            (Next::KeyOrClose, _) => {
                let (key, end, quoted) = read_scalar(text, at, &mut flow)?;
                flow.events.push(Event::Key(key));
                at = after_colon(text, end, quoted)?;
                let rest = text[at..].trim_start();
                if rest.starts_with([',', '}']) {
                    flow.events.push(Event::Missing);
                    next = Next::After;
                } else {
                    next = Next::Value;
                }
            }
            (Next::Value | Next::ElementOrClose, _) => {
                let (string, end, quoted) = read_scalar(text, at, &mut flow)?;
                flow.has_bare_text |= !quoted && !crate::syntax::number::is_scalar(&string);
                flow.events.push(if quoted { Event::Quoted(string) } else { Event::Bare(string) });
                at = end;
                next = Next::After;
            }
            (Next::After, _) => return None,
        }
    }
}

/// The position after the colon of a key. A bare key needs a blank after its colon.
fn after_colon(text: &str, end: usize, quoted: bool) -> Option<usize> {
    let rest = text[end..].trim_start().strip_prefix(':')?;
    let apart = rest.starts_with([' ', '\n', '\r', '\t', ',', '}', '{', '[', '"', '\'']);
    (quoted || apart).then_some(text.len() - rest.len())
}

/// A scalar in a flow collection: its text, its end, and whether it was quoted.
fn read_scalar(text: &str, at: usize, flow: &mut Flow) -> Option<(String, usize, bool)> {
    let first = text[at..].chars().next()?;
    if matches!(first, '"' | '\'') {
        let (string, end) = yaml_scalar::read_quoted(text, at, None)?;
        let raw = &text[at + 1..end - 1];
        flow.has_raw_backslash |= first == '\'' && (raw.contains('\\') || raw.contains("''"));
        flow.has_triple |= first == '\'' && raw.starts_with("''");
        if raw.contains('\n') {
            match count_folds(raw) {
                0 => flow.breaks = true,
                1 => flow.may_fold = true,
                _ => flow.folds = true,
            }
        }
        return Some((string, end, true));
    }
    if "&*!|>%@`?,]}".contains(first) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let after = bytes.get(end + 1).copied().unwrap_or(b'\n');
        match byte {
            b',' | b'[' | b']' | b'{' | b'}' => break,
            b':' if after.is_ascii_whitespace() || b",[]{}".contains(&after) => break,
            b'#' if bytes[end - 1].is_ascii_whitespace() => return None,
            _ => end += 1,
        }
    }
    let plain = text[at..end].trim_end();
    let folded: Vec<&str> = plain.lines().map(str::trim).collect();
    if plain.is_empty() || folded.iter().any(|line| line.is_empty()) {
        return None;
    }
    Some((folded.join(" "), at + plain.len(), false))
}

/// How many line breaks of a quoted scalar are those of a writer of YAML: each is doubled, and every line is indented alike.
/// A single one may as well be a blank line of the text. Zero if any is different.
fn count_folds(raw: &str) -> usize {
    let mut indents: Vec<usize> = Vec::new();
    let mut after_blank = false;
    let all = raw.split('\n').skip(1).all(|line| {
        let content = line.trim_start_matches(' ');
        let blank = line.is_empty();
        if !blank {
            indents.push(line.len() - content.len());
        }
        let fits = blank || after_blank;
        after_blank = blank;
        fits
    });
    if all && indents.iter().all(|&indent| indent > 0 && indent == indents[0]) { indents.len() } else { 0 }
}
