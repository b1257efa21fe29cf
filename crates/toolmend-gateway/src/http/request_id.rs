//! The id of a request, by which people find it in logs.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries the id, from clients, to servers, and back.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over, in bytes.
const MAX_LENGTH: usize = 128;

/// The id of a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestId {
    value: HeaderValue,
    /// Whether the client chose it.
    is_from_client: bool,
}

/// Returns new ids. They differ between processes, and nobody can foresee them.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    random: RandomState,
    next: AtomicU64,
}

impl RequestIds {
    /// Returns the id of a request: the client's if it can be shown, otherwise a new one. The server gets it, too.
    pub(crate) fn assign(&self, headers: &mut HeaderMap) -> RequestId {
        if let Some(value) = headers.get(REQUEST_ID).filter(|value| is_presentable(value)) {
            return RequestId { value: value.clone(), is_from_client: true };
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let text = format!("{:016x}", self.random.hash_one(number));
        let value = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("?"));
        headers.insert(REQUEST_ID, value.clone());
        RequestId { value, is_from_client: false }
    }
}

impl RequestId {
    /// Puts the id into the head of an answer and returns it. The server's own id stays if the client sent none: vendors ask for
    /// it when something is reported to them.
    pub(crate) fn put_into(self, answer: &mut HeaderMap) -> HeaderValue {
        if let Some(own) = answer.get(REQUEST_ID).filter(|own| !self.is_from_client && is_presentable(own)) {
            return own.clone();
        }
        answer.insert(REQUEST_ID, self.value.clone());
        self.value
    }
}

/// Whether an id can be shown in a log.
fn is_presentable(value: &HeaderValue) -> bool {
    (1..=MAX_LENGTH).contains(&value.len()) && value.as_bytes().iter().all(u8::is_ascii_graphic)
}

#[test]
fn ids_are_taken_over_if_they_can_be_shown() {
    let ids = RequestIds::default();
    let assign = |given: &[u8], server: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(given).unwrap());
        let mut answer = HeaderMap::new();
        if let Some(server) = server {
            answer.insert(REQUEST_ID, server.parse().unwrap());
        }
        let shown = ids.assign(&mut headers).put_into(&mut answer);
        assert_eq!(answer.get(REQUEST_ID), Some(&shown));
        (headers[REQUEST_ID].clone(), shown)
    };
    assert_eq!(assign(b"abc", None), ("abc".parse().unwrap(), "abc".parse().unwrap()));
    assert_eq!(assign(b"abc", Some("server")).1, "abc");
    assert_eq!(assign(b"", Some("server")).1, "server");
    for strange in [&b"a b"[..], b"\xff", &[b'x'; 129]] {
        let (sent, shown) = assign(strange, Some("with a gap"));
        assert_eq!(sent, shown);
        assert_eq!(sent.len(), 16);
    }
    assert_ne!(assign(b"", None).0, assign(b"", None).0);
}
