//! What the gateway tells about itself: counters, log events, and what was mended so far.

mod about;
pub(crate) mod journal;
mod labels;
mod metrics;
mod trace;

use std::time::Duration;

use toolmend::{Outcome, Recovery, Stats, Verdict};
use toolmend_journal::Journal;

pub(crate) use self::about::About;
pub(crate) use self::metrics::Metrics;
pub(crate) use self::trace::{Span, Traces};

/// Told about everything that happens.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    pub(crate) stats: Stats,
    pub(crate) metrics: Metrics,
    pub(crate) journal: Option<Journal>,
    pub(crate) traces: Option<Traces>,
}

impl Observer {
    /// Everything that is told goes into this journal and into traces, too.
    pub(crate) fn new(journal: Option<Journal>, traces: Option<Traces>) -> Self {
        let mut metrics = Metrics::default();
        if let Some(journal) = &journal {
            metrics.collect(Box::new(journal::Watch(journal.counts_reader())));
        }
        Observer { stats: Stats::default(), metrics, journal, traces }
    }

    /// A call was judged.
    pub(crate) fn verdict(&self, verdict: &Verdict<'_>, called: &str, model: &str) {
        self.stats.record(verdict, model);
        let tool = verdict.tool().unwrap_or(called);
        self.metrics.call(verdict, tool, model);
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
                recovered(tool, model, Recovery::LocalSalvage);
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

    /// The server is asked again because of calls that do not run.
    pub(crate) fn reprompt(&self, model: &str) {
        self.metrics.reprompt();
        recovered("", model, Recovery::Reprompt);
    }

    /// How long a response was worked on, the waiting for the server not counted.
    pub(crate) fn worked(&self, surface: &'static str, time: Duration) {
        self.metrics.worked(surface, time);
    }
}

/// Calls of a turn do not run, and nothing more is tried.
pub(crate) fn gave_up(model: &str) {
    recovered("", model, Recovery::GaveUp);
}

fn recovered(tool: &str, model: &str, recovery: Recovery) {
    tracing::info!(target: "tool.call_repaired", tool, model, outcome = recovery.name(), "tool.call_repaired");
}
