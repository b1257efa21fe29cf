//! Counts the calls of one unit, on one thread.

use toolmend::{Outcome, Verdict};

use super::CallCounts;

/// How many pairs of a model and a tool the list holds. A log has a few of each.
const MAX_PAIRS: usize = 24;

/// [`CallCounts`] with a short list of clean calls in front. Nearly all calls are clean, and finding two names in a short list
/// costs a fraction of finding them in maps.
#[derive(Debug, Default)]
pub(crate) struct CallCounter {
    counts: CallCounts,
    clean: Vec<CleanCalls>,
}

/// Clean calls that are not in the counts yet.
#[derive(Debug)]
struct CleanCalls {
    model: Box<str>,
    tool: Box<str>,
    count: u64,
}

impl CallCounter {
    /// Counts rows.
    pub(crate) fn count_rows(&mut self, count: u64) {
        self.counts.rows += count;
    }

    /// Counts a row that cannot be read.
    pub(crate) fn count_unreadable_row(&mut self) {
        self.counts.unreadable += 1;
    }

    /// Counts one verdict.
    pub(crate) fn count_verdict(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        if verdict.outcome() == Outcome::Clean {
            let same = |known: &&mut CleanCalls| *known.tool == *tool && *known.model == *model;
            if let Some(known) = self.clean.iter_mut().find(same) {
                known.count += 1;
                return;
            }
            if self.clean.len() < MAX_PAIRS {
                self.clean.push(CleanCalls { model: model.into(), tool: tool.into(), count: 0 });
            }
        }
        // The first call of each pair goes into the counts immediately, so that names get their entries in the order of the calls.
        self.counts.count_verdict(model, tool, verdict);
    }

    /// Counts a verdict instead of a clean one that was counted before.
    pub(crate) fn recount_clean(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        self.merge_clean_calls();
        self.counts.recount_clean(model, tool, verdict);
    }

    /// Returns all counts and starts again from zero.
    pub(crate) fn take(&mut self) -> CallCounts {
        self.merge_clean_calls();
        self.clean.clear();
        std::mem::take(&mut self.counts)
    }

    fn merge_clean_calls(&mut self) {
        for known in &mut self.clean {
            self.counts.add_clean_calls(&known.model, &known.tool, std::mem::take(&mut known.count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_does_not_change_the_counts() {
        let (clean, mended, cut) =
            (toolmend::fix("{}"), toolmend::fix("{a: 1}"), toolmend::fix("{\"a\": \"x"));
        let (mut counter, mut counts) = (CallCounter::default(), CallCounts::default());
        // More names than the list holds, and more than the counts hold.
        for number in 0..20_000 {
            let (model, tool) = (format!("m{}", number % 7), format!("t{}", number * number % 1201));
            let verdict = [&clean, &clean, &mended, &cut][number % 4];
            counter.count_verdict(&model, &tool, verdict);
            counts.count_verdict(&model, &tool, verdict);
            if number % 1000 == 0 {
                counter.recount_clean(&model, &tool, &mended);
                counts.recount_clean(&model, &tool, &mended);
            }
        }
        assert_eq!(counter.take(), counts);
        assert_eq!(counter.take(), CallCounts::default());
    }
}
