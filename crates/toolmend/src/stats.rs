//! Counters for the shells: what was mended, for which tool and model, and what was not.
//!
//! Recording takes no lock: counters are atomic, and a pair of a tool and a model gets its room once. The table of tools and models has a fixed size, so that neither can grow without
//! bound; what finds no room is counted under empty names.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::repair::{REPAIRS, RepairKind};
use crate::verdict::{Outcome, Verdict};

/// Rooms for pairs of a tool and a model.
const ROOMS: usize = 1024;
const OUTCOMES: [Outcome; 4] = [Outcome::Clean, Outcome::Mended, Outcome::Truncated, Outcome::Rejected];

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
    rooms: Box<[OnceLock<Room>]>,
    rest: Counters,
}

#[derive(Debug)]
struct Room {
    tool: Box<str>,
    model: Box<str>,
    counters: Counters,
}

#[derive(Debug)]
struct Counters {
    outcomes: [AtomicU64; OUTCOMES.len()],
    kinds: Box<[AtomicU64]>,
}

/// What was counted for one tool, one model, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    outcomes: [u64; OUTCOMES.len()],
    kinds: BTreeMap<RepairKind, u64>,
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    pairs: BTreeMap<(String, String), Counts>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { rooms: (0..ROOMS).map(|_| OnceLock::new()).collect(), rest: Counters::default() }
    }
}

impl Default for Counters {
    fn default() -> Self {
        let kinds = REPAIRS.iter().map(|_| AtomicU64::new(0)).collect();
        Counters { outcomes: [const { AtomicU64::new(0) }; OUTCOMES.len()], kinds }
    }
}

impl Stats {
    /// All counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one verdict. An unknown model is the empty string; so is the tool of a call that names none.
    pub fn record(&self, verdict: &Verdict<'_>, model: &str) {
        let counters = self.counters(verdict.tool().unwrap_or_default(), model);
        bump(&counters.outcomes, verdict.outcome() as usize, 1);
        for repair in verdict.repairs() {
            bump(&counters.kinds, repair.kind as usize, 1);
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&self, other: &Snapshot) {
        for ((tool, model), counts) in &other.pairs {
            let counters = self.counters(tool, model);
            for (index, &count) in counts.outcomes.iter().enumerate() {
                bump(&counters.outcomes, index, count);
            }
            for (&kind, &count) in &counts.kinds {
                bump(&counters.kinds, kind as usize, count);
            }
        }
    }

    /// What was counted so far.
    pub fn snapshot(&self) -> Snapshot {
        self.collect(|counter| counter.load(Relaxed))
    }

    /// Sets every counter to zero and gives what was counted so far. Nothing recorded meanwhile is lost.
    pub fn reset(&self) -> Snapshot {
        self.collect(|counter| counter.swap(0, Relaxed))
    }

    fn collect(&self, read: impl Fn(&AtomicU64) -> u64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let rooms = self.rooms.iter().filter_map(OnceLock::get);
        let named = rooms.map(|room| (&*room.tool, &*room.model, &room.counters));
        for (tool, model, counters) in named.chain([("", "", &self.rest)]) {
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
        let start = usize::try_from(hasher.finish() % ROOMS as u64).unwrap_or(0);
        let (before, from) = self.rooms.split_at(start);
        for room in from.iter().chain(before) {
            let room = room.get_or_init(|| Room {
                tool: tool.into(),
                model: model.into(),
                counters: Counters::default(),
            });
            if &*room.tool == tool && &*room.model == model {
                return &room.counters;
            }
        }
        &self.rest
    }
}

fn bump(counters: &[AtomicU64], index: usize, by: u64) {
    if let Some(counter) = counters.get(index) {
        counter.fetch_add(by, Relaxed);
    }
}

impl Counters {
    fn read(&self, read: impl Fn(&AtomicU64) -> u64) -> Counts {
        let mut outcomes = [0; OUTCOMES.len()];
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
    /// How many verdicts had this outcome.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(outcome as usize).copied().unwrap_or(0)
    }

    /// How many repairs of each kind were made; kinds without any are left out.
    pub fn kinds(&self) -> &BTreeMap<RepairKind, u64> {
        &self.kinds
    }

    /// How many verdicts there were.
    pub fn calls(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// How many verdicts did not run.
    pub fn invalid(&self) -> u64 {
        OUTCOMES.iter().filter(|outcome| !outcome.runs()).map(|&outcome| self.outcome(outcome)).sum()
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
    /// The counts for each pair of a tool and a model.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str, &Counts)> {
        self.pairs.iter().map(|((tool, model), counts)| (tool.as_str(), model.as_str(), counts))
    }

    /// The counts of everything.
    pub fn total(&self) -> Counts {
        self.pairs.values().fold(Counts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }

    /// How many repairs of each kind were made.
    pub fn by_kind(&self) -> BTreeMap<RepairKind, u64> {
        self.total().kinds
    }

    /// The counts for each tool.
    pub fn by_tool(&self) -> BTreeMap<&str, Counts> {
        self.grouped(|(tool, _)| tool)
    }

    /// The counts for each model.
    pub fn by_model(&self) -> BTreeMap<&str, Counts> {
        self.grouped(|(_, model)| model)
    }

    /// How many verdicts did not run.
    pub fn invalid(&self) -> u64 {
        self.pairs.values().map(Counts::invalid).sum()
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Snapshot) {
        for (tool, model, counts) in other.pairs() {
            self.add(tool, model, counts);
        }
    }

    fn add(&mut self, tool: &str, model: &str, counts: &Counts) {
        match self.pairs.entry((tool.to_owned(), model.to_owned())) {
            Entry::Vacant(room) => {
                room.insert(counts.clone());
            }
            Entry::Occupied(mut room) => room.get_mut().add(counts),
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
    fn threads_lose_nothing() {
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
    fn reset_hands_over_and_merge_takes_back() {
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
    fn more_models_than_rooms_are_still_counted() {
        let (stats, mender) = (Stats::new(), mender());
        let verdict = mender.mend("a", "{}");
        for model in 0..ROOMS + 10 {
            stats.record(&verdict, &model.to_string());
        }
        assert_eq!(stats.snapshot().total().calls(), (ROOMS + 10) as u64);
        assert_eq!(stats.snapshot().by_tool()[""].calls(), 10);
    }
}
