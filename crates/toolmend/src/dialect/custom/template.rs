//! Splits the templates of a row into holes and fixed text.
//!
//! It knows the syntax of templates and nothing about the meaning of markers.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// `{name}` and the like.
    Hole(&'t str),
    /// A marker of fixed text: `<|call|>`, `[CALL]`, `✿CALL✿`.
    Token(&'t str),
    /// `<word>`, `<word={name}>`, `<word name="{key}">`
    Open(&'t str, Option<&'t str>),
    /// `</word>`
    Close(&'t str),
    /// Anything else.
    Text(&'t str),
}

/// The pieces of a template in their order. White space between them is left out, because it is framing in every
/// dialect.
pub(super) fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = template;
    let mut text = 0;
    while text < rest.len() {
        let here = &rest[text..];
        let Some((piece, length)) = marked(here) else {
            text += here.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        plain(&mut out, &rest[..text]);
        out.push(piece);
        rest = &here[length..];
        text = 0;
    }
    plain(&mut out, rest);
    out
}

fn plain<'t>(out: &mut Vec<Piece<'t>>, text: &'t str) {
    if !text.trim().is_empty() {
        out.push(Piece::Text(text.trim()));
    }
}

/// The hole or marker at the start of `text`, with its length.
fn marked(text: &str) -> Option<(Piece<'_>, usize)> {
    if let Some(name) = hole(text) {
        return Some((Piece::Hole(name), name.len() + 2));
    }
    match text.chars().next()? {
        '<' => {
            let length = text.find('>')? + 1;
            Some((tag(&text[1..length - 1]).unwrap_or(Piece::Token(&text[..length])), length))
        }
        '[' => {
            let length = text.find(']')? + 1;
            let inner = &text[1..length - 1];
            let named = inner.chars().any(char::is_alphabetic) && !inner.contains(['{', '"', '<', '\n']);
            named.then_some((Piece::Token(&text[..length]), length))
        }
        first if !first.is_ascii() => {
            let length = text.find(|ch: char| ch.is_whitespace() || ch == '{').unwrap_or(text.len());
            Some((Piece::Token(&text[..length]), length))
        }
        _ => None,
    }
}

/// The first marker in angle brackets whose hole no reader would find again, with the character that is in the way.
///
/// A tag carries a hole as `<word={name}>`, `<word {name}>` or `<word name="{name}">`. All other markers are fixed
/// text.
pub(super) fn misplaced_hole(template: &str) -> Option<(&str, char)> {
    let mut rest = template;
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        let marker = &rest[..=rest.find('>')?];
        let inner = &marker[1..marker.len() - 1];
        let filled = inner.char_indices().find(|&(at, _)| hole(&inner[at..]).is_some());
        if let Some((at, _)) = filled {
            let before = inner[..at].chars().next_back().unwrap_or('<');
            let separates = before.is_whitespace() || matches!(before, '=' | '"' | '\'');
            let is_tag = matches!(tag(inner), Some(Piece::Open(..)));
            if !separates || !is_tag {
                let odd = |ch: &char| !ch.is_ascii_alphanumeric() && !matches!(ch, '_' | '-');
                let in_the_way = if separates { inner.chars().find(odd).unwrap_or(before) } else { before };
                return Some((marker, in_the_way));
            }
        }
        rest = &rest[marker.len()..];
    }
    None
}

/// Parses the text between angle brackets as a tag.
fn tag(inner: &str) -> Option<Piece<'_>> {
    let name = inner.trim_start_matches('/');
    let length =
        name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let (word, header) = name.split_at(length);
    if !word.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_') {
        return None;
    }
    if name.len() < inner.len() {
        return header.is_empty().then_some(Piece::Close(word));
    }
    let held = header.find('{').and_then(|at| hole(&header[at..]));
    (header.is_empty() || held.is_some()).then_some(Piece::Open(word, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_in_markers_are_found_again_or_named() {
        for (template, expected) in [
            ("<fn={name}>{parameters}</fn>", None),
            ("<fn {name}>{parameters}</fn>", None),
            ("<fn name=\"{name}\">{parameters}</fn>", None),
            ("<|fn|>{name}<|with|>{arguments}", None),
            ("<fn:{name}>{arguments}</fn>", Some(("<fn:{name}>", ':'))),
            ("<fn-{name}>{arguments}</fn>", Some(("<fn-{name}>", '-'))),
            ("<fn={name}>{arguments}</fn:{name}>", Some(("</fn:{name}>", ':'))),
            ("<{name}>{arguments}</x>", Some(("<{name}>", '<'))),
            ("<|fn.{name}|>{arguments}", Some(("<|fn.{name}|>", '.'))),
            ("<|fn {name}|>{arguments}", Some(("<|fn {name}|>", '|'))),
        ] {
            assert_eq!(misplaced_hole(template), expected, "{template}");
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
                vec![Piece::Open("do", Some("name")), Piece::Hole("parameters"), Piece::Close("do")],
            ),
            (
                "[{\"name\": \"{name}\"}]",
                vec![Piece::Text("[{\"name\": \""), Piece::Hole("name"), Piece::Text("\"}]")],
            ),
            ("✿RUN✿ {name}", vec![Piece::Token("✿RUN✿"), Piece::Hole("name")]),
        ] {
            assert_eq!(pieces(template), expected, "{template}");
        }
    }
}
