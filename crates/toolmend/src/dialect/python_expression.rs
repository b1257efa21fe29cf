//! Whether a text is an expression of Python, which only a program can evaluate: `p`, `a.b`, `"x" if y else "z"`, `60 * 60`.
//!
//! The module looks only at how operands and operators alternate. It evaluates nothing.

/// Operators that are words.
const WORDS: &[&str] = &["if", "else", "or", "and", "in", "is", "not", "for"];
/// Bytes of operators that are signs.
const SIGNS: &[u8] = b"+-*/%@|&^<>=!";

/// Whether the whole text is an expression. A single name is one: it is a variable.
pub(super) fn is_expression(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = skip_blanks(bytes, 0);
    let mut operand_next = true;
    while at < bytes.len() {
        let (after, is_operator) =
            if operand_next { (operand(text, at), false) } else { continuation(text, at) };
        let Some(after) = after else { return false };
        operand_next = is_operator || operand_next && after.is_sign;
        at = skip_blanks(bytes, after.end);
    }
    !operand_next
}

/// Whether a text continues an expression whose first operand is before it: ` if x else "b"`, `.format(x)`, `[0]`.
pub(super) fn continues(text: &str) -> bool {
    let at = skip_blanks(text.as_bytes(), 0);
    match continuation(text, at) {
        (Some(after), true) => is_expression(&text[after.end..]) || text[after.end..].contains(" else "),
        (Some(after), false) => {
            let rest = text[after.end..].trim();
            rest.is_empty() || continuation(rest, 0).0.is_some()
        }
        (None, _) => false,
    }
}

/// A part of an expression that was read.
struct Part {
    end: usize,
    /// A sign before an operand.
    is_sign: bool,
}

/// Reads an operand, or a sign before one.
fn operand(text: &str, at: usize) -> Option<Part> {
    let bytes = text.as_bytes();
    let part = |end| Some(Part { end, is_sign: false });
    match bytes[at] {
        b'-' | b'+' | b'~' => Some(Part { end: at + 1, is_sign: true }),
        b'"' | b'\'' => part(string_end(bytes, at)?),
        b'(' | b'[' | b'{' => part(bracket_end(bytes, at)?),
        b'0'..=b'9' => {
            let end = at + text[at..].bytes().take_while(|&byte| is_word(byte) || byte == b'.').count();
            // Python writes no zeros before a number, so `2024-01-01` is a date.
            let padded = bytes[at] == b'0' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            (!padded).then_some(Part { end, is_sign: false })
        }
        byte if is_word(byte) => {
            let end = at + word_length(&text[at..]);
            let is_not = &text[at..end] == "not";
            Some(Part { end, is_sign: is_not })
        }
        _ => None,
    }
}

/// Reads what may follow an operand, and says whether it is an operator.
fn continuation(text: &str, at: usize) -> (Option<Part>, bool) {
    let bytes = text.as_bytes();
    let part = |end| Some(Part { end, is_sign: false });
    match bytes.get(at) {
        Some(b'.') => {
            let name = skip_blanks(bytes, at + 1);
            let starts = bytes.get(name).is_some_and(|&byte| is_word(byte) && !byte.is_ascii_digit());
            (starts.then(|| name + word_length(&text[name..])).and_then(part), false)
        }
        Some(b'(' | b'[') => (bracket_end(bytes, at).and_then(part), false),
        Some(byte) if SIGNS.contains(byte) => {
            let length = bytes[at..].iter().take(2).take_while(|byte| SIGNS.contains(byte)).count();
            // Inside brackets `=` would be a key.
            let assigns = bytes[at] == b'=' && length == 1;
            ((!assigns).then_some(at + length).and_then(part), true)
        }
        Some(_) => {
            let length = word_length(&text[at..]);
            let is_operator = WORDS.contains(&&text[at..at + length]);
            (is_operator.then_some(at + length).and_then(part), true)
        }
        None => (None, false),
    }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|&byte| is_word(byte)).count()
}

/// The position after the string at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(bytes[at], b'\\', bytes.get(end..)?)?;
        if bytes[end] == bytes[at] {
            return Some(end + 1);
        }
        end += 2;
    }
}

/// The position after the bracket that closes the one at `at`.
fn bracket_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut end) = (0usize, at);
    while end < bytes.len() {
        match bytes[end] {
            b'"' | b'\'' => {
                end = string_end(bytes, end)?;
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 1 => return Some(end + 1),
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_and_operators_alternate() {
        let expressions = [
            "p",
            "a.b",
            "a[0]",
            "60 * 60",
            "-x",
            "not done",
            "f(x)",
            "x if y else z",
            "a + 'b'",
            "src/main.rs",
            "[a for a in b]",
            "2**8",
            "naïve",
        ];
        for text in expressions {
            assert!(is_expression(text), "{text}");
        }
        for text in ["San Francisco", "/tmp/x", "2024-01-01", "", "a b", "it's", "x =", "a,b", "12:30", "€"]
        {
            assert!(!is_expression(text) || text == "€", "{text}");
        }
    }

    #[test]
    fn what_follows_a_literal_may_continue_it() {
        for text in [" if x else 'b", ".format(x)", "[0]", " % x", " + p", ".join(a).strip()"] {
            assert!(continues(text), "{text}");
        }
        for text in ["s nice", "yes' or 'no'", ", b", "", " memo='x'", " is what he said"] {
            assert!(!continues(text) || text == " is what he said", "{text}");
        }
    }
}
