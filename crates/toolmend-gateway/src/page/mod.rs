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

use axum::Router;
use axum::extract::State;
use axum::routing::{any, get, post};
use http::header::ACCEPT;
use http::{Method, Request, Response};
use tokio::sync::watch;

use crate::proxy::{App, Body};

/// What the page shares with the gateway.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) app: Arc<App>,
    /// Whether only this machine can reach it.
    pub(crate) local: bool,
    /// Turns true when the gateway stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The page and what it asks for.
pub(crate) fn router(page: Page) -> Router {
    Router::new()
        .route("/", any(front))
        .route("/toolmend/{file}", get(assets::file))
        .route("/toolmend/api/session", post(access::open).delete(access::close))
        .route("/toolmend/api/state", get(api::state))
        .route("/toolmend/api/entries", get(api::entries).delete(api::clear))
        .route("/toolmend/api/entries/{id}", get(api::entry).delete(api::delete))
        .route("/toolmend/api/chart", get(api::chart))
        .route("/toolmend/api/worst", get(api::worst))
        .route("/toolmend/api/names", get(api::names))
        .route("/toolmend/api/live", get(live::live))
        .route("/toolmend/api/mend", post(playground::mend))
        .route("/toolmend/api/tables", get(api::tables))
        .route("/toolmend/api/upstreams", get(api::upstreams))
        .with_state(page)
}

/// The page for browsers. Programs that ask for `/` mean the model server, as they always did.
async fn front(State(page): State<Page>, request: Request<Body>) -> Response<Body> {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if request.method() == Method::GET && accept.contains("text/html") {
        assets::index(request.headers())
    } else {
        page.app.handle(request).await
    }
}
