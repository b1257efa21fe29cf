//! Requests that pass through unchanged: unknown paths, bodies that are not JSON, and the policy `off`.

use std::borrow::Cow;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use toolmend_protocol::{Document, Protocol};

use super::{Proxy, Setup, no_path, no_server};
use crate::http::headers::{headers_for_server, remove_hop_by_hop, wants_websocket};
use crate::http::respond::{error_response, send_failed};
use crate::http::{Body, SendError};

/// Sends a request on unchanged, and returns its answer unchanged. Errors are written for clients of `protocol`.
pub(super) async fn pass_through(
    proxy: &Proxy,
    setup: &Setup,
    protocol: Protocol,
    request: Request<Body>,
) -> Response<Body> {
    let (mut parts, mut body) = request.into_parts();
    if wants_websocket(&parts.headers) {
        let message = "websockets cannot pass through the gateway: connect to the model server itself";
        return error_response(protocol, StatusCode::NOT_IMPLEMENTED, "invalid_request_error", message);
    }
    let mut model = String::new();
    // The body names the model, which matters only if there are several servers.
    if setup.routes.len() > 1 && parts.method == Method::POST {
        let limits = &setup.config.limits;
        let whole = match proxy.read_body(body, &mut parts.extensions, protocol, limits).await {
            Ok(whole) => whole,
            Err(answer) => return answer,
        };
        let doc = Document::parse(&whole);
        model = doc.and_then(|doc| doc.root().get_text("model").map(Cow::into_owned)).unwrap_or_default();
        body = Body::from(whole);
    }
    let Some(route) = setup.find_route(&model) else { return no_server(protocol) };
    let Some(uri) = parts.uri.path_and_query().and_then(|path| route.uri(path)) else {
        return no_path(protocol);
    };
    parts.uri = uri;
    parts.version = http::Version::HTTP_11;
    parts.headers = headers_for_server(parts.headers, route.key.as_ref(), setup.has_client_keys());
    // What the extensions reserve is needed until the request is sent.
    let _extensions = std::mem::take(&mut parts.extensions);
    let body = body.map_err(Into::into).boxed_unsync();
    let idle = Duration::from_secs(setup.config.limits.idle_seconds);
    let sent = tokio::time::timeout(idle, setup.client.send(Request::from_parts(parts, body))).await;
    match sent.unwrap_or_else(|_| Err(SendError::timeout(idle))) {
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            remove_hop_by_hop(&mut head.headers);
            Response::from_parts(head, Body::new(body))
        }
        Err(error) => send_failed(protocol, &error),
    }
}
