//! Finds out which protocols a server speaks by asking it.
//!
//! With `surface = "auto"` the client's request itself is the first try. Only a server that does not know its path is
//! probed, with an empty request for each protocol, and the answers are remembered.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use toolmend_protocol::Protocol;

use super::Route;
use crate::http::Client;
use crate::http::headers::{headers_for_protocol, headers_for_server};

/// Longer than any server needs to reject an empty request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a status may mean that nothing is served under the path.
pub(crate) fn is_missing(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED)
}

/// Asks about protocols that are unknown so far until one is spoken, `wanted` first. A server that knows the path complains
/// about the empty request; one that does not says so.
pub(crate) async fn probe_protocols(
    client: &Client,
    route: &Route,
    headers: &HeaderMap,
    strip_client_keys: bool,
    wanted: Protocol,
) -> Option<Protocol> {
    let known = &route.profile.known_protocols;
    for protocol in [wanted].into_iter().chain(Protocol::conversational()) {
        if known.get(protocol).is_none()
            && let Some(is_spoken) = ask(client, route, headers, strip_client_keys, protocol).await
        {
            known.set(protocol, is_spoken);
        }
        if known.get(protocol) == Some(true) {
            return Some(protocol);
        }
    }
    None
}

/// Returns whether the server speaks a protocol. `None` if it cannot be reached or does not answer.
async fn ask(
    client: &Client,
    route: &Route,
    headers: &HeaderMap,
    strip_client_keys: bool,
    protocol: Protocol,
) -> Option<bool> {
    let path = protocol.paths().first()?;
    let uri = route.uri(&path.parse().ok()?)?;
    let headers = headers_for_protocol(protocol, protocol.upstream_side()?.headers, headers);
    let mut headers = headers_for_server(headers, route.key.as_ref(), strip_client_keys);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.remove(CONTENT_LENGTH);
    let body = Full::new(Bytes::from_static(b"{}")).map_err(|never| match never {}).boxed_unsync();
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    match tokio::time::timeout(TIMEOUT, client.send(request)).await {
        Ok(Ok(answer)) => Some(!is_missing(answer.status())),
        // It disconnects because of the request, so it handles the path.
        Ok(Err(error)) if !error.unreachable => Some(true),
        _ => None,
    }
}
