//! What is at a byte when no string is open: punctuation, quotes and trivia, in every spelling that models use.
//!
//! Looks at single positions only, and decides nothing about what they mean in the document.

use crate::repair::RepairKind;

/// Punctuation and quotes, whatever characters they are written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Punctuation {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    OpenParen,
    CloseParen,
    Comma,
    Colon,
    Quote(Quote),
}

/// The delimiter that opened a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    TripleDouble,
    TripleSingle,
    CurlyDouble,
    CurlySingle,
    Guillemet,
    Corner,
    /// A marker of a chat template, with raw text between two of them.
    Marker,
}

impl Quote {
    /// The characters that may close a string opened by this quote.
    const fn closers(self) -> &'static [&'static str] {
        match self {
            Quote::Double => &["\""],
            Quote::Single => &["'"],
            Quote::Backtick => &["`", "´"],
            Quote::TripleDouble => &["\"\"\""],
            Quote::TripleSingle => &["'''"],
            Quote::CurlyDouble => &["”", "“", "‟", "″", "＂"],
            Quote::CurlySingle => &["’", "‘", "‛", "′", "＇"],
            Quote::Guillemet => &["»", "«", "›"],
            Quote::Corner => &["」", "』"],
            Quote::Marker => &["<escape>", "</escape>", "<|\"|>"],
        }
    }

    /// Whether a closer of this quote starts with this byte.
    #[inline]
    fn may_close_with(self, byte: u8) -> bool {
        match self {
            Quote::Double | Quote::TripleDouble => byte == b'"',
            Quote::Single | Quote::TripleSingle => byte == b'\'',
            Quote::Backtick => matches!(byte, b'`' | 0xC2),
            Quote::CurlyDouble | Quote::CurlySingle => matches!(byte, 0xE2 | 0xEF),
            Quote::Guillemet => matches!(byte, 0xC2 | 0xE2),
            Quote::Corner => byte == 0xE3,
            Quote::Marker => byte == b'<',
        }
    }

    /// The length of the closer at `at`, or 0.
    #[inline]
    pub(super) fn closes_at(self, bytes: &[u8], at: usize) -> usize {
        match self {
            Quote::Double => usize::from(bytes.get(at) == Some(&b'"')),
            Quote::Single => usize::from(bytes.get(at) == Some(&b'\'')),
            _ if !bytes.get(at).is_some_and(|&byte| self.may_close_with(byte)) => 0,
            _ => {
                let rest = bytes.get(at..).unwrap_or_default();
                self.closers()
                    .iter()
                    .find(|closer| rest.starts_with(closer.as_bytes()))
                    .map_or(0, |closer| closer.len())
            }
        }
    }

    /// The first closer from `at` on in the same line, with its length.
    pub(super) fn closer_on_line(self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        if let Quote::Double | Quote::Single = self {
            let closer = self.closers()[0].as_bytes()[0];
            let mut from = at;
            loop {
                let end = toolmend_json::scan::find_any(bytes, from, [closer, b'\n'])?;
                if bytes[end] != closer {
                    return None;
                }
                let escapes = bytes[at..end].iter().rev().take_while(|byte| **byte == b'\\').count();
                if escapes % 2 == 0 {
                    return Some((end, 1));
                }
                from = end + 1;
            }
        }
        for end in at..bytes.len() {
            match self.closes_at(bytes, end) {
                0 if bytes[end] == b'\n' => return None,
                0 => {}
                close => return Some((end, close)),
            }
        }
        None
    }

    /// Whether the literal has the escapes of Python or JavaScript.
    pub(super) const fn has_foreign_escapes(self) -> bool {
        matches!(self, Quote::Single | Quote::Backtick | Quote::TripleDouble | Quote::TripleSingle)
    }

    /// Whether the quote is one of typography, which no language has for its strings.
    pub(super) const fn is_typographic(self) -> bool {
        matches!(self, Quote::CurlyDouble | Quote::CurlySingle | Quote::Guillemet | Quote::Corner)
    }

    /// Whether such a literal is written over several lines.
    pub(super) const fn spans_lines(self) -> bool {
        matches!(self, Quote::Backtick | Quote::TripleDouble | Quote::TripleSingle)
    }

    /// Whether backslashes between these quotes are text.
    pub(super) const fn is_raw(self) -> bool {
        matches!(self, Quote::Marker)
    }

    /// The first byte from `at` on that can close a string of this quote, or that such a string cannot simply
    /// contain.
    pub(super) fn plain_run(self, bytes: &[u8], at: usize) -> usize {
        let first = self.closers()[0].as_bytes()[0];
        let wide = self.closers().iter().any(|closer| !closer.is_ascii());
        let stops =
            |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || byte == first || byte >= 0x80 && wide;
        at + bytes[at.min(bytes.len())..]
            .iter()
            .position(|&byte| stops(byte))
            .unwrap_or(bytes.len().saturating_sub(at))
    }

    /// The repair that replaces this quote, unless it is JSON's own.
    pub(super) const fn repair(self) -> Option<RepairKind> {
        match self {
            Quote::Double => None,
            Quote::TripleDouble | Quote::TripleSingle => Some(RepairKind::TripleQuotesReplaced),
            _ => Some(RepairKind::QuotesReplaced),
        }
    }

    /// The closer whose escape JSON does not have.
    pub(super) const fn escaped_closer(self) -> Option<u8> {
        match self {
            Quote::Single | Quote::TripleSingle => Some(b'\''),
            Quote::Backtick => Some(b'`'),
            _ => None,
        }
    }
}

