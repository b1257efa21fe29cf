//! The text of a string in Python's notation: escapes, or backslashes that were never escaped.
//!
//! A literal is written in one notation. Either its backslashes are escapes, or they are text: a path of Windows, or
//! commands of LaTeX. Each of these has to explain the whole literal. If both do, and give different texts, the literal is in
//! doubt.

use crate::json::strict;

/// The text of a literal, or why it is in doubt.
pub(crate) type Literal = Result<String, &'static str>;

const BACKSLASHES: &str = "the backslashes of a text may be escapes or part of the text";

/// What was found about the backslashes of a literal.
#[derive(Debug, Default)]
struct Backslashes {
    /// Escaped backslashes and quotes: only someone who escapes writes them.
    proofs: usize,
    /// Escapes that change the text.
    escapes: usize,
    /// Backslashes that Python keeps, and that start a word.
    kept_words: usize,
    /// Backslashes that do not start a word.
    apart: usize,
}

/// The meaning of a literal.
// Case: dialects/pythonic/windows-path
// Case: dialects/pythonic/windows-path-in-doubt
pub(crate) fn meaning(text: &str) -> Literal {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let found = count(text);
    // Without an escape that changes the text, or beside one that only escapes explain, there is no other reading.
    if found.escapes == 0 || found.proofs > 0 {
        return Ok(unescape(text));
    }
    let words = found.kept_words > 0 && found.apart == 0;
    match (has_drive(text), words) {
        (true, true) => Ok(text.to_owned()),
        (false, false) => Ok(unescape(text)),
        _ => Err(BACKSLASHES),
    }
}

fn count(text: &str) -> Backslashes {
    let mut found = Backslashes::default();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let first = rest.chars().next();
        match first {
            // A line break after a backslash continues the line, and only someone who escapes writes that.
            // Case: dialects/py_call/line-continuation
            Some('\\' | '\'' | '"' | '\n') => found.proofs += 1,
            Some('n' | 't' | 'r' | 'b' | 'f' | 'a' | 'v' | '0' | 'x' | 'u' | 'U') if is_escape(rest) => {
                found.escapes += 1;
                found.apart += usize::from(word < 2);
                // Nobody means the control character: `\beta`, `\files`.
                found.kept_words += usize::from(word > 1 && matches!(first, Some('a' | 'b' | 'f' | 'v')));
            }
            _ if word > 1 => found.kept_words += 1,
            _ => found.apart += 1,
        }
        rest = &rest[first.map_or(0, char::len_utf8)..];
    }
    found
}

/// Whether the text after a backslash makes it an escape.
fn is_escape(rest: &str) -> bool {
    let digits = match rest.as_bytes().first() {
        Some(b'x') => 2,
        Some(b'u') => 4,
        Some(b'U') => 8,
        _ => 0,
    };
    rest.as_bytes().get(1..=digits).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
}

/// Whether the text has a drive before a backslash: `C:\temp`. In the middle of a text a drive has a capital letter, because
/// `x:\n` ends a line of a program.
fn has_drive(text: &str) -> bool {
    text.match_indices(":\\").any(|(at, _)| {
        let path = text[at + 2..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let drive = match text.as_bytes()[..at] {
            [.., before, letter] => letter.is_ascii_uppercase() && !before.is_ascii_alphanumeric(),
            [letter] => letter.is_ascii_alphabetic(),
            [] => false,
        };
        drive && path > 1
    })
}

/// Decodes the escapes of a Python string.
pub(crate) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(ch) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let length = ch.len_utf8();
        if ch == '\n' || rest.starts_with("\r\n") {
            rest = rest.strip_prefix('\r').unwrap_or(rest);
            rest = &rest[1..];
            continue;
        }
        let hex = |digits: usize| {
            let code =
                rest.get(1..=digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, 1 + digits))
        };
        let (meaning, length) = match ch {
            'n' => ('\n', length),
            't' => ('\t', length),
            'r' => ('\r', length),
            'b' => ('\u{8}', length),
            'f' => ('\u{c}', length),
            'a' => ('\u{7}', length),
            'v' => ('\u{b}', length),
            '0' => ('\0', length),
            '\\' | '\'' | '"' | '/' => (ch, length),
            'x' => hex(2).unwrap_or(('\\', 0)),
            'u' => read_surrogates(rest).or_else(|| hex(4)).unwrap_or(('\\', 0)),
            'U' => hex(8).unwrap_or(('\\', 0)),
            // Python keeps a backslash that escapes nothing.
            _ => ('\\', 0),
        };
        out.push(meaning);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Two escapes that form one character.
fn read_surrogates(rest: &str) -> Option<(char, usize)> {
    let bytes = rest.as_bytes();
    let high = strict::parse_hex4(bytes, 1).filter(|code| (0xD800..0xDC00).contains(code))?;
    let low = rest.get(5..7).filter(|escape| *escape == "\\u").and_then(|_| strict::parse_hex4(bytes, 7))?;
    let low = Some(low).filter(|code| (0xDC00..0xE000).contains(code))?;
    Some((char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?, 11))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_written_in_one_notation() {
        let raw =
            [r"C:\Users\test\file.txt", r"D:\Program\new\xy.ini", r"\d+ \w*", r"copy C:\Users\ann\notes.txt"];
        for text in raw {
            assert_eq!(meaning(text), Ok(text.to_owned()));
        }
        let escaped = [
            (r"a\nb\tc", "a\nb\tc"),
            (r"C:\\new\\x", r"C:\new\x"),
            (r"\d+\n", "\\d+\n"),
            (r"it\'s", "it's"),
            ("a \\\nb", "a b"),
            ("a \\\r\nb", "a b"),
            (r"if x:\n  y", "if x:\n  y"),
        ];
        for (text, expected) in escaped {
            assert_eq!(meaning(text), Ok(expected.to_owned()));
        }
        for text in [r"C:\new\table.txt", r"\alpha \to \beta", r"grep '\d+' C:\temp"] {
            assert!(meaning(text).is_err(), "{text}");
        }
    }
}
