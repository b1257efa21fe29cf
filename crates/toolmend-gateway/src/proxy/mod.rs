//! The proxy: takes a client's request, sends it to a server, and returns the mended answer.
//!
//! ```text
//! Proxy::handle ─► translation::serve ─► Proxy::mend_and_send ─► Exchange ─► server
//!       │                 └ only if the server speaks another protocol
//!       └ paths of no known protocol pass through unchanged
//! ```
//!
//! The dashboard and the listener are not part of it.

mod exchange;
mod pass_through;
mod response_stream;
mod setup;
mod translation;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use toolmend::{Delivery, Preset, ToolChoice, TurnOptions};
use toolmend_protocol::{Document, Protocol, RequestSummary};

pub(crate) use self::setup::Setup;

use self::exchange::Exchange;
use self::pass_through::pass_through;
use crate::config::{StreamMode, TruncationMode};
use crate::http::coding::Coding;
use crate::http::headers::{self, headers_for_server, restrict_accepted_encodings};
use crate::http::respond::{bad_gateway, bad_request, error_response};
use crate::http::{Body, auth};
use crate::mend::{CallNotes, CompiledTools, TurnRules, mend_request};
use crate::observe::{Observer, RequestContext};
use crate::translate::ConversationStore;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) setup: ArcSwap<Setup>,
    pub(crate) observer: Arc<Observer>,
    notes: CallNotes,
    conversations: Arc<ConversationStore>,
}

/// Tools that only the gateway knows, because the server has them in its prompt.
#[derive(Debug, Clone)]
struct HiddenTools(Bytes);

/// The protocol of the client, if the server speaks another one.
#[derive(Debug, Clone, Copy)]
struct ClientProtocol(Protocol);

impl Proxy {
    /// Returns a proxy with this setup.
    pub(crate) fn new(setup: Setup, observer: Observer) -> Self {
        observer.metrics.set_reprompt_budget(setup.config.reprompt_budget());
        Proxy {
            setup: ArcSwap::from_pointee(setup),
            observer: Arc::new(observer),
            notes: CallNotes::default(),
            conversations: Arc::default(),
        }
    }

    /// Uses another setup for the requests to come.
    pub(crate) fn replace_setup(&self, setup: Setup) {
        self.observer.metrics.set_reprompt_budget(setup.config.reprompt_budget());
        self.setup.store(Arc::new(setup));
    }

    /// Answers a request.
    pub(crate) async fn handle(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let setup = self.setup.load_full();
        let path = request.uri().path();
        let protocol = Protocol::from_path(path).filter(|_| request.method() == Method::POST);
        let name = protocol.map_or("other", |protocol| protocol.name());
        // Requests that only pass through get errors in the form that their clients read, too.
        let error_protocol = protocol.unwrap_or_else(|| Protocol::nearest_to_path(path));
        let observer = Arc::clone(&self.observer);
        let response = if auth::has_valid_key(request.headers(), &setup.config.api_keys) {
            match protocol {
                Some(protocol) => translation::serve(self, &setup, protocol, request).await,
                None => pass_through(&setup, error_protocol, request).await,
            }
        } else {
            let message =
                "expected a key that this gateway knows: send it as `Authorization: Bearer` or `x-api-key`";
            error_response(error_protocol, StatusCode::UNAUTHORIZED, "authentication_error", message)
        };
        observer.metrics.count_request(name, response.status().as_u16());
        response
    }

