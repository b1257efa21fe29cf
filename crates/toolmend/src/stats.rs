//! Counters for verdicts: how many there were of each outcome, and which repairs, for each tool and model.
//!
//! Recording takes no lock. Counters are atomic, and a pair of a tool and a model gets its slot once. The number of slots is
//! fixed, so that made-up names cannot use up memory; pairs without a slot are counted under empty names. Nothing but
//! names and numbers is kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::repair::{REPAIRS, RepairKind};
use crate::verdict::{Outcome, Verdict};

/// The number of slots for pairs of a tool and a model.
const SLOTS: usize = 1024;
const OUTCOMES: usize = Outcome::ALL.len();

/// Counts verdicts from any number of threads.
///
/// ```
/// use toolmend::{Mender, Outcome, RepairKind, Stats};
/// let mender = Mender::new(&serde_json::json!(["list_dir"])).unwrap();
/// let stats = Stats::new();
/// stats.record(&mender.mend("ListDir", "{}"), "some-model");
/// stats.record(&mender.mend("remove", "{}"), "some-model");
/// let snapshot = stats.snapshot();
/// assert_eq!(snapshot.by_kind()[&RepairKind::NameRespelled], 1);
/// assert_eq!(snapshot.by_tool()["list_dir"].outcome(Outcome::Mended), 1);
/// assert_eq!(snapshot.invalid(), 1);
/// ```
#[derive(Debug)]
pub struct Stats {
    slots: Box<[OnceLock<Slot>]>,
    rest: Counters,
}

#[derive(Debug)]
struct Slot {
    tool: Box<str>,
    model: Box<str>,
    counters: Counters,
}

#[derive(Debug)]
struct Counters {
    outcomes: [AtomicU64; OUTCOMES],
    kinds: Box<[AtomicU64]>,
}

/// The counts for one tool, one model, or a pair of them.
///
/// ```
/// use toolmend::{Outcome, Stats};
/// let stats = Stats::new();
/// stats.record(&toolmend::fix("[1,]"), "some-model");
/// let total = stats.snapshot().total();
/// assert_eq!((total.calls(), total.outcome(Outcome::Mended)), (1, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    outcomes: [u64; OUTCOMES],
    kinds: BTreeMap<RepairKind, u64>,
}

/// The counters at one point in time.
///
/// ```
/// let stats = toolmend::Stats::new();
/// stats.record(&toolmend::fix("[1,]"), "small");
/// stats.record(&toolmend::fix("no JSON"), "small");
/// let snapshot = stats.snapshot();
/// assert_eq!(snapshot.by_model()["small"].invalid(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    pairs: BTreeMap<(String, String), Counts>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { slots: (0..SLOTS).map(|_| OnceLock::new()).collect(), rest: Counters::default() }
    }
}

impl Default for Counters {
    fn default() -> Self {
        let kinds = REPAIRS.iter().map(|_| AtomicU64::new(0)).collect();
        Counters { outcomes: [const { AtomicU64::new(0) }; OUTCOMES], kinds }
    }
}

impl Stats {
    /// Starts with all counters at zero.
    ///
    /// ```
    /// assert_eq!(toolmend::Stats::new().snapshot().total().calls(), 0);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one verdict. Pass an empty string if the model is unknown. A call without a tool counts under an empty name.
    ///
    /// ```
    /// let stats = toolmend::Stats::new();
    /// stats.record(&toolmend::fix("{}"), "some-model");
    /// assert_eq!(stats.snapshot().total().calls(), 1);
    /// ```
    pub fn record(&self, verdict: &Verdict<'_>, model: &str) {
        let counters = self.counters(verdict.tool().unwrap_or_default(), model);
        add_to_counter(&counters.outcomes, verdict.outcome() as usize, 1);
        for repair in verdict.repairs() {
            add_to_counter(&counters.kinds, repair.kind as usize, 1);
        }
    }

    /// Adds the counts of a snapshot, such as one from another process.
    ///
    /// ```
    /// let (here, there) = (toolmend::Stats::new(), toolmend::Stats::new());
    /// there.record(&toolmend::fix("{}"), "");
    /// here.merge(&there.snapshot());
    /// assert_eq!(here.snapshot(), there.snapshot());
    /// ```
    pub fn merge(&self, other: &Snapshot) {
        for ((tool, model), counts) in &other.pairs {
            let counters = self.counters(tool, model);
            for (index, &count) in counts.outcomes.iter().enumerate() {
                add_to_counter(&counters.outcomes, index, count);
            }
            for (&kind, &count) in &counts.kinds {
                add_to_counter(&counters.kinds, kind as usize, count);
            }
        }
    }

