//! The one reader of JSON text: checks it against RFC 8259 and reports what it meets to a [`Visitor`].
//!
//! The reader makes one pass, allocates nothing and does not recurse. Beyond the grammar it asks for two things: no lone
//! surrogates, and nesting within a limit. It never builds values and never turns numbers into floats, so `1e999` is valid
//! here. Everything that reads JSON in this workspace is a visitor of this reader: `Tree`, `Document`,
//! `value::parse` and the value builder for Python.

mod scalar;

use std::fmt;

use crate::kind::Kind;
use scalar::StringRead;
pub(crate) use scalar::decode_unicode_escape;
pub use scalar::{check_escape, check_number, check_string, parse_hex4};

/// The deepest nesting that a caller can allow. The stack of open brackets is a fixed array of bits.
pub const MAX_DEPTH: usize = 1024;

/// Why text is not strict JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The grammar is broken at this byte.
    Syntax(usize),
    /// Brackets are nested deeper than the limit at this byte.
    Depth(usize),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Syntax(at) => write!(out, "expected JSON, found a syntax error at byte {at}"),
            Fault::Depth(at) => write!(out, "brackets are nested too deeply at byte {at}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Checks that the whole text is one JSON value.
///
/// # Errors
///
/// The first [`Fault`].
///
/// ```
/// use toolmend_json::strict::{Fault, check};
///
/// assert_eq!(check("[1, 2]", 128), Ok(()));
/// assert_eq!(check("[1, 2,]", 128), Err(Fault::Syntax(6)));
/// ```
pub fn check(text: &str, depth_limit: usize) -> Result<(), Fault> {
    walk_all(text, 0, depth_limit, &mut ())
}

/// Checks one value and returns where it ends. It starts at `from`, after optional white space.
///
/// # Errors
///
/// The first [`Fault`] in the value. Text after the value is not looked at.
///
/// ```
/// assert_eq!(toolmend_json::strict::check_value("x = {} !", 3, 128), Ok(6));
/// ```
pub fn check_value(text: &str, from: usize, depth_limit: usize) -> Result<usize, Fault> {
    walk(text, from, depth_limit, &mut ())
}

/// How closely the reader looks at strings and numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarCheck {
    /// They follow RFC 8259.
    Full,
    /// Only their ends are found: a string ends at its first quote that is not escaped, and a number at the first byte that
    /// no number contains. Unknown escapes, lone surrogates, raw control characters and numbers such as `1.` are accepted,
    /// because whoever only passes a document on must not refuse it for them.
    EndOnly,
}

/// A string, number or literal that the reader met. Keys are strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar {
    /// What it is.
    pub kind: Kind,
    /// Its first byte; the opening quote of a string.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
    /// Whether it is a string with an escape.
    pub escaped: bool,
}

/// What the reader reports to, and who may accept more than JSON. The empty visitor `()` costs nothing.
///
/// ```
/// use toolmend_json::strict::{Scalar, Visitor, walk};
///
/// #[derive(Default)]
/// struct Keys(usize);
///
/// impl Visitor for Keys {
///     fn key(&mut self, _key: Scalar) {
///         self.0 += 1;
///     }
/// }
///
/// let mut keys = Keys::default();
/// walk(r#"{"a": {"b": 1}}"#, 0, 128, &mut keys)?;
/// assert_eq!(keys.0, 2);
/// # Ok::<(), toolmend_json::strict::Fault>(())
/// ```
pub trait Visitor {
    /// How closely strings and numbers are checked.
    const SCALAR_CHECK: ScalarCheck = ScalarCheck::Full;

    /// An array or object opens at this byte.
    fn open(&mut self, _kind: Kind, _at: usize) {}

    /// The innermost open array or object ends before this byte.
    fn close(&mut self, _end: usize) {}

    /// A member's key. Its value comes next.
    fn key(&mut self, _key: Scalar) {}

    /// A value that is not an array or object.
    fn scalar(&mut self, _scalar: Scalar) {}

    /// Reads the string value at this byte itself and returns where it ends. It is reported as escaped. `None` leaves the
    /// string to the reader.
    fn decode_string(&mut self, _open: usize) -> Option<usize> {
        None
    }

    /// Returns whether the comma at this byte is accepted although a closing bracket follows it.
    fn accept_trailing_comma(&mut self, _at: usize) -> bool {
        false
    }

    /// Returns where the text at this byte ends, if it is accepted as a string although it is not JSON.
    fn accept_string(&mut self, _at: usize) -> Option<usize> {
        None
    }
}

impl Visitor for () {}

