//! The program that listens.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use axum::serve::ListenerExt;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use tokio::net::TcpListener;
use toolmend_journal::Journal;

use crate::config::{Config, ConfigError};
use crate::observe::{Observer, Traces};
use crate::page::{self, Page};
use crate::proxy::{App, Body, Setup, respond};

/// How long the journal may take when the gateway stops.
const LAST_WRITE: Duration = Duration::from_secs(5);

/// A gateway that can be served and reconfigured.
///
/// ```
/// use toolmend_gateway::{Config, Gateway, Upstream};
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let config = Config { upstreams: vec![Upstream::new("http://127.0.0.1:8080")], ..Config::default() };
/// let gateway = Gateway::new(config).unwrap();
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
/// let stop = async {}; // a signal, for example
/// gateway.serve(listener, stop).await.unwrap();
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct Gateway {
    app: Arc<App>,
}

impl Gateway {
    /// A gateway with this configuration.
    ///
    /// # Errors
    /// Where the configuration cannot be used, or the journal cannot be opened.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let journal = config.journal.options().map(Journal::open).transpose();
        let journal = journal.map_err(|error| ConfigError::new(error.to_string()))?;
        let traces = Traces::start(&config)?;
        Ok(Gateway { app: Arc::new(App::new(Setup::new(config)?, Observer::new(journal, traces))) })
    }

    /// Takes another configuration for the requests to come. The address to listen on stays.
    ///
    /// # Errors
    /// Where the configuration cannot be used; then the old one stays.
    pub fn reload(&self, config: Config) -> Result<(), ConfigError> {
        self.app.setup.store(Arc::new(Setup::new(config)?));
        Ok(())
    }

    /// Serves until `stop` is done, then lets open streams finish for as long as the configuration says.
    ///
    /// # Errors
    /// Where the listener fails.
    pub async fn serve(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let local = listener.local_addr()?.ip().is_loopback();
        let listener = listener.tap_io(|stream| {
            // Small frames must not wait for each other.
            let _ = stream.set_nodelay(true);
        });
        let patience = Duration::from_secs(self.app.setup.load().config.limits.shutdown_seconds);
        let (stopped, on_stop) = tokio::sync::oneshot::channel();
        let (stopping, watched) = tokio::sync::watch::channel(false);
        let page = Page { app: Arc::clone(&self.app), local, stopping: watched };
        let stop = async move {
            stop.await;
            // Pages that are open would keep the gateway from stopping.
            let _ = stopping.send(true);
            let _ = stopped.send(());
        };
        let served = axum::serve(listener, self.router(page)).with_graceful_shutdown(stop);
        let result = tokio::select! {
            result = served => result,
            () = async {
                // Where the sender is gone the server is, too.
                if on_stop.await.is_ok() {
                    tokio::time::sleep(patience).await;
                } else {
                    std::future::pending::<()>().await;
                }
            } => {
                tracing::warn!(open = self.open_streams(), "stopped before all streams were finished");
                Ok(())
            }
        };
        self.write_last().await;
        result
    }

    /// Writes down and sends what waits, as far as that takes no longer than a stop may take.
    async fn write_last(&self) {
        let observer = Arc::clone(&self.app.observer);
        let written = tokio::task::spawn_blocking(move || {
            if let Some(traces) = &observer.traces {
                traces.flush();
            }
            observer.journal.as_ref().is_none_or(|journal| journal.flush(LAST_WRITE))
        });
        if !matches!(written.await, Ok(true)) {
            tracing::warn!("stopped before the journal was written");
        }
    }

    /// How many streams are open.
    pub fn open_streams(&self) -> i64 {
        self.app.observer.metrics.streams()
    }

    /// What was mended so far, for a last line in the log.
    pub fn stats(&self) -> toolmend::Snapshot {
        self.app.observer.stats.snapshot()
    }

    /// The servers that requests go to.
    pub fn upstreams(&self) -> Vec<String> {
        self.app.setup.load().routes.iter().map(crate::upstream::Route::origin).collect()
    }

    fn router(&self, page: Page) -> Router {
        let gateway = Router::new()
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(ready))
            .route("/metrics", get(metrics))
            .fallback(async |State(app): State<Arc<App>>, request| app.handle(request).await)
            .with_state(Arc::clone(&self.app));
        page::router(page).merge(gateway)
    }
}

/// Whether at least one server can be connected to.
async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let setup = app.setup.load_full();
    for route in &setup.routes {
        if route.reach(Duration::from_secs(2)).await.is_some() {
            return Response::new(Body::from("ready\n"));
        }
    }
    respond::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"no model server can be reached"}"#.to_owned())
}

async fn metrics(State(app): State<Arc<App>>) -> Response<Body> {
    let mut response = Response::new(Body::from(app.observer.metrics.text()));
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
