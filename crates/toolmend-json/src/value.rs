//! Text to the values of `serde_json`, which the schema validator judges.
//!
//! The values are exactly those that `serde_json` reads, and what it refuses has none. Long text is read by the reader of this
//! crate, which takes less than half of the time. This module never reports where text is broken.

use serde_json::{Map, Number, Value};

use crate::kind::Kind;
use crate::strict::{self, Scalar, Visitor};
use crate::text;

/// The deepest nesting that `serde_json` reads.
pub const SERDE_DEPTH: usize = 127;

/// From this length on our reader is faster. In shorter text, building arrays and objects takes most of the time.
const LONG: usize = 1024;

/// Returns the value of strict text as `serde_json` reads it. `None` if it would not.
///
/// ```
/// use toolmend_json::value;
///
/// assert_eq!(value::parse("[1, true]"), Some(serde_json::json!([1, true])));
/// assert_eq!(value::parse("1e999"), None);
/// ```
pub fn parse(text: &str) -> Option<Value> {
    if text.len() < LONG { serde_json::from_str(text).ok() } else { build(text) }
}

fn build(text: &str) -> Option<Value> {
    let mut builder = Builder { text, open: Vec::new(), key: String::new(), root: None, unreadable: false };
    strict::walk_all(text, 0, SERDE_DEPTH, &mut builder).ok()?;
    builder.root.filter(|_| !builder.unreadable)
}

/// Returns the value of a strict string, number or literal. `None` for a number that no float can hold.
///
/// ```
/// assert_eq!(toolmend_json::value::scalar("1.5"), Some(serde_json::json!(1.5)));
/// ```
pub fn scalar(source: &str) -> Option<Value> {
    Some(match source.as_bytes().first()? {
        b'"' => Value::String(text::unquote(source).into_owned()),
        b't' => Value::Bool(true),
        b'f' => Value::Bool(false),
        b'n' => Value::Null,
        _ => Value::Number(number(source)?),
    })
}

/// Returns the value of a strict number. `None` if no float can hold it.
///
/// ```
/// assert_eq!(toolmend_json::value::number("12"), Some(12.into()));
/// ```
pub fn number(source: &str) -> Option<Number> {
    // So many digits always fit.
    const FEW_DIGITS: usize = 18;
    if source.len() <= FEW_DIGITS && source.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = source.bytes().fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
        return Some(Number::from(digits));
    }
    serde_json::from_str(source).ok()
}

struct Builder<'t> {
    text: &'t str,
    /// The open arrays and objects, each with its own key in the one around it.
    open: Vec<(Value, String)>,
    /// The key of the next value.
    key: String,
    root: Option<Value>,
    /// Whether there is a number that no float can hold.
    unreadable: bool,
}

impl Builder<'_> {
    fn put(&mut self, value: Value, key: String) {
        match self.open.last_mut() {
            Some((Value::Object(members), _)) => {
                members.insert(key, value);
            }
            Some((Value::Array(elements), _)) => elements.push(value),
            _ => self.root = Some(value),
        }
    }
}

impl Visitor for Builder<'_> {
    fn open(&mut self, kind: Kind, _at: usize) {
        let value = if kind == Kind::Object { Value::Object(Map::new()) } else { Value::Array(Vec::new()) };
        self.open.push((value, std::mem::take(&mut self.key)));
    }

    fn close(&mut self, _end: usize) {
        if let Some((value, key)) = self.open.pop() {
            self.put(value, key);
        }
    }

    fn key(&mut self, key: Scalar) {
        self.key = text::unquote(&self.text[key.start..key.end]).into_owned();
    }

    fn scalar(&mut self, token: Scalar) {
        let key = std::mem::take(&mut self.key);
        match scalar(&self.text[token.start..token.end]) {
            Some(value) => self.put(value, key),
            None => self.unreadable = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_serde_json() {
        for text in [
            "{}",
            " [ ] ",
            r#"{"a": [1, -0, -5, 0, 18446744073709551615, 18446744073709551616, 1.50, 1e3, 1E-400, 1e999]}"#,
            r#"{"a": [1, -0, -5, 0, 18446744073709551615, 18446744073709551616, 1.50, 1e3, 1E-400]}"#,
            r#"{"a": 1, "b": {"a": "x\n\"\u00e9\ud83d\ude00\/"}, "a": [[], {}, null, true, false]}"#,
            r#""lone""#,
            "123456789012345678",
            "1234567890123456789",
            "[1,]",
            "1 2",
            "",
        ] {
            assert_eq!(build(text), serde_json::from_str(text).ok(), "{text}");
        }
        for deep in [126, 127, 128, 129] {
            let text = format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
            assert_eq!(build(&text), serde_json::from_str(&text).ok(), "{deep}");
        }
    }
}
