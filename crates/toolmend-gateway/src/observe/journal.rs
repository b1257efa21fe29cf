//! Calls as entries of the journal and events of traces.
//!
//! Nothing here waits: an entry that the journal has no room for is dropped and counted.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use toolmend::{Finish, Outcome};
use toolmend_journal::{Entry, RepairRecord, Series, WriteCounts};

use super::{CallEvent, Observer, RequestContext};

impl Observer {
    /// Records a call: in full if it was not clean, otherwise only as a count.
    pub(super) fn record_call(&self, context: &RequestContext, event: &CallEvent<'_>) {
        let Some(journal) = &self.journal else { return };
        if event.outcome == Outcome::Clean {
            journal.count_clean_call(
                context.protocol,
                &context.upstream,
                &context.model,
                event.tool,
                context.elapsed_micros(),
            );
        } else {
            journal.record(journal_entry(context, event));
        }
    }
}

fn journal_entry(context: &RequestContext, event: &CallEvent<'_>) -> Entry {
    let after = event.arguments.join("\n");
    let position = |at: &std::ops::Range<usize>| {
        Some((at.start.checked_sub(event.offset)?, at.end.checked_sub(event.offset)?))
            .filter(|(_, end)| *end <= event.written.len())
    };
    let repairs = event.repairs.iter().map(|repair| RepairRecord {
        kind: repair.kind.name().to_owned(),
        path: repair.path.clone(),
        at: repair.at.as_ref().and_then(position),
    });
    let delivery_fix =
        event.delivery_fix.map(|kind| RepairRecord { kind: kind.to_owned(), path: String::new(), at: None });
    Entry {
        call_id: Some(event.call_id.to_owned()).filter(|id| !id.is_empty()),
        called: (event.called != event.tool).then(|| event.called.to_owned()),
        dialect: event.dialect.map(ToOwned::to_owned),
        reason: event.reason.map(|reason| reason.name().to_owned()),
        message: Some(event.message.to_owned()).filter(|message| !message.is_empty()),
        cut: event.cut.map(ToOwned::to_owned),
        finish: match event.finish {
            Finish::Stop => Some("stop".to_owned()),
            Finish::Length => Some("length".to_owned()),
            _ => None,
        },
        repairs: repairs.chain(delivery_fix).collect(),
        before_bytes: event.written.len(),
        after_bytes: after.len(),
        micros: context.elapsed_micros(),
        schema: event.schema.map(|schema| Arc::clone(schema.text())),
        feedback: event.feedback.map(ToOwned::to_owned),
        before: Some(event.written.to_owned()),
        after: event.outcome.runs().then_some(after),
        ..Entry::new(Series {
            surface: context.protocol.into(),
            upstream: Arc::clone(&context.upstream),
            model: Arc::clone(&context.model),
            tool: event.tool.into(),
            outcome: event.outcome.name().into(),
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
