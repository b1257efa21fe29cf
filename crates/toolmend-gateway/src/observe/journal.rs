//! Calls on their way into the journal and into traces. Nothing here waits: what the journal has no room for is dropped and counted.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use toolmend::{Finish, Mender, Outcome, Tool, Verdict};
use toolmend_journal::{Entry, RepairRecord, Series, WriteCounts};

use super::{About, Observer};

/// The kind of a call that a server left in the text, beside what had to be repaired in it.
pub(crate) const CALL_IN_TEXT: &str = "call_in_text";
/// The kind of a call without an id, with a wrong number and the like.
pub(crate) const WIRE_FORM: &str = "wire_form";

/// A call that was judged, as it came.
#[derive(Debug)]
pub(crate) struct Seen<'s> {
    pub(crate) verdict: &'s Verdict<'s>,
    /// The name as it was written.
    pub(crate) called: &'s str,
    /// What the model wrote: the arguments, or the whole call where it stood in text.
    pub(crate) written: &'s str,
    /// Where that begins in the text that repairs are placed in.
    pub(crate) offset: usize,
    /// The notation of a call that stood in text.
    pub(crate) dialect: Option<&'static str>,
    /// What was wrong beside the call itself: `CALL_IN_TEXT` or `WIRE_FORM`.
    pub(crate) beside: Option<&'static str>,
    pub(crate) finish: Finish,
}

impl Observer {
    /// Writes a call down: in full where it was not clean, else as a number.
    pub(crate) fn write_down(&self, about: &About, mender: &Mender, seen: &Seen<'_>) {
        let tool = seen.verdict.tool().unwrap_or(seen.called);
        if let Some(span) = &about.span {
            span.call(seen.verdict, tool);
        }
        let Some(journal) = &self.journal else { return };
        if seen.verdict.outcome() == Outcome::Clean && seen.beside.is_none() {
            journal.count_clean_call(about.surface, &about.upstream, &about.model, tool, about.micros());
        } else {
            journal.record(entry(about, mender, seen, tool));
        }
    }
}

fn entry(about: &About, mender: &Mender, seen: &Seen<'_>, tool: &str) -> Entry {
    let verdict = seen.verdict;
    let refusal = verdict.refusal();
    // For the client a call in text, or in a form that it cannot read, is a call that was not there.
    let outcome = verdict.outcome().max(Outcome::Mended);
    let after = match verdict.json() {
        Some(json) => json.to_owned(),
        None if verdict.outcome().runs() => verdict.values().join("\n"),
        None => String::new(),
    };
    let place = |at: &std::ops::Range<usize>| {
        Some((at.start.checked_sub(seen.offset)?, at.end.checked_sub(seen.offset)?))
            .filter(|(_, end)| *end <= seen.written.len())
    };
    let repairs = verdict.repairs().iter().map(|repair| RepairRecord {
        kind: repair.kind.name().to_owned(),
        path: repair.path.clone(),
        at: repair.at.as_ref().and_then(place),
    });
    let beside =
        seen.beside.map(|kind| RepairRecord { kind: kind.to_owned(), path: String::new(), at: None });
    let schema = mender.tool(tool).and_then(Tool::schema);
    Entry {
        called: (seen.called != tool).then(|| seen.called.to_owned()),
        dialect: seen.dialect.map(ToOwned::to_owned),
        reason: verdict.reason().map(|reason| reason.name().to_owned()),
        message: refusal.map(|refusal| refusal.message.clone()).filter(|message| !message.is_empty()),
        cut: refusal.and_then(|refusal| refusal.cut.clone()),
        finish: match seen.finish {
            Finish::Stop => Some("stop".to_owned()),
            Finish::Length => Some("length".to_owned()),
            _ => None,
        },
        repairs: repairs.chain(beside).collect(),
        before_bytes: seen.written.len(),
        after_bytes: after.len(),
        micros: about.micros(),
        schema: schema.map(|schema| Arc::clone(schema.text())),
        feedback: verdict.feedback().map(ToOwned::to_owned),
        before: Some(seen.written.to_owned()),
        after: verdict.outcome().runs().then_some(after),
        ..Entry::new(Series {
            surface: about.surface.into(),
            upstream: Arc::clone(&about.upstream),
            model: Arc::clone(&about.model),
            tool: tool.into(),
            outcome: outcome.name().into(),
        })
    }
}

/// What became of the entries, for Prometheus.
pub(super) struct Watch<F>(pub(super) F);

impl<F> std::fmt::Debug for Watch<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl<F: Fn() -> WriteCounts + Send + Sync + 'static> Collector for Watch<F> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = (self.0)();
        for (name, help, count) in [
            ("journal_written", "Entries that the journal holds or held", counts.written),
            ("journal_dropped", "Entries that the journal had no room for", counts.dropped),
            ("journal_failures", "Times that the journal could not be written", counts.failures),
        ] {
            let counter = ConstCounter::new(count);
            let metric = encoder.encode_descriptor(name, help, None, counter.metric_type())?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}
