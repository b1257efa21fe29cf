//! What became of how many calls, by model and tool.

mod counter;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolmend::{Outcome, Verdict};

pub(crate) use self::counter::Counter;

/// How many models, and how many tools of each, are told apart. Names come from the data, and memory is bounded.
const MOST_NAMES: usize = 512;
/// Everything beyond that.
const OTHERS: &str = "(others)";

/// The outcomes in the order in which they are counted.
pub const OUTCOMES: [Outcome; 4] = [Outcome::Clean, Outcome::Mended, Outcome::Truncated, Outcome::Rejected];

/// Counts of a unit, of a file or of a whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Rows that were read.
    pub rows: u64,
    /// Rows that could not be read and were passed on as they are.
    pub broken: u64,
    /// Calls by model and tool; the name of what is unknown is empty.
    pub models: BTreeMap<String, BTreeMap<String, Counts>>,
}

/// What became of the calls of one tool by one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In the order of [`OUTCOMES`].
    pub outcomes: [u64; 4],
    /// How often each kind of repair was made.
    pub kinds: BTreeMap<String, u64>,
    /// How often each reason was given for a refusal.
    pub reasons: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts one verdict.
    pub fn count(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        let counts = entry(entry(&mut self.models, model), tool);
        let place = OUTCOMES.iter().position(|outcome| *outcome == verdict.outcome()).unwrap_or(3);
        counts.outcomes[place] += 1;
        for repair in verdict.repairs() {
            *entry(&mut counts.kinds, repair.kind.name()) += 1;
        }
        if let Some(reason) = verdict.reason() {
            *entry(&mut counts.reasons, reason.name()) += 1;
        }
    }

    /// Counts clean calls.
    pub(crate) fn add_clean(&mut self, model: &str, tool: &str, count: u64) {
        if count > 0 {
            entry(entry(&mut self.models, model), tool).outcomes[0] += count;
        }
    }

    /// Counts a verdict in the place of a clean one that was counted before: what stood around a call was mended, and
    /// the call itself was fine.
    pub(crate) fn recount(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        let clean = &mut entry(entry(&mut self.models, model), tool).outcomes[0];
        *clean = clean.saturating_sub(1);
        self.count(model, tool, verdict);
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.broken += other.broken;
        for (model, tools) in &other.models {
            let ours = entry(&mut self.models, model);
            for (tool, counts) in tools {
                let ours = entry(ours, tool);
                for (mine, theirs) in ours.outcomes.iter_mut().zip(counts.outcomes) {
                    *mine += theirs;
                }
                for (kind, count) in &counts.kinds {
                    *entry(&mut ours.kinds, kind) += count;
                }
                for (reason, count) in &counts.reasons {
                    *entry(&mut ours.reasons, reason) += count;
                }
            }
        }
    }

    /// Calls with each outcome, in the order of [`OUTCOMES`].
    pub fn outcomes(&self) -> [u64; 4] {
        let mut sum = [0; 4];
        for counts in self.models.values().flat_map(BTreeMap::values) {
            for (sum, count) in sum.iter_mut().zip(counts.outcomes) {
                *sum += count;
            }
        }
        sum
    }

    /// All calls.
    pub fn calls(&self) -> u64 {
        self.outcomes().iter().sum()
    }
}

/// The entry of that name, made where it is missing and there is room.
fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    let known = map.contains_key(name);
    let name = if known || map.len() < MOST_NAMES { name } else { OTHERS };
    if !known && !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    match map.get_mut(name) {
        Some(entry) => entry,
        None => unreachable!("it was put there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_names_are_bounded() {
        let (mended, cut) = (toolmend::fix("{a: 1,}"), toolmend::fix("{\"a\": \"x"));
        let mut sum = Tally::default();
        // Names that are known before there are too many keep their place.
        sum.count("m", "t", &mended);
        for part in 0..2 {
            let mut tally = Tally { rows: 3, ..Tally::default() };
            tally.count("m", "t", &mended);
            tally.count("m", "t", &cut);
            for tool in 0..MOST_NAMES * 2 {
                tally.count("m", &format!("{part} {tool}"), &mended);
            }
            sum.add(&tally);
        }
        assert_eq!(sum.rows, 6);
        assert_eq!(sum.outcomes(), [0, 3 + 4 * MOST_NAMES as u64, 2, 0]);
        assert_eq!(sum.models["m"]["t"].kinds["key_quoted"], 3);
        assert!(sum.models["m"].len() <= MOST_NAMES + 1);
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), sum);
    }
}
