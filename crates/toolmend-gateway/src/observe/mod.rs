//! What the gateway reports about itself: metrics, log events, traces and the journal.
//!
//! Nothing here changes a request or an answer, and nothing waits for the journal or the collector.

mod access;
mod call_counts;
mod call_event;
mod context;
pub(crate) mod journal;
mod labels;
mod limits;
mod metrics;
#[cfg(not(feature = "otel"))]
#[path = "no_traces.rs"]
mod trace;
#[cfg(feature = "otel")]
mod trace;
mod traffic;

use std::time::Duration;

use toolmend_journal::Journal;

use self::call_counts::SharedCounts;

pub(crate) use self::access::{AccessNotes, AccessRecord};
pub use self::call_counts::CallCounts;
pub(crate) use self::call_event::{
    CALL_IN_TEXT, CallEvent, MARKUP_REMOVED, REASONING_IN_TEXT, SURPLUS_CALL, WIRE_FORM, log_recovery,
};
pub(crate) use self::context::RequestContext;
pub(crate) use self::limits::Limit;
pub(crate) use self::metrics::Metrics;
pub(crate) use self::trace::{Span, Traces};

/// Reports everything that happens to whoever is interested.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    pub(crate) counts: SharedCounts,
    pub(crate) metrics: Metrics,
    pub(crate) journal: Option<Journal>,
    pub(crate) traces: Option<Traces>,
}

impl Observer {
    /// Returns an observer that also reports to a journal and a trace collector.
    pub(crate) fn new(journal: Option<Journal>, traces: Option<Traces>) -> Self {
        let mut metrics = Metrics::default();
        if let Some(journal) = &journal {
            metrics.add_collector(Box::new(journal::JournalCollector(journal.counts_reader())));
        }
        Observer { counts: SharedCounts::default(), metrics, journal, traces }
    }

    /// Records the time that the gateway spent on a response, without the time it waited for the server.
    pub(crate) fn report_added_time(&self, protocol: &'static str, time: Duration) {
        self.metrics.observe_added_time(protocol, time);
    }
}
