//! Who may look, and who may change something.
//!
//! Without a key only this machine may look, and nobody may change anything. With a key, whoever has it may do both
//! from anywhere. A browser that showed the key once gets a cookie, because a stream of events has no other header.

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{CACHE_CONTROL, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use ring::hmac;
use serde_json::json;

use super::Dashboard;
use crate::config::Secret;
use crate::http::{Body, auth, respond};

/// How long a browser stays known, in seconds.
const SESSION: u64 = 12 * 3600;
const NAME: &str = "toolmend_session";
/// Only a page of the same origin can set it, so no other page can make a browser change something here.
const FROM_PAGE: HeaderName = HeaderName::from_static("x-toolmend-page");
/// Makes guessing slow.
const PAUSE: Duration = Duration::from_millis(400);

/// What a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Nothing,
    Look,
    Change,
}

impl Dashboard {
    /// What a request with these headers may do.
    pub(super) fn access(&self, headers: &HeaderMap) -> Access {
        let setup = self.proxy.setup.load();
        let key = setup.config.admin_key.as_ref();
        if let Some(key) = key
            && (auth::has_valid_key(headers, std::slice::from_ref(key)) || has_session(headers, key))
        {
            return Access::Change;
        }
        if self.is_local && asks_for_this_machine(headers) { Access::Look } else { Access::Nothing }
    }

    /// An answer for those who may not do this; none for those who may.
    pub(super) fn refuse(&self, headers: &HeaderMap, wanted: Access) -> Option<Response<Body>> {
        let access = self.access(headers);
        if access >= wanted && (wanted < Access::Change || headers.contains_key(FROM_PAGE)) {
            return None;
        }
        let has_key = self.proxy.setup.load().config.admin_key.is_some();
        let (status, why) = match (has_key, wanted) {
            (true, _) => (StatusCode::UNAUTHORIZED, "the admin key is needed"),
            (false, Access::Change) => {
                (StatusCode::FORBIDDEN, "changes need an admin key: start the gateway with --admin-key")
            }
            (false, _) => (
                StatusCode::FORBIDDEN,
                "from other machines the page needs an admin key: start the gateway with --admin-key",
            ),
        };
        Some(respond::json_response(status, json!({"error": why, "has_key": has_key}).to_string()))
    }
}

/// Whether the address bar names this machine. Names of others that lead here belong to pages that try to look at what
/// is none of their business.
fn asks_for_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A cookie says until when it is good, and that somebody with the key said so. Any replica can tell.
fn has_session(headers: &HeaderMap, key: &Secret) -> bool {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|value| value.split(';')).any(|cookie| {
        let Some((NAME, value)) = cookie.trim().split_once('=') else { return false };
        let Some((until, proof)) = value.split_once('.') else { return false };
        let good = until.parse::<u64>().is_ok_and(|until| until > now());
        good && from_hex(proof)
            .is_some_and(|proof| hmac::verify(&signer(key), until.as_bytes(), &proof).is_ok())
    })
}

fn signer(key: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, format!("toolmend session {}", key.reveal()).as_bytes())
}

fn now() -> u64 {
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
    /// Takes the key, gives a cookie.
    pub(super) async fn open_session(&self, request: Request<Body>) -> Response<Body> {
        let body = Limited::new(request.into_body(), 4096).collect().await;
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let given: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let given = given["key"].as_str().unwrap_or_default().trim();
        let key = self.proxy.setup.load().config.admin_key.clone();
        let Some(key) = key.filter(|key| auth::equals_key(given.as_bytes(), key.reveal().as_bytes())) else {
            tokio::time::sleep(PAUSE).await;
            let why = json!({"error": "this is not the admin key"});
            return respond::json_response(StatusCode::UNAUTHORIZED, why.to_string());
        };
        let until = (now() + SESSION).to_string();
        let proof = to_hex(hmac::sign(&signer(&key), until.as_bytes()).as_ref());
        with_cookie(&format!("{until}.{proof}"), SESSION)
    }
}

/// Forgets the cookie.
pub(super) fn close_session() -> Response<Body> {
    with_cookie("", 0)
}

fn with_cookie(value: &str, seconds: u64) -> Response<Body> {
    let mut response = respond::json_response(StatusCode::OK, "{}".to_owned());
    let cookie = format!("{NAME}={value}; Path=/toolmend; HttpOnly; SameSite=Strict; Max-Age={seconds}");
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
    fn only_names_of_this_machine_are_its_own() {
        for (host, own) in [
            ("127.0.0.1:4242", true),
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("page.localhost:4242", true),
            ("[::1]:4242", true),
            ("evil.example:4242", false),
            ("127.0.0.1.evil.example", false),
            ("10.0.0.7:4242", false),
            ("", false),
        ] {
            assert_eq!(asks_for_this_machine(&headers("host", host)), own, "{host}");
        }
    }

    #[test]
    fn cookies_are_good_for_their_key_and_their_time() {
        let key = Secret::new("alpha");
        let cookie = |until: u64, key: &Secret| {
            let until = until.to_string();
            let proof = to_hex(hmac::sign(&signer(key), until.as_bytes()).as_ref());
            headers("cookie", &format!("other=1; {NAME}={until}.{proof}"))
        };
        assert!(has_session(&cookie(now() + 60, &key), &key));
        assert!(!has_session(&cookie(now() - 60, &key), &key));
        assert!(!has_session(&cookie(now() + 60, &Secret::new("beta")), &key));
        assert!(!has_session(&headers("cookie", &format!("{NAME}=99999999999.00")), &key));
        assert!(!has_session(&HeaderMap::new(), &key));
        assert_eq!(from_hex("00ff1"), None);
        assert_eq!(from_hex("00ffx1"), None);
        assert_eq!(from_hex("00ff"), Some(vec![0, 255]));
    }
}
