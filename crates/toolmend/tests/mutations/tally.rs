//! Counts the answers to damaged calls. Every call is counted, in exactly one of four columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;
use toolmend::{Finish, FixOptions, Policy, Repair, Tier, Verdict};

use crate::document::Document;
use crate::evidence::KindEvidence;

/// How a damaged call is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Tool,
    /// As a call of the tool, with lossless repairs only.
    LosslessOnly,
    NoSchema,
}

impl Door {
    /// Mends the text. `expected` is what it means: the call, or the text itself if nothing shows the damage.
    pub(crate) fn judge(self, call: &Document, damaged: &str, expected: &Value) -> Answer {
        match self {
            Door::Tool => Answer::new(&call.mender.mend_finished(call.tool, damaged, Finish::Stop), expected),
            Door::LosslessOnly => {
                let policy = Policy::default().max_tier(Tier::Lossless);
                let options =
                    FixOptions::new().finish(Finish::Stop).schema(call.schema.clone()).policy(policy);
                Answer::new(&toolmend::fix_with(damaged, &options), expected)
            }
            Door::NoSchema => {
                let options = FixOptions::new().finish(Finish::Stop);
                Answer::new(&toolmend::fix_with(damaged, &options), expected)
            }
        }
    }
}

/// What an entry point made of a damaged call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) runs: bool,
    /// What runs instead of the expected call.
    pub(crate) wrong: Option<String>,
    pub(crate) repairs: Vec<Repair>,
}

impl Answer {
    fn new(verdict: &Verdict<'_>, expected: &Value) -> Self {
        let runs = verdict.outcome().runs();
        let is_wrong = runs && verdict.value().as_ref() != Some(expected);
        let wrong = is_wrong.then(|| verdict.json().unwrap_or("several calls").to_owned());
        Answer { runs, wrong, repairs: verdict.repairs().to_vec() }
    }
}

/// The outcomes for calls with one kind of damage.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The damaged text is itself strict JSON and fits. It must come back as it is.
    pub(crate) indistinguishable: usize,
    pub(crate) mended: usize,
    pub(crate) refused: usize,
    pub(crate) wrong: usize,
    pub(crate) kinds: KindEvidence,
    /// The first wrong call of each kind of damage.
    examples: BTreeMap<&'static str, String>,
}

impl Tally {
    /// Counts a damaged call. `text` is what is judged: the damaged call, or something around it.
    pub(crate) fn add(
        &mut self,
        damage: &'static str,
        call: &Document,
        damaged: &str,
        text: &str,
        judge: impl Fn(&Document, &str, &Value) -> Answer,
        fits: impl Fn(&Value) -> bool,
    ) {
        let hidden =
            serde_json::from_str::<Value>(damaged).ok().filter(|value| *value != call.value && fits(value));
        let answer = judge(call, text, hidden.as_ref().unwrap_or(&call.value));
        if answer.runs {
            self.kinds.add(&answer.repairs, answer.wrong.is_some());
        }
        match (answer.wrong, answer.runs) {
            (Some(became), _) => {
                self.wrong += 1;
                let example = format!("{text}\n  became  {became}\n  but was {}", call.text());
                self.examples.entry(damage).or_insert(example);
            }
            (None, true) if hidden.is_some() => self.indistinguishable += 1,
            (None, true) => self.mended += 1,
            (None, false) => self.refused += 1,
        }
    }

    /// The calls that show their damage.
    pub(crate) fn rest(&self) -> usize {
        self.mended + self.refused + self.wrong
    }
}

#[expect(clippy::print_stdout, reason = "the table is what the test is run for with --nocapture")]
pub(crate) fn report(title: &str, rows: &[(String, Tally)]) {
    println!("\n{title:<44} calls  unseen  mended  refused  wrong");
    for (name, tally) in rows {
        let Tally { indistinguishable, refused, wrong, .. } = tally;
        let (total, percent) = (tally.rest() + indistinguishable, tally.mended * 100 / tally.rest().max(1));
        println!("{name:<44} {total:>5}  {indistinguishable:>6}  {percent:>4} %  {refused:>7}  {wrong:>5}");
    }
}

#[track_caller]
pub(crate) fn assert_none_wrong(rows: &[(String, Tally)]) {
    let wrong: usize = rows.iter().map(|(_, tally)| tally.wrong).sum();
    let mut shown = String::new();
    for (name, tally) in rows {
        for (damage, example) in &tally.examples {
            let _ = write!(shown, "\n\n{name}, {damage}: {example}");
        }
    }
    assert_eq!(wrong, 0, "calls that run and are not what they were; one of each kind:{shown}");
}

#[track_caller]
pub(crate) fn assert_mended(rows: &[(String, Tally)], least_percent: usize) {
    let mended: usize = rows.iter().map(|(_, tally)| tally.mended).sum();
    let rest: usize = rows.iter().map(|(_, tally)| tally.rest()).sum();
    assert!(rest > 0, "no call was damaged");
    assert!(mended * 100 >= rest * least_percent, "only {mended} of {rest} calls were mended");
}
