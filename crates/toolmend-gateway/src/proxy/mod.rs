//! Requests: which are understood, which only pass, and where they go.

pub(crate) mod auth;
pub(crate) mod exchange;
mod flow;
pub(crate) mod headers;
pub(crate) mod notes;
pub(crate) mod respond;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
pub(crate) use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use toolmend::Delivery;

use self::exchange::Exchange;
use self::notes::Notes;
use crate::config::{Config, ConfigError, PolicyName, StreamMode, read_dialects};
use crate::history;
use crate::mend::judge::Rules;
use crate::observe::{About, Observer};
use crate::surface::Surface;
use crate::surface::request::Asked;
use crate::tools::ToolCache;
use crate::translate::store::Store;
use crate::translate::{self, HiddenTools};
use crate::upstream::{Client, Refused, Route};
use crate::wire::coding::Coding;
use crate::wire::doc::Doc;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) setup: ArcSwap<Setup>,
    pub(crate) observer: Arc<Observer>,
    pub(crate) notes: Notes,
    pub(crate) store: Arc<Store>,
}

/// What a configuration becomes.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) routes: Vec<Route>,
    pub(crate) client: Client,
    pub(crate) tools: ToolCache,
}

impl Setup {
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let routes = config.upstreams.iter().map(Route::new).collect::<Result<_, _>>()?;
        let client = Client::new(&config)?;
        let dialects = config.dialects.as_deref().map(read_dialects).transpose()?.unwrap_or_default();
        Ok(Setup { config, routes, client, tools: ToolCache::new(dialects) })
    }

    pub(crate) fn route(&self, model: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.serves(model)).or_else(|| self.routes.first())
    }
}

impl App {
    pub(crate) fn new(setup: Setup, observer: Observer) -> Self {
        let app = App {
            setup: ArcSwap::from_pointee(setup),
            observer: Arc::new(observer),
            notes: Notes::default(),
            store: Arc::default(),
        };
        app.observer.metrics.reprompt_budget(app.setup.load().config.reprompt_budget());
        app
    }

    /// Takes another setup for the requests to come.
    pub(crate) fn reload(&self, setup: Setup) {
        self.observer.metrics.reprompt_budget(setup.config.reprompt_budget());
        self.setup.store(Arc::new(setup));
    }

    /// Answers a request.
    pub(crate) async fn handle(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let setup = self.setup.load_full();
        let surface = Surface::of_path(request.uri().path()).filter(|_| request.method() == Method::POST);
        let name = surface.map_or("other", Surface::name);
        // Whose errors the client reads, on paths that are not understood too.
        let speaker = surface.unwrap_or_else(|| Surface::near(request.uri().path()));
        let observer = Arc::clone(&self.observer);
        let response = if auth::is_allowed(request.headers(), &setup.config.api_keys) {
            match surface {
                Some(surface) => translate::serve(self, &setup, surface, request).await,
                None => pass(&setup, speaker, request).await,
            }
        } else {
            let message =
                "a key that this gateway knows is missing: send it as `Authorization: Bearer` or `x-api-key`";
            respond::error(speaker, StatusCode::UNAUTHORIZED, "authentication_error", message)
        };
        observer.metrics.request(name, response.status().as_u16());
        response
    }

    pub(crate) async fn mend(
        self: Arc<Self>,
        setup: &Setup,
        surface: Surface,
        parts: http::request::Parts,
        body: Bytes,
    ) -> Response<Body> {
        let config = &setup.config;
        let policy = match wish(&parts.headers, &headers::POLICY, PolicyName::from_name) {
            Ok(policy) => policy.unwrap_or(config.policy),
            Err(message) => {
                return respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", &message);
            }
        };
        let mode = match wish(&parts.headers, &headers::STREAM, stream_mode) {
            Ok(mode) => mode.unwrap_or(config.stream),
            Err(message) => {
                return respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", &message);
            }
        };
        if policy == PolicyName::Off {
            let mut answer = pass(setup, surface, Request::from_parts(parts, Body::from(body))).await;
            answer.headers_mut().insert(headers::TOLD, HeaderValue::from_static("off"));
            return answer;
        }
        let started = Instant::now();
        let coding = Coding::of(&parts.headers);
        let plain = match coding {
            Some(coding) => coding.decode_whole(&body, config.limits.body_bytes).await,
            None => None,
        };
        let Some(doc) = plain.as_ref().and_then(Doc::parse).filter(|doc| doc.root().is_object()) else {
            // The server knows best what is wrong with it.
            return pass(setup, surface, Request::from_parts(parts, Body::from(body))).await;
        };
        let mut asked = Asked::read(surface, &doc);
        let hidden = parts.extensions.get().map(|HiddenTools(tools)| asked.tools = tools.clone());
        let compiled = setup.tools.get(&asked.tools, policy);
        // Calls that were written as text on purpose stay there.
        let known = hidden.map_or_else(|| Arc::clone(&compiled), |()| setup.tools.get(&Bytes::new(), policy));
        let sent = history::mend(surface, &doc, &known, &self.notes, config);
        let Some(route) = setup.route(&asked.model) else { return no_upstream(surface) };
        let Some(uri) = parts.uri.path_and_query().and_then(|path| route.uri(path)) else {
            return no_path(surface);
        };
        let origin = &route.origin;
        let traces = self.observer.traces.as_ref();
        let span = traces.map(|traces| traces.request(&parts.headers, surface.name(), &asked.model, origin));
        let about = Arc::new(About {
            surface: surface.name(),
            upstream: Arc::clone(origin),
            model: Arc::clone(&asked.model),
            started,
            span,
        });
        let mut headers = headers::for_server(parts.headers, route.key.as_ref(), !config.api_keys.is_empty());
        headers.remove(CONTENT_LENGTH);
        if let Some(span) = &about.span {
            span.pass_on(&mut headers);
        }
        let body = match (sent, plain) {
            (Some(text), _) => {
                headers.remove(CONTENT_ENCODING);
                Bytes::from(text)
            }
            (None, Some(_)) => body,
            (None, None) => return no_upstream(surface),
        };
        accept(&mut headers, asked.stream);
        let (mut head, ()) = Request::new(()).into_parts();
        head.method = parts.method;
        head.uri = uri;
        head.headers = headers;
        let rules = Rules {
            mender: compiled.mender.clone(),
            has_tools: compiled.any,
            open: compiled.open,
            refusal: config.refusal,
            delivery: match mode {
                StreamMode::Live if surface.calls_flow() => Delivery::Live,
                _ => Delivery::Held,
            },
            model: Arc::clone(&asked.model),
            stops_for_calls: surface.stops_for_calls(),
            calls_are_text: !surface.knows_tools() && hidden.is_none(),
            held_bytes: config.limits.held_bytes,
            about: Arc::clone(&about),
        };
        let exchange = Exchange {
            client: setup.client.clone(),
            head,
            body,
            surface,
            rules,
            limits: config.limits,
            stream: asked.stream,
            reprompts: Exchange::reprompts_allowed(config, asked.several),
            worked: started.elapsed(),
            app: Arc::clone(&self),
        };
        let response = exchange.run().await;
        if let Some(span) = &about.span {
            span.answered(response.status().as_u16());
        }
        response
    }
}

