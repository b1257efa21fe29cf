//! Headers between client and server.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers that concern one connection only.
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

/// The header that tells what was done.
pub(crate) const TOLD: HeaderName = HeaderName::from_static("x-toolmend");
/// A policy for one request.
pub(crate) const POLICY: HeaderName = HeaderName::from_static("x-toolmend-policy");
/// A stream mode for one request.
pub(crate) const STREAM: HeaderName = HeaderName::from_static("x-toolmend-stream");

/// Whether an answer is a stream of events or lines.
pub(crate) fn streams(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    ["text/event-stream", "application/x-ndjson"].iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// Whether a client wants to speak something else than HTTP from here on.
pub(crate) fn leaves_http(headers: &HeaderMap) -> bool {
    let protocol = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    protocol.trim().eq_ignore_ascii_case("websocket")
}

/// Takes out what concerns the connection it came on.
pub(crate) fn end_to_end(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut gone: Vec<HeaderName> =
        named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    // There are fewer headers than names to look for.
    gone.extend(headers.keys().filter(|name| HOP_BY_HOP.contains(&name.as_str())).cloned());
    for name in gone {
        headers.remove(name);
    }
}

/// The headers for a server.
pub(crate) fn for_server(
    mut headers: HeaderMap,
    key: Option<&(HeaderValue, HeaderValue)>,
    keys_are_ours: bool,
) -> HeaderMap {
    end_to_end(&mut headers);
    headers.remove(header::HOST);
    headers.remove(header::EXPECT);
    headers.remove(POLICY);
    headers.remove(STREAM);
    if keys_are_ours {
        headers.remove(header::AUTHORIZATION);
        headers.remove("x-api-key");
    }
    if let Some((bearer, plain)) = key {
        // Servers of one vendor look for the second; it is sent only where the client uses it.
        if headers.contains_key("anthropic-version") {
            headers.insert("x-api-key", plain.clone());
            headers.remove(header::AUTHORIZATION);
        } else {
            headers.insert(header::AUTHORIZATION, bearer.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_the_connection_stays_on_it() {
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
        let sent = for_server(headers.clone(), None, false);
        assert_eq!(sent.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-custom", "authorization"]);
        assert!(!for_server(headers.clone(), None, true).contains_key("authorization"));
        let key = ("Bearer own".parse().unwrap(), "own".parse().unwrap());
        assert_eq!(for_server(headers, Some(&key), true)["authorization"], "Bearer own");
    }
}
