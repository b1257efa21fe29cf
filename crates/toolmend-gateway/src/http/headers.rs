//! Headers between client and server, and the names of the gateway's own.

use http::header::{
    self, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue,
};
use toolmend_protocol::{Credentials, Framing, Protocol, UpstreamHeaders};

use super::coding::Coding;
use super::server_key::ServerKey;

/// Headers that are about one connection only.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The header that says what was mended.
pub(crate) const SUMMARY: HeaderName = HeaderName::from_static("x-toolmend");
/// Its value for an answer that was passed on without being read.
pub(crate) const UNREAD: &str = "unread";
/// The header that sets the policy for one request.
pub(crate) const POLICY: HeaderName = HeaderName::from_static("x-toolmend-policy");
/// The header that sets the stream mode for one request.
pub(crate) const STREAM_MODE: HeaderName = HeaderName::from_static("x-toolmend-stream");

/// The cookie of the dashboard.
pub(crate) const SESSION_COOKIE: &str = "toolmend_session";

/// The header that names what a translation dropped.
pub(crate) const WARNING: HeaderName = HeaderName::from_static("x-toolmend-warning");

/// Whether an answer is a stream of events or lines.
pub(crate) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    [Framing::Sse, Framing::Lines].iter().any(|framing| kind.eq_ignore_ascii_case(framing.content_type()))
}

/// Whether a client asks to switch from HTTP to websockets.
pub(crate) fn wants_websocket(headers: &HeaderMap) -> bool {
    let protocol = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    protocol.trim().eq_ignore_ascii_case("websocket")
}

/// Removes headers that are about the connection they arrived on.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut gone: Vec<HeaderName> =
        named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    // Usually there are fewer headers than names to look for.
    gone.extend(headers.keys().filter(|name| HOP_BY_HOP.contains(&name.as_str())).cloned());
    for name in gone {
        headers.remove(name);
    }
}

/// Returns the headers for a server. `key` replaces the client's. `strip_client_keys`: the client's key is the gateway's own,
/// so the server must not see it.
pub(crate) fn headers_for_server(
    mut headers: HeaderMap,
    key: Option<&ServerKey>,
    strip_client_keys: bool,
) -> HeaderMap {
    remove_hop_by_hop(&mut headers);
    headers.remove(header::HOST);
    headers.remove(header::EXPECT);
    headers.remove(POLICY);
    headers.remove(STREAM_MODE);
    remove_session_cookie(&mut headers);
    if strip_client_keys {
        headers.remove(header::AUTHORIZATION);
        headers.remove("x-api-key");
    }
    if let Some(key) = key {
        // Servers of one vendor expect the plain key; it is sent only if the client speaks to such a server.
        let wants_plain = headers.contains_key("anthropic-version");
        key.replace_in(&mut headers, wants_plain);
    }
    headers
}

/// Removes the cookie of the dashboard: whoever has it may change things. The others are between client and server.
fn remove_session_cookie(headers: &mut HeaderMap) {
    let is_session = |cookie: &[u8]| {
        cookie.trim_ascii().strip_prefix(SESSION_COOKIE.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    };
    let fields: Vec<HeaderValue> = headers.get_all(header::COOKIE).iter().cloned().collect();
    if !fields.iter().any(|field| field.as_bytes().split(|byte| *byte == b';').any(is_session)) {
        return;
    }
    headers.remove(header::COOKIE);
    for field in fields {
        let kept: Vec<&[u8]> =
            field.as_bytes().split(|byte| *byte == b';').filter(|cookie| !is_session(cookie)).collect();
        if let Ok(value) = HeaderValue::from_bytes(kept.join(&b';').trim_ascii())
            && !value.is_empty()
        {
            headers.append(header::COOKIE, value);
        }
    }
}

/// Returns the headers of a request that is translated for a server that speaks `protocol`: the key moves to the header that
/// the server reads, and headers that only other vendors know are removed.
pub(crate) fn headers_for_protocol(
    protocol: Protocol,
    wanted: UpstreamHeaders,
    headers: &HeaderMap,
) -> HeaderMap {
    let mut out = headers.clone();
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let plain = headers.get("x-api-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let others = Protocol::ALL.iter().filter(|other| **other != protocol);
    let foreign: Vec<&str> =
        others.filter_map(|other| other.upstream_side()?.headers.vendor_prefix).collect();
    let is_foreign = |name: &&HeaderName| foreign.iter().any(|prefix| name.as_str().starts_with(prefix));
    let removed: Vec<_> = out.keys().filter(is_foreign).cloned().collect();
    for name in removed {
        out.remove(name);
    }
    for (name, value) in wanted.defaults {
        out.entry(*name).or_insert(HeaderValue::from_static(value));
    }
    match wanted.credentials {
        Credentials::ApiKey => {
            if let (None, Some(Ok(key))) = (&plain, bearer.map(|key| key.parse())) {
                out.insert("x-api-key", key);
            }
        }
        Credentials::Bearer => {
            out.remove("x-api-key");
            if let (None, Some(Ok(key))) = (bearer, plain.map(|key| format!("Bearer {key}").parse())) {
                out.insert(AUTHORIZATION, key);
            }
        }
    }
    out.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    out.remove(CONTENT_ENCODING);
    out
}

/// Asks the server for an encoding that the gateway can read. Streams are read as they arrive, so they should not be
/// compressed.
pub(crate) fn restrict_accepted_encodings(headers: &mut HeaderMap, stream: bool) {
    if stream {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    } else if let Some(header) = headers.get(ACCEPT_ENCODING)
        && let Ok(value) = Coding::restrict_accepted(header.to_str().unwrap_or_default()).parse()
    {
        headers.insert(ACCEPT_ENCODING, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_the_dashboard_stays_here() {
        for (given, sent) in [
            (vec!["a=1; toolmend_session=2.f; b=3"], vec!["a=1; b=3"]),
            (vec!["toolmend_session=2.f"], vec![]),
            (vec!["toolmend_session=2.f; b=3", "c=4"], vec!["b=3", "c=4"]),
            (vec!["a=1;b=toolmend_session=2"], vec!["a=1;b=toolmend_session=2"]),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(header::COOKIE, HeaderValue::from_static(value));
            }
            let headers = headers_for_server(headers, None, false);
            assert!(headers.get_all(header::COOKIE).iter().eq(sent));
        }
    }

    #[test]
    fn headers_about_the_connection_are_not_sent_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, x-private"),
            ("x-private", "1"),
            ("te", "trailers"),
            ("x-custom", "stays"),
            ("authorization", "Bearer client"),
            ("host", "gateway"),
            ("x-toolmend-policy", "off"),
        ] {
            headers.insert(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let sent = headers_for_server(headers.clone(), None, false);
        assert_eq!(sent.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-custom", "authorization"]);
        assert!(!headers_for_server(headers.clone(), None, true).contains_key("authorization"));
        let key = ServerKey::bearer("own").unwrap();
        headers.insert("x-api-key", "client".parse().unwrap());
        let sent = headers_for_server(headers.clone(), Some(&key), false);
        assert_eq!(sent["authorization"], "Bearer own");
        assert!(!sent.contains_key("x-api-key"), "the client's key is not sent beside the gateway's");
        headers.insert("anthropic-version", "1".parse().unwrap());
        let sent = headers_for_server(headers, Some(&key), false);
        assert_eq!(sent["x-api-key"], "own");
        assert!(!sent.contains_key("authorization"));
    }
}
