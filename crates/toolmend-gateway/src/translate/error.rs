//! Errors of one surface, told in the words of another.

use bytes::Bytes;
use http::StatusCode;

use crate::wire::doc::{Doc, View};

/// The most of a body that is shown where it is no error that anybody knows.
const SHOWN: usize = 2000;

/// What an error body says.
pub(crate) fn message_of(body: &Bytes) -> String {
    let told = Doc::parse(body).and_then(|doc| {
        let root = doc.root();
        let inner = root.some("response").unwrap_or(root);
        let text = |view: View<'_>| view.text().map(std::borrow::Cow::into_owned);
        let error = inner.some("error");
        error
            .and_then(|error| error.get("message").and_then(text).or_else(|| text(error)))
            .or_else(|| ["message", "detail"].iter().find_map(|name| inner.get(name).and_then(text)))
    });
    told.unwrap_or_else(|| {
        let text: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
        if text.trim().is_empty() { "the server told no reason".to_owned() } else { text }
    })
}

/// The name of an error by its status, which all surfaces share.
pub(crate) fn kind_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
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
    fn the_words_of_every_surface_are_found() {
        for (body, said) in [
            (r#"{"error":{"message":"a","type":"t"}}"#, "a"),
            (r#"{"type":"error","error":{"type":"t","message":"b"}}"#, "b"),
            (r#"{"error":"c"}"#, "c"),
            (r#"{"type":"response.failed","response":{"error":{"code":"x","message":"d"}}}"#, "d"),
            (r#"{"type":"error","code":"x","message":"e"}"#, "e"),
            (r#"{"detail":"f"}"#, "f"),
            ("Not here", "Not here"),
            ("", "the server told no reason"),
        ] {
            assert_eq!(message_of(&Bytes::copy_from_slice(body.as_bytes())), said, "{body}");
        }
    }
}