/// Characters beyond ASCII that are written for punctuation.
// Case: syntax/full-width
// Case: syntax/curly-quotes
// Case: syntax/corner-quotes
const WIDE: &[(&str, Punctuation)] = &[
    ("：", Punctuation::Colon),
    ("﹕", Punctuation::Colon),
    ("，", Punctuation::Comma),
    ("、", Punctuation::Comma),
    ("﹐", Punctuation::Comma),
    ("｛", Punctuation::OpenObject),
    ("｝", Punctuation::CloseObject),
    ("［", Punctuation::OpenArray),
    ("］", Punctuation::CloseArray),
    ("【", Punctuation::OpenArray),
    ("】", Punctuation::CloseArray),
    ("“", Punctuation::Quote(Quote::CurlyDouble)),
    ("”", Punctuation::Quote(Quote::CurlyDouble)),
    ("„", Punctuation::Quote(Quote::CurlyDouble)),
    ("‟", Punctuation::Quote(Quote::CurlyDouble)),
    ("″", Punctuation::Quote(Quote::CurlyDouble)),
    ("＂", Punctuation::Quote(Quote::CurlyDouble)),
    ("‘", Punctuation::Quote(Quote::CurlySingle)),
    ("’", Punctuation::Quote(Quote::CurlySingle)),
    ("‚", Punctuation::Quote(Quote::CurlySingle)),
    ("‛", Punctuation::Quote(Quote::CurlySingle)),
    ("′", Punctuation::Quote(Quote::CurlySingle)),
    ("＇", Punctuation::Quote(Quote::CurlySingle)),
    ("«", Punctuation::Quote(Quote::Guillemet)),
    ("‹", Punctuation::Quote(Quote::Guillemet)),
    ("「", Punctuation::Quote(Quote::Corner)),
    ("『", Punctuation::Quote(Quote::Corner)),
];

/// The punctuation at `at` and its length.
#[inline]
pub(super) fn punctuation_at(bytes: &[u8], at: usize) -> Option<(Punctuation, usize)> {
    punctuation_with(bytes, at, |from, quotes| {
        memchr::memmem::find(&bytes[from..], quotes).map(|offset| from + offset)
    })
}

/// The same, with the search for the end of a string in three quotes, which goes through the text: it gets the position to
/// start from and the quotes.
#[inline]
pub(super) fn punctuation_with(
    bytes: &[u8],
    at: usize,
    find: impl Fn(usize, &[u8]) -> Option<usize>,
) -> Option<(Punctuation, usize)> {
    let mark = match *bytes.get(at)? {
        b'{' => Punctuation::OpenObject,
        b'}' => Punctuation::CloseObject,
        b'[' => Punctuation::OpenArray,
        b']' => Punctuation::CloseArray,
        b'(' => Punctuation::OpenParen,
        b')' => Punctuation::CloseParen,
        b',' => Punctuation::Comma,
        b':' => Punctuation::Colon,
        b'`' => Punctuation::Quote(Quote::Backtick),
        b'"' if is_triple(bytes, at, &find) => return Some((Punctuation::Quote(Quote::TripleDouble), 3)),
        b'"' => Punctuation::Quote(Quote::Double),
        b'\'' if is_triple(bytes, at, &find) => return Some((Punctuation::Quote(Quote::TripleSingle), 3)),
        b'\'' => Punctuation::Quote(Quote::Single),
        b'<' => return marker_at(bytes, at).map(|len| (Punctuation::Quote(Quote::Marker), len)),
        0..0x80 => return None,
        lead => {
            // Most characters beyond ASCII are letters, and two bytes show that.
            let second = bytes.get(at + 1);
            if !matches!(
                (lead, second),
                (0xC2, Some(0xAB)) | (0xE2 | 0xE3, Some(0x80)) | (0xEF, Some(0xB9 | 0xBC | 0xBD))
            ) {
                return None;
            }
            let rest = &bytes[at..];
            let is_at_start =
                |ch: &str| ch.len() <= rest.len() && ch.bytes().zip(rest).all(|(one, other)| one == *other);
            return WIDE.iter().find(|(ch, _)| is_at_start(ch)).map(|&(ch, mark)| (mark, ch.len()));
        }
    };
    Some((mark, 1))
}

