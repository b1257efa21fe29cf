//! Metrics for Prometheus. Their names and labels are a public format.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::call_event::CallEvent;
use super::labels::{BoundedLabel, MAX_NAMES, MAX_PAIRS, OTHER};
use super::limits::Limit;
use super::traffic::TrafficMetrics;

/// The labels of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    surface: &'static str,
    status: u16,
}

/// The labels of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    outcome: &'static str,
    tool: String,
    model: String,
}

/// The labels of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RepairLabels {
    kind: &'static str,
    tool: String,
    model: String,
}

/// The labels of the time that the gateway adds to a response.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    surface: &'static str,
}

/// The label of a limit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

/// All metrics.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    repairs: Family<RepairLabels, Counter>,
    reprompts: Counter,
    reprompt_budget: Gauge,
    connect_retries: Counter,
    added_time: Family<ResponseLabels, Histogram, fn() -> Histogram>,
    held: Gauge,
    buffered: Gauge,
    streams: Gauge,
    connections: Gauge,
    open_requests: Gauge,
    waiting_requests: Gauge,
    limits: Family<LimitLabels, Counter>,
    wrong_keys: Counter,
    refused_origins: Counter,
    models: BoundedLabel,
    tools: BoundedLabel,
    pairs: BoundedLabel,
    /// Metrics about servers and keys.
    pub(crate) traffic: TrafficMetrics,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("toolmend");
        let requests = Family::default();
        registry.register("requests", "Requests by surface and status", requests.clone());
        let calls = Family::default();
        registry.register("calls", "Tool calls by outcome, tool and model", calls.clone());
        let repairs = Family::default();
        registry.register("repairs", "Repairs by kind, tool and model", repairs.clone());
        let reprompts = Counter::default();
        registry.register("reprompts", "Times a server was asked again", reprompts.clone());
        let reprompt_budget = Gauge::default();
        registry.register(
            "reprompt_budget",
            "Times a server may be asked again for one request",
            reprompt_budget.clone(),
        );
        let connect_retries = Counter::default();
        registry.register("connect_retries", "Times a connection was tried again", connect_retries.clone());
        let added_time = Family::new_with_constructor(new_histogram as fn() -> Histogram);
        registry.register("added_seconds", "Time the gateway spent on a response", added_time.clone());
        let held = Gauge::default();
        registry.register("held_bytes", "Bytes of streams held until a call is complete", held.clone());
        let streams = Gauge::default();
        registry.register("streams", "Open streams", streams.clone());
        let buffered = Gauge::default();
        registry.register(
            "buffered_bytes",
            "Bytes of requests and whole answers in memory",
            buffered.clone(),
        );
        let connections = Gauge::default();
        registry.register("connections", "Open connections of clients", connections.clone());
        let open_requests = Gauge::default();
        registry.register("open_requests", "Requests that are served now", open_requests.clone());
        let waiting_requests = Gauge::default();
        registry.register(
            "waiting_requests",
            "Requests that wait until others are finished",
            waiting_requests.clone(),
        );
        let limits = Family::<LimitLabels, Counter>::default();
        for limit in Limit::ALL {
            drop(limits.get_or_create(&LimitLabels { limit: limit.name() }));
        }
        registry.register("limits", "Times that a limit was reached", limits.clone());
        let wrong_keys = Counter::default();
        registry.register("wrong_keys", "Requests with a wrong key or without one", wrong_keys.clone());
        let refused_origins = Counter::default();
        registry.register(
            "refused_origins",
            "Requests for another host or from a foreign page",
            refused_origins.clone(),
        );
        let traffic = TrafficMetrics::register(&mut registry);
        let [models, tools] = [MAX_NAMES, MAX_NAMES].map(BoundedLabel::new);
        Metrics {
            registry,
            requests,
            calls,
            repairs,
            reprompts,
            reprompt_budget,
            connect_retries,
            added_time,
            held,
            buffered,
            streams,
            connections,
            open_requests,
            waiting_requests,
            limits,
            wrong_keys,
            refused_origins,
            models,
            tools,
            pairs: BoundedLabel::new(MAX_PAIRS),
            traffic,
        }
    }
}

/// Returns a histogram from 10 microseconds to about half a second.
fn new_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_01, 3.0, 11))
}

impl Metrics {
    /// Adds metrics that are kept elsewhere.
    pub(crate) fn add_collector(&mut self, collector: Box<dyn Collector>) {
        self.registry.register_collector(collector);
    }

    pub(crate) fn count_request(&self, surface: &'static str, status: u16) {
        self.requests.get_or_create(&RequestLabels { surface, status }).inc();
    }

    pub(crate) fn count_call(&self, event: &CallEvent<'_>, model: &str) {
        let (tool, model) = (self.tools.bound(event.tool), self.models.bound(model));
        // Every tool with every model would be too many.
        let is_counted = self.pairs.contains_or_add(&format!("{tool}\n{model}"));
        let (tool, model) = if is_counted { (tool, model) } else { (OTHER, OTHER) };
        let (tool, model) = (tool.to_owned(), model.to_owned());
        for kind in event.kinds() {
            let (tool, model) = (tool.clone(), model.clone());
            self.repairs.get_or_create(&RepairLabels { kind, tool, model }).inc();
        }
        self.calls.get_or_create(&CallLabels { outcome: event.outcome.name(), tool, model }).inc();
    }

    /// Counts a correction of an answer, which belongs to no tool.
    pub(crate) fn count_answer_fix(&self, kind: &'static str, model: &str) {
        let model = self.models.bound(model).to_owned();
        self.repairs.get_or_create(&RepairLabels { kind, tool: String::new(), model }).inc();
    }

    pub(crate) fn count_reprompt(&self) {
        self.reprompts.inc();
    }

    pub(crate) fn set_reprompt_budget(&self, times: u8) {
        self.reprompt_budget.set(times.into());
    }

    pub(crate) fn count_connect_retry(&self) {
        self.connect_retries.inc();
    }

    pub(crate) fn observe_added_time(&self, surface: &'static str, time: Duration) {
        self.added_time.get_or_create(&ResponseLabels { surface }).observe(time.as_secs_f64());
    }

    pub(crate) fn count_stream_opened(&self) {
        self.streams.inc();
    }

    pub(crate) fn count_stream_closed(&self) {
        self.streams.dec();
    }

    /// Returns the number of open streams.
    pub(crate) fn open_streams(&self) -> i64 {
        self.streams.get()
    }

    pub(crate) fn add_held_bytes(&self, more: i64) {
        self.held.inc_by(more);
    }

    /// Counts that a limit was reached.
    pub(crate) fn count_limit(&self, limit: Limit) {
        self.limits.get_or_create(&LimitLabels { limit: limit.name() }).inc();
    }

    pub(crate) fn count_wrong_key(&self) {
        self.wrong_keys.inc();
    }

    pub(crate) fn count_refused_origin(&self) {
        self.refused_origins.inc();
    }

    pub(crate) fn add_buffered_bytes(&self, more: i64) {
        self.buffered.inc_by(more);
    }

    pub(crate) fn add_connections(&self, more: i64) {
        self.connections.inc_by(more);
    }

    pub(crate) fn add_open_requests(&self, more: i64) {
        self.open_requests.inc_by(more);
    }

    pub(crate) fn add_waiting_requests(&self, more: i64) {
        self.waiting_requests.inc_by(more);
    }

    /// Writes everything in the text format of `OpenMetrics`.
    pub(crate) fn to_openmetrics(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut out, &self.registry);
        out
    }
}
