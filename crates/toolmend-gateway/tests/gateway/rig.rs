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

/// What the server sends piece by piece; an error breaks the connection.
pub(crate) type Pieces = mpsc::UnboundedReceiver<Result<Bytes, std::io::Error>>;
pub(crate) type Feed = mpsc::UnboundedSender<Result<Bytes, std::io::Error>>;

/// What the server answers.
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

    /// A JSON body with these bytes.
    pub(crate) fn text(body: &str) -> Answer {
        let headers = vec![("content-type", "application/json".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(body.as_bytes().to_vec()) }
    }

    /// A stream that is there at once.
    pub(crate) fn sse(text: impl AsRef<[u8]>) -> Answer {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(text.as_ref().to_vec()) }
    }

    /// A stream of lines.
    pub(crate) fn lines(text: &str) -> Answer {
        let headers = vec![("content-type", "application/x-ndjson".to_owned())];
        Answer { status: 200, headers, body: AnswerBody::Whole(text.as_bytes().to_vec()) }
    }

    /// A stream that the test feeds.
    pub(crate) fn fed() -> (Feed, Answer) {
        let (feed, pieces) = mpsc::unbounded_channel();
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        (feed, Answer { status: 200, headers, body: AnswerBody::Pieces(pieces) })
    }

    /// The same with room for one piece only, so that the test feels when nobody reads.
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

/// A request as the server got it.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Answer>>,
    got: Mutex<Vec<Got>>,
}

/// Server and gateway, on free ports of this machine.
pub(crate) struct Rig {
    pub(crate) gateway: Gateway,
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
}

impl Rig {
    /// A gateway with the default configuration.
    pub(crate) async fn new(answers: impl IntoIterator<Item = Answer>) -> Rig {
        Rig::with(Config::default(), answers).await
    }

    /// A gateway whose only server is the scripted one, set up like the first that is configured.
    pub(crate) async fn at(config: Config, answers: impl IntoIterator<Item = Answer>) -> Rig {
        Rig::start(config, answers, true).await
    }

    pub(crate) async fn with(config: Config, answers: impl IntoIterator<Item = Answer>) -> Rig {
        Rig::start(config, answers, false).await
    }

    async fn start(config: Config, answers: impl IntoIterator<Item = Answer>, ours: bool) -> Rig {
        let script =
            Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), ..Script::default() });
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut upstream = Upstream::new(format!("http://{}", server.local_addr().unwrap()));
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
        Rig { gateway, address, script, client, stop: Some(stop), served: Some(served) }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    pub(crate) fn answer(&self, answer: Answer) {
        self.script.answers.lock().unwrap().push_back(answer);
    }

    /// What the server got so far.
    pub(crate) fn got(&self) -> Vec<Got> {
        self.script.got.lock().unwrap().clone()
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
        let request = Request::get(format!("http://{}{path}", self.address)).body(Full::default()).unwrap();
        let (head, body) = self.client.request(request).await.unwrap().into_parts();
        Reply { status: head.status, headers: head.headers, body: body.collect().await.unwrap().to_bytes() }
    }
}

/// What the client got.
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

    pub(crate) fn told(&self) -> &str {
        self.headers.get("x-toolmend").map_or("", |value| value.to_str().unwrap())
    }

    /// The payloads of the events, without the last word.
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
    script.got.lock().unwrap().push(Got { path, headers: head.headers, body });
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

/// The tool of most tests.
pub(crate) fn weather() -> Value {
    json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": false
    })
}
