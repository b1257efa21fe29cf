//! JSON on one line: removes the white space between tokens and never changes a token.

use crate::strict;

/// Returns strict JSON without the white space between its tokens. Every token keeps its spelling.
///
/// ```
/// assert_eq!(toolmend_json::text::compact_json("{ \"a b\": [1.50,\n 2] }"), r#"{"a b":[1.50,2]}"#);
/// ```
pub fn compact_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    compact_into(&mut out, json);
    out
}

/// Appends strict JSON to `out` as [`compact_json`] writes it.
///
/// ```
/// let mut out = String::from("data: ");
/// toolmend_json::text::compact_into(&mut out, "[1, 2]");
/// assert_eq!(out, "data: [1,2]");
/// ```
pub fn compact_into(out: &mut String, json: &str) {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b'\n' | b'\r' | b'\t' => {
                at = strict::skip_whitespace(bytes, at);
                continue;
            }
            b'"' => at = strict::check_string(bytes, at).unwrap_or(bytes.len()),
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b' ' | b'\n' | b'\r' | b'\t' | b'"') {
                    at += 1;
                }
            }
        }
        out.push_str(&json[start..at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_keeps_strings() {
        let mut out = String::new();
        compact_into(&mut out, "{ \"a b\" : [ 1 ,\n\"x\\\" y\" ] }");
        assert_eq!(out, "{\"a b\":[1,\"x\\\" y\"]}");
    }
}
