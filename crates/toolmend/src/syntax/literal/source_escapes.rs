//! Escapes that belong to source text: a string is written as it is, without escaping, and yet it holds `\n` or `\t`.
//!
//! Raw quotes or raw line breaks show that the string is not escaped. Then an escape inside one of its literals is the
//! literal's own, and decoding it would break the program: `print("a\nb")`, `s.split('\n')`.

/// What may be before a literal in source text, besides a line break.
const LEADS: &[u8] = b"([{=,:+ ";
/// What may be after it.
const ENDS: &[u8] = b")]};,.+\n";

/// Whether a literal of decoded text, between two quotes of one line of source text, holds a line break or another control
/// character.
pub(in crate::syntax) fn breaks_a_literal(text: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, b'\n' | b'\t' | b'\r' | 0x08 | 0x0C);
    let mut quotes = memchr::memchr_iter(b'"', text).peekable();
    while let (Some(open), Some(&close)) = (quotes.next(), quotes.peek()) {
        let leads = open == 0 || text[open - 1] == b'\n' || LEADS.contains(&text[open - 1]);
        let ends = text.get(close + 1).is_none_or(|byte| ENDS.contains(byte));
        let inside = &text[open + 1..close];
        if leads && ends && inside.iter().any(is_control) && !inside.starts_with(b"\n\n") {
            return true;
        }
    }
    false
}

/// Whether a document with raw line breaks in a string has escapes there that are source text: `\t`, `\b`, `\f` or `\r`, which no one
/// writes beside raw line breaks, or a `\n` between apostrophes or slashes.
pub(in crate::syntax) fn mixes_with_raw_breaks(text: &[u8]) -> bool {
    let mut at = 0;
    let mut open: Option<usize> = None;
    let mut found = Found::default();
    while let Some(offset) = memchr::memchr3(b'"', b'\\', b'\n', text.get(at..).unwrap_or_default()) {
        at += offset;
        match text[at] {
            b'"' => {
                if open.take().is_some() {
                    if found.is_source() {
                        return true;
                    }
                } else {
                    open = Some(at);
                }
                found = Found::default();
                at += 1;
            }
            b'\n' => {
                found.raw_break |= open.is_some();
                at += 1;
            }
            _ => {
                if let (Some(_), Some(letter)) = (open, text.get(at + 1)) {
                    found.note(text, at, *letter);
                    // `"\newpage`: nothing is before it that a line break could end.
                    let is_first =
                        open == Some(at - 1) && text.get(at + 2).is_some_and(u8::is_ascii_lowercase);
                    found.escape |= is_first && *letter == b'n';
                }
                at += 2;
            }
        }
    }
    found.is_source()
}

/// What was found in one string.
#[derive(Default)]
struct Found {
    raw_break: bool,
    escape: bool,
}

impl Found {
    fn is_source(&self) -> bool {
        self.raw_break && self.escape
    }

    fn note(&mut self, text: &[u8], at: usize, letter: u8) {
        self.escape |= match letter {
            b't' | b'b' | b'f' | b'r' => true,
            b'n' => is_in_apostrophes(text, at) || is_beside_slash(text, at),
            _ => false,
        };
    }
}

/// Whether a slash touches the escape at `at`, and another one is near on its other side: `/\n/`, `s/a/\n/`.
fn is_beside_slash(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).is_some_and(|before| text[before] == b'/');
    before && text.get(at + 2) == Some(&b'/')
}

/// Whether the escape at `at` is between two apostrophes on its line.
fn is_in_apostrophes(text: &[u8], at: usize) -> bool {
    const NEARBY: usize = 64;
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_mark = |byte: &u8| *byte == b'\'';
    let start = at.saturating_sub(NEARBY);
    let mut before = text[start..at].iter().rev().take_while(|byte| **byte != b'\n');
    let Some(back) = before.position(is_mark) else { return false };
    let open = at - 1 - back;
    let mut after =
        text.get(at + 2..).unwrap_or_default().iter().take(NEARBY).take_while(|byte| **byte != b'\n');
    let Some(close) = after.position(is_mark) else { return false };
    let close = at + 2 + close;
    // An apostrophe in a word is no quote.
    let leads = open.checked_sub(1).is_none_or(|before| !is_word(text.get(before)));
    leads && !is_word(text.get(close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_source_text() {
        for text in
            ["print(\"a\nb\")", "s = \"\n\"", "\"\n\".join(y)", "f.write(\"x\n\")\n", "say(\"a\tb\", 1)"]
        {
            assert!(breaks_a_literal(text.as_bytes()), "{text}");
        }
        for text in [
            "print(\"a\")\nprint(\"b\")",
            "{\n  \"a\": 1,\n  \"b\": \"c\"\n}",
            "say \"hi\"\n\"bye\" he said",
            "x = \"\"\ny = \"\"",
        ] {
            assert!(!breaks_a_literal(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn escapes_beside_raw_line_breaks() {
        for text in [
            "{\"a\":\"x\ns.split('\\n')\n\"}",
            "{\"a\":\"\\textbf{x}\n\"}",
            "{\"a\":\"x.replace(/\\n/g, ' ')\n\"}",
        ] {
            assert!(mixes_with_raw_breaks(text.as_bytes()), "{text}");
        }
        for text in [
            "{\"a\":\"x\ny\\nz\"}",
            "{\"a\":\"don't\\nit's\nx\"}",
            "{\n\"a\":\"s.split('\\n')\"}",
            "{\"a\":\"x\n\\\\textbf\"}",
        ] {
            assert!(!mixes_with_raw_breaks(text.as_bytes()), "{text}");
        }
    }
}
