//! Which dialect reads what a template writes: a built-in row, or the one that was derived.

use super::probes::{self, ProbeCall};
use super::proof::{Mismatch, Reader, Reading};
use super::turns::{ProbeTurn, Turns};
use crate::dialect::{CallToRender, CustomDialects, Dialect, dialects};
use crate::turn::Source;

/// How one dialect reads the turns of a template.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) dialect: &'static str,
    /// The probes that were read.
    pub(super) read: Vec<(&'static str, Reading)>,
    /// The probes that were not.
    pub(super) failed: Vec<(&'static str, Mismatch)>,
}

impl Attempt {
    /// Reads every turn as a whole.
    fn read(reader: &Reader, turns: &Turns, dialect: &'static str) -> Self {
        let mut attempt = Attempt { dialect, read: Vec::new(), failed: Vec::new() };
        for turn in &turns.written {
            match reader.read(turn) {
                Ok(reading) => attempt.read.push((turn.probe.name, reading)),
                Err(mismatch) => attempt.failed.push((turn.probe.name, mismatch)),
            }
        }
        attempt
    }

    /// Reads every turn in pieces too, if all of them were read as a whole.
    fn proved(mut self, reader: &Reader, turns: &Turns) -> Self {
        if self.is_proved() {
            let read = |turn: &ProbeTurn| reader.read_in_pieces(turn).err();
            let failed = turns.written.iter().filter_map(|turn| Some((turn.probe.name, read(turn)?)));
            self.failed = failed.collect();
        }
        self
    }

    pub(super) fn is_proved(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether nothing had to be repaired.
    pub(super) fn is_clean(&self) -> bool {
        self.is_proved() && self.read.iter().all(|(_, reading)| reading.repairs.is_empty())
    }
}

/// The built-in row that reads most of the turns.
pub(super) fn best_built_in(turns: &Turns) -> Attempt {
    let reader = Reader::new(CustomDialects::default(), None);
    let mut detected = Attempt::read(&reader, turns, "").proved(&reader, turns);
    let first = detected.read.first().map_or("", |(_, reading)| reading.dialect);
    detected.dialect = row_that_writes(turns, first).unwrap_or(first);
    if detected.is_proved() {
        return detected;
    }
    // Forms without a marker are read if they are asked for.
    let asked = dialects().iter().map(Dialect::name).map(|name| {
        let reader = Reader::new(CustomDialects::default(), Some(name));
        (Attempt::read(&reader, turns, name), reader)
    });
    let is_other = |attempt: &Attempt| {
        attempt.read.first().is_none_or(|(_, reading)| reading.dialect != attempt.dialect)
    };
    let best = asked.min_by_key(|(attempt, _)| (attempt.failed.len(), is_other(attempt)));
    match best {
        Some((best, reader)) if best.failed.len() < detected.failed.len() => best.proved(&reader, turns),
        _ => detected,
    }
}

/// How a derived row reads the turns, and what it writes itself.
pub(super) fn prove_row(dialects: &CustomDialects, row: &'static Dialect, turns: &Turns) -> Attempt {
    // Each turn says itself how it begins. Those of a history may begin in another way than the prompt does.
    let reader = Reader::new(dialects.without_reasoning_starts(), None);
    let mut attempt = Attempt::read(&reader, turns, row.name()).proved(&reader, turns);
    let back = |turn: &ProbeTurn| reader.read_back(row, &turn.probe).err();
    attempt.failed.extend(turns.written.iter().filter_map(|turn| Some((turn.probe.name, back(turn)?))));
    attempt
}

/// The row that writes a call as the template does, apart from white space. Readers share forms, so that the name they
/// report can be that of a relative.
fn row_that_writes(turns: &Turns, detected: &str) -> Option<&'static str> {
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    let turn = turns.of(probes::TWO_CALLS).or_else(|| turns.of(probes::ONE_CALL))?;
    let written = dense(&turn.text);
    let arguments: Vec<String> = turn.probe.calls.iter().map(|call| call.arguments.to_string()).collect();
    let ids: Vec<String> = (turn.probe.calls.iter().enumerate())
        .map(|(index, call): (usize, &ProbeCall)| probes::call_id(turns.shape, call, index))
        .collect();
    let calls: Vec<CallToRender<'_>> = (turn.probe.calls.iter().zip(&arguments).zip(&ids))
        .map(|((call, arguments), id)| CallToRender { name: call.name, arguments, id })
        .collect();
    let names = |text: &str| turn.probe.calls.iter().all(|call| text.contains(call.name));
    let written_by = |row: &'static Dialect| {
        let text = row.render(&calls).filter(|text| names(text) && written.contains(&dense(text)))?;
        Some((row, text.len()))
    };
    let rows: Vec<_> = dialects().iter().filter_map(written_by).collect();
    if rows.iter().any(|(row, _)| row.name() == detected) {
        return Some(dialects().iter().find(|row| row.name() == detected)?.name());
    }
    let explicit = rows.iter().filter(|(row, _)| row.source() == Source::Explicit);
    explicit.max_by_key(|(_, length)| *length).map(|(row, _)| row.name())
}
