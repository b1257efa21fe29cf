//! Which surfaces a server speaks, found out by asking.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};

use super::Wire;
use crate::proxy::Setup;
use crate::upstream::Route;

/// What is known about the surfaces of a server.
#[derive(Debug, Default)]
pub(crate) struct Known {
    speaks: [AtomicU8; 5],
}

const YES: u8 = 1;
const NO: u8 = 2;
/// Longer than any server needs to refuse an empty request.
const PATIENCE: Duration = Duration::from_secs(5);
/// In the order in which they are preferred.
const ALL: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Messages, Wire::Ollama];

impl Known {
    pub(crate) fn get(&self, wire: Wire) -> Option<bool> {
        match self.speaks[wire as usize].load(Ordering::Relaxed) {
            YES => Some(true),
            NO => Some(false),
            _ => None,
        }
    }

    pub(crate) fn set(&self, wire: Wire, speaks: bool) {
        self.speaks[wire as usize].store(if speaks { YES } else { NO }, Ordering::Relaxed);
    }

    /// The first surface that the server is known to speak.
    pub(crate) fn first(&self) -> Option<Wire> {
        ALL.into_iter().find(|wire| self.get(*wire) == Some(true))
    }
}

/// Whether a status may mean that there is nothing under this path.
pub(crate) fn is_missing(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED)
}

/// Asks for every surface that is not known yet. A server that knows the path complains about the empty request;
/// one that does not says so.
pub(crate) async fn probe(setup: &Setup, route: &Route, headers: &HeaderMap, wanted: Wire) -> Option<Wire> {
    let known = &route.way.known;
    for wire in [wanted].into_iter().chain(ALL) {
        if known.get(wire).is_none()
            && let Some(speaks) = speaks(setup, route, headers, wire).await
        {
            known.set(wire, speaks);
        }
        if known.get(wire) == Some(true) {
            return Some(wire);
        }
    }
    None
}

async fn speaks(setup: &Setup, route: &Route, headers: &HeaderMap, wire: Wire) -> Option<bool> {
    let uri = route.uri(&wire.path().parse().ok()?)?;
    let mut headers = super::headers_for(wire, headers);
    headers =
        crate::proxy::headers::for_server(headers, route.key.as_ref(), !setup.config.api_keys.is_empty());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.remove(http::header::CONTENT_LENGTH);
    let body = Full::new(Bytes::from_static(b"{}")).map_err(|never| match never {}).boxed_unsync();
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    match tokio::time::timeout(PATIENCE, setup.client.send(request)).await {
        Ok(Ok(answer)) => Some(!is_missing(answer.status())),
        // It chokes on the request, so it knows what to do with one.
        Ok(Err(refused)) if !refused.unreachable => Some(true),
        _ => None,
    }
}
