//! Removes the values that must not be stored from an entry.
//!
//! Masking keeps the length of every text in bytes, so the byte ranges of repairs still fit. It keeps the keys that the tool
//! declares, because those are not secret. It never looks at what a value means: every value is removed alike.

use std::collections::HashSet;

use crate::entry::{Entry, StoredValues};

/// Removes from an entry everything that `values` does not allow to be stored.
pub(crate) fn remove_values(entry: &mut Entry, values: StoredValues) {
    entry.values = values;
    if values == StoredValues::Whole {
        return;
    }
    // Messages and feedback quote values.
    entry.message = None;
    entry.feedback = None;
    let keys = collect_declared_keys(entry.schema.as_deref());
    entry.cut = entry.cut.take().map(|path| mask_path(&path, &keys));
    for repair in &mut entry.repairs {
        repair.path = mask_path(&repair.path, &keys);
    }
    // A name that no tool has may be any part of the text.
    entry.called = entry.called.take().map(|name| mask_text(&name, &HashSet::new()));
    for text in [&mut entry.before, &mut entry.after] {
        *text = match (values, text.take()) {
            (StoredValues::Masked, Some(text)) => Some(mask_text(&text, &keys)),
            _ => None,
        };
    }
}

/// Collects every name under `properties` of a schema, at any depth.
fn collect_declared_keys(schema: Option<&str>) -> HashSet<String> {
    let mut keys = HashSet::new();
    let Some(schema) = schema.and_then(|text| serde_json::from_str(text).ok()) else { return keys };
    let mut open: Vec<serde_json::Value> = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::Object(members) => {
                for (name, member) in members {
                    if let ("properties", serde_json::Value::Object(properties)) = (name.as_str(), &member) {
                        keys.extend(properties.keys().cloned());
                    }
                    open.push(member);
                }
            }
            serde_json::Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    keys
}

/// Masks a text. The result has the same length in bytes.
fn mask_text(text: &str, keys: &HashSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            out.push_str(if first.is_ascii() { &rest[..1] } else { "" });
            // Characters that are not ASCII are masked whatever they are. Each of their bytes becomes one `x`.
            if !first.is_ascii() {
                out.push_str(&"x".repeat(first.len_utf8()));
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(length);
        if keys.contains(word) && is_key(after) {
            out.push_str(word);
        } else {
            for c in word.chars() {
                let kept = if c.is_ascii_digit() { "0" } else { "x" };
                out.push_str(&kept.repeat(c.len_utf8()));
            }
        }
        rest = after;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Whether the text after a word makes the word a key.
fn is_key(after: &str) -> bool {
    after.trim_start_matches(['"', '\'', '\\', ' ', '`']).starts_with([':', '=', '>'])
}

/// Masks the tokens of a JSON pointer that are neither declared keys nor indexes.
fn mask_path(path: &str, keys: &HashSet<String>) -> String {
    let token = |token: &str| {
        let known =
            token.is_empty() || keys.contains(token) || token.bytes().all(|byte| byte.is_ascii_digit());
        if known { token.to_owned() } else { mask_text(token, &HashSet::new()) }
    };
    path.split('/').map(token).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_texts_keep_their_length_and_the_declared_keys() {
        let keys = HashSet::from(["path".to_owned(), "limit".to_owned()]);
        for (text, expected) in [
            (r#"{"path": "/etc/héllo", "limit": 20,}"#, r#"{"path": "/xxx/xxxxxx", "limit": 00,}"#),
            (r#"{path: 'path', secret: "s3cret"}"#, r#"{path: 'xxxx', xxxxxx: "x0xxxx"}"#),
            ("<parameter=path>x</parameter>", "<xxxxxxxxx=path>x</xxxxxxxxx>"),
            ("„ö“", "xxxxxxxx"),
        ] {
            let masked = mask_text(text, &keys);
            assert_eq!(masked, expected);
            assert_eq!(masked.len(), text.len());
        }
        assert_eq!(mask_path("/path/0/alice@b.c", &keys), "/path/0/xxxxx@x.x");
    }

    #[test]
    fn declared_keys_are_found_at_any_depth() {
        let schema =
            r#"{"properties": {"a": {"items": {"anyOf": [{"properties": {"b": {}}}]}}, "properties": {}}}"#;
        let keys = collect_declared_keys(Some(schema));
        assert_eq!(keys, HashSet::from(["a".to_owned(), "b".to_owned(), "properties".to_owned()]));
    }
}
