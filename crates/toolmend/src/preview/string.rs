//! Strings that are still being written: where they end, and what their escapes mean.

use super::lookahead::{Seen, closing_quote, value_follows};
use crate::json::{strict, text};

/// A string that is a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenString {
    quote: char,
    /// An escape had no meaning, so letters after a backslash have none either: this may be a path.
    is_literal: bool,
}

/// What a step through a string came to, with the number of bytes that it took.
pub(super) enum Read {
    More(usize),
    End(usize),
}

impl OpenString {
    /// The string that begins with this quote.
    pub(super) fn of_quote(first: char, rest: &str) -> Result<Self, Seen> {
        let quote = closing_quote(first).ok_or(Seen::No)?;
        // Three quotes begin another notation.
        let mut next = rest.chars().skip(1);
        match (next.next(), next.next()) {
            (None, _) => return Err(Seen::Wait),
            (Some(second), None) if second == first => return Err(Seen::Wait),
            (Some(second), Some(third)) if second == first && third == first => return Err(Seen::No),
            _ => {}
        }
        Ok(OpenString { quote, is_literal: false })
    }

    /// Reads up to the next place that needs a decision, and adds what was read to `shown`.
    pub(super) fn read(&mut self, rest: &str, is_in_object: bool, shown: &mut String) -> Read {
        let plain = rest.find(['\\', self.quote]).unwrap_or(rest.len());
        if plain > 0 {
            text::escape_into(shown, &rest[..plain]);
            return Read::More(plain);
        }
        if rest.starts_with('\\') {
            return Read::More(self.read_escape(rest, shown));
        }
        let length = self.quote.len_utf8();
        match value_follows(&rest[length..], is_in_object) {
            Seen::Wait => Read::More(0),
            Seen::Yes(_) => Read::End(length),
            // A quote in the middle of a text.
            Seen::No => {
                text::escape_into(shown, &rest[..length]);
                Read::More(length)
            }
        }
    }

    /// Reads an escape. Returns its length, or 0 if it is not complete.
    fn read_escape(&mut self, rest: &str, shown: &mut String) -> usize {
        let Some(letter) = rest[1..].chars().next() else { return 0 };
        let length = 1 + letter.len_utf8();
        match letter {
            '"' | '\\' | '/' => shown.push_str(&rest[..length]),
            '\'' | '`' => shown.push(letter),
            'b' | 'f' | 'n' | 'r' | 't' if !self.is_literal => shown.push_str(&rest[..length]),
            'u' if !self.is_literal => match unicode_escape(rest) {
                Ok(length) => {
                    shown.push_str(&rest[..length]);
                    return length;
                }
                Err(Seen::Wait) => return 0,
                Err(_) => self.show_backslash(letter, shown),
            },
            _ => self.show_backslash(letter, shown),
        }
        length
    }

    fn show_backslash(&mut self, letter: char, shown: &mut String) {
        self.is_literal = true;
        shown.push_str("\\\\");
        text::escape_into(shown, letter.encode_utf8(&mut [0; 4]));
    }
}

/// The length of an escape such as `\u00e9`, or of two that are one character.
fn unicode_escape(rest: &str) -> Result<usize, Seen> {
    const LENGTH: usize = "\\u0000".len();
    let bytes = rest.as_bytes();
    let is_begun = |at: usize| {
        bytes[at..].iter().take(LENGTH).enumerate().all(|(index, byte)| match index {
            0 => *byte == b'\\',
            1 => *byte == b'u',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    if !is_begun(0) {
        return Err(Seen::No);
    }
    let Some(unit) = strict::parse_hex4(bytes, 2) else { return Err(Seen::Wait) };
    match unit {
        0xD800..=0xDBFF if !is_begun(LENGTH) => Err(Seen::No),
        0xD800..=0xDBFF => match strict::parse_hex4(bytes, LENGTH + 2) {
            Some(0xDC00..=0xDFFF) => Ok(2 * LENGTH),
            Some(_) => Err(Seen::No),
            None => Err(Seen::Wait),
        },
        0xDC00..=0xDFFF => Err(Seen::No),
        _ => Ok(LENGTH),
    }
}

/// Adds the content of a complete string.
pub(super) fn decode_into(content: &str, shown: &mut String) {
    let mut string = OpenString { quote: '\0', is_literal: false };
    let mut at = 0;
    while at < content.len() {
        match string.read(&content[at..], false, shown) {
            Read::More(0) => {
                // A backslash at the end, or half an escape.
                text::escape_into(shown, &content[at..]);
                return;
            }
            Read::More(length) | Read::End(length) => at += length,
        }
    }
}
