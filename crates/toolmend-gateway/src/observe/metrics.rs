//! Counters for Prometheus.

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
use toolmend::Verdict;

use super::labels::Labels;

/// The labels of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    surface: &'static str,
    status: u16,
}

/// The labels of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    outcome: &'static str,
    tool: String,
    model: String,
}

/// The labels of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Repaired {
    kind: &'static str,
    tool: String,
    model: String,
}

/// The labels of the time that a response took.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    surface: &'static str,
}

/// All counters.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Asked, Counter>,
    calls: Family<Called, Counter>,
    repairs: Family<Repaired, Counter>,
    reprompts: Counter,
    reprompt_budget: Gauge,
    connect_retries: Counter,
    worked: Family<Answered, Histogram, fn() -> Histogram>,
    held: Gauge,
    streams: Gauge,
    models: Labels,
    tools: Labels,
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
        registry.register("reprompts", "Times that a server was asked again", reprompts.clone());
        let reprompt_budget = Gauge::default();
        registry.register(
            "reprompt_budget",
            "Times that a server may be asked again for one request",
            reprompt_budget.clone(),
        );
        let connect_retries = Counter::default();
        registry.register(
            "connect_retries",
            "Times that a connection was tried again",
            connect_retries.clone(),
        );
        let worked = Family::new_with_constructor(buckets as fn() -> Histogram);
        registry.register(
            "added_seconds",
            "Time that a response was worked on by the gateway",
            worked.clone(),
        );
        let held = Gauge::default();
        registry.register("held_bytes", "Bytes of streams that wait for the end of a call", held.clone());
        let streams = Gauge::default();
        registry.register("streams", "Streams that are open", streams.clone());
        let (models, tools) = (Labels::default(), Labels::default());
        Metrics {
            registry,
            requests,
            calls,
            repairs,
            reprompts,
            reprompt_budget,
            connect_retries,
            worked,
            held,
            streams,
            models,
            tools,
        }
    }
}

/// From 10 microseconds to about a second.
fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.000_01, 3.0, 11))
}

impl Metrics {
    /// Counters that are kept elsewhere are shown, too.
    pub(crate) fn collect(&mut self, collector: Box<dyn Collector>) {
        self.registry.register_collector(collector);
    }

    pub(crate) fn request(&self, surface: &'static str, status: u16) {
        self.requests.get_or_create(&Asked { surface, status }).inc();
    }

    pub(crate) fn call(&self, verdict: &Verdict<'_>, tool: &str, model: &str) {
        let (tool, model) = (self.tools.bounded(tool), self.models.bounded(model));
        let (tool, model) = (tool.to_owned(), model.to_owned());
        for repair in verdict.repairs() {
            let (tool, model) = (tool.clone(), model.clone());
            self.repairs.get_or_create(&Repaired { kind: repair.kind.name(), tool, model }).inc();
        }
        self.calls.get_or_create(&Called { outcome: verdict.outcome().name(), tool, model }).inc();
    }

    pub(crate) fn reprompt(&self) {
        self.reprompts.inc();
    }

    pub(crate) fn reprompt_budget(&self, times: u8) {
        self.reprompt_budget.set(times.into());
    }

    pub(crate) fn connect_retry(&self) {
        self.connect_retries.inc();
    }

    pub(crate) fn worked(&self, surface: &'static str, time: Duration) {
        self.worked.get_or_create(&Answered { surface }).observe(time.as_secs_f64());
    }

    pub(crate) fn stream_opened(&self) {
        self.streams.inc();
    }

    pub(crate) fn stream_closed(&self) {
        self.streams.dec();
    }

    /// How many streams are open.
    pub(crate) fn streams(&self) -> i64 {
        self.streams.get()
    }

    pub(crate) fn held(&self, more: i64) {
        self.held.inc_by(more);
    }

    /// Everything in the text format of Prometheus.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut out, &self.registry);
        out
    }
}