/// Reads one value and reports it to a visitor, as [`check_value`] does. Returns where the value ends.
///
/// # Errors
///
/// The first [`Fault`] in the value. The visitor has then seen everything before it.
pub fn walk<V: Visitor>(
    text: &str,
    from: usize,
    depth_limit: usize,
    visitor: &mut V,
) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let mut open = OpenBrackets::new(depth_limit);
    let mut at = skip_whitespace(bytes, from);
    loop {
        // A value is expected at `at`.
        match bytes.get(at) {
            Some(b'{') => {
                if !open.push(true) {
                    return Err(Fault::Depth(at));
                }
                visitor.open(Kind::Object, at);
                at = skip_whitespace(bytes, at + 1);
                if bytes.get(at) == Some(&b'}') {
                    open.pop();
                    at += 1;
                    visitor.close(at);
                } else {
                    at = read_key(bytes, at, visitor)?;
                    continue;
                }
            }
            Some(b'[') => {
                if !open.push(false) {
                    return Err(Fault::Depth(at));
                }
                visitor.open(Kind::Array, at);
                at = skip_whitespace(bytes, at + 1);
                if bytes.get(at) == Some(&b']') {
                    open.pop();
                    at += 1;
                    visitor.close(at);
                } else {
                    continue;
                }
            }
            Some(&first) => {
                let scalar = read_scalar(bytes, at, first, visitor)?;
                visitor.scalar(scalar);
                at = scalar.end;
            }
            None => return Err(Fault::Syntax(at)),
        }
        // A value ended at `at`: close brackets until another value is expected.
        loop {
            let Some(in_object) = open.top() else { return Ok(at) };
            at = skip_whitespace(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    let comma = at;
                    at = skip_whitespace(bytes, at + 1);
                    let closer = if in_object { b'}' } else { b']' };
                    if bytes.get(at) == Some(&closer) && visitor.accept_trailing_comma(comma) {
                        at += 1;
                    } else {
                        if in_object {
                            at = read_key(bytes, at, visitor)?;
                        }
                        break;
                    }
                }
                Some(b'}') if in_object => at += 1,
                Some(b']') if !in_object => at += 1,
                _ => return Err(Fault::Syntax(at)),
            }
            visitor.close(at);
            open.pop();
        }
    }
}

/// Reads one value from `from` to the end of the text and reports it to a visitor.
///
/// # Errors
///
/// The first [`Fault`]; it is a fault if anything but white space follows the value.
pub fn walk_all(
    text: &str,
    from: usize,
    depth_limit: usize,
    visitor: &mut impl Visitor,
) -> Result<(), Fault> {
    let end = walk(text, from, depth_limit, visitor)?;
    let rest = skip_whitespace(text.as_bytes(), end);
    if rest == text.len() { Ok(()) } else { Err(Fault::Syntax(rest)) }
}

/// Reads a value that is not an array or object.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one arm of the reader's loop")]
fn read_scalar<V: Visitor>(bytes: &[u8], at: usize, first: u8, visitor: &mut V) -> Result<Scalar, Fault> {
    let (kind, end) = match first {
        b'"' => {
            return match visitor.decode_string(at) {
                Some(end) => Ok(Scalar { kind: Kind::String, start: at, end, escaped: true }),
                None => read_string::<V>(bytes, at),
            };
        }
        b'-' | b'0'..=b'9' => {
            let end = match V::SCALAR_CHECK {
                ScalarCheck::Full => check_number(bytes, at)?,
                ScalarCheck::EndOnly => scalar::find_number_end(bytes, at),
            };
            (Kind::Number, end)
        }
        b't' => (Kind::Bool, scalar::check_literal(bytes, at, b"true")?),
        b'f' => (Kind::Bool, scalar::check_literal(bytes, at, b"false")?),
        b'n' => (Kind::Null, scalar::check_literal(bytes, at, b"null")?),
        _ => (Kind::String, visitor.accept_string(at).ok_or(Fault::Syntax(at))?),
    };
    Ok(Scalar { kind, start: at, end, escaped: false })
}

/// Reads a key and its colon, and returns where the value starts.
#[inline]
fn read_key<V: Visitor>(bytes: &[u8], at: usize, visitor: &mut V) -> Result<usize, Fault> {
    let key = if bytes.get(at) == Some(&b'"') {
        read_string::<V>(bytes, at)?
    } else {
        let end = visitor.accept_string(at).ok_or(Fault::Syntax(at))?;
        Scalar { kind: Kind::String, start: at, end, escaped: false }
    };
    visitor.key(key);
    let at = skip_whitespace(bytes, key.end);
    if bytes.get(at) == Some(&b':') { Ok(skip_whitespace(bytes, at + 1)) } else { Err(Fault::Syntax(at)) }
}

