//! Metrics about servers and keys: how fast servers answer, which of them fail, and who asks for how much.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The label of a server. Its address comes from the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UpstreamLabels {
    upstream: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    upstream: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SurfaceLabels {
    surface: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeyRequestLabels {
    key: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeyTokenLabels {
    key: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeyLimitLabels {
    key: String,
    limit: &'static str,
}

type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// Metrics about servers and keys.
#[derive(Debug)]
pub(crate) struct TrafficMetrics {
    upstream_time: Times<UpstreamLabels>,
    upstream_up: Family<UpstreamLabels, Gauge>,
    upstream_failures: Family<FailureLabels, Counter>,
    fallbacks: Family<UpstreamLabels, Counter>,
    first_byte: Times<SurfaceLabels>,
    key_requests: Family<KeyRequestLabels, Counter>,
    key_tokens: Family<KeyTokenLabels, Counter>,
    key_limits: Family<KeyLimitLabels, Counter>,
}

/// Returns a histogram from a millisecond to about five minutes.
fn new_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.5, 15))
}

impl TrafficMetrics {
    /// Registers the metrics.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = TrafficMetrics {
            upstream_time: Family::new_with_constructor(new_histogram),
            upstream_up: Family::default(),
            upstream_failures: Family::default(),
            fallbacks: Family::default(),
            first_byte: Family::new_with_constructor(new_histogram),
            key_requests: Family::default(),
            key_tokens: Family::default(),
            key_limits: Family::default(),
        };
        registry.register(
            "upstream_seconds",
            "Time from sending a request to the head of the answer",
            metrics.upstream_time.clone(),
        );
        registry.register(
            "upstream_up",
            "Whether requests go to a server: 0 while it rests",
            metrics.upstream_up.clone(),
        );
        registry.register(
            "upstream_failures",
            "Requests that a server failed",
            metrics.upstream_failures.clone(),
        );
        registry.register(
            "fallbacks",
            "Requests that went to another server because this one failed",
            metrics.fallbacks.clone(),
        );
        registry.register(
            "first_byte_seconds",
            "Time from a request to the first byte of its answer",
            metrics.first_byte.clone(),
        );
        registry.register("key_requests", "Requests by key and status", metrics.key_requests.clone());
        registry.register("key_tokens", "Tokens by key", metrics.key_tokens.clone());
        registry.register(
            "key_limits",
            "Requests refused because a limit of their key was reached",
            metrics.key_limits.clone(),
        );
        metrics
    }

    pub(crate) fn observe_upstream_time(&self, upstream: &str, time: Duration) {
        let labels = UpstreamLabels { upstream: upstream.to_owned() };
        self.upstream_time.get_or_create(&labels).observe(time.as_secs_f64());
    }

    pub(crate) fn set_upstream_up(&self, upstream: &str, is_up: bool) {
        let labels = UpstreamLabels { upstream: upstream.to_owned() };
        self.upstream_up.get_or_create(&labels).set(is_up.into());
    }

    pub(crate) fn count_upstream_failure(&self, upstream: &str, kind: &'static str) {
        let labels = FailureLabels { upstream: upstream.to_owned(), kind };
        self.upstream_failures.get_or_create(&labels).inc();
    }

    pub(crate) fn count_fallback(&self, upstream: &str) {
        self.fallbacks.get_or_create(&UpstreamLabels { upstream: upstream.to_owned() }).inc();
    }

    pub(crate) fn observe_first_byte(&self, surface: &'static str, time: Duration) {
        self.first_byte.get_or_create(&SurfaceLabels { surface }).observe(time.as_secs_f64());
    }

    pub(crate) fn count_key_request(&self, key: &str, status: u16) {
        self.key_requests.get_or_create(&KeyRequestLabels { key: key.to_owned(), status }).inc();
    }

    pub(crate) fn count_key_tokens(&self, key: &str, input: u64, output: u64) {
        for (kind, tokens) in [("input", input), ("output", output)] {
            self.key_tokens.get_or_create(&KeyTokenLabels { key: key.to_owned(), kind }).inc_by(tokens);
        }
    }

    pub(crate) fn count_key_limit(&self, key: &str, limit: &'static str) {
        self.key_limits.get_or_create(&KeyLimitLabels { key: key.to_owned(), limit }).inc();
    }
}