/// The length of the marker at `at` that a chat template writes for a quote.
// Case: syntax/escape-markers
fn marker_at(bytes: &[u8], at: usize) -> Option<usize> {
    ["<escape>", "<|\"|>"]
        .iter()
        .map(|marker| marker.as_bytes())
        .find(|marker| bytes[at..].starts_with(marker))
        .map(<[u8]>::len)
}

/// Whether three equal quotes open a long string, and are not an empty string before another quote.
// Case: syntax/triple-quotes
fn is_triple(bytes: &[u8], at: usize, find: impl Fn(usize, &[u8]) -> Option<usize>) -> bool {
    let quote = bytes[at];
    let run = bytes[at..].iter().take(7).take_while(|byte| **byte == quote).count();
    let ends_value = |rest: &[u8]| matches!(rest.trim_ascii_start().first(), Some(b',' | b'}' | b']' | b')'));
    let close = || find(at + run, &[quote; 3]).map(|close| close + 3);
    match run {
        3 => close().is_some(),
        // With a fourth quote, the string starts with a quote of its own; six are an empty one.
        // Case: syntax/triple-quotes-with-quote
        4 => close().is_some_and(|close| ends_value(&bytes[close..])),
        6 => ends_value(&bytes[at + 6..]),
        _ => false,
    }
}

/// The ASCII spelling of punctuation.
pub(super) const fn ascii_spelling(mark: Punctuation) -> &'static str {
    match mark {
        Punctuation::OpenObject => "{",
        Punctuation::CloseObject => "}",
        Punctuation::OpenArray => "[",
        Punctuation::CloseArray => "]",
        Punctuation::OpenParen => "(",
        Punctuation::CloseParen => ")",
        Punctuation::Comma => ",",
        Punctuation::Colon => ":",
        Punctuation::Quote(_) => "\"",
    }
}

/// A colon at `at`, or what a model wrote for one. Returns its length and whether it is a plain colon.
// Case: syntax/arrow-and-equals
pub(super) fn colon_at(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    match bytes.get(at)? {
        b':' if bytes.get(at + 1) == Some(&b'=') => Some((2, false)),
        b':' => Some((1, true)),
        b'=' | b'-' if bytes.get(at + 1) == Some(&b'>') => Some((2, false)),
        b'=' if bytes.get(at + 1) == Some(&b'=') => None,
        b'=' => Some((1, false)),
        _ => match punctuation_at(bytes, at)? {
            (Punctuation::Colon, len) => Some((len, false)),
            _ => None,
        },
    }
}

/// Whether there is no trivia at `at`, seen at a glance.
#[inline]
pub(super) fn starts_token(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(0x21..=0x7F)) && !matches!(bytes[at], b'/' | b'#' | b'\\')
}

/// One piece of trivia between tokens: where it ends, and the repair that makes it plain white space (`None` if it already
/// is). Block comments are looked for up to `comments_end`.
#[inline]
pub(super) fn trivia_at(bytes: &[u8], at: usize, comments_end: usize) -> Option<(usize, Option<RepairKind>)> {
    match *bytes.get(at)? {
        b' ' | b'\n' | b'\r' | b'\t' => Some((crate::json::strict::skip_whitespace(bytes, at), None)),
        0x0B | 0x0C | 0x00 => Some((at + 1, Some(RepairKind::UnicodeSpaceReplaced))),
        b'/' => comment_end(bytes, at, comments_end).map(|end| (end, Some(RepairKind::CommentRemoved))),
        b'#' => line_comment_end(bytes, at).map(|end| (end, Some(RepairKind::CommentRemoved))),
        b'\\' => {
            // `\n`, `\\n`, or a backslash at the end of a line.
            let letter = at + bytes[at..].iter().take(4).take_while(|&&byte| byte == b'\\').count();
            matches!(bytes.get(letter), Some(b'n' | b'r' | b't' | b'\n'))
                .then_some((letter + 1, Some(RepairKind::LiteralWhitespaceRemoved)))
        }
        0..0x80 => None,
        _ => unicode_space(bytes, at).map(|len| (at + len, Some(RepairKind::UnicodeSpaceReplaced))),
    }
}