/// Reads the string whose opening quote is at `start`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most strings are short, and a call takes longer than they do")]
fn read_string<V: Visitor>(bytes: &[u8], start: usize) -> Result<Scalar, Fault> {
    let kind = Kind::String;
    if let Some(end) = scalar::short_string_end(bytes, start) {
        return Ok(Scalar { kind, start, end, escaped: false });
    }
    let read = match V::SCALAR_CHECK {
        ScalarCheck::Full => scalar::check_long_string(bytes, start),
        ScalarCheck::EndOnly => scalar::find_string_end(bytes, start),
    };
    match read {
        StringRead::Plain(end) => Ok(Scalar { kind, start, end, escaped: false }),
        StringRead::Escaped(end) => Ok(Scalar { kind, start, end, escaped: true }),
        StringRead::Broken(at) => Err(Fault::Syntax(at)),
    }
}

/// Returns the position after JSON white space.
///
/// ```
/// assert_eq!(toolmend_json::strict::skip_whitespace(b"[ \n1]", 1), 3);
/// ```
#[inline]
pub fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The open brackets as bits: set for an object, clear for an array.
struct OpenBrackets {
    bits: [u64; MAX_DEPTH / 64],
    depth: usize,
    limit: usize,
}

impl OpenBrackets {
    fn new(limit: usize) -> Self {
        OpenBrackets { bits: [0; MAX_DEPTH / 64], depth: 0, limit: limit.min(MAX_DEPTH) }
    }

    #[inline]
    fn push(&mut self, object: bool) -> bool {
        if self.depth == self.limit {
            return false;
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.bits[word] = (self.bits[word] & !(1 << bit)) | (u64::from(object) << bit);
        self.depth += 1;
        true
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.bits[at / 64] >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn agrees_with_serde(text: &str) {
        let ours = check(text, 127).is_ok();
        let theirs = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => true,
            // The one deliberate difference: a number need not fit a float.
            Err(error) => error.to_string().starts_with("number out of range"),
        };
        assert_eq!(ours, theirs, "{text:?}");
    }

    #[test]
    fn agrees_with_serde_json() {
        for text in [
            "{}",
            "[]",
            "{\"a\":1}",
            "[1,2,]",
            "{\"a\":1,}",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\udc00\"",
            "\"\\ud83dx\"",
            "\"\\ud83d\\u0041\"",
            "\"\\u00zz\"",
            "01",
            "-",
            "-0",
            "1.",
            ".5",
            "1e",
            "1e+5",
            "1E-5",
            "+1",
            "1e999",
            "tru",
            "true",
            "nullx",
            "\"\u{7f}\"",
            "\"\n\"",
            "\"\\x\"",
            "{\"a\" 1}",
            "{1:2}",
            "[1 2]",
            "",
            " ",
            "\u{feff}1",
            "[[[]]]",
            "{\"a\":{\"b\":[]}}",
            "\"a",
            "[\"",
            "{\"a\":",
            "[1}",
            "\"\\\"",
            "\"\\",
            "\"\\u12",
            "123456789012345678901234567890",
            "1 ",
            " 1",
            "1,",
            "\u{a0}1",
        ] {
            agrees_with_serde(text);
        }
    }

    #[test]
    fn depth_is_a_number_not_the_stack() {
        assert_eq!(check(&"[".repeat(1_000_000), 128), Err(Fault::Depth(128)));
        let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(check(&deep, 128), Ok(()));
        assert_eq!(check(&deep, 127), Err(Fault::Depth(127)));
    }

    #[test]
    fn strings_end_at_their_quote_wherever_their_escapes_are() {
        for escape in
            ["\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\\\\\\"", "é\\/", "\\x", "\u{1f}", "\\"]
        {
            for before in (0..20).chain(50..80).chain(120..130) {
                for after in [0, 1, 6, 7, 8, 9, 40, 90] {
                    let text = format!("\"{}{escape}{}\"", "a".repeat(before), "é".repeat(after));
                    agrees_with_serde(&text);
                    agrees_with_serde(&format!("{text}, \"b\""));
                }
            }
        }
    }

    #[test]
    fn long_strings_stop_at_the_first_special_byte() {
        for len in 0..100 {
            let text = format!("\"{}\n\"", "a".repeat(len));
            assert_eq!(check(&text, 8), Err(Fault::Syntax(len + 1)));
        }
    }
}
