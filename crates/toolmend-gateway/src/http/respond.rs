//! Answers that the gateway writes itself.

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use toolmend_protocol::Protocol;

use super::{Body, SendError};

/// Returns a JSON answer.
pub(crate) fn json_response(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns an error in the form that clients of a protocol read.
pub(crate) fn error_response(
    protocol: Protocol,
    status: StatusCode,
    kind: &str,
    message: &str,
) -> Response<Body> {
    json_response(status, protocol.error_body(kind, message))
}

/// Returns the error for a request that the gateway does not accept.
pub(crate) fn bad_request(protocol: Protocol, message: &str) -> Response<Body> {
    error_response(protocol, StatusCode::BAD_REQUEST, "invalid_request_error", message)
}

/// Returns the error for a request that the gateway cannot serve at the moment.
pub(crate) fn too_busy(protocol: Protocol, message: &str) -> Response<Body> {
    let message = format!("{message}: try again in a moment");
    let mut response =
        error_response(protocol, StatusCode::SERVICE_UNAVAILABLE, "overloaded_error", &message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Returns the error for an answer that the server could not give.
pub(crate) fn bad_gateway(protocol: Protocol, message: &str) -> Response<Body> {
    error_response(protocol, StatusCode::BAD_GATEWAY, "upstream_error", message)
}

/// Returns the error for a server that cannot be reached, took too long, or disconnected before it answered.
pub(crate) fn send_failed(protocol: Protocol, error: &SendError) -> Response<Body> {
    if error.timed_out {
        let message = format!("the model server did not answer: {error}");
        return error_response(protocol, StatusCode::GATEWAY_TIMEOUT, "timeout_error", &message);
    }
    let what = if error.unreachable { "cannot be reached" } else { "did not answer" };
    bad_gateway(protocol, &format!("the model server {what}: {error}"))
}
