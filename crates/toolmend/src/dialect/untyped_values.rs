//! Values without a type, converted to JSON according to the schema.
//!
//! If the schema wants a string, the text is taken unchanged. Otherwise text that is JSON becomes JSON, and all other
//! text stays a string. This module repairs nothing: the shape layer decides what a string may become, and reports it.

use super::custom::CustomTable;
use super::input::{Input, Step};
use super::raw_call::{Field, RawValue};
use super::tag;
use super::token::MINIMAX;
use super::value_literals;
use crate::json::{strict, text};
use crate::schema::guide::{Guide, SchemaPosition, Types};

/// How deep elements may nest.
const MAX_DEPTH: usize = 16;

/// Writes these fields as a JSON object, in their order.
pub(crate) fn write_object(fields: &[Field], guide: &Guide) -> String {
    let root = guide.root();
    let mut out = String::from("{");
    for field in fields {
        if out.len() > 1 {
            out.push_str(", ");
        }
        text::quote_into(&mut out, &field.key);
        out.push_str(": ");
        value(&mut out, &field.value, guide, guide.member(root, &field.key));
    }
    out.push('}');
    out
}

fn value(out: &mut String, value: &RawValue, guide: &Guide, place: SchemaPosition) {
    match value {
        RawValue::Json(json) => out.push_str(json),
        RawValue::String(text) => text::quote_into(out, text),
        RawValue::Verbatim(text) if guide.types(place) == Types::STRING => text::quote_into(out, text),
        RawValue::Verbatim(text) | RawValue::Untyped(text) => untyped(out, text, guide, place, 0),
        // A call with such a value is refused before it is written.
        RawValue::Doubtful(_) => out.push_str("null"),
    }
}

fn untyped(out: &mut String, written: &str, guide: &Guide, place: SchemaPosition, depth: usize) {
    let types = guide.types(place);
    let trimmed = written.trim();
    let declared = place != SchemaPosition::ANY && types != Types::ALL;
    let inner = one_line_break_off(written);
    // `null` is not one of the strings that an enum lists, so it is the null value.
    if trimmed == "null" && guide.has_list(place) && !guide.lists(place, trimmed) {
        return out.push_str(trimmed);
    }
    // If only strings are allowed, the text is taken unchanged.
    // Case: dialects/qwen3_xml/null-string
    // Case: dialects/hostile/zip-and-version
    if declared && !types.has(NOT_STRING) {
        return text::quote_into(out, inner);
    }
    // Text that is JSON of an allowed type.
    // Case: dialects/qwen3_xml/types
    if !trimmed.is_empty() && strict::check(trimmed, strict::MAX_DEPTH).is_ok() {
        let kind = type_of(trimmed);
        let fits = !declared || types.has(kind);
        // The quotes of a quoted string are part of the text, unless no string is wanted.
        if fits && (kind != Types::STRING) {
            return out.push_str(trimmed);
        }
    }
    // Chat templates leak Python literals into values without a declared type.
    if !declared && let Some(json) = python(trimmed) {
        return out.push_str(&json);
    }
    if types.has(Types::OBJECT.union(Types::ARRAY)) && depth < MAX_DEPTH {
        let wanted = declared && !types.has(Types::STRING);
        if (wanted || written.contains(MINIMAX))
            && let Some(json) = elements(written, guide, place, depth)
        {
            return out.push_str(&json);
        }
    }
    text::quote_into(out, inner);
}

/// Converts a text that is a Python literal, and not JSON, to JSON.
fn python(text: &str) -> Option<String> {
    match text {
        "True" => return Some("true".to_owned()),
        "False" => return Some("false".to_owned()),
        "None" => return Some("null".to_owned()),
        _ if text.starts_with(['{', '[']) => {}
        _ => return None,
    }
    match value_literals::read(Input::new(text, true, CustomTable::empty()), 0, value_literals::PYTHON) {
        Step::Got((RawValue::Json(json), end, false)) if end == text.len() => Some(json),
        _ => None,
    }
}

const NOT_STRING: Types =
    Types::NULL.union(Types::BOOLEAN).union(Types::NUMBER).union(Types::ARRAY).union(Types::OBJECT);

fn type_of(json: &str) -> Types {
    match json.as_bytes().first() {
        Some(b'{') => Types::OBJECT,
        Some(b'[') => Types::ARRAY,
        Some(b'"') => Types::STRING,
        Some(b't' | b'f') => Types::BOOLEAN,
        Some(b'n') => Types::NULL,
        _ => Types::NUMBER,
    }
}

