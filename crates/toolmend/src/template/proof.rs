//! Proves that a dialect reads what a template writes.

use serde_json::Value;

use super::probes::{self, Probe, ProbeCall};
use super::turns::ProbeTurn;
use crate::dialect::{CallToRender, CustomDialects, Dialect};
use crate::mender::Mender;
use crate::policy::Policy;
use crate::repair::Tier;
use crate::syntax::Finish;
use crate::turn::{Turn, TurnOptions};
use crate::verdict::Outcome;

/// Reads turns with these dialects.
pub(super) struct Reader {
    mender: Mender,
    /// The dialect that the prompt asks for.
    dialect: Option<&'static str>,
}

/// How one turn was read.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// The names of the repairs that were needed, where the notation of the template loses something that the schema
    /// restores.
    pub(super) repairs: Vec<&'static str>,
    /// The dialect of the first call.
    pub(super) dialect: &'static str,
}

/// A turn that was not read as it was meant.
#[derive(Debug, Clone)]
pub(super) struct Mismatch {
    pub(super) text: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Reader {
    pub(super) fn new(dialects: CustomDialects, dialect: Option<&'static str>) -> Self {
        // A repair that assumes something proves nothing.
        let policy = Policy::default().max_tier(Tier::Guided);
        let builder = Mender::builder().tools(&probes::tools()).policy(policy).dialects(dialects);
        Reader { mender: builder.build_lenient().0, dialect }
    }

    fn options(&self, turn: &ProbeTurn) -> TurnOptions {
        let options = TurnOptions::new().reasoning_open(turn.starts_in_reasoning);
        self.dialect.map_or(options.clone(), |dialect| options.dialect(dialect))
    }

    /// Reads a turn as a whole.
    pub(super) fn read(&self, turn: &ProbeTurn) -> Result<Reading, Mismatch> {
        let options = self.options(turn);
        let read = self.mender.turn(&turn.text, &options, Finish::Stop);
        compare(&turn.probe, &turn.text, &read)
    }

    /// Reads a turn cut in two at every place. All readings must be the same.
    pub(super) fn read_in_pieces(&self, turn: &ProbeTurn) -> Result<(), Mismatch> {
        let options = self.options(turn);
        let whole = self.mender.turn(&turn.text, &options, Finish::Stop);
        for (cut, _) in turn.text.char_indices().skip(1) {
            let mut stream = self.mender.stream(&options);
            let mut parts = Turn::default();
            parts.extend(stream.push(&turn.text[..cut]));
            parts.extend(stream.push(&turn.text[cut..]));
            parts.extend(stream.finish(Finish::Stop));
            if parts != whole {
                let found = format!("{}, if it is cut after byte {cut}", describe(&parts));
                return Err(Mismatch { text: turn.text.clone(), expected: describe(&whole), found });
            }
        }
        Ok(())
    }

    /// Lets a row write the calls of a probe, and reads them.
    pub(super) fn read_back(&self, row: &Dialect, probe: &Probe) -> Result<(), Mismatch> {
        let arguments: Vec<String> = probe.calls.iter().map(|call| call.arguments.to_string()).collect();
        let calls: Vec<CallToRender<'_>> = (probe.calls.iter().zip(&arguments))
            .map(|(call, arguments)| CallToRender { name: call.name, arguments, id: "call00001" })
            .collect();
        // What a notation cannot say is refused when it is written.
        let Some(text) = row.render(&calls) else { return Ok(()) };
        let turn = self.mender.turn(&text, &TurnOptions::new(), Finish::Stop);
        let meant = Probe { content: "", reasoning: "", ..probe.clone() };
        compare(&meant, &text, &turn).map(drop)
    }
}

/// Compares what was read with what was meant.
fn compare(probe: &Probe, text: &str, turn: &Turn) -> Result<Reading, Mismatch> {
    let is_meant = |(call, meant): (&crate::turn::Call, &ProbeCall)| {
        let runs = matches!(call.outcome(), Outcome::Clean | Outcome::Mended);
        runs && call.name == meant.name && call.verdict.value().as_ref() == Some(&meant.arguments)
    };
    let same_calls =
        turn.calls.len() == probe.calls.len() && turn.calls.iter().zip(&probe.calls).all(is_meant);
    let same_text = turn.content.trim() == probe.content && turn.reasoning.trim() == probe.reasoning;
    // Some templates write the content before a call as reasoning.
    let moved = turn.content.trim().is_empty()
        && probe.reasoning.is_empty()
        && turn.reasoning.trim() == probe.content
        && !text.trim_start().starts_with(probe.content);
    if !(same_calls && (same_text || moved)) {
        let calls: Vec<String> = (probe.calls.iter())
            .map(|ProbeCall { name, arguments }: &ProbeCall| {
                format!("{name} {}", Value::to_string(arguments))
            })
            .collect();
        let expected = describe_parts(&calls, probe.content, probe.reasoning);
        return Err(Mismatch { text: text.to_owned(), expected, found: describe(turn) });
    }
    let mut repairs: Vec<&'static str> =
        turn.calls.iter().flat_map(|call| call.verdict.repairs()).map(|repair| repair.kind.name()).collect();
    repairs.sort_unstable();
    repairs.dedup();
    Ok(Reading { repairs, dialect: turn.calls.first().map_or("", |call| call.dialect) })
}

fn describe(turn: &Turn) -> String {
    let calls: Vec<String> = turn
        .calls
        .iter()
        .map(|call| match call.arguments() {
            Some(arguments) => format!("{} {arguments}", call.name),
            None => format!("{} ({})", call.name, call.outcome().name()),
        })
        .collect();
    describe_parts(&calls, &turn.content, &turn.reasoning)
}

fn describe_parts(calls: &[String], content: &str, reasoning: &str) -> String {
    let mut parts = Vec::new();
    if !reasoning.is_empty() {
        parts.push(format!("reasoning {reasoning:?}"));
    }
    if !content.is_empty() {
        parts.push(format!("content {content:?}"));
    }
    parts.push(if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") });
    parts.join("; ")
}
