//! Error bodies of any protocol, and the names of errors that all protocols share.

use bytes::Bytes;

use crate::json::{Document, ValueRef};

/// How much of an unknown error body is shown, in characters.
const MAX_SHOWN: usize = 2000;

/// Returns the message in an error body of any protocol.
///
/// ```
/// use toolmend_protocol::error_message_in;
///
/// let body = br#"{"error":{"message":"no such model"}}"#;
/// assert_eq!(error_message_in(&bytes::Bytes::from_static(body)), "no such model");
/// ```
pub fn error_message_in(body: &Bytes) -> String {
    let message = Document::parse(body).and_then(|doc| {
        let root = doc.root();
        let inner = root.get_non_null("response").unwrap_or(root);
        let text = |view: ValueRef<'_>| view.lossy_text().map(std::borrow::Cow::into_owned);
        let error = inner.get_non_null("error");
        error
            .and_then(|error| error.get("message").and_then(text).or_else(|| text(error)))
            .or_else(|| ["message", "detail"].iter().find_map(|name| inner.get(name).and_then(text)))
    });
    message.unwrap_or_else(|| {
        let text: String = String::from_utf8_lossy(body).chars().take(MAX_SHOWN).collect();
        if text.trim().is_empty() { "the server gave no reason".to_owned() } else { text }
    })
}

/// Returns the kind of error that an HTTP status stands for, in words that all protocols share.
///
/// ```
/// assert_eq!(toolmend_protocol::error_kind_of_status(429), "rate_limit_error");
/// ```
pub fn error_kind_of_status(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_every_protocol_is_found() {
        for (body, message) in [
            (r#"{"error":{"message":"a","type":"t"}}"#, "a"),
            (r#"{"type":"error","error":{"type":"t","message":"b"}}"#, "b"),
            (r#"{"error":"c"}"#, "c"),
            (r#"{"type":"response.failed","response":{"error":{"code":"x","message":"d"}}}"#, "d"),
            (r#"{"type":"error","code":"x","message":"e"}"#, "e"),
            (r#"{"detail":"f"}"#, "f"),
            ("Not here", "Not here"),
            ("", "the server gave no reason"),
        ] {
            assert_eq!(error_message_in(&Bytes::copy_from_slice(body.as_bytes())), message, "{body}");
        }
    }
}
