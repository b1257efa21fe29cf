//! Who may read and who may change something.
//!
//! Without an admin key, only this machine may read, and nothing can be changed. What a proxy on this machine forwards comes from
//! elsewhere. With a key, whoever has it may do both from
//! anywhere. A browser that sent the key once gets a cookie, because event streams cannot send other headers.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use ring::hmac;
use serde_json::json;

use super::Dashboard;
use crate::config::Secret;
use crate::http::connection_claim::ConnectionClaim;
use crate::http::headers::SESSION_COOKIE;
use crate::http::origin::{OverTls, is_this_machine, was_forwarded};
use crate::http::{Body, auth, respond};

/// How long a session lasts, in seconds.
const SESSION_SECONDS: u64 = 12 * 3600;
/// A header that only pages of the same origin can set, so that other pages cannot make a browser change something.
const SAME_ORIGIN: HeaderName = HeaderName::from_static("x-toolmend-page");

/// What a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    None,
    Read,
    Change,
}

impl Dashboard {
    /// Returns what a request with these headers may do.
    pub(super) fn access(&self, headers: &HeaderMap) -> Access {
        let setup = self.proxy.setup.load();
        let key = setup.config.admin_key.as_ref();
        if let Some(key) = key
            && (auth::has_valid_key(headers, std::slice::from_ref(key)) || has_session(headers, key))
        {
            return Access::Change;
        }
        let is_from_here = self.is_local && names_this_machine(headers) && !was_forwarded(headers);
        if is_from_here { Access::Read } else { Access::None }
    }

    /// Slows down requests that carry a wrong admin key.
    pub(super) async fn slow_down_guesses(&self, headers: &HeaderMap, claim: Option<&ConnectionClaim>) {
        let key = self.proxy.setup.load().config.admin_key.clone();
        let guesses = headers.contains_key(AUTHORIZATION) || headers.contains_key("x-api-key");
        if guesses && key.is_some_and(|key| !auth::has_valid_key(headers, std::slice::from_ref(&key))) {
            self.proxy.observer.metrics.count_wrong_key();
            self.proxy.key_guesses.slow_down(claim).await;
        }
    }

    /// Returns an error if the request may not do this.
    pub(super) fn deny(&self, headers: &HeaderMap, wanted: Access) -> Option<Response<Body>> {
        let access = self.access(headers);
        if access >= wanted && (wanted < Access::Change || headers.contains_key(SAME_ORIGIN)) {
            return None;
        }
        let has_key = self.proxy.setup.load().config.admin_key.is_some();
        let (status, why) = match (has_key, wanted) {
            (true, _) => (StatusCode::UNAUTHORIZED, "the admin key is required"),
            (false, Access::Change) => {
                (StatusCode::FORBIDDEN, "changes require an admin key: start the gateway with --admin-key")
            }
            (false, _) => (
                StatusCode::FORBIDDEN,
                "access from other machines requires an admin key: start the gateway with --admin-key",
            ),
        };
        Some(respond::json_response(status, json!({"error": why, "has_key": has_key}).to_string()))
    }
}

/// Whether the `host` header names this machine.
fn names_this_machine(headers: &HeaderMap) -> bool {
    headers.get(HOST).and_then(|host| host.to_str().ok()).is_some_and(is_this_machine)
}

/// Whether a cookie is valid. It holds the time when it expires and a signature with the admin key, so that any replica can
/// check it.
fn has_session(headers: &HeaderMap, key: &Secret) -> bool {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|value| value.split(';')).any(|cookie| {
        let Some((SESSION_COOKIE, value)) = cookie.trim().split_once('=') else { return false };
        let Some((until, signature)) = value.split_once('.') else { return false };
        let is_current = until.parse::<u64>().is_ok_and(|until| until > unix_seconds());
        is_current
            && from_hex(signature).is_some_and(|signature| {
                hmac::verify(&signing_key(key), until.as_bytes(), &signature).is_ok()
            })
    })
}

fn signing_key(key: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, format!("toolmend session {}", key.reveal()).as_bytes())
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

impl Dashboard {
    /// Checks the key and returns a cookie.
    pub(super) async fn open_session(&self, request: Request<Body>) -> Response<Body> {
        let is_secure = is_secure(&request);
        let claim = request.extensions().get::<ConnectionClaim>().cloned();
        let body = Limited::new(request.into_body(), 4096).collect().await;
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let given: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let given = given["key"].as_str().unwrap_or_default().trim();
        let key = self.proxy.setup.load().config.admin_key.clone();
        let Some(key) = key.filter(|key| auth::equals_key(given.as_bytes(), key.reveal().as_bytes())) else {
            self.proxy.observer.metrics.count_wrong_key();
            self.proxy.key_guesses.slow_down(claim.as_ref()).await;
            let error = json!({"error": "this is not the admin key"});
            return respond::json_response(StatusCode::UNAUTHORIZED, error.to_string());
        };
        let until = (unix_seconds() + SESSION_SECONDS).to_string();
        let signature = to_hex(hmac::sign(&signing_key(&key), until.as_bytes()).as_ref());
        set_cookie(&format!("{until}.{signature}"), SESSION_SECONDS, is_secure)
    }
}

/// Deletes the cookie.
pub(super) fn close_session(request: &Request<Body>) -> Response<Body> {
    set_cookie("", 0, is_secure(request))
}

/// Whether a request was encrypted on its way, here or by a proxy in front of the gateway.
fn is_secure(request: &Request<Body>) -> bool {
    let forwarded = request.headers().get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    request.extensions().get::<OverTls>().is_some()
        || forwarded.is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("https"))
}

fn set_cookie(value: &str, seconds: u64, is_secure: bool) -> Response<Body> {
    let mut response = respond::json_response(StatusCode::OK, "{}".to_owned());
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!(
        "{SESSION_COOKIE}={value}; Path=/toolmend; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}"
    );
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), value.parse().unwrap())])
    }

    #[test]
    fn cookies_are_valid_for_their_key_and_their_time() {
        let key = Secret::new("alpha");
        let cookie = |until: u64, key: &Secret| {
            let until = until.to_string();
            let signature = to_hex(hmac::sign(&signing_key(key), until.as_bytes()).as_ref());
            headers("cookie", &format!("other=1; {SESSION_COOKIE}={until}.{signature}"))
        };
        assert!(has_session(&cookie(unix_seconds() + 60, &key), &key));
        assert!(!has_session(&cookie(unix_seconds() - 60, &key), &key));
        assert!(!has_session(&cookie(unix_seconds() + 60, &Secret::new("beta")), &key));
        assert!(!has_session(&headers("cookie", &format!("{SESSION_COOKIE}=99999999999.00")), &key));
        assert!(!has_session(&HeaderMap::new(), &key));
        assert_eq!(from_hex("00ff1"), None);
        assert_eq!(from_hex("00ffx1"), None);
        assert_eq!(from_hex("00ff"), Some(vec![0, 255]));
    }
}
