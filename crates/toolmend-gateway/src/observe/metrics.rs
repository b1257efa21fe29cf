//! Counters for Prometheus.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use toolmend::Verdict;

use super::labels::Labels;

type Set = Vec<(&'static str, String)>;
type Counters = Family<Set, Counter>;

/// All counters.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Counters,
    calls: Counters,
    repairs: Counters,
    reprompts: Counter,
    reprompt_budget: Gauge,
    connect_retries: Counter,
    worked: Family<Set, Histogram, fn() -> Histogram>,
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
        let requests = Counters::default();
        registry.register("requests", "Requests by surface and status", requests.clone());
        let calls = Counters::default();
        registry.register("calls", "Tool calls by outcome, tool and model", calls.clone());
        let repairs = Counters::default();
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
    pub(crate) fn request(&self, surface: &'static str, status: u16) {
        self.requests
            .get_or_create(&vec![("surface", surface.to_owned()), ("status", status.to_string())])
            .inc();
    }

    pub(crate) fn call(&self, verdict: &Verdict<'_>, tool: &str, model: &str) {
        let (tool, model) = (self.tools.bounded(tool), self.models.bounded(model));
        let set = |name: &'static str, value: &str| {
            vec![(name, value.to_owned()), ("tool", tool.to_owned()), ("model", model.to_owned())]
        };
        self.calls.get_or_create(&set("outcome", verdict.outcome().name())).inc();
        for repair in verdict.repairs() {
            self.repairs.get_or_create(&set("kind", repair.kind.name())).inc();
        }
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
        self.worked.get_or_create(&vec![("surface", surface.to_owned())]).observe(time.as_secs_f64());
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
