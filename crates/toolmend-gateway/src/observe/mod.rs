//! What the gateway reports about itself: metrics, log events, traces and the journal.
//!
//! Nothing here changes a request or an answer, and nothing waits for the journal or the collector.

mod context;
pub(crate) mod journal;
mod labels;
mod limits;
mod metrics;
mod trace;

use std::time::Duration;

use toolmend::{Outcome, Recovery, Stats, Verdict};
use toolmend_journal::Journal;

pub(crate) use self::context::RequestContext;
pub(crate) use self::limits::Limit;
pub(crate) use self::metrics::Metrics;
pub(crate) use self::trace::{Span, Traces};

/// Reports everything that happens to whoever is interested.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    pub(crate) stats: Stats,
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
        Observer { stats: Stats::default(), metrics, journal, traces }
    }

    /// Counts and logs a judged call.
    pub(crate) fn report_verdict(&self, verdict: &Verdict<'_>, called: &str, model: &str) {
        self.stats.record(verdict, model);
        let tool = verdict.tool().unwrap_or(called);
        self.metrics.count_call(verdict, tool, model);
        match verdict.outcome() {
            Outcome::Clean => {}
            Outcome::Mended => {
                for repair in verdict.repairs() {
                    tracing::info!(
                        target: "tool_repair",
                        tool,
                        model,
                        repair_kind = repair.kind.name(),
                        path = repair.path.as_str(),
                        "tool_input_repaired"
                    );
                }
                log_recovery(tool, model, Recovery::LocalSalvage);
            }
            _ => {
                tracing::warn!(
                    target: "tool_input_invalid",
                    tool,
                    model,
                    outcome = verdict.outcome().name(),
                    reason = verdict.reason().map(toolmend::Reason::name),
                    error = verdict.refusal().map(|refusal| refusal.message.as_str()),
                    "tool_input_invalid"
                );
            }
        }
    }

    /// Counts and logs that a server is asked again because a call does not run.
    pub(crate) fn report_reprompt(&self, model: &str) {
        self.metrics.count_reprompt();
        log_recovery("", model, Recovery::Reprompt);
    }

    /// Records the time that the gateway spent on a response, without the time it waited for the server.
    pub(crate) fn report_added_time(&self, protocol: &'static str, time: Duration) {
        self.metrics.observe_added_time(protocol, time);
    }
}

/// Logs that calls of a turn do not run and nothing more is tried.
pub(crate) fn log_gave_up(model: &str) {
    log_recovery("", model, Recovery::GaveUp);
}

fn log_recovery(tool: &str, model: &str, recovery: Recovery) {
    tracing::info!(target: "tool.call_repaired", tool, model, outcome = recovery.name(), "tool.call_repaired");
}
