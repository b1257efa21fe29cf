//! A scripted model server, a gateway in front of it, and a client.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use toolmend_gateway::{Config, Gateway, Upstream};

/// What the server sends, piece by piece; an error breaks the connection.
pub(crate) type Pieces = mpsc::UnboundedReceiver<Result<Bytes, std::io::Error>>;
pub(crate) type Feed = mpsc::UnboundedSender<Result<Bytes, std::io::Error>>;

/// A scripted answer of the server.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: AnswerBody,
}

pub(crate) enum AnswerBody {
    Whole(Vec<u8>),
    Pieces(Pieces),
    Slow(mpsc::Receiver<Result<Bytes, std::io::Error>>),
}

impl Answer {
    pub(crate) fn json(body: &Value) -> Answer {
        Answer::text(&body.to_string())
    }

    /// Returns a JSON answer with these bytes.
    pub(crate) fn text(body: &str) -> Answer {
        let headers = vec![("content-type", "application/json".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(body.as_bytes().to_vec()) }
    }

    /// Returns a stream of events that is complete from the start.
    pub(crate) fn sse(text: impl AsRef<[u8]>) -> Answer {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(text.as_ref().to_vec()) }
    }

    /// Returns a stream of lines.
    pub(crate) fn lines(text: &str) -> Answer {
        let headers = vec![("content-type", "application/x-ndjson".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(text.as_bytes().to_vec()) }
    }

    /// Returns a stream that the test feeds.
    pub(crate) fn fed() -> (Feed, Answer) {
        let (feed, pieces) = mpsc::unbounded_channel();
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        (feed, Answer { status: 200, headers, body: AnswerBody::Pieces(pieces) })
    }

    /// Returns a stream that the test feeds, with room for one piece only, so that the test notices if the stream is not
    /// read.
    pub(crate) fn fed_slowly() -> (mpsc::Sender<Result<Bytes, std::io::Error>>, Answer) {
        let (feed, pieces) = mpsc::channel(1);
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        (feed, Answer { status: 200, headers, body: AnswerBody::Slow(pieces) })
    }

    pub(crate) fn status(mut self, status: u16) -> Answer {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A request as the server received it.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl ReceivedRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Answer>>,
    received: Mutex<Vec<ReceivedRequest>>,
}

/// A scripted server and a gateway in front of it, on free ports of this machine.
pub(crate) struct Fixture {
    pub(crate) gateway: Gateway,
    pub(crate) address: SocketAddr,
    /// The scripted server.
    pub(crate) server: SocketAddr,
    script: Arc<Script>,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
}

impl Fixture {
    /// Starts a gateway with the default configuration.
    pub(crate) async fn new(answers: impl IntoIterator<Item = Answer>) -> Fixture {
        Fixture::with(Config::default(), answers).await
    }

    /// Starts a gateway whose only server is the scripted one, with the settings of the first configured server.
    pub(crate) async fn at(config: Config, answers: impl IntoIterator<Item = Answer>) -> Fixture {
        Fixture::start(config, answers, true).await
    }

    pub(crate) async fn with(config: Config, answers: impl IntoIterator<Item = Answer>) -> Fixture {
        Fixture::start(config, answers, false).await
    }

    async fn start(config: Config, answers: impl IntoIterator<Item = Answer>, ours: bool) -> Fixture {
        let script =
            Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), ..Script::default() });
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server_address = server.local_addr().unwrap();
        let mut upstream = Upstream::new(format!("http://{server_address}"));
        if let Some(first) = config.upstreams.first().filter(|_| ours) {
            upstream = Upstream { url: upstream.url, ..first.clone() };
        }
        let router = Router::new().fallback(answer).with_state(Arc::clone(&script));
        tokio::spawn(async move { axum::serve(server, router).await });
        let upstreams =
            if ours || config.upstreams.is_empty() { vec![upstream] } else { config.upstreams.clone() };
        let gateway = Gateway::new(Config { upstreams, ..config }).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = gateway.clone();
        let served = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            served.serve(listener, stopped).await
        });
        let client = Client::builder(TokioExecutor::new()).build_http();
        Fixture {
            gateway,
            address,
            server: server_address,
            script,
            client,
            stop: Some(stop),
            served: Some(served),
        }
    }

    /// Returns a client of a gateway that already runs.
    pub(crate) fn client_of(address: SocketAddr) -> Fixture {
        let config = Config { upstreams: vec![Upstream::new("http://127.0.0.1:1")], ..Config::default() };
        let client = Client::builder(TokioExecutor::new()).build_http();
        let gateway = Gateway::new(config).unwrap();
        Fixture {
            gateway,
            address,
            server: address,
            script: Arc::default(),
            client,
            stop: None,
            served: None,
        }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    pub(crate) fn answer(&self, answer: Answer) {
        self.script.answers.lock().unwrap().push_back(answer);
    }

    /// Returns the requests that the server has received.
    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.script.received.lock().unwrap().clone()
    }

    pub(crate) async fn open(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Response<Incoming> {
        let mut request = Request::post(format!("http://{}{path}", self.address))
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name.parse::<HeaderName>().unwrap(), *value);
        }
        self.client
            .request(request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).unwrap())
            .await
            .unwrap()
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let (head, body) = self.open(path, headers, body).await.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes);
        Reply {
            status: head.status,
            headers: head.headers,
            body: body.unwrap_or_else(|_| Bytes::from_static(b"<broken off>")),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Request::get(format!("http://{}{path}", self.address)).body(Full::default()).unwrap()).await
    }

    /// Sends a request and returns its answer as soon as it begins.
    pub(crate) fn sending(
        &self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Response<Incoming>> + Send + use<> {
        let answer = self.client.request(request);
        async { answer.await.unwrap() }
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        let (head, body) = self.sending(request).await.into_parts();
        Reply { status: head.status, headers: head.headers, body: body.collect().await.unwrap().to_bytes() }
    }
}

/// What the client received.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// Returns the header that says what was mended.
    pub(crate) fn summary(&self) -> &str {
        self.headers.get("x-toolmend").map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the payloads of the events, without the end marker.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.text().lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter(|data| data.trim() != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    pub(crate) fn comments(&self) -> Vec<&str> {
        self.text().lines().filter_map(|line| line.strip_prefix(": toolmend ")).collect()
    }
}

async fn answer(State(script): State<Arc<Script>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    script.received.lock().unwrap().push(ReceivedRequest { path, headers: head.headers, body });
    let answer = script.answers.lock().unwrap().pop_front();
    let Some(answer) = answer else {
        return Response::builder().status(418).body(Body::from("the script is over")).unwrap();
    };
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let body = match answer.body {
        AnswerBody::Whole(bytes) => Body::from(bytes),
        AnswerBody::Pieces(pieces) => {
            let pieces = futures_util::stream::unfold(pieces, |mut pieces| async move {
                pieces.recv().await.map(|piece| (piece, pieces))
            });
            Body::from_stream(pieces.boxed())
        }
        AnswerBody::Slow(pieces) => {
            let pieces = futures_util::stream::unfold(pieces, |mut pieces| async move {
                pieces.recv().await.map(|piece| (piece, pieces))
            });
            Body::from_stream(pieces.boxed())
        }
    };
    response.body(body).unwrap()
}

/// Returns the tool of most tests.
pub(crate) fn weather() -> Value {
    json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": false
    })
}
