//! Events for `tracing`: one for each repair, one for each call that does not run, and one for how a malformed call was handled.
//!
//! Nothing is reported until it is switched on for a mender or a counter of re-prompts, so that a program that reports calls
//! itself, as the gateway does, reports none twice. Without the feature `tracing` all of this is empty.

#[cfg(feature = "tracing")]
use std::sync::Arc;

use crate::verdict::Verdict;

/// Whose calls are reported, if any are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    #[cfg(feature = "tracing")]
    model: Option<Arc<str>>,
}

#[cfg(feature = "tracing")]
impl Trace {
    /// Reports the calls of this model.
    pub(crate) fn of_model(model: &str) -> Self {
        Trace { model: Some(model.into()) }
    }

    /// Reports what was repaired, or that the call does not run. `called` is the name as the model wrote it.
    pub(crate) fn report_verdict(&self, called: &str, verdict: &Verdict<'_>) {
        let Some(model) = self.model.as_deref() else { return };
        let tool = verdict.tool().unwrap_or(called);
        if verdict.outcome().runs() {
            for repair in verdict.repairs() {
                let (repair_kind, path) = (repair.kind.name(), repair.path.as_str());
                tracing::info!(target: "tool_repair", tool, model, repair_kind, path, "tool_input_repaired");
            }
        } else {
            let (outcome, reason) =
                (verdict.outcome().name(), verdict.reason().map(crate::verdict::Reason::name));
            let error = verdict.refusal().map(|refusal| refusal.message.as_str());
            tracing::warn!(target: "tool_input_invalid", tool, model, outcome, reason, error, "tool_input_invalid");
        }
    }

    /// Reports how a malformed call was handled.
    pub(crate) fn report_recovery(&self, call_id: &str, verdict: &Verdict<'_>, outcome: &str) {
        let Some(model) = self.model.as_deref() else { return };
        let tool = verdict.tool().unwrap_or_default();
        tracing::info!(target: "tool_repair", tool, call_id, model, outcome, "tool.call_repaired");
    }
}

#[cfg(not(feature = "tracing"))]
#[expect(clippy::unused_self, reason = "the same functions as with the feature")]
impl Trace {
    pub(crate) fn report_verdict(&self, _called: &str, _verdict: &Verdict<'_>) {}

    pub(crate) fn report_recovery(&self, _call_id: &str, _verdict: &Verdict<'_>, _outcome: &str) {}
}
