//! One event for each judged call. The header, the log, the metrics, the summary, traces, the journal and the page all count
//! from it, so that they agree.

use toolmend::{Finish, Outcome, Reason, Recovery, Repair, Schema};

use super::{Observer, RequestContext};

/// The repair kind of a call that the server left in the text.
pub(crate) const CALL_IN_TEXT: &str = "call_in_text";
/// The repair kind of a call that arrived in a form that clients cannot read: without an id, with a wrong index, and so on.
pub(crate) const WIRE_FORM: &str = "wire_form";
/// The kind of a call that was left out because the request allows only one.
pub(crate) const SURPLUS_CALL: &str = "surplus_call";
/// The kind of text from which markup without meaning was removed.
pub(crate) const MARKUP_REMOVED: &str = "markup_removed";
/// The kind of reasoning that the server left in the text.
pub(crate) const REASONING_IN_TEXT: &str = "reasoning_in_text";

/// A judged call.
#[derive(Debug)]
pub(crate) struct CallEvent<'s> {
    /// The tool that the call means.
    pub(crate) tool: &'s str,
    /// The name as it was written.
    pub(crate) called: &'s str,
    /// The id under which the client knows the call, or the one that the server sent.
    pub(crate) call_id: &'s str,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<Reason>,
    /// Why the call does not run, as a sentence for logs.
    pub(crate) message: &'s str,
    /// JSON pointer to the value at which a truncated call ends.
    pub(crate) cut: Option<&'s str>,
    /// What was repaired in the name and the arguments.
    pub(crate) repairs: &'s [Repair],
    /// What was wrong with how the call arrived: `CALL_IN_TEXT`, `WIRE_FORM` or `SURPLUS_CALL`.
    pub(crate) delivery_fix: Option<&'static str>,
    pub(crate) feedback: Option<&'s str>,
    /// What the model wrote: the arguments, or the whole call if it was in text.
    pub(crate) written: &'s str,
    /// Where `written` begins in the text that the positions of repairs refer to.
    pub(crate) offset: usize,
    /// The dialect of a call in text.
    pub(crate) dialect: Option<&'static str>,
    pub(crate) finish: Finish,
    /// The schema of the tool.
    pub(crate) schema: Option<&'s Schema>,
    /// The arguments that run. One call can become several.
    pub(crate) arguments: &'s [&'s str],
}

impl CallEvent<'_> {
    /// Returns the kinds of what was repaired, once for each repair.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.repairs.iter().map(|repair| repair.kind.name()).chain(self.delivery_fix)
    }
}

impl Observer {
    /// Reports a judged call everywhere.
    pub(crate) fn report_call(&self, context: &RequestContext, event: &CallEvent<'_>) {
        self.counts.add(event);
        self.metrics.count_call(event, &context.model);
        if let Some(span) = &context.span {
            span.record_call(event);
        }
        log_call(context, event);
        self.record_call(context, event);
    }

    /// Reports that something was corrected in an answer that belongs to no call.
    pub(crate) fn report_answer_fix(&self, context: &RequestContext, kind: &'static str) {
        self.counts.add_answer_fix(kind);
        self.metrics.count_answer_fix(kind, &context.model);
        tracing::info!(
            target: "tool_repair",
            model = &*context.model,
            surface = context.protocol,
            repair_kind = kind,
            "answer_repaired"
        );
    }
}

fn log_call(context: &RequestContext, event: &CallEvent<'_>) {
    let (tool, model, call_id) = (event.tool, &*context.model, event.call_id);
    if event.outcome == Outcome::Mended {
        let repairs = event.repairs.iter().map(|repair| (repair.kind.name(), repair.path.as_str()));
        for (repair_kind, path) in repairs.chain(event.delivery_fix.map(|kind| (kind, ""))) {
            tracing::info!(
                target: "tool_repair",
                tool,
                call_id,
                model,
                surface = context.protocol,
                repair_kind,
                path,
                "tool_input_repaired"
            );
        }
        log_recovery(context, tool, call_id, Recovery::LocalSalvage);
    }
    if !event.outcome.runs() {
        tracing::warn!(
            target: "tool_input_invalid",
            tool,
            call_id,
            model,
            surface = context.protocol,
            outcome = event.outcome.name(),
            reason = event.reason.map(Reason::name),
            error = event.message,
            "tool_input_invalid"
        );
    }
}

/// Logs how a malformed call was handled, once for each call. The target is the one of repairs, so that one filter shows both.
pub(crate) fn log_recovery(context: &RequestContext, tool: &str, call_id: &str, recovery: Recovery) {
    tracing::info!(
        target: "tool_repair",
        tool,
        call_id,
        model = &*context.model,
        surface = context.protocol,
        outcome = recovery.name(),
        "tool.call_repaired"
    );
}
