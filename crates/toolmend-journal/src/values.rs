//! How much of the arguments is stored.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;

/// How much of the arguments is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Everything.
    #[default]
    Whole,
    /// The shape only: every letter is an `x` and every digit a `0`, but for keys that the tool declares.
    Masked,
    /// Nothing.
    None,
}

impl Values {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Values::Whole => "whole",
            Values::Masked => "masked",
            Values::None => "none",
        }
    }

    /// The one of that name; nothing is stored of what is not known.
    pub(crate) fn from_name(name: &str) -> Self {
        [Values::Whole, Values::Masked].into_iter().find(|known| known.name() == name).unwrap_or(Values::None)
    }

    /// Takes out of an entry what is not to be stored.
    pub(crate) fn apply(self, entry: &mut Entry) {
        entry.values = self;
        if self == Values::Whole {
            return;
        }
        // Sentences quote values.
        entry.message = None;
        entry.feedback = None;
        let keys = declared_keys(entry.schema.as_deref());
        entry.cut = entry.cut.take().map(|path| mask_path(&path, &keys));
        for change in &mut entry.repairs {
            change.path = mask_path(&change.path, &keys);
        }
        // A name that is not declared may be anything that stood in the text.
        entry.called = entry.called.take().map(|name| mask(&name, &HashSet::new()));
        for text in [&mut entry.before, &mut entry.after] {
            *text = match (self, text.take()) {
                (Values::Masked, Some(text)) => Some(mask(&text, &keys)),
                _ => None,
            };
        }
    }
}

/// Every name under `properties` of a schema, at any depth.
fn declared_keys(schema: Option<&str>) -> HashSet<String> {
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

/// The shape of a text, of the same length in bytes, so that places still fit.
fn mask(text: &str, keys: &HashSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            out.push_str(if first.is_ascii() { &rest[..1] } else { "" });
            // Punctuation of other scripts shows nothing, but its bytes count.
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

/// Whether what follows a word makes it a key.
fn is_key(after: &str) -> bool {
    after.trim_start_matches(['"', '\'', '\\', ' ', '`']).starts_with([':', '=', '>'])
}

fn mask_path(path: &str, keys: &HashSet<String>) -> String {
    let token = |token: &str| {
        let known =
            token.is_empty() || keys.contains(token) || token.bytes().all(|byte| byte.is_ascii_digit());
        if known { token.to_owned() } else { mask(token, &HashSet::new()) }
    };
    path.split('/').map(token).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_their_length_and_their_declared_keys() {
        let keys = HashSet::from(["path".to_owned(), "limit".to_owned()]);
        for (text, expected) in [
            (r#"{"path": "/etc/héllo", "limit": 20,}"#, r#"{"path": "/xxx/xxxxxx", "limit": 00,}"#),
            (r#"{path: 'path', secret: "s3cret"}"#, r#"{path: 'xxxx', xxxxxx: "x0xxxx"}"#),
            ("<parameter=path>x</parameter>", "<xxxxxxxxx=path>x</xxxxxxxxx>"),
            ("„ö“", "xxxxxxxx"),
        ] {
            let masked = mask(text, &keys);
            assert_eq!(masked, expected);
            assert_eq!(masked.len(), text.len());
        }
        assert_eq!(mask_path("/path/0/alice@b.c", &keys), "/path/0/xxxxx@x.x");
    }

    #[test]
    fn declared_keys_are_found_at_any_depth() {
        let schema =
            r#"{"properties": {"a": {"items": {"anyOf": [{"properties": {"b": {}}}]}}, "properties": {}}}"#;
        let keys = declared_keys(Some(schema));
        assert_eq!(keys, HashSet::from(["a".to_owned(), "b".to_owned(), "properties".to_owned()]));
    }
}
