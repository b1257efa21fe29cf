//! What a suite of damaged calls shows about each kind of repair.
//!
//! The tier of a kind is a claim. This table is the evidence: a kind that gives a wrong answer on the project's own damage
//! is not `lossless`, whatever its row says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use toolmend::{Repair, RepairKind, Tier};

/// How often one kind took part in an answer.
#[derive(Debug, Default, Clone, Copy)]
struct Record {
    answers: usize,
    wrong: usize,
    /// Wrong answers in which no other kind is less certain than this one.
    blamed: usize,
}

/// The record of every kind that took part in an answer.
#[derive(Debug, Default)]
pub(crate) struct KindEvidence(BTreeMap<RepairKind, Record>);

impl KindEvidence {
    /// Adds the repairs of an answer that runs.
    ///
    /// A wrong answer is blamed on its least certain repairs. The fence that was removed around a call did not make it
    /// wrong if a guess inside did. If all repairs claim to be lossless, all of them are blamed.
    pub(crate) fn add(&mut self, repairs: &[Repair], is_wrong: bool) {
        let kinds: BTreeSet<RepairKind> = repairs.iter().map(|repair| repair.kind).collect();
        let least_certain = kinds.iter().map(|kind| kind.tier()).max();
        for kind in kinds {
            let record = self.0.entry(kind).or_default();
            record.answers += 1;
            record.wrong += usize::from(is_wrong);
            record.blamed += usize::from(is_wrong && least_certain == Some(kind.tier()));
        }
    }

    pub(crate) fn merge(&mut self, other: &KindEvidence) {
        for (kind, record) in &other.0 {
            let sum = self.0.entry(*kind).or_default();
            sum.answers += record.answers;
            sum.wrong += record.wrong;
            sum.blamed += record.blamed;
        }
    }

    /// The evidence as a table, one line for each kind.
    pub(crate) fn table(&self) -> String {
        let mut out = format!("\n{:<30} {:<9} answers   wrong  blamed\n", "repair kind", "tier");
        for (kind, Record { answers, wrong, blamed }) in &self.0 {
            let (name, tier) = (kind.name(), kind.tier().name());
            let _ = writeln!(out, "{name:<30} {tier:<9} {answers:>7} {wrong:>7} {blamed:>7}");
        }
        out
    }

    /// Fails if a lossless kind is blamed for a wrong answer.
    #[track_caller]
    pub(crate) fn assert_lossless_is_never_wrong(&self) {
        assert!(!self.0.is_empty(), "no answer was repaired, so there is no evidence");
        let blamed =
            |(kind, record): &(&RepairKind, &Record)| kind.tier() == Tier::Lossless && record.blamed > 0;
        let kinds: Vec<String> = self
            .0
            .iter()
            .filter(blamed)
            .map(|(kind, record)| format!("{kind} ({})", record.blamed))
            .collect();
        assert!(
            kinds.is_empty(),
            "lossless repairs gave wrong answers: {}\ncorrect their rules, or their tier in crates/toolmend/src/repair.rs",
            kinds.join(", ")
        );
    }
}
