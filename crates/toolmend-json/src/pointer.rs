//! JSON pointers (RFC 6901): writes and splits them, and follows them in values. Never creates what a pointer names.

use std::borrow::Cow;

use serde_json::Value;

/// Appends one reference token.
///
/// ```
/// let mut pointer = String::from("/a");
/// toolmend_json::pointer::push(&mut pointer, "b/c");
/// assert_eq!(pointer, "/a/b~1c");
/// ```
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if !token.contains(['~', '/']) {
        pointer.push_str(token);
        return;
    }
    for ch in token.chars() {
        match ch {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(ch),
        }
    }
}

/// Returns the reference tokens, unescaped.
///
/// ```
/// assert!(toolmend_json::pointer::tokens("/a/b~1c").eq(["a", "b/c"]));
/// ```
pub fn tokens(pointer: &str) -> impl Iterator<Item = String> + '_ {
    borrowed_tokens(pointer).map(Cow::into_owned)
}

/// Returns the reference tokens, unescaped. Borrows those without an escape.
pub fn borrowed_tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> + '_ {
    let mut rest = pointer.strip_prefix('/');
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(|byte| byte == b'/');
        rest = end.map(|end| &text[end + 1..]);
        let token = &text[..end.unwrap_or(text.len())];
        Some(if token.bytes().any(|byte| byte == b'~') {
            Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
        } else {
            Cow::Borrowed(token)
        })
    })
}

/// Returns the value that a pointer names. Unlike `Value::pointer_mut` it copies no token.
///
/// ```
/// let mut value = serde_json::json!({"a": [1, 2]});
/// *toolmend_json::pointer::get_mut(&mut value, "/a/1").unwrap() = 3.into();
/// assert_eq!(value, serde_json::json!({"a": [1, 3]}));
/// ```
pub fn get_mut<'v>(value: &'v mut Value, pointer: &str) -> Option<&'v mut Value> {
    borrowed_tokens(pointer).try_fold(value, |value, token| match value {
        Value::Object(members) => members.get_mut(&*token),
        Value::Array(elements) => elements.get_mut(token.parse::<usize>().ok()?),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_were_pushed() {
        let mut pointer = String::new();
        for token in ["a", "", "b/c", "~1", "0"] {
            push(&mut pointer, token);
        }
        assert_eq!(pointer, "/a//b~1c/~01/0");
        assert_eq!(tokens(&pointer).collect::<Vec<_>>(), ["a", "", "b/c", "~1", "0"]);
        assert_eq!(tokens("").count(), 0);
    }

    #[test]
    fn pointers_lead_to_their_values() {
        let mut value = serde_json::json!({"a": [1, {"b/c~": 2}]});
        let mut at = |pointer| get_mut(&mut value, pointer).map(|found| found.to_string());
        assert_eq!(at("/a/1/b~1c~0").as_deref(), Some("2"));
        assert_eq!(at("/a/0").as_deref(), Some("1"));
        assert_eq!(at("/a/2"), None);
        assert_eq!(at("/a/x"), None);
        assert!(at("").is_some());
    }
}
