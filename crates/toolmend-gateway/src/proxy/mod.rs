//! The proxy: takes a client's request, sends it to a server, and returns the mended answer.
//!
//! ```text
//! Proxy::handle ─► translation::serve ─► Proxy::mend_and_send ─► Exchange ─► server
//!       │                 └ only if the server speaks another protocol
//!       └ paths of no known protocol pass through unchanged
//! ```
//!
//! The dashboard and the listener are not part of it.

mod client_keys;
mod exchange;
mod fallback;
mod pass_through;
mod read_body;
mod read_request;
mod response_stream;
mod setup;
mod translation;
mod unsent_input;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use toolmend::{Delivery, Preset, ToolChoice, TurnOptions};
use toolmend_protocol::{Protocol, RequestSummary, TokenCounts};

pub(crate) use self::fallback::check_health;
pub(crate) use self::setup::Setup;

use self::exchange::Exchange;
use self::fallback::ChosenRoute;
use self::pass_through::pass_through;
use self::read_request::{ReadRequest, Reading};
use crate::config::{StreamMode, TruncationMode};
use crate::guard::{HeldMemory, KeyBudgets, RequestGate, Reservation, WorkPool};
use crate::http::Body;
use crate::http::connection_claim::ConnectionClaim;
use crate::http::guarded_body::guard_body;
use crate::http::headers::{self, headers_for_server, restrict_accepted_encodings};
use crate::http::key_guesses::KeyGuesses;
use crate::http::request_id::RequestIds;
use crate::http::respond::{bad_gateway, bad_request, too_busy};
use crate::mend::{CallNotes, CompiledTools, TurnRules};
use crate::observe::{AccessNotes, Observer, RequestContext};
use crate::translate::ConversationStore;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) setup: ArcSwap<Setup>,
    pub(crate) observer: Arc<Observer>,
    notes: CallNotes,
    conversations: Arc<ConversationStore>,
    gate: RequestGate,
    pub(crate) memory: Arc<HeldMemory>,
    pub(crate) work: WorkPool,
    pub(crate) key_guesses: KeyGuesses,
    budgets: KeyBudgets,
    pub(crate) request_ids: RequestIds,
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
        let (limits, threads) = (setup.config.limits, setup.config.thread_count());
        let observer = Arc::new(observer);
        setup.show_servers(&observer);
        Proxy {
            setup: ArcSwap::from_pointee(setup),
            notes: CallNotes::default(),
            conversations: Arc::default(),
            gate: RequestGate::new(limits.requests, Arc::clone(&observer)),
            memory: HeldMemory::new(limits.held_total_bytes, Arc::clone(&observer)),
            key_guesses: KeyGuesses::default(),
            budgets: KeyBudgets::default(),
            request_ids: RequestIds::default(),
            work: WorkPool::new(threads, Arc::clone(&observer)),
            observer,
        }
    }

    /// Uses another setup for the requests to come.
    pub(crate) fn replace_setup(&self, mut setup: Setup) {
        setup.keep_knowledge(&self.setup.load());
        setup.show_servers(&self.observer);
        self.observer.metrics.set_reprompt_budget(setup.config.reprompt_budget());
        self.memory.set_limit(setup.config.limits.held_total_bytes);
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
        let claim = request.extensions().get::<ConnectionClaim>().cloned();
        let mut response = match self.admit(&setup, request.headers(), claim.as_ref(), error_protocol).await {
            Ok(caller) => {
                let (request, bytes) = caller.count_request_bytes(request);
                let answer = self.serve(&setup, protocol, error_protocol, request).await;
                caller.count_answer(&self, bytes, answer)
            }
            Err(answer) => answer,
        };
        AccessNotes::add_to(&mut response, |notes| notes.surface = name);
        self.observer.metrics.count_request(name, response.status().as_u16());
        response
    }

    /// Answers a request that may be made, if there is room for it.
    async fn serve(
        self: &Arc<Self>,
        setup: &Arc<Setup>,
        protocol: Option<Protocol>,
        error_protocol: Protocol,
        request: Request<Body>,
    ) -> Response<Body> {
        let Some(permit) = self.gate.enter(&setup.config.limits).await else {
            return too_busy(error_protocol, "the gateway serves as many requests as it can");
        };
        let answer = match protocol {
            Some(protocol) => fallback::serve(Arc::clone(self), setup, protocol, request).await,
            None => pass_through(self, setup, error_protocol, request).await,
        };
        answer.map(|body| guard_body(body, permit))
    }

    /// Sends a request to a server that speaks its protocol, and mends the answer.
    async fn mend_and_send(
        self: Arc<Self>,
        setup: &Arc<Setup>,
        protocol: Protocol,
        mut parts: http::request::Parts,
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
            return label(pass_through(&self, setup, protocol, request).await, "off");
        }
        let hidden_tools = parts.extensions.get().map(|HiddenTools(tools)| tools.clone());
        let client = parts.extensions.get().map_or(protocol, |ClientProtocol(client)| *client);
        let are_tools_hidden = hidden_tools.is_some();
        let chosen = parts.extensions.get::<ChosenRoute>().copied();
        let reading = Reading { protocol, policy, hidden_tools, route: chosen.map(|chosen| chosen.index) };
        let read = match self.read_request(setup, &body, reading).await {
            Some(Some(read)) => read,
            // The server knows best what is wrong with the request.
            Some(None) => {
                let request = Request::from_parts(parts, Body::from(body));
                return pass_through(&self, setup, protocol, request).await;
            }
            None => {
                let request = Request::from_parts(parts, Body::from(body));
                return label(pass_through(&self, setup, protocol, request).await, headers::UNREAD);
            }
        };
        let ReadRequest { summary, tools, mended } = read;
        let route = setup.chosen_route(&parts.extensions, &summary.model);
        let Some(route) = route else { return no_server(protocol) };
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
        let reservation = parts.extensions.remove::<Arc<Reservation>>();
        let unknown_tools_end_client = gives_up_at_unknown_tools(&parts.headers);
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
        // If there is another server, it is asked at once.
        let has_next = chosen.is_some_and(|chosen| chosen.has_next);
        let exchange = Exchange {
            client: setup.client.clone(),
            route: Arc::clone(route),
            connect_retries: if has_next { 0 } else { config.limits.connect_retries },
            head,
            body,
            protocol,
            rules: TurnRules {
                earlier_refusals: Arc::new(mended.refusals),
                hides_truncation: client.features().limit_ends_agents
                    && config.truncation == TruncationMode::Recover,
                unknown_tools_end_client,
                ..turn_rules(setup, protocol, &tools, stream_mode, are_tools_hidden, &summary, &context)
            },
            limits: config.limits,
            stream: summary.stream,
            max_reprompts: Exchange::max_reprompts(config, summary.several_answers),
            are_tools_hidden,
            wants_usage: false,
            earlier_tokens: TokenCounts::default(),
            added_time: started.elapsed(),
            is_light: tools.is_light,
            reservation,
            proxy: Arc::clone(&self),
        };
        let mut response = exchange.run().await;
        AccessNotes::add_to(&mut response, |notes| {
            notes.upstream = Some(Arc::clone(&context.upstream));
            notes.model = Some(Arc::clone(&context.model));
        });
        if let Some(span) = &context.span {
            span.record_status(response.status().as_u16());
        }
        response
    }
}

/// Whether a client is known to give up at a call of a tool that it does not have. All others report it to the model.
fn gives_up_at_unknown_tools(headers: &HeaderMap) -> bool {
    // OpenAI's Agents SDK raises an error.
    headers.get(USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"Agents/"))
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
        hosted_tools: Arc::clone(&tools.hosted_tools),
        allows_one_call: summary.parallel_calls == Some(false) && !summary.several_answers,
        refusal: setup.config.refusal,
        earlier_refusals: Arc::default(),
        hides_truncation: false,
        unknown_tools_end_client: false,
        delivery: match stream_mode {
            StreamMode::Live if features.streams_arguments => Delivery::Live,
            _ => Delivery::Held,
        },
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

/// Marks an answer that was not read, with the reason.
fn label(mut answer: Response<Body>, summary: &'static str) -> Response<Body> {
    answer.headers_mut().insert(headers::SUMMARY, HeaderValue::from_static(summary));
    answer
}

fn no_path(protocol: Protocol) -> Response<Body> {
    bad_request(
        protocol,
        "expected the path of an API, found none or one with `..`: this gateway is not a proxy for other addresses",
    )
}

fn no_server(protocol: Protocol) -> Response<Body> {
    bad_gateway(protocol, "no model server is configured")
}