    /// Returns the counts so far.
    ///
    /// ```
    /// assert!(toolmend::Stats::new().snapshot().by_tool().is_empty());
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        self.collect(|counter| counter.load(Relaxed))
    }

    /// Returns the counts so far and sets every counter to zero. Verdicts that are recorded at the same time are not lost.
    ///
    /// ```
    /// let stats = toolmend::Stats::new();
    /// stats.record(&toolmend::fix("{}"), "");
    /// assert_eq!(stats.reset().total().calls(), 1);
    /// assert_eq!(stats.snapshot().total().calls(), 0);
    /// ```
    pub fn reset(&self) -> Snapshot {
        self.collect(|counter| counter.swap(0, Relaxed))
    }

    fn collect(&self, read: impl Fn(&AtomicU64) -> u64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let slots = self.slots.iter().filter_map(OnceLock::get);
        let pairs = slots.map(|slot| (&*slot.tool, &*slot.model, &slot.counters));
        for (tool, model, counters) in pairs.chain([("", "", &self.rest)]) {
            let counts = counters.read(&read);
            if counts != Counts::default() {
                snapshot.add(tool, model, &counts);
            }
        }
        snapshot
    }

    fn counters(&self, tool: &str, model: &str) -> &Counters {
        let mut hasher = DefaultHasher::new();
        (tool, model).hash(&mut hasher);
        let start = usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or(0);
        let (before, from) = self.slots.split_at(start);
        for slot in from.iter().chain(before) {
            let slot = slot.get_or_init(|| Slot {
                tool: tool.into(),
                model: model.into(),
                counters: Counters::default(),
            });
            if &*slot.tool == tool && &*slot.model == model {
                return &slot.counters;
            }
        }
        &self.rest
    }
}

fn add_to_counter(counters: &[AtomicU64], index: usize, by: u64) {
    if let Some(counter) = counters.get(index) {
        counter.fetch_add(by, Relaxed);
    }
}

impl Counters {
    fn read(&self, read: impl Fn(&AtomicU64) -> u64) -> Counts {
        let mut outcomes = [0; OUTCOMES];
        for (count, counter) in outcomes.iter_mut().zip(&self.outcomes) {
            *count = read(counter);
        }
        let kinds = REPAIRS
            .iter()
            .zip(&self.kinds)
            .map(|(row, counter)| (row.kind, read(counter)))
            .filter(|&(_, count)| count > 0)
            .collect();
        Counts { outcomes, kinds }
    }
}

impl Counts {
    /// Returns how many verdicts had this outcome.
    ///
    /// ```
    /// let counts = toolmend::Counts::default();
    /// assert_eq!(counts.outcome(toolmend::Outcome::Clean), 0);
    /// ```
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(outcome as usize).copied().unwrap_or(0)
    }

    /// Returns how many repairs of each kind were made. Kinds that were not used are left out.
    ///
    /// ```
    /// assert!(toolmend::Counts::default().kinds().is_empty());
    /// ```
    pub fn kinds(&self) -> &BTreeMap<RepairKind, u64> {
        &self.kinds
    }

    /// Returns the number of verdicts.
    ///
    /// ```
    /// assert_eq!(toolmend::Counts::default().calls(), 0);
    /// ```
    pub fn calls(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Returns how many verdicts did not run.
    ///
    /// ```
    /// assert_eq!(toolmend::Counts::default().invalid(), 0);
    /// ```
    pub fn invalid(&self) -> u64 {
        Outcome::ALL.iter().filter(|outcome| !outcome.runs()).map(|&outcome| self.outcome(outcome)).sum()
    }

    fn add(&mut self, other: &Counts) {
        for (count, more) in self.outcomes.iter_mut().zip(&other.outcomes) {
            *count += more;
        }
        for (&kind, more) in &other.kinds {
            *self.kinds.entry(kind).or_default() += more;
        }
    }
}

