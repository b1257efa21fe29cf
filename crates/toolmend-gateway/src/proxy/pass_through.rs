//! Requests that pass through unchanged: unknown paths, bodies that are not JSON, and the policy `off`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use toolmend_protocol::Protocol;

use super::fallback::{
    ChosenRoute, Contact, ServerFailed, is_failure, mark_failed, mark_send_failed, record_contact,
};
use super::{Proxy, Setup, no_path, no_server};
use crate::http::guarded_body::end_if_silent;
use crate::http::headers::{headers_for_server, remove_hop_by_hop, wants_websocket};
use crate::http::respond::{bad_request, error_response, send_failed};
use crate::http::{Body, BrokenRequest, SendError};
use crate::observe::AccessNotes;

/// Sends a request on unchanged, and returns its answer unchanged. Errors are written for clients of `protocol`.
pub(super) async fn pass_through(
    proxy: &Proxy,
    setup: &Setup,
    protocol: Protocol,
    request: Request<Body>,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    if wants_websocket(&parts.headers) {
        let message = "websockets cannot pass through the gateway: connect to the model server itself";
        return error_response(protocol, StatusCode::NOT_IMPLEMENTED, "invalid_request_error", message);
    }
    let only = ChosenRoute { index: 0, has_next: false };
    let chosen = parts.extensions.get::<ChosenRoute>().copied();
    if let Some(chosen) = chosen.or((setup.routes.len() < 2).then_some(only)) {
        let silence = Duration::from_secs(setup.config.limits.body_seconds);
        let body = end_if_silent(body, silence, "client");
        return send_to(proxy, setup, protocol, chosen.index, parts, body).await;
    }
    // The body names the model, and may have to be sent to several servers.
    let limits = &setup.config.limits;
    let whole = match proxy.read_body(body, &mut parts.extensions, protocol, limits).await {
        Ok(whole) => whole,
        Err(answer) => return answer,
    };
    let model = proxy.read_model(&whole, limits).await;
    let candidates = setup.order_candidates(&model);
    // Asking twice for a file to be deleted, for example, is not the same as asking once.
    let may_repeat = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    for (at, index) in candidates.iter().enumerate() {
        let body = Body::from(whole.clone());
        let answer = send_to(proxy, setup, protocol, *index, parts.clone(), body).await;
        let failed = answer.extensions().get::<ServerFailed>();
        let goes_on = failed.is_some_and(|failed| failed.nothing_was_sent || may_repeat);
        if !goes_on || at + 1 == candidates.len() {
            return answer;
        }
        proxy.observer.metrics.traffic.count_fallback(&setup.routes[*index].origin);
    }
    no_server(protocol)
}

/// Sends a request to one server.
async fn send_to(
    proxy: &Proxy,
    setup: &Setup,
    protocol: Protocol,
    index: usize,
    mut parts: http::request::Parts,
    body: Body,
) -> Response<Body> {
    let Some(route) = setup.routes.get(index) else { return no_server(protocol) };
    let Some(uri) = parts.uri.path_and_query().and_then(|path| route.uri(path)) else {
        return no_path(protocol);
    };
    parts.uri = uri;
    parts.version = http::Version::HTTP_11;
    parts.headers = headers_for_server(parts.headers, route.key.as_ref(), setup.has_client_keys());
    // What the extensions reserve is needed until the request is sent.
    let _extensions = std::mem::take(&mut parts.extensions);
    let body = body.map_err(|error| BrokenRequest(error.to_string()).into()).boxed_unsync();
    let limits = &setup.config.limits;
    let idle = Duration::from_secs(limits.idle_seconds);
    let started = Instant::now();
    let sent = tokio::time::timeout(idle, setup.client.send(Request::from_parts(parts, body))).await;
    let sent = sent.unwrap_or_else(|_| Err(SendError::timeout(idle)));
    if let Err(SendError { broken_request: Some(reason), .. }) = &sent {
        // The server is not to blame.
        return bad_request(protocol, &format!("the request broke off: {reason}"));
    }
    record_contact(&proxy.observer, route, limits, Contact::of(&sent, started.elapsed()));
    let mut answer = match sent {
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            remove_hop_by_hop(&mut head.headers);
            let failed = is_failure(head.status);
            let answer = Response::from_parts(head, end_if_silent(Body::new(body), idle, "server"));
            if failed { mark_failed(answer, false) } else { answer }
        }
        Err(error) => mark_send_failed(send_failed(protocol, &error), &error),
    };
    AccessNotes::add_to(&mut answer, |notes| notes.upstream = Some(Arc::clone(&route.origin)));
    answer
}
