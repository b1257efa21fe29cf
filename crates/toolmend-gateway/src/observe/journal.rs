//! Calls as entries of the journal and events of traces.
//!
//! Nothing here waits: an entry that the journal has no room for is dropped and counted.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use toolmend::{Finish, Mender, Outcome, Tool, Verdict};
use toolmend_journal::{Entry, RepairRecord, Series, WriteCounts};

use super::{Observer, RequestContext};

/// The repair kind of a call that the server left in the text.
pub(crate) const CALL_IN_TEXT: &str = "call_in_text";
/// The repair kind of a call that arrived in a form that clients cannot read: without an id, with a wrong index, and so on.
pub(crate) const WIRE_FORM: &str = "wire_form";

/// A judged call, with what the model wrote.
#[derive(Debug)]
pub(crate) struct CallRecord<'s> {
    pub(crate) verdict: &'s Verdict<'s>,
    /// The name as it was written.
    pub(crate) called: &'s str,
    /// What the model wrote: the arguments, or the whole call if it was in text.
    pub(crate) written: &'s str,
    /// Where `written` begins in the text that the positions of repairs refer to.
    pub(crate) offset: usize,
    /// The dialect of a call in text.
    pub(crate) dialect: Option<&'static str>,
    /// What was wrong with how the call arrived: `CALL_IN_TEXT` or `WIRE_FORM`.
    pub(crate) delivery_fix: Option<&'static str>,
    pub(crate) finish: Finish,
}

impl Observer {
    /// Records a call: in full if it was not clean, otherwise only as a count.
    pub(crate) fn record_call(&self, context: &RequestContext, mender: &Mender, record: &CallRecord<'_>) {
        let tool = record.verdict.tool().unwrap_or(record.called);
        if let Some(span) = &context.span {
            span.record_call(record.verdict, tool);
        }
        let Some(journal) = &self.journal else { return };
        if record.verdict.outcome() == Outcome::Clean && record.delivery_fix.is_none() {
            journal.count_clean_call(
                context.protocol,
                &context.upstream,
                &context.model,
                tool,
                context.elapsed_micros(),
            );
        } else {
            journal.record(journal_entry(context, mender, record, tool));
        }
    }
}

fn journal_entry(context: &RequestContext, mender: &Mender, record: &CallRecord<'_>, tool: &str) -> Entry {
    let verdict = record.verdict;
    let refusal = verdict.refusal();
    // Without the gateway, the client would not have seen a call in text or in a form that it cannot read.
    let outcome = verdict.outcome().max(Outcome::Mended);
    let after = match verdict.json() {
        Some(json) => json.to_owned(),
        None if verdict.outcome().runs() => verdict.values().join("\n"),
        None => String::new(),
    };
    let position = |at: &std::ops::Range<usize>| {
        Some((at.start.checked_sub(record.offset)?, at.end.checked_sub(record.offset)?))
            .filter(|(_, end)| *end <= record.written.len())
    };
    let repairs = verdict.repairs().iter().map(|repair| RepairRecord {
        kind: repair.kind.name().to_owned(),
        path: repair.path.clone(),
        at: repair.at.as_ref().and_then(position),
    });
    let delivery_fix =
        record.delivery_fix.map(|kind| RepairRecord { kind: kind.to_owned(), path: String::new(), at: None });
    let schema = mender.tool(tool).and_then(Tool::schema);
    Entry {
        called: (record.called != tool).then(|| record.called.to_owned()),
        dialect: record.dialect.map(ToOwned::to_owned),
        reason: verdict.reason().map(|reason| reason.name().to_owned()),
        message: refusal.map(|refusal| refusal.message.clone()).filter(|message| !message.is_empty()),
        cut: refusal.and_then(|refusal| refusal.cut.clone()),
        finish: match record.finish {
            Finish::Stop => Some("stop".to_owned()),
            Finish::Length => Some("length".to_owned()),
            _ => None,
        },
        repairs: repairs.chain(delivery_fix).collect(),
        before_bytes: record.written.len(),
        after_bytes: after.len(),
        micros: context.elapsed_micros(),
        schema: schema.map(|schema| Arc::clone(schema.text())),
        feedback: verdict.feedback().map(ToOwned::to_owned),
        before: Some(record.written.to_owned()),
        after: verdict.outcome().runs().then_some(after),
        ..Entry::new(Series {
            surface: context.protocol.into(),
            upstream: Arc::clone(&context.upstream),
            model: Arc::clone(&context.model),
            tool: tool.into(),
            outcome: outcome.name().into(),
        })
    }
}

/// Counts of journal entries, for Prometheus.
pub(super) struct JournalCollector<F>(pub(super) F);

impl<F> std::fmt::Debug for JournalCollector<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JournalCollector")
    }
}

impl<F: Fn() -> WriteCounts + Send + Sync + 'static> Collector for JournalCollector<F> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = (self.0)();
        for (name, help, count) in [
            ("journal_written", "Entries written to the journal", counts.written),
            ("journal_dropped", "Entries dropped because the journal had no room", counts.dropped),
            ("journal_failures", "Failed attempts to write the journal", counts.failures),
        ] {
            let counter = ConstCounter::new(count);
            let metric = encoder.encode_descriptor(name, help, None, counter.metric_type())?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}