impl Snapshot {
    /// Returns the tool, the model and the counts of each pair that was recorded.
    ///
    /// ```
    /// assert_eq!(toolmend::Snapshot::default().pairs().count(), 0);
    /// ```
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str, &Counts)> {
        self.pairs.iter().map(|((tool, model), counts)| (tool.as_str(), model.as_str(), counts))
    }

    /// Returns the counts of all pairs together.
    ///
    /// ```
    /// assert_eq!(toolmend::Snapshot::default().total(), toolmend::Counts::default());
    /// ```
    pub fn total(&self) -> Counts {
        self.pairs.values().fold(Counts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }

    /// Returns how many repairs of each kind were made.
    ///
    /// ```
    /// assert!(toolmend::Snapshot::default().by_kind().is_empty());
    /// ```
    pub fn by_kind(&self) -> BTreeMap<RepairKind, u64> {
        self.total().kinds
    }

    /// Returns the counts for each tool.
    ///
    /// ```
    /// assert!(toolmend::Snapshot::default().by_tool().is_empty());
    /// ```
    pub fn by_tool(&self) -> BTreeMap<&str, Counts> {
        self.grouped(|(tool, _)| tool)
    }

    /// Returns the counts for each model.
    ///
    /// ```
    /// assert!(toolmend::Snapshot::default().by_model().is_empty());
    /// ```
    pub fn by_model(&self) -> BTreeMap<&str, Counts> {
        self.grouped(|(_, model)| model)
    }

    /// Returns how many verdicts did not run.
    ///
    /// ```
    /// assert_eq!(toolmend::Snapshot::default().invalid(), 0);
    /// ```
    pub fn invalid(&self) -> u64 {
        self.pairs.values().map(Counts::invalid).sum()
    }

    /// Adds the counts of another snapshot.
    ///
    /// ```
    /// let mut snapshot = toolmend::Snapshot::default();
    /// snapshot.merge(&toolmend::Snapshot::default());
    /// assert_eq!(snapshot.total().calls(), 0);
    /// ```
    pub fn merge(&mut self, other: &Snapshot) {
        for (tool, model, counts) in other.pairs() {
            self.add(tool, model, counts);
        }
    }

    /// Reports the counts as one event with the target `tool_repair`, at the end of a run.
    ///
    /// ```
    /// let stats = toolmend::Stats::new();
    /// stats.record(&toolmend::fix("[1,]"), "some-model");
    /// stats.snapshot().trace(); // repair summary: calls=1 mended=1 invalid=0 repairs="trailing_comma_removed=1"
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace(&self) {
        let total = self.total();
        let kinds: Vec<String> = total.kinds.iter().map(|(kind, count)| format!("{kind}={count}")).collect();
        tracing::info!(
            target: "tool_repair",
            calls = total.calls(),
            mended = total.outcome(Outcome::Mended),
            invalid = total.invalid(),
            repairs = kinds.join(" "),
            "repair summary"
        );
    }

    fn add(&mut self, tool: &str, model: &str, counts: &Counts) {
        match self.pairs.entry((tool.to_owned(), model.to_owned())) {
            Entry::Vacant(entry) => {
                entry.insert(counts.clone());
            }
            Entry::Occupied(mut entry) => entry.get_mut().add(counts),
        }
    }

    fn grouped(&self, group: impl Fn(&(String, String)) -> &String) -> BTreeMap<&str, Counts> {
        let mut out: BTreeMap<&str, Counts> = BTreeMap::new();
        for (pair, counts) in &self.pairs {
            out.entry(group(pair).as_str()).or_default().add(counts);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mender::Mender;
    use serde_json::json;

    fn mender() -> Mender {
        Mender::new(&json!(["a", "b"])).unwrap()
    }

    #[test]
    fn concurrent_threads_lose_no_counts() {
        let (stats, mender) = (Stats::new(), mender());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (stats, mender) = (&stats, &mender);
                scope.spawn(move || {
                    for round in 0..500 {
                        let tool = ["a", "B", "c"][round % 3];
                        stats.record(&mender.mend(tool, "{}"), ["m", "n"][thread % 2]);
                    }
                });
            }
        });
        let snapshot = stats.snapshot();
        assert_eq!(snapshot.total().calls(), 4000);
        assert_eq!(snapshot.by_kind(), BTreeMap::from([(RepairKind::NameRespelled, 8 * 167)]));
        assert_eq!(snapshot.invalid(), 8 * 166);
        assert_eq!(snapshot.by_model()["m"].calls(), 2000);
        assert_eq!(snapshot.by_tool()["b"].outcome(Outcome::Mended), 8 * 167);
    }

    #[test]
    fn reset_returns_the_counts_and_merge_adds_them() {
        let (stats, mender) = (Stats::new(), mender());
        stats.record(&mender.mend("a", ""), "m");
        let first = stats.reset();
        assert_eq!(stats.snapshot(), Snapshot::default());
        stats.record(&mender.mend("a", ""), "m");
        let mut twice = stats.snapshot();
        twice.merge(&first);
        stats.merge(&first);
        assert_eq!(stats.snapshot(), twice);
        assert_eq!(twice.by_kind()[&RepairKind::EmptyArgumentsFilled], 2);
    }

    #[test]
    fn pairs_without_a_slot_are_still_counted() {
        let (stats, mender) = (Stats::new(), mender());
        let verdict = mender.mend("a", "{}");
        for model in 0..SLOTS + 10 {
            stats.record(&verdict, &model.to_string());
        }
        assert_eq!(stats.snapshot().total().calls(), (SLOTS + 10) as u64);
        assert_eq!(stats.snapshot().by_tool()[""].calls(), 10);
    }
}