/// The position after a comment that starts at `at`.
fn comment_end(bytes: &[u8], at: usize, comments_end: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'/' => line_comment_end(bytes, at),
        b'*' if at + 4 <= comments_end => {
            memchr::memmem::find(&bytes[at + 2..comments_end], b"*/").map(|offset| at + 2 + offset + 2)
        }
        _ => None,
    }
}

/// The longest line comment. A longer line is text.
const MAX_LINE_COMMENT: usize = 512;

/// The end of a line comment that starts at `at` and is not directly after a quote: `href="#top"` has none.
fn line_comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    if at > 0 && matches!(bytes[at - 1], b'"' | b'\'' | b'`') {
        return None;
    }
    let window = &bytes[at..bytes.len().min(at + MAX_LINE_COMMENT)];
    match memchr::memchr(b'\n', window) {
        Some(offset) => Some(at + offset),
        None => (at + window.len() == bytes.len()).then_some(bytes.len()),
    }
}

/// The length of a space beyond ASCII, zero-width spaces and the byte order mark included.
pub(super) fn unicode_space(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [0xC2, 0x85 | 0xA0 | 0xAD, ..] => Some(2),
        [0xE1, 0x9A, 0x80, ..]
        | [0xE1, 0xA0, 0x8E, ..]
        | [0xE2, 0x80, 0x80..=0x8F | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F | 0xA0, ..]
        | [0xE3, 0x80, 0x80, ..]
        | [0xEF, 0xBB, 0xBF, ..] => Some(3),
        _ => None,
    }
}

/// Whether the byte can be part of a bare key.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b'@') || byte >= 0x80;
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// The position after a bare word.
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let stops =
            byte >= 0x80 && (punctuation_at(bytes, end).is_some() || unicode_space(bytes, end).is_some());
        if !is_word(byte) || stops {
            break;
        }
        end += 1;
        while byte >= 0x80 && bytes.get(end).is_some_and(|next| (0x80..0xC0).contains(next)) {
            end += 1;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_recognised_in_every_spelling() {
        assert_eq!(punctuation_at("，".as_bytes(), 0), Some((Punctuation::Comma, 3)));
        for (ch, mark) in WIDE {
            assert_eq!(punctuation_at(ch.as_bytes(), 0), Some((*mark, ch.len())), "{ch}");
        }
        assert_eq!(punctuation_at(b"\"\"\"x\"\"\"", 0), Some((Punctuation::Quote(Quote::TripleDouble), 3)));
        assert_eq!(punctuation_at(b"\"\"", 0), Some((Punctuation::Quote(Quote::Double), 1)));
        let all = [Quote::Backtick, Quote::CurlyDouble, Quote::CurlySingle, Quote::Guillemet];
        for (quote, closer) in
            all.iter().flat_map(|quote| quote.closers().iter().map(move |closer| (quote, closer)))
        {
            assert_eq!(quote.closes_at(closer.as_bytes(), 0), closer.len(), "{closer}");
        }
        assert_eq!(Quote::CurlyDouble.closes_at("”".as_bytes(), 0), 3);
        assert_eq!(colon_at(b"=> 1", 0), Some((2, false)));
        assert_eq!(colon_at(b"== 1", 0), None);
    }

    #[test]
    fn trivia_ends_where_tokens_start() {
        for (text, end) in
            [("  x", 2), ("// a\nx", 4), ("/* a */x", 7), ("\\nx", 2), ("\u{a0}x", 2), ("# c", 3)]
        {
            let bytes = text.as_bytes();
            assert_eq!(trivia_at(bytes, 0, bytes.len()).map(|piece| piece.0), Some(end), "{text:?}");
        }
        assert_eq!(trivia_at(b"/* open", 0, 0), None);
        assert_eq!(trivia_at(b"\\d", 0, 0), None);
    }

    #[test]
    fn words_stop_at_wide_punctuation() {
        let text = "naïve-key：1";
        assert_eq!(&text[..word_end(text.as_bytes(), 0)], "naïve-key");
    }
}
