//! The program that listens.

mod connection;
pub(crate) mod worker;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolmend_journal::Journal;

use self::worker::Workers;
use crate::config::{Config, ConfigError};
use crate::observe::{Observer, Traces};
use crate::page::Page;
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
        self.app.reload(Setup::new(config)?);
        Ok(())
    }

    /// Serves until `stop` is done, then lets open streams finish for as long as the configuration says.
    ///
    /// Connections run on threads of the gateway's own, as many as the configuration says.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let (patience, threads) = {
            let setup = self.app.setup.load();
            (Duration::from_secs(setup.config.limits.shutdown_seconds), setup.config.thread_count())
        };
        let workers = Workers::start(threads)?;
        // The table of models is read once, and the first request should not wait for it.
        std::thread::spawn(|| toolmend::dialect_of(""));
        let (stopping, on_stop) = watch::channel(false);
        let local = listener.local_addr()?.ip().is_loopback();
        let page = Arc::new(Page { app: Arc::clone(&self.app), local, stopping: on_stop });
        let mut stop = pin!(stop);
        loop {
            let stream = tokio::select! {
                stream = accept(&listener) => stream,
                () = &mut stop => break,
            };
            workers.run(connection::serve(Arc::clone(&page), stream));
        }
        drop((listener, page));
        stopping.send_replace(true);
        // Each connection has a receiver.
        if tokio::time::timeout(patience, stopping.closed()).await.is_err() {
            tracing::warn!(open = self.open_streams(), "stopped before all streams were finished");
        }
        self.write_last().await;
        Ok(())
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
        self.app.setup.load().routes.iter().map(|route| route.origin.to_string()).collect()
    }
}

/// The next connection, ready to be handed to a thread.
async fn accept(listener: &TcpListener) -> std::net::TcpStream {
    loop {
        let accepted = listener.accept().await.and_then(|(stream, _)| {
            // Small frames must not wait for each other.
            stream.set_nodelay(true)?;
            stream.into_std()
        });
        match accepted {
            Ok(stream) => return stream,
            // The client went away before it was served.
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                // Out of descriptors, most likely: only time helps.
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput, NotConnected};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | InvalidInput | NotConnected
    )
}

/// Answers a request: the gateway's own pages, or the way to a server.
async fn answer(page: Arc<Page>, request: Request<Body>) -> Response<Body> {
    if Page::is_meant(&request) {
        return page.answer(request).await;
    }
    let app = Arc::clone(&page.app);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        "/healthz" if reads => Response::new(Body::from("ok\n")),
        "/readyz" if reads => ready(&app).await,
        "/metrics" if reads => metrics(&app),
        _ => app.handle(request).await,
    }
}

/// Whether at least one server can be connected to.
async fn ready(app: &App) -> Response<Body> {
    let setup = app.setup.load_full();
    for route in &setup.routes {
        if route.reach(Duration::from_secs(2)).await.is_some() {
            return Response::new(Body::from("ready\n"));
        }
    }
    respond::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"no model server can be reached"}"#.to_owned())
}

fn metrics(app: &App) -> Response<Body> {
    let mut response = Response::new(Body::from(app.observer.metrics.text()));
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
