//! What comes next: white space and comments, keys with their colons, and what may follow a value.
//!
//! Every question here has three answers, because the text may end before one is certain. None looks further than
//! [`MAX_LENGTH`], so a text that keeps a question open does not make reading slow.

use super::string::decode_into;
use crate::json::text;

/// How far to look for the answer. What is longer is no key, and no white space between tokens.
pub(super) const MAX_LENGTH: usize = 1024;

/// An answer, with the length of what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Yes(usize),
    No,
    /// More text decides.
    Wait,
}

/// Waits for more text, unless there is too much already.
fn wait(rest: &str) -> Seen {
    if rest.len() > MAX_LENGTH { Seen::No } else { Seen::Wait }
}

/// The white space and comments that a text begins with. More may follow at the end of the text, but it is enough to begin with.
pub(super) fn after_trivia(rest: &str) -> Seen {
    let mut at = 0;
    loop {
        at += rest[at..].len() - rest[at..].trim_start().len();
        let here = &rest[at..];
        let comment = if here.starts_with("//") || here.starts_with('#') {
            here.find('\n')
        } else if here.starts_with("/*") {
            here.find("*/").map(|end| end + "*/".len())
        } else if here == "/" {
            None
        } else {
            return Seen::Yes(at);
        };
        match comment {
            Some(length) => at += length,
            None if at > 0 => return Seen::Yes(at),
            None => return wait(here),
        }
    }
}

/// Whether a text is more than white space and the beginning of a fence.
pub(super) fn words_in(text: &str) -> Seen {
    let text = text.trim();
    let (ticks, label) = text.split_at(text.len() - text.trim_start_matches('`').len());
    match ticks.len() {
        0 if label.is_empty() => Seen::No,
        1 | 2 if label.is_empty() => Seen::Wait,
        3.. if label.len() < MAX_LENGTH && !label.contains(char::is_whitespace) => Seen::Wait,
        _ => Seen::Yes(text.len()),
    }
}

/// The part of a line that is before a comment.
pub(super) fn without_comment(line: &str) -> &str {
    let comment = [" //", "/*", "\t//"].iter().filter_map(|mark| line.find(mark)).min();
    &line[..comment.unwrap_or(line.len())]
}

/// The text after white space and comments, if there is any.
fn beyond_trivia(rest: &str) -> Result<&str, Seen> {
    match after_trivia(rest) {
        Seen::Yes(0) if rest.is_empty() => Err(Seen::Wait),
        Seen::Yes(0) => Ok(rest),
        Seen::Yes(at) if at > MAX_LENGTH => Err(Seen::No),
        Seen::Yes(at) => beyond_trivia(&rest[at..]),
        other => Err(other),
    }
}

/// Reads a key with its colon. Returns the key as a JSON string, and how long both are.
pub(super) fn key_at(rest: &str) -> Result<(String, usize), Seen> {
    let Some(first) = rest.chars().next() else { return Err(Seen::Wait) };
    let mut key = String::from("\"");
    let end = if let Some(quote) = closing_quote(first) {
        let inside = &rest[first.len_utf8()..];
        let length = find_quote(inside, quote)?;
        decode_into(&inside[..length], &mut key);
        first.len_utf8() + length + quote.len_utf8()
    } else {
        let is_part = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '$' | '.');
        let length = rest.find(|ch| !is_part(ch)).ok_or_else(|| wait(rest))?;
        if length == 0 {
            return Err(Seen::No);
        }
        text::escape_into(&mut key, &rest[..length]);
        length
    };
    key.push('"');
    let after = beyond_trivia(&rest[end..])?;
    if !after.starts_with(':') {
        return Err(Seen::No);
    }
    Ok((key, rest.len() - after.len() + 1))
}

/// The length of the text before the quote that ends a key.
fn find_quote(inside: &str, quote: char) -> Result<usize, Seen> {
    let mut is_escaped = false;
    for (at, ch) in inside.char_indices() {
        if at > MAX_LENGTH {
            return Err(Seen::No);
        }
        match ch {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if ch == quote => return Ok(at),
            _ => {}
        }
    }
    Err(wait(inside))
}

/// The quote that closes what this one opens.
pub(super) fn closing_quote(opening: char) -> Option<char> {
    match opening {
        '"' | '\'' | '`' => Some(opening),
        '“' | '”' => Some('”'),
        '‘' | '’' => Some('’'),
        _ => None,
    }
}

/// Whether the text begins with a key and its colon, or with the end of an object.
pub(super) fn key_follows(rest: &str) -> Seen {
    match beyond_trivia(rest) {
        Ok(here) if here.starts_with('}') => Seen::Yes(0),
        Ok(here) => match key_at(here) {
            Ok((_, length)) => Seen::Yes(length),
            Err(seen) => seen,
        },
        Err(seen) => seen,
    }
}

/// Whether the text begins with an object.
pub(super) fn object_follows(rest: &str) -> Seen {
    match beyond_trivia(rest) {
        Ok(here) if here.starts_with('{') => key_follows(&here[1..]),
        Ok(_) => Seen::No,
        Err(seen) => seen,
    }
}

/// Whether this is what follows a value: the end of its object or array, or a comma and the next member or element.
pub(super) fn value_follows(rest: &str, is_in_object: bool) -> Seen {
    let here = match beyond_trivia(rest) {
        Ok(here) => here,
        Err(seen) => return seen,
    };
    let has_line_break = rest[..rest.len() - here.len()].contains('\n');
    match here.as_bytes()[0] {
        b'}' if is_in_object => Seen::Yes(0),
        b']' if !is_in_object => Seen::Yes(0),
        b',' if is_in_object => key_follows(&here[1..]),
        b',' => element_follows(&here[1..]),
        // Without a comma, only a line break separates.
        _ if is_in_object && has_line_break => key_follows(here),
        _ if has_line_break => element_follows(here),
        _ => Seen::No,
    }
}

/// Whether the text begins with an element of an array, or with its end.
fn element_follows(rest: &str) -> Seen {
    match beyond_trivia(rest) {
        Ok(here) => {
            let first = here.chars().next().unwrap_or_default();
            let is_value = closing_quote(first).is_some() || first.is_ascii_digit() || "{[]-".contains(first);
            let is_literal = ["true", "false", "null", "True", "False", "None"];
            if is_value || is_literal.iter().any(|literal| here.starts_with(literal)) {
                Seen::Yes(0)
            } else if is_literal.iter().any(|literal| literal.starts_with(here)) {
                Seen::Wait
            } else {
                Seen::No
            }
        }
        Err(seen) => seen,
    }
}
