//! Splits the templates of a row into holes and fixed text.
//!
//! It knows the syntax of templates and nothing about the meaning of markers.

use crate::dialect::tag::{NAMESPACES, is_bar};
use crate::dialect::token;

/// The holes of templates.
pub(crate) const HOLES: &[&str] =
    &["name", "arguments", "parameters", "id", "index", "count", "key", "value", "string", "type"];

/// The hole that `text` begins with.
pub(crate) fn hole(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let name = &inner[..inner.find('}')?];
    HOLES.contains(&name).then_some(name)
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// `{name}` and the like.
    Hole(&'t str),
    /// A marker of fixed text: `<|call|>`, `[CALL]`, `✿CALL✿`.
    Token(&'t str),
    /// `<word>`, `<word={name}>`, `<word name="{key}" string="true">`, `<｜SPACE｜word>`
    Open(TagName<'t>, Option<&'t str>),
    /// `</word>`
    Close(TagName<'t>),
    /// `<{key}>` and `</{key}>`: an element that is named after what fills the hole.
    Element(&'t str),
    /// Anything else.
    Text(&'t str),
}

/// The name of a tag: its namespace in the spelling of the reader, and its word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TagName<'t> {
    pub(super) space: String,
    pub(super) word: &'t str,
}

/// Returns the pieces of a template in their order. White space between them is left out, because it is framing in
/// every dialect.
///
/// # Errors
/// If a hole is at a place where no reader would find it again. The message names the character that is in the way.
pub(super) fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut out = Vec::new();
    let mut rest = template;
    let mut text = 0;
    while text < rest.len() {
        let here = &rest[text..];
        let Some((piece, length)) = marked(here)? else {
            text += here.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        push_text(&mut out, &rest[..text]);
        out.push(piece);
        rest = &here[length..];
        text = 0;
    }
    push_text(&mut out, rest);
    Ok(out)
}

/// Whether the key of an argument is between markers, and not in a tag.
///
/// # Errors
/// The same as those of [`pieces`].
pub(super) fn has_key_apart(template: &str) -> Result<bool, String> {
    Ok(pieces(template)?.contains(&Piece::Hole("key")))
}

fn push_text<'t>(out: &mut Vec<Piece<'t>>, text: &'t str) {
    if !text.trim().is_empty() {
        out.push(Piece::Text(text.trim()));
    }
}

/// The hole or marker at the start of `text`, with its length.
fn marked(text: &str) -> Result<Option<(Piece<'_>, usize)>, String> {
    if let Some(name) = hole(text) {
        return Ok(Some((Piece::Hole(name), name.len() + 2)));
    }
    Ok(match text.chars().next() {
        Some('<') => match text.find('>') {
            Some(end) => Some((angled(&text[..=end])?, end + 1)),
            None => None,
        },
        Some('[') => text.find(']').map(|end| end + 1).and_then(|length| {
            let inner = &text[1..length - 1];
            let named = inner.chars().any(char::is_alphabetic) && !inner.contains(['{', '"', '<', '\n']);
            named.then_some((Piece::Token(&text[..length]), length))
        }),
        Some(first) if !first.is_ascii() => {
            let length = text.find(|ch: char| ch.is_whitespace() || ch == '{').unwrap_or(text.len());
            Some((Piece::Token(&text[..length]), length))
        }
        _ => None,
    })
}

/// The piece in angle brackets: a tag, or a marker of fixed text.
fn angled(marker: &str) -> Result<Piece<'_>, String> {
    let inner = &marker[1..marker.len() - 1];
    let closes = inner.starts_with('/');
    let named = inner.trim_start_matches('/');
    if let Some(filled) = hole(named).filter(|filled| filled.len() + 2 == named.len()) {
        return Ok(Piece::Element(filled));
    }
    let full = &named[..named.find(|ch: char| ch.is_whitespace() || ch == '=').unwrap_or(named.len())];
    let header = &named[full.len()..];
    let holes: Vec<(usize, &str)> =
        named.match_indices('{').filter_map(|(at, _)| Some((at, hole(&named[at..])?))).collect();
    // `<word: {name}>`
    let full = full.strip_suffix(':').filter(|_| header.starts_with(' ')).unwrap_or(full);
    if let Some(name) = tag_name(full) {
        if closes && header.is_empty() {
            return Ok(Piece::Close(name));
        }
        // The hole that says what this is. Others say only of which type a value is.
        let says = |(_, hole): &&(usize, &str)| !matches!(*hole, "string" | "type" | "index" | "count");
        let Some(&(at, filled)) = holes.iter().find(says) else {
            return Ok(if header.is_empty() { Piece::Open(name, None) } else { Piece::Token(marker) });
        };
        return match misplaced(named, at) {
            None => Ok(Piece::Open(name, Some(filled))),
            Some(odd) => Err(in_the_way(marker, odd)),
        };
    }
    match holes.first() {
        None => Ok(Piece::Token(marker)),
        Some(&(at, _)) => {
            let odd = |ch: &char| !ch.is_ascii_alphanumeric() && !matches!(ch, '_' | '-' | '/');
            let before = &named[..at];
            let odd = misplaced(named, at).or_else(|| before.chars().find(odd)).unwrap_or('{');
            Err(in_the_way(marker, odd))
        }
    }
}

/// The character that keeps a reader from finding what fills the hole at `at` of a tag: `<word={name}>`,
/// `<word {name}>` and `<word name="{name}">` are found.
fn misplaced(named: &str, at: usize) -> Option<char> {
    let before = named[..at].chars().next_back().unwrap_or('<');
    (!before.is_whitespace() && !matches!(before, '=' | '"' | '\'')).then_some(before)
}

fn in_the_way(marker: &str, odd: char) -> String {
    format!(
        "expected a tag such as <word={{name}}> or <word name=\"{{name}}\">, or a marker of fixed text, found {marker:?} \
         with {odd:?} before what is filled in; write `=` or a blank in its place"
    )
}

/// Splits the name of a tag. `None` if it is no name but a marker of fixed text, such as `|call|`.
fn tag_name(full: &str) -> Option<TagName<'_>> {
    let is_word = |word: &str| {
        word.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    // Bars of either width mean the same to a reader.
    let unbarred = full.trim_start_matches(is_bar);
    if let Some(at) = unbarred.rfind(is_bar) {
        let word = unbarred[at..].trim_start_matches(is_bar);
        let space = unbarred[..at].trim_end_matches(is_bar);
        return (is_word(word) && is_word(space)).then(|| TagName { space: format!("{space}|"), word });
    }
    if unbarred.len() < full.len() {
        return None;
    }
    if let Some(space) = NAMESPACES.iter().find(|space| full.starts_with(**space) && full.len() > space.len())
    {
        let word = &full[space.len()..];
        return is_word(word).then(|| TagName { space: (*space).to_owned(), word });
    }
    match full.rfind([':', '.']) {
        // `<tool_call:suffix>`: the suffix belongs to the word before it.
        Some(at) if token::word(&full[..at]).is_some() => {
            Some(TagName { space: String::new(), word: &full[..at] })
        }
        Some(at) => {
            let (space, word) = full.split_at(at + 1);
            (is_word(word) && is_word(&space[..at])).then(|| TagName { space: space.to_owned(), word })
        }
        None => is_word(full).then(|| TagName { space: String::new(), word: full }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(space: &str, word: &'static str) -> TagName<'static> {
        TagName { space: space.to_owned(), word }
    }

    #[test]
    fn holes_in_markers_are_found_again_or_named() {
        for (template, expected) in [
            ("<fn={name}>{parameters}</fn>", None),
            ("<fn {name}>{parameters}</fn>", None),
            ("<fn: {name}>{parameters}</fn>", None),
            ("<fn name=\"{name}\">{parameters}</fn>", None),
            ("<｜ACME｜fn name=\"{name}\">{parameters}</｜ACME｜fn>", None),
            ("<acme:fn name=\"{name}\">{parameters}</acme:fn>", None),
            ("<|fn|>{name}<|with|>{arguments}", None),
            ("<fn:{name}>{arguments}</fn>", Some(("<fn:{name}>", ':'))),
            ("<fn-{name}>{arguments}</fn>", Some(("<fn-{name}>", '-'))),
            ("<fn={name}>{arguments}</fn:{name}>", Some(("</fn:{name}>", ':'))),
            ("<|fn.{name}|>{arguments}", Some(("<|fn.{name}|>", '.'))),
            ("<|fn {name}|>{arguments}", Some(("<|fn {name}|>", '|'))),
        ] {
            match (pieces(template), expected) {
                (Ok(_), None) => {}
                (Err(error), Some((marker, odd))) => {
                    assert!(error.contains(&format!("{marker:?} with {odd:?}")), "{template}: {error}");
                }
                (found, _) => panic!("{template}: {found:?}"),
            }
        }
    }

    #[test]
    fn templates_are_split_into_pieces() {
        for (template, expected) in [
            (
                "<|fn|>{name}[ARGS]{arguments}<|/fn|>\n",
                vec![
                    Piece::Token("<|fn|>"),
                    Piece::Hole("name"),
                    Piece::Token("[ARGS]"),
                    Piece::Hole("arguments"),
                    Piece::Token("<|/fn|>"),
                ],
            ),
            (
                "<do it=\"{name}\">\n{parameters}</do>",
                vec![
                    Piece::Open(tag("", "do"), Some("name")),
                    Piece::Hole("parameters"),
                    Piece::Close(tag("", "do")),
                ],
            ),
            (
                "<｜A｜arg type=\"{type}\" name=\"{key}\"><ifm|x></x.y:z><{key}>",
                vec![
                    Piece::Open(tag("A|", "arg"), Some("key")),
                    Piece::Open(tag("ifm|", "x"), None),
                    Piece::Token("</x.y:z>"),
                    Piece::Element("key"),
                ],
            ),
            (
                "[{\"name\": \"{name}\"}]",
                vec![Piece::Text("[{\"name\": \""), Piece::Hole("name"), Piece::Text("\"}]")],
            ),
            ("✿RUN✿ {name}", vec![Piece::Token("✿RUN✿"), Piece::Hole("name")]),
        ] {
            assert_eq!(pieces(template).as_ref(), Ok(&expected), "{template}");
        }
    }
}