/// Removes the line break after the opening tag and the one before the closing tag, if both are there.
fn one_line_break_off(text: &str) -> &str {
    let inner = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    match inner {
        Some(inner) => inner.strip_suffix("\r\n").or_else(|| inner.strip_suffix('\n')).unwrap_or(inner),
        None => text,
    }
}

/// Writes elements as JSON: repeated `<item>` elements are an array, all others are keys.
// Case: dialects/minimax_m3/empty-element
fn elements(written: &str, guide: &Guide, place: SchemaPosition, depth: usize) -> Option<String> {
    let children = children(written)?;
    let types = guide.types(place);
    let all_items = !children.is_empty() && children.iter().all(|(key, _)| *key == "item");
    let repeated = children.len() > 1 && children.iter().all(|(key, _)| *key == children[0].0);
    if children.is_empty() {
        return match (types.has(Types::ARRAY), types.has(Types::OBJECT)) {
            _ if types.has(Types::STRING) => None,
            (true, false) => Some("[]".to_owned()),
            (false, true) => Some("{}".to_owned()),
            _ => None,
        };
    }
    let array = types.has(Types::ARRAY) && (all_items || repeated || !types.has(Types::OBJECT));
    let mut out = String::from(if array { "[" } else { "{" });
    for (index, (key, inner)) in children.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        let inside = if array { guide.element(place, index) } else { guide.member(place, key) };
        if !array {
            text::quote_into(&mut out, key);
            out.push_str(": ");
        }
        untyped(&mut out, inner, guide, inside, depth + 1);
    }
    out.push(if array { ']' } else { '}' });
    Some(out)
}

/// The elements in a text that contains nothing else.
fn children(written: &str) -> Option<Vec<(&str, &str)>> {
    let mut out = Vec::new();
    let mut rest = skip(written);
    while !rest.is_empty() {
        let Step::Got(open) = tag::read(rest.strip_prefix('<').map(|_| rest)?, true, CustomTable::empty())
        else {
            return None;
        };
        if open.close || open.equals.is_some() || !open.attributes.is_empty() {
            return None;
        }
        let body = &rest[open.len..];
        let (end, after) = matching(body, open.word)?;
        out.push((open.word, body[..end].trim_end().strip_suffix(MINIMAX).unwrap_or(&body[..end])));
        rest = skip(&body[after..]);
    }
    Some(out)
}

fn skip(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(after) = rest.strip_prefix(MINIMAX) {
        rest = after.trim_start();
    }
    rest
}

/// Finds the closing tag of `word`, skipping pairs inside. Returns its position and the position after it.
fn matching(text: &str, word: &str) -> Option<(usize, usize)> {
    let mut inside = 0usize;
    let mut at = 0;
    while let Some(offset) = text[at..].find('<') {
        let tag_at = at + offset;
        at = tag_at + 1;
        let Step::Got(tag) = tag::read(&text[tag_at..], true, CustomTable::empty()) else { continue };
        if tag.word != word {
            continue;
        }
        if !tag.close {
            inside += 1;
        } else if inside > 0 {
            inside -= 1;
        } else {
            return Some((tag_at, tag_at + tag.len));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(written: &str, schema: &serde_json::Value, expected: &str) {
        let guide = Guide::new(&json!({"type": "object", "properties": {"v": schema}}));
        let field = Field { key: "v".to_owned(), value: RawValue::Untyped(written.to_owned()), at: 0..0 };
        assert_eq!(write_object(&[field], &guide), format!("{{\"v\": {expected}}}"), "{written}");
    }

    #[test]
    fn the_schema_types_what_has_no_type() {
        let string = json!({"type": "string"});
        check("02134", &string, r#""02134""#);
        check("null", &string, r#""null""#);
        check("\n  x\n", &string, r#""  x""#);
        check("1.10", &json!({"type": "number"}), "1.10");
        check("12345678901234567890", &json!({"type": "integer"}), "12345678901234567890");
        check("{\"a\": 1}", &json!({"type": "object"}), "{\"a\": 1}");
        check("yes", &json!({"type": "boolean"}), r#""yes""#);
        check("abc", &json!({"type": ["string", "null"]}), r#""abc""#);
        check("3", &json!({}), "3");
        check(
            "<a><item>1</item><item>x</item></a>",
            &json!({"type": "object", "properties": {"a": {"type": "array"}}}),
            r#"{"a": [1, "x"]}"#,
        );
        check("<p>x</p>", &string, r#""<p>x</p>""#);
    }
}
