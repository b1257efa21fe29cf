//! The meaning of strings that have escapes without one.

use crate::strict::{check_escape, parse_hex4};

use super::unescape::unescape_to_string;

/// Returns the meaning of the inside of a string. What JSON gives no meaning, which is half of a surrogate pair or an escape of
/// another language, is given to `unreadable` as it is written.
pub(crate) fn unescape_tolerantly(inner: &str, unreadable: fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let meaning = check_escape(rest.as_bytes(), 0)
            .ok()
            .and_then(|end| Some((end, unescape_to_string(&rest.as_bytes()[..end])?)));
        let end = if let Some((end, meaning)) = meaning {
            out.push_str(&meaning);
            end
        } else {
            let end = unreadable_escape_length(rest);
            unreadable(&rest[..end], &mut out);
            end
        };
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Returns the length of an escape without a meaning: `\u` with its digits, or a backslash with the next character.
fn unreadable_escape_length(text: &str) -> usize {
    if text.as_bytes().get(1) == Some(&b'u') && parse_hex4(text.as_bytes(), 2).is_some() {
        return 6;
    }
    1 + text[1..].chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_meaning_is_kept_as_it_is_written() {
        let keep = |text| unescape_tolerantly(text, |escape, out| out.push_str(escape));
        for (text, expected) in [
            (r"a\nb", "a\nb"),
            (r"\ud83d\ude00", "😀"),
            (r"x\ud83d", r"x\ud83d"),
            (r"\ude00y", r"\ude00y"),
            (r"\ud83d\n", "\\ud83d\n"),
            (r"\ud83d\ud83d\ude00", "\\ud83d😀"),
            (r"\xé\é", r"\xé\é"),
            (r"\u12", r"\u12"),
            ("\\", "\\"),
        ] {
            assert_eq!(keep(text), expected, "{text}");
        }
        assert_eq!(unescape_tolerantly(r"\udc00!", |_, out| out.push('?')), "?!");
    }
}
