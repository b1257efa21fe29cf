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

use self::worker::Workers;
use crate::config::{Config, ConfigError};
use crate::proxy::{App, Body, Setup, respond};

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
    /// Where the configuration cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(Gateway { app: Arc::new(App::new(Setup::new(config)?)) })
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
        let mut stop = pin!(stop);
        loop {
            let stream = tokio::select! {
                stream = accept(&listener) => stream,
                () = &mut stop => break,
            };
            workers.run(connection::serve(Arc::clone(&self.app), stream, on_stop.clone()));
        }
        drop((listener, on_stop));
        stopping.send_replace(true);
        // Each connection has a receiver.
        if tokio::time::timeout(patience, stopping.closed()).await.is_err() {
            tracing::warn!(open = self.open_streams(), "stopped before all streams were finished");
        }
        Ok(())
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
async fn answer(app: Arc<App>, request: Request<Body>) -> Response<Body> {
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
        let port = route.authority.port_u16().unwrap_or(443);
        let address = (route.authority.host().trim_matches(['[', ']']).to_owned(), port);
        let connect = tokio::net::TcpStream::connect(address);
        if matches!(tokio::time::timeout(Duration::from_secs(2), connect).await, Ok(Ok(_))) {
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