/// What a header of the request asks for, in words that are known.
fn wish<T>(
    headers: &HeaderMap,
    name: &http::HeaderName,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    known(text).map(Some).ok_or_else(|| format!("the header {name} has a value that is not known: {text:?}"))
}

fn stream_mode(name: &str) -> Option<StreamMode> {
    match name {
        "held" => Some(StreamMode::Held),
        "live" => Some(StreamMode::Live),
        _ => None,
    }
}

/// Asks for what can be read here. Streams are read as they come, so they had better not be compressed.
fn accept(headers: &mut HeaderMap, stream: bool) {
    if stream {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    } else if let Some(header) = headers.get(ACCEPT_ENCODING)
        && let Ok(value) = Coding::accepted(header.to_str().unwrap_or_default()).parse()
    {
        headers.insert(ACCEPT_ENCODING, value);
    }
}

/// Sends a request on as it is, and its answer back as it is. Errors are written for clients of `surface`.
async fn pass(setup: &Setup, surface: Surface, request: Request<Body>) -> Response<Body> {
    let (mut parts, mut body) = request.into_parts();
    if headers::leaves_http(&parts.headers) {
        let message = "websockets do not pass through here: connect to the model server itself";
        return respond::error(surface, StatusCode::NOT_IMPLEMENTED, "invalid_request_error", message);
    }
    let mut model = String::new();
    // Which server is meant stands in the body; it is looked at only where there is a choice.
    if setup.routes.len() > 1 && parts.method == Method::POST {
        let whole = match read(body, surface, setup.config.limits.body_bytes).await {
            Ok(whole) => whole,
            Err(answer) => return answer,
        };
        let doc = Doc::parse(&whole);
        model = doc.and_then(|doc| doc.root().get_text("model").map(Cow::into_owned)).unwrap_or_default();
        body = Body::from(whole);
    }
    let Some(route) = setup.route(&model) else { return no_upstream(surface) };
    let Some(uri) = parts.uri.path_and_query().and_then(|path| route.uri(path)) else {
        return no_path(surface);
    };
    parts.uri = uri;
    parts.version = http::Version::HTTP_11;
    parts.headers = headers::for_server(parts.headers, route.key.as_ref(), !setup.config.api_keys.is_empty());
    parts.extensions.clear();
    let body = body.map_err(Into::into).boxed_unsync();
    let idle = Duration::from_secs(setup.config.limits.idle_seconds);
    let sent = tokio::time::timeout(idle, setup.client.send(Request::from_parts(parts, body))).await;
    match sent.unwrap_or_else(|_| Err(Refused::silent(idle))) {
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            headers::end_to_end(&mut head.headers);
            Response::from_parts(head, Body::new(body))
        }
        Err(refused) => respond::bad_gateway(surface, &refused),
    }
}

/// The whole body of a request, or what the client is told instead.
pub(crate) async fn read(body: Body, surface: Surface, most: usize) -> Result<Bytes, Response<Body>> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("the request is longer than {most} bytes");
            Err(respond::error(surface, StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", &message))
        }
        Err(error) => {
            let message = format!("the request broke off: {error}");
            Err(respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", &message))
        }
    }
}

fn no_path(surface: Surface) -> Response<Body> {
    let message = "the address of the request has no path: this is no proxy for other hosts";
    respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", message)
}

fn no_upstream(surface: Surface) -> Response<Body> {
    respond::error(surface, StatusCode::BAD_GATEWAY, "upstream_error", "no model server is configured")
}
