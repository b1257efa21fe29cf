//! Answers of the gateway itself.

use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

use crate::surface::Surface;
use crate::upstream::Refused;

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An error as the clients of a surface read it.
pub(crate) fn error(surface: Surface, status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    json(status, surface.error_body(kind, message))
}

/// The server cannot be reached, took too long, or broke off before its answer.
pub(crate) fn bad_gateway(surface: Surface, refused: &Refused) -> Response<Body> {
    if refused.late {
        let message = format!("the model server did not answer: {refused}");
        return error(surface, StatusCode::GATEWAY_TIMEOUT, "timeout_error", &message);
    }
    let what = if refused.unreachable { "cannot be reached" } else { "did not answer" };
    error(surface, StatusCode::BAD_GATEWAY, "upstream_error", &format!("the model server {what}: {refused}"))
}
