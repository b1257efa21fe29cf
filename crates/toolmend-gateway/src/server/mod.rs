//! The server: listens, hands connections to worker threads, and routes requests to the proxy or the dashboard.

mod connection;
mod connections;
mod front;
mod watched_io;
mod worker;

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
use toolmend_protocol::Protocol;

use self::connection::{Persistence, serve_connection};
use self::connections::Connections;
use self::front::{NewConnection, look_at};
use self::worker::Workers;
use crate::config::{Config, ConfigError};
use crate::dashboard::Dashboard;
use crate::http::Body;
use crate::http::origin::OriginRules;
use crate::http::respond::{error_response, json_response};
use crate::observe::{AccessRecord, CallCounts, Observer, Traces};
use crate::proxy::{Proxy, Setup, check_health};

/// How long a server may take to count as reachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the journal may take when the gateway stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// What programs of operators ask for again and again; the log would consist of nothing else.
const OPERATOR_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

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
    proxy: Arc<Proxy>,
}

impl Gateway {
    /// Returns a gateway with this configuration.
    ///
    /// # Errors
    /// If the configuration cannot be used, or the journal cannot be opened.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let journal = config.journal.options(config.is_local()).map(Journal::open).transpose();
        let journal = journal.map_err(|error| ConfigError::new(error.to_string()))?;
        let traces = Traces::start(&config)?;
        Ok(Gateway { proxy: Arc::new(Proxy::new(Setup::new(config)?, Observer::new(journal, traces))) })
    }

    /// Uses another configuration for the requests to come. The address to listen on stays.
    ///
    /// # Errors
    /// If the configuration cannot be used; then the old one stays.
    pub fn reload(&self, config: Config) -> Result<(), ConfigError> {
        self.proxy.replace_setup(Setup::new(config)?);
        Ok(())
    }

    /// Serves until `stop` resolves, then lets open streams finish within the configured time.
    ///
    /// Connections run on the gateway's own threads, as many as are configured.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let (shutdown_time, threads) = {
            let setup = self.proxy.setup.load();
            (Duration::from_secs(setup.config.limits.shutdown_seconds), setup.config.thread_count())
        };
        let workers = Arc::new(Workers::start(threads)?);
        // The table of models is parsed once, and the first request should not wait for it.
        std::thread::spawn(|| toolmend::dialect_of(""));
        let (stopping, on_stop) = watch::channel(false);
        let is_local = listener.local_addr()?.ip().is_loopback();
        let service = Arc::new(Service {
            proxy: Arc::clone(&self.proxy),
            is_local,
            dashboard: Dashboard::new(Arc::clone(&self.proxy), is_local, on_stop.clone()),
        });
        let connections = Connections::new(Arc::clone(&self.proxy.observer), Arc::clone(&self.proxy.memory));
        let mut stop = pin!(stop);
        let mut health_checks = pin!(check_health_regularly(&self.proxy));
        loop {
            let stream = tokio::select! {
                stream = accept_connection(&listener, &connections) => stream,
                () = &mut stop => break,
                () = &mut health_checks => continue,
            };
            let setup = self.proxy.setup.load();
            let (limits, has_tls) = (setup.config.limits, setup.tls.is_some());
            // Without room, the client is disconnected.
            let Some(open) = connections.add(limits.connections) else { continue };
            let (service, stopping) = (Arc::clone(&service), on_stop.clone());
            if has_tls {
                // What an encrypted connection is for cannot be seen from outside.
                let persistence = Persistence::KeepAlive;
                let served = serve_connection(service, stream, open, limits, stopping, persistence);
                workers.run_connection(served);
            } else {
                let connection = NewConnection { service, stream, open, limits, stopping };
                workers.run_in_front(look_at(connection, Arc::downgrade(&workers)));
            }
        }
        drop((listener, service, on_stop));
        stopping.send_replace(true);
        // Each connection has a receiver, so the channel closes when the last connection ends.
        if tokio::time::timeout(shutdown_time, stopping.closed()).await.is_err() {
            tracing::warn!(open = self.open_streams(), "stopped before all streams were finished");
        }
        self.flush_reports().await;
        Ok(())
    }

    /// Writes the rest of the journal and sends the rest of the traces.
    async fn flush_reports(&self) {
        let observer = Arc::clone(&self.proxy.observer);
        let written = tokio::task::spawn_blocking(move || {
            if let Some(traces) = &observer.traces {
                traces.flush();
            }
            observer.journal.as_ref().is_none_or(|journal| journal.flush(FLUSH_TIMEOUT))
        });
        if !matches!(written.await, Ok(true)) {
            tracing::warn!("stopped before the journal was written");
        }
    }

    /// Returns the number of open streams.
    pub fn open_streams(&self) -> i64 {
        self.proxy.observer.metrics.open_streams()
    }

    /// Returns how many calls were judged so far, and what was repaired.
    pub fn call_counts(&self) -> CallCounts {
        self.proxy.observer.counts.snapshot()
    }

    /// Returns the addresses of the model servers that no connection can be made to.
    pub async fn find_unreachable_upstreams(&self) -> Vec<String> {
        let setup = self.proxy.setup.load_full();
        let mut unreachable = Vec::new();
        for route in &setup.routes {
            if route.measure_connect_time(CONNECT_TIMEOUT).await.is_none() {
                unreachable.push(route.origin.to_string());
            }
        }
        unreachable
    }

    /// Returns the addresses of the model servers.
    pub fn upstreams(&self) -> Vec<String> {
        self.proxy.setup.load().routes.iter().map(|route| route.origin.to_string()).collect()
    }
}

