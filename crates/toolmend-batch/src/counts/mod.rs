//! Counts of rows and calls, by model, tool and outcome.
//!
//! Counts are kept for units and added up for files and runs. They never hold more than a bounded number of names.

mod call_counter;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolmend::{Outcome, Verdict};

pub(crate) use self::call_counter::CallCounter;

/// How many models, and how many tools of each model, are distinguished. Names come from the data, so there could be any number.
const MAX_NAMES: usize = 512;
/// The name under which all further ones are counted.
const OTHERS: &str = "(others)";

/// The outcomes, in the order of [`ToolCounts::outcomes`].
pub const OUTCOMES: [Outcome; 4] = [Outcome::Clean, Outcome::Mended, Outcome::Truncated, Outcome::Rejected];

/// Counts of rows and calls, of a part of a file or of a whole run.
///
/// ```
/// use toolmend_batch::CallCounts;
/// let mut counts = CallCounts::default();
/// counts.count_verdict("qwen3", "search", &toolmend::fix("{a: 1,}"));
/// assert_eq!(counts.calls(), 1);
/// assert_eq!(counts.outcomes(), [0, 1, 0, 0]);
/// assert_eq!(counts.models["qwen3"]["search"].kinds["key_quoted"], 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Rows that were read.
    pub rows: u64,
    /// Rows that could not be read and were written unchanged.
    pub unreadable: u64,
    /// Calls by model and tool. An unknown model or tool has an empty name.
    pub models: BTreeMap<String, BTreeMap<String, ToolCounts>>,
}

/// The calls of one tool by one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCounts {
    /// The number of calls with each outcome, in the order of [`OUTCOMES`].
    pub outcomes: [u64; 4],
    /// How often each kind of repair was made.
    pub kinds: BTreeMap<String, u64>,
    /// How often each reason was given for a refusal.
    pub reasons: BTreeMap<String, u64>,
}

impl CallCounts {
    /// Counts one verdict.
    pub fn count_verdict(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        let counts = entry(entry(&mut self.models, model), tool);
        let index = OUTCOMES.iter().position(|outcome| *outcome == verdict.outcome()).unwrap_or(3);
        counts.outcomes[index] += 1;
        for repair in verdict.repairs() {
            *entry(&mut counts.kinds, repair.kind.name()) += 1;
        }
        if let Some(reason) = verdict.reason() {
            *entry(&mut counts.reasons, reason.name()) += 1;
        }
    }

    /// Counts clean calls.
    pub(crate) fn add_clean_calls(&mut self, model: &str, tool: &str, count: u64) {
        if count > 0 {
            entry(entry(&mut self.models, model), tool).outcomes[0] += count;
        }
    }

    /// Counts a verdict instead of a clean one that was counted before: the text around the call was mended, and the call
    /// itself was clean.
    pub(crate) fn recount_clean(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        let clean = &mut entry(entry(&mut self.models, model), tool).outcomes[0];
        *clean = clean.saturating_sub(1);
        self.count_verdict(model, tool, verdict);
    }

    /// Adds up other counts.
    pub fn add(&mut self, other: &CallCounts) {
        self.rows += other.rows;
        self.unreadable += other.unreadable;
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

    /// Returns the number of calls with each outcome, in the order of [`OUTCOMES`].
    pub fn outcomes(&self) -> [u64; 4] {
        let mut sum = [0; 4];
        for counts in self.models.values().flat_map(BTreeMap::values) {
            for (sum, count) in sum.iter_mut().zip(counts.outcomes) {
                *sum += count;
            }
        }
        sum
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.outcomes().iter().sum()
    }
}

/// Returns the entry with this name. Adds it if it is missing, or uses the entry of the other names if there are too many.
fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    let known = map.contains_key(name);
    let name = if known || map.len() < MAX_NAMES { name } else { OTHERS };
    if !known && !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    match map.get_mut(name) {
        Some(entry) => entry,
        None => unreachable!("it was inserted above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_names_are_bounded() {
        let (mended, cut) = (toolmend::fix("{a: 1,}"), toolmend::fix("{\"a\": \"x"));
        let mut sum = CallCounts::default();
        // Names that are known before there are too many keep their own entry.
        sum.count_verdict("m", "t", &mended);
        for part in 0..2 {
            let mut counts = CallCounts { rows: 3, ..CallCounts::default() };
            counts.count_verdict("m", "t", &mended);
            counts.count_verdict("m", "t", &cut);
            for tool in 0..MAX_NAMES * 2 {
                counts.count_verdict("m", &format!("{part} {tool}"), &mended);
            }
            sum.add(&counts);
        }
        assert_eq!(sum.rows, 6);
        assert_eq!(sum.outcomes(), [0, 3 + 4 * MAX_NAMES as u64, 2, 0]);
        assert_eq!(sum.models["m"]["t"].kinds["key_quoted"], 3);
        assert!(sum.models["m"].len() <= MAX_NAMES + 1);
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<CallCounts>(&text).unwrap(), sum);
    }
}