    /// Sends a request to a server that speaks its protocol, and mends the answer.
    async fn mend_and_send(
        self: Arc<Self>,
        setup: &Setup,
        protocol: Protocol,
        parts: http::request::Parts,
        body: Bytes,
    ) -> Response<Body> {
        let started = Instant::now();
        let config = &setup.config;
        let (policy, stream_mode) = match read_settings(&parts.headers, setup) {
            Ok(settings) => settings,
            Err(message) => return bad_request(protocol, &message),
        };
        if policy == Preset::Off {
            let request = Request::from_parts(parts, Body::from(body));
            let mut answer = pass_through(setup, protocol, request).await;
            answer.headers_mut().insert(headers::SUMMARY, HeaderValue::from_static("off"));
            return answer;
        }
        let plain = match Coding::from_headers(&parts.headers) {
            Some(coding) => coding.decode_whole(&body, config.limits.body_bytes).await,
            None => None,
        };
        let Some(doc) = plain.as_ref().and_then(Document::parse).filter(|doc| doc.root().is_object()) else {
            // The server knows best what is wrong with the request.
            return pass_through(setup, protocol, Request::from_parts(parts, Body::from(body))).await;
        };
        let mut summary = RequestSummary::read(&doc, protocol.features().streams_by_default);
        let hidden_tools = parts.extensions.get().map(|HiddenTools(tools)| tools.clone());
        let client = parts.extensions.get().map_or(protocol, |ClientProtocol(client)| *client);
        let are_tools_hidden = hidden_tools.is_some();
        summary.tools = hidden_tools.unwrap_or(summary.tools);
        let compiled = setup.tools_for(&summary.model);
        let tools = compiled.get(&summary.tools, policy);
        // With hidden tools, earlier calls are text on purpose and stay text.
        let history_tools =
            if are_tools_hidden { compiled.get(&Bytes::new(), policy) } else { Arc::clone(&tools) };
        let mended = mend_request(protocol, &doc, &history_tools, &self.notes, config);
        let Some(route) = setup.find_route(&summary.model) else { return no_server(protocol) };
        let Some(uri) = parts.uri.path_and_query().and_then(|path| route.uri(path)) else {
            return no_path(protocol);
        };
        let context = Arc::new(RequestContext {
            protocol: protocol.name(),
            upstream: Arc::clone(&route.origin),
            model: Arc::clone(&summary.model),
            started,
            span: self.observer.traces.as_ref().map(|traces| {
                traces.start_request(&parts.headers, protocol.name(), &summary.model, &route.origin)
            }),
        });
        let mut headers = headers_for_server(parts.headers, route.key.as_ref(), setup.has_client_keys());
        headers.remove(CONTENT_LENGTH);
        if let Some(span) = &context.span {
            span.inject_into(&mut headers);
        }
        let body = match mended.text {
            Some(text) => {
                headers.remove(CONTENT_ENCODING);
                Bytes::from(text)
            }
            None => body,
        };
        restrict_accepted_encodings(&mut headers, summary.stream);
        let (mut head, ()) = Request::new(()).into_parts();
        head.method = parts.method;
        head.uri = uri;
        head.headers = headers;
        let exchange = Exchange {
            client: setup.client.clone(),
            head,
            body,
            protocol,
            rules: TurnRules {
                earlier_refusals: Arc::new(mended.refusals),
                hides_truncation: client.features().limit_ends_agents
                    && config.truncation == TruncationMode::Recover,
                ..turn_rules(setup, protocol, &tools, stream_mode, are_tools_hidden, &summary, &context)
            },
            limits: config.limits,
            stream: summary.stream,
            max_reprompts: Exchange::max_reprompts(config, summary.several_answers),
            added_time: started.elapsed(),
            proxy: Arc::clone(&self),
        };
        let response = exchange.run().await;
        if let Some(span) = &context.span {
            span.record_status(response.status().as_u16());
        }
        response
    }
}

/// Returns the rules that the turn of a response is judged by.
fn turn_rules(
    setup: &Setup,
    protocol: Protocol,
    tools: &CompiledTools,
    stream_mode: StreamMode,
    are_tools_hidden: bool,
    summary: &RequestSummary,
    context: &Arc<RequestContext>,
) -> TurnRules {
    let features = protocol.features();
    TurnRules {
        mender: tools.mender.clone(),
        has_tools: tools.has_tools,
        has_hosted_tools: tools.has_hosted_tools,
        refusal: setup.config.refusal,
        earlier_refusals: Arc::default(),
        hides_truncation: false,
        delivery: match stream_mode {
            StreamMode::Live if features.streams_arguments => Delivery::Live,
            _ => Delivery::Held,
        },
        model: Arc::clone(&context.model),
        options: turn_options(summary).calls(setup.config.calls),
        has_stop_reason_for_calls: features.has_stop_reason_for_calls,
        calls_are_text: !features.declares_tools && !are_tools_hidden,
        held_bytes: setup.config.limits.held_bytes,
        context: Arc::clone(context),
    }
}

/// Returns what the request says about calls in the text of the answer.
fn turn_options(summary: &RequestSummary) -> TurnOptions {
    // Text that is streamed must not wait for the end of reasoning that servers rarely leave in it.
    let options = TurnOptions::new().model(&*summary.model);
    let mut options = if summary.stream { options.reasoning_open(false) } else { options };
    if let Some(choice) = summary.tool_choice.as_ref().and_then(ToolChoice::from_value) {
        options = options.tool_choice(choice);
    }
    if let Some(format) = &summary.answer_format {
        options = options.response_format(format);
    }
    match summary.parallel_calls {
        Some(allowed) => options.parallel_tool_calls(allowed),
        None => options,
    }
}

/// Reads the policy and the stream mode that a request asks for by headers.
fn read_settings(headers: &HeaderMap, setup: &Setup) -> Result<(Preset, StreamMode), String> {
    let policy = read_setting(headers, &headers::POLICY, |name| name.to_ascii_lowercase().parse().ok())?;
    let stream_mode = read_setting(headers, &headers::STREAM_MODE, |name| match name {
        "held" => Some(StreamMode::Held),
        "live" => Some(StreamMode::Live),
        _ => None,
    })?;
    Ok((policy.unwrap_or(setup.config.policy), stream_mode.unwrap_or(setup.config.stream)))
}

/// Reads a setting from a header.
fn read_setting<T>(
    headers: &HeaderMap,
    name: &HeaderName,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    parse(text).map(Some).ok_or_else(|| format!("the header {name} has an unknown value: {text:?}"))
}

/// Reads the whole body of a request, or returns an error for the client.
async fn read_body(body: Body, protocol: Protocol, max_length: usize) -> Result<Bytes, Response<Body>> {
    match Limited::new(body, max_length).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = format!("the request is longer than {max_length} bytes");
            Err(error_response(protocol, StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", &message))
        }
        Err(error) => Err(bad_request(protocol, &format!("the request broke off: {error}"))),
    }
}

fn no_path(protocol: Protocol) -> Response<Body> {
    bad_request(protocol, "the request's address has no path: this gateway is not a proxy for other hosts")
}

fn no_server(protocol: Protocol) -> Response<Body> {
    bad_gateway(protocol, "no model server is configured")
}
