//! Strings of Python's notation with quotes of their own kind inside.
//!
//! Python ends such a string at the first of these quotes, and so the call cannot be read as Python. It has one reading
//! only if the quotes belong to the text: they are apostrophes, or they pair up. What looks like the end of one argument and the
//! start of the next, or of the next call, means that a quote, a comma or a bracket was lost or doubled. Then nobody
//! knows where the text ends.
// `tests/lost_marks.rs` loses and doubles every mark of every row in this notation.

use super::python_expression;
use crate::text_parts::first_part;

/// How far an expression after a quote is read. Every quote of a text is asked about.
const REACH: usize = 256;

/// Why a string with such quotes is refused.
pub(super) const LOST: &str =
    "a quote, a comma or a bracket is missing or doubled, so the end of a text is not known";

/// What the string is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The value of an argument with a key.
    Keyed,
    /// An element, a member, or an argument without a key.
    Listed,
}

/// Whether the quotes inside the text may be structure.
// Case: dialects/pythonic/lost-quote-before-a-call
// Case: dialects/pythonic/conditional-value
pub(super) fn hold_structure(text: &str, mark: u8, slot: Slot) -> bool {
    let (mut unpaired, mut first) = (false, true);
    let mut brackets = OwnBrackets::default();
    for at in quotes(text.as_bytes(), mark) {
        brackets.advance(text, at);
        let (before, after) = (&text[..at], &text[at + 1..]);
        let is_single = mark == b'\'' && before.ends_with(char::is_alphanumeric);
        let within_word = is_single && after.starts_with(char::is_alphanumeric);
        // `the boys' house`
        let after_word =
            is_single && after.strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        unpaired ^= !within_word && !after_word;
        // A quote after a blank or a bracket opens something.
        let closes = before.ends_with(|ch: char| !ch.is_whitespace() && !"=(,[{:".contains(ch));
        let goes_on = continues_expression(after)
            || closes && (continues_closed(after, mark) || is_before_text(after, mark));
        let ends_value = first && !within_word && goes_on;
        if ends_value || is_before_key(after) || is_opening(before, slot, brackets) {
            return true;
        }
        first = false;
    }
    let mark = char::from(mark);
    let doubled = text.len() > 1 && text.starts_with(mark) && text.ends_with(mark);
    unpaired || doubled || holds_next_call(text)
}

/// Whether a text after a quote continues an expression, together with the quote that ends it.
// Case: dialects/py_call/formatted-text
fn continues_closed(after: &str, mark: u8) -> bool {
    after.len() <= REACH && python_expression::continues(&format!("{after}{}", char::from(mark)))
}

/// Whether a text after a quote continues an expression, as far as it is looked at.
fn continues_expression(after: &str) -> bool {
    python_expression::continues(first_part(after, REACH))
}

/// Whether a text begins with a comma and another text: `'a', 'b'`.
// Case: dialects/py_call/two-texts
fn is_before_text(text: &str, mark: u8) -> bool {
    let next = text.trim_start().strip_prefix(',').map(str::trim_start);
    next.is_some_and(|next| next.starts_with(char::from(mark)))
}

/// The positions of quotes without a backslash.
fn quotes(bytes: &[u8], mark: u8) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let found = at + memchr::memchr2(mark, b'\\', bytes.get(at..)?)?;
            if bytes[found] == mark {
                at = found + 1;
                return Some(found);
            }
            at = found + 2;
        }
    })
}

/// Whether a text begins with `key=`, after a comma or not. After a comma, the sign may be lost or doubled.
pub(super) fn is_before_key(text: &str) -> bool {
    let text = text.trim_start();
    let (text, comma) = text.strip_prefix(',').map_or((text, false), |text| (text.trim_start(), true));
    let length = name_length(text);
    let sign = text[length..].trim_start();
    let is_sign = if comma {
        sign.starts_with(['=', '"', '\''])
    } else {
        sign.starts_with('=') && !sign.starts_with("==")
    };
    length > 0 && is_sign
}

/// The round brackets of a text up to some position.
#[derive(Debug, Clone, Copy, Default)]
struct OwnBrackets {
    at: usize,
    depth: usize,
    /// One was closed that the text did not open.
    is_broken: bool,
}

impl OwnBrackets {
    fn advance(&mut self, text: &str, to: usize) {
        for byte in text[self.at..to].bytes() {
            match byte {
                b'(' => self.depth += 1,
                b')' if self.depth == 0 => self.is_broken = true,
                b')' => self.depth -= 1,
                _ => {}
            }
        }
        self.at = to;
    }

    /// Whether the position is inside brackets that the text opened, so that a key there belongs to a call in the text.
    fn is_inside(self) -> bool {
        self.depth > 0 && !self.is_broken
    }
}

/// Whether the quote after this text opens a value.
fn is_opening(before: &str, slot: Slot, brackets: OwnBrackets) -> bool {
    let before = before.trim_end();
    match (slot, before.strip_suffix('=')) {
        (Slot::Listed, _) if before.ends_with([',', '(', '[', '{', ':', '=']) => true,
        (_, Some(key)) => {
            let key = key.trim_end();
            let start = key.trim_end_matches(|ch: char| ch.is_alphanumeric() || ch == '_');
            start.len() < key.len() && start.trim_end().ends_with([',', '(']) && !brackets.is_inside()
        }
        _ => false,
    }
}

/// Whether a text contains the end of a call and the start of the next one: `), name(`.
fn holds_next_call(text: &str) -> bool {
    text.match_indices(')').any(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches([' ', '\t', ')', ']']);
        let Some(next) = rest.strip_prefix([',', ';', '\n']) else { return false };
        let next = next.trim_start();
        let length = name_length(next);
        length > 0 && next[length..].starts_with('(')
    })
}

fn name_length(text: &str) -> usize {
    let is_name = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '.' | '-');
    text.find(|ch| !is_name(ch)).unwrap_or(text.len())
}

/// Whether a value without quotes contains a mark of the notation, so that it may have swallowed its neighbour.
pub(super) fn holds_marks(word: &str) -> bool {
    let inner = |at: usize| {
        let (before, after) = (&word[..at], &word[at + 1..]);
        before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
    };
    word.contains('"')
        || word.match_indices('\'').any(|(at, _)| !inner(at))
        || word
            .match_indices('(')
            .any(|(at, _)| word[..at].ends_with(|ch: char| ch.is_alphanumeric() || ch == '_'))
        || word.match_indices([' ', '\n']).any(|(at, _)| is_before_key(&word[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_a_text_are_apostrophes_or_pair_up() {
        let texts = [
            ("it's \"nice\"", b'\''),
            ("echo 'a', 'b'", b'\''),
            ("say \"hi\" now", b'"'),
            ("print('hi')", b'\''),
            ("the boys' house", b'\''),
            ("f(x, sep='-')", b'\''),
        ];
        for (text, mark) in texts {
            assert!(!hold_structure(text, mark, Slot::Keyed), "{text}");
        }
        let texts = [
            "ls), run_shell(command='pwd",
            "DE1' memo='x",
            "a' if x else 'b",
            "'x",
            "x'",
            "'x'",
            "x, b='y",
            "Oslo, days=3), delete_file(path='a",
            "a'.format(x), 'b",
            "rm %s' % 'a",
            "ls', '-a",
        ];
        for text in texts {
            assert!(hold_structure(text, b'\'', Slot::Keyed), "{text}");
        }
        for text in ["x, 'y", "x', 'y", "x': 'y"] {
            assert!(hold_structure(text, b'\'', Slot::Listed), "{text}");
        }
    }
}
