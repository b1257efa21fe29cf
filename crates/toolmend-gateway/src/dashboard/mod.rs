//! The dashboard at `/`: shows people what the gateway does.
//!
//! It reads from the proxy's setup and the journal. It never handles model requests, and it loads nothing from elsewhere.

mod access;
mod api;
mod assets;
mod explain;
mod hints;
mod live;
mod playground;

use std::sync::Arc;
use std::time::Duration;

use http::header::ACCEPT;
use http::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::watch;

use self::api::{PageQuery, uncached_json};
use crate::http::Body;
use crate::http::connection_claim::ConnectionClaim;
use crate::http::guarded_body::end_if_silent;
use crate::proxy::Proxy;

/// The path of everything that belongs to the dashboard, except for its start page.
const FOLDER: &str = "/toolmend/";

/// The dashboard of a proxy.
#[derive(Debug)]
pub(crate) struct Dashboard {
    proxy: Arc<Proxy>,
    /// Whether only this machine can reach the gateway.
    is_local: bool,
    /// Becomes true when the gateway stops.
    stopping: watch::Receiver<bool>,
}

impl Dashboard {
    /// Returns the dashboard of a proxy. `is_local`: only this machine can reach the gateway.
    pub(crate) fn new(proxy: Arc<Proxy>, is_local: bool, stopping: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Dashboard { proxy, is_local, stopping })
    }

    /// Whether a request is for the dashboard. A program that requests `/` means the model server; a browser accepts HTML.
    pub(crate) fn owns_request(request: &Request<Body>) -> bool {
        let path = request.uri().path();
        let accept = || request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
        path.starts_with(FOLDER)
            || path == "/"
                && request.method() == Method::GET
                && accept().is_some_and(|kinds| kinds.contains("text/html"))
    }

    /// Answers a request for the dashboard.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let Some(name) = path.strip_prefix(FOLDER) else {
            return assets::answer_file("index.html", request.headers());
        };
        let Some(endpoint) = name.strip_prefix("api/") else {
            return assets::answer_file(name, request.headers());
        };
        let query = match PageQuery::read(request.uri()) {
            Ok(query) => query,
            Err(error) => return uncached_json(StatusCode::BAD_REQUEST, &json!({"error": error})),
        };
        let limits = self.proxy.setup.load().config.limits;
        let silence = Duration::from_secs(limits.body_seconds);
        let request = request.map(|body| end_if_silent(body, silence, "client"));
        let headers = request.headers().clone();
        let claim = request.extensions().get::<ConnectionClaim>().cloned();
        self.slow_down_guesses(&headers, claim.as_ref()).await;
        let id = endpoint.strip_prefix("entries/");
        match (request.method(), endpoint) {
            (&Method::POST, "session") => self.open_session(request).await,
            (&Method::DELETE, "session") => access::close_session(&request),
            (&Method::POST, "mend") => self.answer_trial(request).await,
            (&Method::GET, "state") => self.answer_state(&headers).await,
            (&Method::GET, "entries") => self.answer_entries(query, &headers).await,
            (&Method::DELETE, "entries") => self.delete_all_entries(&headers).await,
            (&Method::GET, _) if id.is_some() => self.answer_entry(id.unwrap_or_default(), &headers).await,
            (&Method::DELETE, _) if id.is_some() => self.delete_entry(id.unwrap_or_default(), &headers).await,
            (&Method::GET, "chart") => self.answer_chart(query, &headers).await,
            (&Method::GET, "worst") => self.answer_worst(query, &headers).await,
            (&Method::GET, "names") => self.answer_names(&headers).await,
            (&Method::GET, "live") => self.stream_entries(&headers),
            (&Method::GET, "tables") => api::answer_tables(),
            (&Method::GET, "upstreams") => self.answer_upstreams(&headers).await,
            _ => uncached_json(StatusCode::NOT_FOUND, &json!({"error": "there is no such endpoint"})),
        }
    }
}
