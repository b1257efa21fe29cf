//! Which servers a request goes to, one after the other, until one of them answers.
//!
//! The next server is asked only if nothing of an answer was sent to the client: if no connection could be made, if the server
//! disconnected before it answered, or if it answered with a status of its own failure.

use std::sync::Arc;
use std::time::Duration;

use http::{Extensions, Request, Response, StatusCode};
use toolmend_protocol::Protocol;

use super::pass_through::pass_through;
use super::read_body::DecodedBody;
use super::{Proxy, Setup, label, translation};
use crate::config::RequestLimits;
use crate::http::headers::UNREAD;
use crate::http::{Body, SendError};
use crate::observe::Observer;
use crate::upstream::{CircuitRules, HealthChange, Route};

/// The server that was chosen for a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChosenRoute {
    pub(super) index: usize,
    /// Whether there is another one to ask if this one fails.
    pub(super) has_next: bool,
}

/// Marks an answer that is the failure of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerFailed {
    /// Whether no connection could be made.
    pub(super) nothing_was_sent: bool,
}

/// Answers a request: by the first server that serves its model and does not fail.
pub(super) async fn serve(
    proxy: Arc<Proxy>,
    setup: &Arc<Setup>,
    client: Protocol,
    request: Request<Body>,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let limits = &setup.config.limits;
    let body = match proxy.read_body(body, &mut parts.extensions, client, limits).await {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    let DecodedBody { body, is_readable } = match proxy.decode_request(&mut parts, body, client, limits).await
    {
        Ok(decoded) => decoded,
        Err(answer) => return answer,
    };
    if !is_readable {
        let request = Request::from_parts(parts, Body::from(body));
        return label(pass_through(&proxy, setup, client, request).await, UNREAD);
    }
    if setup.routes.len() < 2 {
        return translation::serve(proxy, setup, client, parts, body).await;
    }
    let model = proxy.read_model(&body, limits).await;
    let candidates = setup.order_candidates(&model);
    let mut answer = None;
    for (at, index) in candidates.iter().enumerate() {
        let mut parts = parts.clone();
        let has_next = at + 1 < candidates.len();
        parts.extensions.insert(ChosenRoute { index: *index, has_next });
        let given = translation::serve(Arc::clone(&proxy), setup, client, parts, body.clone()).await;
        let failed = given.extensions().get::<ServerFailed>().is_some();
        answer = Some(given);
        if !failed {
            break;
        }
        if has_next {
            proxy.observer.metrics.traffic.count_fallback(&setup.routes[*index].origin);
        }
    }
    answer.unwrap_or_else(|| super::no_server(client))
}

/// Whether a status says that the server failed, and not the request.
pub(super) fn is_failure(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

/// Marks an answer as the failure of a server.
pub(super) fn mark_failed(mut answer: Response<Body>, nothing_was_sent: bool) -> Response<Body> {
    answer.extensions_mut().insert(ServerFailed { nothing_was_sent });
    answer
}

/// Marks the answer about a server that did not answer. If it took too long, the client has waited long enough.
pub(super) fn mark_send_failed(answer: Response<Body>, error: &SendError) -> Response<Body> {
    if error.timed_out { answer } else { mark_failed(answer, error.unreachable) }
}

impl Setup {
    /// Returns the servers for a model in the order in which they are asked. If none serves it, the first of all is asked.
    pub(super) fn order_candidates(&self, model: &str) -> Vec<usize> {
        let serving = |index: &usize| self.routes[*index].serves(model);
        let mut candidates: Vec<usize> = (0..self.routes.len()).filter(serving).collect();
        if candidates.is_empty() {
            candidates.extend((!self.routes.is_empty()).then_some(0));
        }
        if candidates.len() > 1 {
            let rules = circuit_rules(&self.config.limits);
            let rests = |index: &usize| !self.routes[*index].health.may_go_first(rules);
            candidates.sort_by_cached_key(rests);
        }
        candidates
    }

    /// Returns the server that was chosen for a request, or else the one for its model.
    pub(super) fn chosen_route(&self, extensions: &Extensions, model: &str) -> Option<&Arc<Route>> {
        let chosen = extensions.get::<ChosenRoute>().and_then(|chosen| self.routes.get(chosen.index));
        chosen.or_else(|| self.find_route(model))
    }
}

fn circuit_rules(limits: &RequestLimits) -> CircuitRules {
    CircuitRules { failures: limits.circuit_failures, rest: Duration::from_secs(limits.circuit_seconds) }
}

/// What came of a request to a server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Contact {
    /// It answered, after this time.
    Answered(StatusCode, Duration),
    NotReached,
    TimedOut,
    /// It disconnected before it answered.
    BrokeOff,
}

impl Contact {
    /// Returns what came of a request.
    pub(super) fn of<B>(sent: &Result<Response<B>, SendError>, time: Duration) -> Self {
        match sent {
            Ok(answer) => Contact::Answered(answer.status(), time),
            Err(error) if error.unreachable => Contact::NotReached,
            Err(error) if error.timed_out => Contact::TimedOut,
            Err(_) => Contact::BrokeOff,
        }
    }
}

/// Records what came of a request to a server.
pub(crate) fn record_contact(observer: &Observer, route: &Route, limits: &RequestLimits, contact: Contact) {
    let traffic = &observer.metrics.traffic;
    let failure = match contact {
        Contact::Answered(status, time) => {
            traffic.observe_upstream_time(&route.origin, time);
            is_failure(status).then_some("status")
        }
        Contact::NotReached => Some("connect"),
        Contact::TimedOut => Some("timeout"),
        Contact::BrokeOff => Some("disconnect"),
    };
    if let Some(kind) = failure {
        traffic.count_upstream_failure(&route.origin, kind);
    }
    let change = route.health.record(failure.is_none(), circuit_rules(limits));
    report_change(observer, route, change);
}

fn report_change(observer: &Observer, route: &Route, change: Option<HealthChange>) {
    let upstream = &*route.origin;
    match change {
        None => return,
        Some(HealthChange::Failed) => {
            tracing::warn!(upstream, "a model server fails; others are asked first until it works again");
        }
        Some(HealthChange::Recovered) => tracing::info!(upstream, "a model server works again"),
    }
    observer.metrics.traffic.set_upstream_up(upstream, change == Some(HealthChange::Recovered));
}

/// Asks every server that has a path for it whether it is well.
pub(crate) async fn check_health(proxy: &Proxy, setup: &Setup) {
    let limits = &setup.config.limits;
    // A server that takes longer than this for such a question is not well.
    let patience = Duration::from_secs(limits.health_seconds.clamp(1, 5));
    let checks = setup.routes.iter().filter_map(|route| {
        let request = route.health_request()?;
        Some(async move {
            let started = std::time::Instant::now();
            let sent = tokio::time::timeout(patience, setup.client.send(request)).await;
            let sent = sent.unwrap_or_else(|_| Err(SendError::timeout(patience)));
            record_contact(&proxy.observer, route, limits, Contact::of(&sent, started.elapsed()));
        })
    });
    futures_util::future::join_all(checks).await;
}
