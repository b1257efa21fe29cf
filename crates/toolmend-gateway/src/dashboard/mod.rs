//! The page at `/`: what the gateway does, for people. Everything it needs is in the program, and nothing is asked of
//! anybody else.

mod access;
mod api;
mod assets;
mod explain;
mod hints;
mod live;
mod playground;

use std::sync::Arc;

use http::header::ACCEPT;
use http::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::watch;

use self::api::{Asked, send};
use crate::http::Body;
use crate::proxy::Proxy;

/// Where everything of the page stands but the page itself.
const FOLDER: &str = "/toolmend/";

/// What the page shares with the gateway.
#[derive(Debug)]
pub(crate) struct Dashboard {
    proxy: Arc<Proxy>,
    /// Whether only this machine can reach it.
    is_local: bool,
    /// Turns true when the gateway stops.
    stopping: watch::Receiver<bool>,
}

impl Dashboard {
    /// Returns the dashboard of a proxy. `is_local`: only this machine can reach the gateway.
    pub(crate) fn new(proxy: Arc<Proxy>, is_local: bool, stopping: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Dashboard { proxy, is_local, stopping })
    }

    /// Whether a request is for the page. Programs that ask for `/` mean the model server, as they always did.
    pub(crate) fn owns_request(request: &Request<Body>) -> bool {
        let path = request.uri().path();
        let accept = || request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
        path.starts_with(FOLDER)
            || path == "/"
                && request.method() == Method::GET
                && accept().is_some_and(|kinds| kinds.contains("text/html"))
    }

    /// Answers a request for the page.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let Some(name) = path.strip_prefix(FOLDER) else {
            return assets::send("index.html", request.headers());
        };
        let Some(question) = name.strip_prefix("api/") else { return assets::send(name, request.headers()) };
        let asked = match Asked::read(request.uri()) {
            Ok(asked) => asked,
            Err(why) => return send(StatusCode::BAD_REQUEST, &json!({"error": why})),
        };
        let headers = request.headers().clone();
        let id = question.strip_prefix("entries/");
        match (request.method(), question) {
            (&Method::POST, "session") => self.open_session(request).await,
            (&Method::DELETE, "session") => access::close_session(),
            (&Method::POST, "mend") => self.mend(request).await,
            (&Method::GET, "state") => self.state(&headers).await,
            (&Method::GET, "entries") => self.entries(asked, &headers).await,
            (&Method::DELETE, "entries") => self.clear(&headers).await,
            (&Method::GET, _) if id.is_some() => self.entry(id.unwrap_or_default(), &headers).await,
            (&Method::DELETE, _) if id.is_some() => self.delete(id.unwrap_or_default(), &headers).await,
            (&Method::GET, "chart") => self.chart(asked, &headers).await,
            (&Method::GET, "worst") => self.worst(asked, &headers).await,
            (&Method::GET, "names") => self.names(&headers).await,
            (&Method::GET, "live") => self.live(&headers),
            (&Method::GET, "tables") => api::tables(),
            (&Method::GET, "upstreams") => self.upstreams(&headers).await,
            _ => send(StatusCode::NOT_FOUND, &json!({"error": "there is no such question"})),
        }
    }
}
