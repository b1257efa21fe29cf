//! The arguments of a truncated call that are complete.
//!
//! An argument that had not ended is left out, whatever is known of it.

use crate::dialect::raw_call::Field;
use crate::dialect::untyped_values;
use crate::json::text;
use crate::json::tree::{Kind, Tree};
use crate::json::{strict, strict::MAX_DEPTH};
use crate::mender::Mender;
use crate::schema::Schema;
use crate::schema::guide::Guide;

/// The complete arguments among these fields, as the tool would get them.
pub(crate) fn of_fields(mender: &Mender, tool: &str, fields: &[Field]) -> String {
    let open = Guide::default();
    let guide = mender.schema_of(tool).map_or(&open, Schema::guide);
    fitted(mender, tool, &untyped_values::write_object(fields, guide))
}

/// The complete members at the beginning of a text that should be an object. Unless the text is strict JSON from its
/// first member on, the result of the syntax layer counts.
pub(crate) fn of_text(mender: &Mender, tool: &str, written: &str, known: Option<&str>) -> String {
    let decoded = decoded(written);
    let text = decoded.as_deref().unwrap_or(written).trim_start();
    let open = Guide::default();
    let guide = mender.schema_of(tool).map_or(&open, Schema::guide);
    let strict = text.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with(['"', '}']));
    match known.filter(|_| !strict) {
        Some(known) => fitted(mender, tool, known),
        None => fitted(mender, tool, &members(text, guide)),
    }
}

/// Decodes an object in a string, as far as it goes.
fn decoded(written: &str) -> Option<String> {
    let literal = written.trim();
    if !literal.starts_with('"') {
        return None;
    }
    if strict::check_string(literal.as_bytes(), 0) == Ok(literal.len()) {
        return Some(text::unquote(literal).into_owned());
    }
    // Half an escape means nothing yet.
    let half = literal.rfind('\\').filter(|&at| literal.len() - at < 6).unwrap_or(literal.len());
    [literal.len(), half, half.saturating_sub(6)].into_iter().find_map(|end| {
        let closed = format!("{}\"", literal.get(..end)?);
        (strict::check_string(closed.as_bytes(), 0) == Ok(closed.len()))
            .then(|| text::unquote(&closed).into_owned())
    })
}

/// The strict members that an object begins with, as an object.
fn members(written: &str, guide: &Guide) -> String {
    let bytes = written.as_bytes();
    let mut out = String::from("{");
    let mut at = strict::skip_whitespace(bytes, usize::from(bytes.first() == Some(&b'{')));
    while bytes.get(at) == Some(&b'"') {
        let Some((value, end)) = value_of(written, at) else { break };
        let next = strict::skip_whitespace(bytes, end);
        let ended = match bytes.get(next) {
            Some(b'}') => true,
            // A quote before a comma may be part of the text.
            Some(b',') => bytes[value] != b'"' || key_follows(written, next + 1, guide),
            _ => false,
        };
        if !ended {
            break;
        }
        if out.len() > 1 {
            out.push_str(", ");
        }
        out.push_str(&written[at..end]);
        if bytes[next] == b'}' {
            break;
        }
        at = strict::skip_whitespace(bytes, next + 1);
    }
    out.push('}');
    out
}

/// Where the value of the member at `at` begins and ends.
fn value_of(written: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = written.as_bytes();
    let colon = strict::skip_whitespace(bytes, strict::check_string(bytes, at).ok()?);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let value = strict::skip_whitespace(bytes, colon + 1);
    Some((value, strict::check_value(written, value, MAX_DEPTH).ok()?))
}

/// Whether a key is here, or the beginning of a declared one.
fn key_follows(written: &str, at: usize, guide: &Guide) -> bool {
    let at = strict::skip_whitespace(written.as_bytes(), at);
    let Some(rest) = written.get(at + 1..).filter(|_| written[at..].starts_with('"')) else { return false };
    match strict::check_string(written.as_bytes(), at) {
        Ok(end) => {
            let key = text::unquote(&written[at..end]);
            let after = written[end..].trim_start();
            after.starts_with(':') || after.is_empty() && guide.declares_key(guide.root(), &key)
        }
        Err(_) => guide.properties(guide.root()).any(|(key, ..)| key.starts_with(rest)),
    }
}

/// The members as the tool would get them, without those that it would not take.
fn fitted(mender: &Mender, tool: &str, object: &str) -> String {
    // Nothing is complete, and nothing is made up.
    if object == "{}" {
        return object.to_owned();
    }
    if let Some(mended) = mender.mend_partial(tool, object) {
        return mended;
    }
    let Ok(tree) = Tree::parse(object, MAX_DEPTH) else { return "{}".to_owned() };
    if tree.nodes.first().is_none_or(|root| root.kind != Kind::Object) {
        return "{}".to_owned();
    }
    let open = Guide::default();
    let guide = mender.schema_of(tool).map_or(&open, Schema::guide);
    let mut out = String::from("{");
    for member in tree.children(0) {
        let key = tree.key(member).unwrap_or_default();
        let wanted = guide.types(guide.member(guide.root(), &key));
        if wanted.has(tree.nodes[member].kind.into()) {
            if out.len() > 1 {
                out.push_str(", ");
            }
            out.push_str(&object[tree.start(member)..tree.nodes[member].span.end]);
        }
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(written: &str, expected: &str) {
        let mender = Mender::new(&json!([{"name": "f", "parameters": {"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "integer"}, "other": {"type": "string"},
        }, "required": ["a", "b", "other"]}}]))
        .unwrap();
        assert_eq!(of_text(&mender, "f", written, None), expected, "{written}");
    }

    #[test]
    fn only_members_that_have_ended_are_complete() {
        check(r#"{"a": "x", "b": 3, "#, r#"{"a": "x", "b": 3}"#);
        check(r#"{"a": "x", "b": 3"#, r#"{"a": "x"}"#);
        check(r#"{"a": "x", "ot"#, r#"{"a": "x"}"#);
        check(r#"{"a": "x", "so"#, "{}");
        check(r#"{"a": "x""#, "{}");
        check(r#"{"a": "x"}"#, r#"{"a": "x"}"#);
        check(r#"{"a": "{"b": 3, "#, "{}");
        check(r#"{"b": "3", "a"#, r#"{"b": 3}"#);
        check(r#""{\"a\": \"x\", \"b\": 1, \"o"#, r#"{"a": "x", "b": 1}"#);
        check(r#""{\"a\": \"x\"}""#, r#"{"a": "x"}"#);
    }
}
