//! The value that a text means: what the validator judges.
//!
//! Long texts are read by the strict pass itself, which makes the same values as `serde_json` in less than half of the time.

use serde_json::{Map, Number, Value};

use super::strict::{self, Visitor};
use super::text;

/// How many brackets `serde_json` reads, one in the other.
pub const SERDE_DEPTH: usize = 127;

/// From so many bytes on the strict pass is faster: there are long strings, or else the arrays and objects are what takes time.
const LONG: usize = 1024;

/// The value of a strict text as `serde_json` reads it; nothing where it would not.
pub fn parse(text: &str) -> Option<Value> {
    if text.len() < LONG { serde_json::from_str(text).ok() } else { build(text) }
}

fn build(text: &str) -> Option<Value> {
    let mut builder = Builder { text, open: Vec::new(), key: String::new(), root: None, strange: false };
    let end = strict::walk(text, 0, SERDE_DEPTH, &mut builder).ok()?;
    let whole = strict::skip_white(text.as_bytes(), end) == text.len();
    builder.root.filter(|_| whole && !builder.strange)
}

/// The value of a strict string, number or literal. Nothing for a number beyond a float.
pub fn scalar(source: &str) -> Option<Value> {
    Some(match source.as_bytes().first()? {
        b'"' => Value::String(text::unquote(source).into_owned()),
        b't' => Value::Bool(true),
        b'f' => Value::Bool(false),
        b'n' => Value::Null,
        _ => Value::Number(number(source)?),
    })
}

/// The number that a text means.
pub fn number(source: &str) -> Option<Number> {
    // What has few digits and nothing else needs no care.
    const FEW: usize = 18;
    if source.len() <= FEW && source.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = source.bytes().fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
        return Some(Number::from(digits));
    }
    serde_json::from_str(source).ok()
}

struct Builder<'t> {
    text: &'t str,
    /// Arrays and objects that have not ended, each with the key that it has in the one before.
    open: Vec<(Value, String)>,
    /// The key of the next value.
    key: String,
    root: Option<Value>,
    /// A number beyond a float was met.
    strange: bool,
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
    fn open(&mut self, object: bool, _at: usize) {
        let value = if object { Value::Object(Map::new()) } else { Value::Array(Vec::new()) };
        self.open.push((value, std::mem::take(&mut self.key)));
    }

    fn close(&mut self, _behind: usize) {
        if let Some((value, key)) = self.open.pop() {
            self.put(value, key);
        }
    }

    fn key(&mut self, start: usize, end: usize) {
        self.key = text::unquote(&self.text[start..end]).into_owned();
    }

    fn scalar(&mut self, start: usize, end: usize) {
        let key = std::mem::take(&mut self.key);
        match scalar(&self.text[start..end]) {
            Some(value) => self.put(value, key),
            None => self.strange = true,
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
