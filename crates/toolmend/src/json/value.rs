//! Single values of a strict text, as `serde_json` reads them.

use serde_json::{Number, Value};

use super::text;

/// How many brackets `serde_json` reads, one in the other.
pub(crate) const SERDE_DEPTH: usize = 127;

/// The value of a strict string, number or literal. Nothing for a number beyond a float.
pub(crate) fn scalar(source: &str) -> Option<Value> {
    Some(match source.as_bytes().first()? {
        b'"' => Value::String(text::unquote(source).into_owned()),
        b't' => Value::Bool(true),
        b'f' => Value::Bool(false),
        b'n' => Value::Null,
        _ => Value::Number(number(source)?),
    })
}

/// The number that a text means.
pub(crate) fn number(source: &str) -> Option<Number> {
    // What has few digits and nothing else needs no care.
    const FEW: usize = 18;
    if source.len() <= FEW && source.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = source.bytes().fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
        return Some(Number::from(digits));
    }
    serde_json::from_str(source).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_serde_json() {
        for text in [
            "0",
            "-0",
            "-5",
            "18446744073709551615",
            "18446744073709551616",
            "123456789012345678",
            "1234567890123456789",
            "1.50",
            "1e3",
            "1E-400",
            "1e999",
            "null",
            "true",
            "false",
            r#""x\n\"\u00e9\ud83d\ude00\/""#,
        ] {
            assert_eq!(scalar(text), serde_json::from_str(text).ok(), "{text}");
        }
    }
}