/// Checks the servers for as long as the gateway runs.
async fn check_health_regularly(proxy: &Proxy) {
    loop {
        let setup = proxy.setup.load_full();
        check_health(proxy, &setup).await;
        tokio::time::sleep(Duration::from_secs(setup.config.limits.health_seconds.max(1))).await;
    }
}

/// Accepts the next connection.
async fn accept_connection(listener: &TcpListener, connections: &Connections) -> std::net::TcpStream {
    loop {
        let accepted = listener.accept().await.and_then(|(stream, _)| {
            // Small frames must not wait for each other.
            stream.set_nodelay(true)?;
            stream.into_std()
        });
        match accepted {
            Ok(stream) => return stream,
            // The client disconnected before it was served.
            Err(error) if is_error_of_client(&error) => {}
            Err(error) => {
                // Most likely there are no file descriptors left. A connection that only waits has one to spare.
                tracing::error!(%error, "no connection can be accepted");
                connections.close_longest_waiting();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Whether an error is about one connection and not about the listener.
fn is_error_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput, NotConnected};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | InvalidInput | NotConnected
    )
}

/// What answers requests: the dashboard, the endpoints for operators, and the proxy.
#[derive(Debug)]
struct Service {
    proxy: Arc<Proxy>,
    dashboard: Arc<Dashboard>,
    /// Whether only this machine can reach the gateway.
    is_local: bool,
}

impl Service {
    /// Answers a request.
    async fn answer(&self, mut request: Request<Body>) -> Response<Body> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_read && OPERATOR_PATHS.contains(&request.uri().path()) {
            return self.answer_unrecorded(request).await;
        }
        let is_logged = self.proxy.setup.load().config.access_log;
        let ids = &self.proxy.request_ids;
        let (record, id) = AccessRecord::begin(&self.proxy.observer, ids, &mut request, is_logged);
        let answer = self.answer_unrecorded(request).await;
        record.follow(id, answer)
    }

    async fn answer_unrecorded(&self, request: Request<Body>) -> Response<Body> {
        if let Err(message) = self.check_origin(&request) {
            self.proxy.observer.metrics.count_refused_origin();
            let protocol = Protocol::nearest_to_path(request.uri().path());
            return error_response(protocol, StatusCode::FORBIDDEN, "permission_error", &message);
        }
        if Dashboard::owns_request(&request) {
            return Arc::clone(&self.dashboard).answer(request).await;
        }
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            "/healthz" if is_read => Response::new(Body::from("ok\n")),
            "/readyz" if is_read => answer_ready(&self.proxy).await,
            "/metrics" if is_read => answer_metrics(&self.proxy),
            _ => Arc::clone(&self.proxy).handle(request).await,
        }
    }

    /// Returns why a request is refused: it is for another host, or from a foreign page.
    fn check_origin(&self, request: &Request<Body>) -> Result<(), String> {
        let setup = self.proxy.setup.load();
        let Config { hosts, origins, .. } = &setup.config;
        OriginRules { is_local: self.is_local, hosts, origins }.check(request)
    }
}

/// Answers whether at least one model server can be reached.
async fn answer_ready(proxy: &Proxy) -> Response<Body> {
    let setup = proxy.setup.load_full();
    for route in &setup.routes {
        if route.measure_connect_time(CONNECT_TIMEOUT).await.is_some() {
            return Response::new(Body::from("ready\n"));
        }
    }
    json_response(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"no model server can be reached"}"#.to_owned())
}

/// Answers with all metrics.
fn answer_metrics(proxy: &Proxy) -> Response<Body> {
    let mut response = Response::new(Body::from(proxy.observer.metrics.to_openmetrics()));
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
