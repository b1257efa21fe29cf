//! Counts of one thread, while it works on a unit.

use toolmend::{Outcome, Verdict};

use super::Tally;

/// How many pairs of a model and a tool are counted by themselves; a log has a few of each.
const MOST: usize = 24;

/// A tally with a short list before it: nearly all calls are clean, and looking for two names in a list takes a fraction of what
/// looking for them in maps takes.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    tally: Tally,
    clean: Vec<Clean>,
}

/// Clean calls that are not in the tally yet.
#[derive(Debug)]
struct Clean {
    model: Box<str>,
    tool: Box<str>,
    count: u64,
}

impl Counter {
    /// Counts rows.
    pub(crate) fn rows(&mut self, count: u64) {
        self.tally.rows += count;
    }

    /// Counts a row that cannot be read.
    pub(crate) fn broken(&mut self) {
        self.tally.broken += 1;
    }

    /// Counts one verdict.
    pub(crate) fn count(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        if verdict.outcome() == Outcome::Clean {
            let same = |known: &&mut Clean| *known.tool == *tool && *known.model == *model;
            if let Some(known) = self.clean.iter_mut().find(same) {
                known.count += 1;
                return;
            }
            if self.clean.len() < MOST {
                self.clean.push(Clean { model: model.into(), tool: tool.into(), count: 0 });
            }
        }
        // The first of each goes into the tally at once: there names get their places in the order in which they come.
        self.tally.count(model, tool, verdict);
    }

    /// Counts a verdict in the place of a clean one that was counted before.
    pub(crate) fn recount(&mut self, model: &str, tool: &str, verdict: &Verdict<'_>) {
        self.settle();
        self.tally.recount(model, tool, verdict);
    }

    /// Everything that was counted; from here on counting begins anew.
    pub(crate) fn take(&mut self) -> Tally {
        self.settle();
        self.clean.clear();
        std::mem::take(&mut self.tally)
    }

    fn settle(&mut self) {
        for known in &mut self.clean {
            self.tally.add_clean(&known.model, &known.tool, std::mem::take(&mut known.count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_a_tally() {
        let (clean, mended, cut) =
            (toolmend::fix("{}"), toolmend::fix("{a: 1}"), toolmend::fix("{\"a\": \"x"));
        let (mut counter, mut tally) = (Counter::default(), Tally::default());
        // More names than the list has places for, and more than a tally has.
        for number in 0..20_000 {
            let (model, tool) = (format!("m{}", number % 7), format!("t{}", number * number % 1201));
            let verdict = [&clean, &clean, &mended, &cut][number % 4];
            counter.count(&model, &tool, verdict);
            tally.count(&model, &tool, verdict);
            if number % 1000 == 0 {
                counter.recount(&model, &tool, &mended);
                tally.recount(&model, &tool, &mended);
            }
        }
        assert_eq!(counter.take(), tally);
        assert_eq!(counter.take(), Tally::default());
    }
}
