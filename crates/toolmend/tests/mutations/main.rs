//! Damages valid calls in every way that models are known to. Each must come back unchanged or be refused.
//! A different call that runs is a failure, however rare.
//!
//! `cargo test --test mutations -- --nocapture` prints how many calls are mended for each kind of damage.

mod content;
mod cut;
mod damage;
mod document;
mod framed;
mod random;
#[path = "../support/write_file_schema.rs"]
mod write_file_schema;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;
use toolmend::{Finish, FixOptions, Verdict};

use crate::document::Document;
use crate::random::Random;

/// Calls for each kind of damage.
const CALLS: usize = 120;
/// The share of calls, damaged as models do it, that must come back. The rest may be refused; none may be wrong.
const LEAST_MENDED_PERCENT: usize = 95;
/// The same for slipped characters. They often leave two readings, and then a refusal is the right answer.
const LEAST_SLIPS_MENDED_PERCENT: usize = 30;

/// The outcomes for calls with one kind of damage.
#[derive(Default)]
struct Tally {
    mended: usize,
    refused: usize,
    wrong: usize,
    /// The first wrong call of each kind of damage.
    examples: BTreeMap<&'static str, String>,
}

/// How a damaged call is mended.
type Door = for<'t> fn(&Document, &'t str) -> Verdict<'t>;

fn with_tool<'t>(call: &Document, damaged: &'t str) -> Verdict<'t> {
    call.mender.mend_finished(call.tool, damaged, Finish::Stop)
}

fn without_schema<'t>(_: &Document, damaged: &'t str) -> Verdict<'t> {
    toolmend::fix_with(damaged, &FixOptions::new().finish(Finish::Stop))
}

impl Tally {
    fn add(&mut self, damage: &'static str, call: &Document, damaged: &str, door: Door) {
        let verdict = door(call, damaged);
        if !verdict.outcome().runs() {
            self.refused += 1;
        } else if verdict.value().as_ref() == Some(&call.value) {
            self.mended += 1;
        } else if !cannot_be_told(damaged, door) {
            self.wrong += 1;
            let (became, was) = (verdict.json().unwrap_or("several calls"), call.text());
            let example = format!("{damaged}\n  became  {became}\n  but was {was}");
            self.examples.entry(damage).or_insert(example);
        }
    }

    fn total(&self) -> usize {
        self.mended + self.refused + self.wrong
    }
}

/// Whether a damaged text still means something by itself, so that nothing shows the damage.
fn is_still_valid(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

/// Whether nothing shows that this text is damaged, or where.
fn cannot_be_told(damaged: &str, door: Door) -> bool {
    let schema = !std::ptr::fn_addr_eq(door, without_schema as Door);
    cut::lacks_closers(damaged) || !schema && serde_json::from_str::<Value>(damaged).is_ok()
}

#[expect(clippy::print_stdout, reason = "the table is what the test is run for with --nocapture")]
fn report(title: &str, rows: &[(String, Tally)]) {
    println!("\n{title:<44} calls  mended  refused  wrong");
    for (name, tally) in rows {
        let (total, wrong) = (tally.total(), tally.wrong);
        let percent = tally.mended * 100 / total.max(1);
        println!("{name:<44} {total:>5}  {percent:>4} %  {:>7}  {wrong:>5}", tally.refused);
    }
}

#[track_caller]
fn assert_none_wrong(rows: &[(String, Tally)]) {
    let wrong: usize = rows.iter().map(|(_, tally)| tally.wrong).sum();
    let mut shown = String::new();
    for (name, tally) in rows {
        for (damage, example) in &tally.examples {
            let _ = write!(shown, "\n\n{name}, {damage}: {example}");
        }
    }
    assert_eq!(wrong, 0, "calls that run and are not what they were; one of each kind:{shown}");
}

/// Every kind of damage on its own.
fn damaged(door: Door) -> Vec<(String, Tally)> {
    let mut rows = Vec::new();
    for (seed, damage) in damage::all().into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let mut tally = Tally::default();
        for _ in 0..CALLS {
            let call = document::random(&mut random);
            let Some(damaged) = (damage.apply)(&call, &mut random) else { continue };
            if !is_still_valid(&damaged) {
                tally.add(damage.name, &call, &damaged, door);
            }
        }
        rows.push((damage.name.to_owned(), tally));
    }
    rows
}

#[test]
fn a_damaged_call_comes_back_or_is_refused() {
    let rows = damaged(with_tool);
    report("damage", &rows);
    for (name, tally) in &rows {
        assert!(tally.total() > 0, "no call has a place for {name:?}");
    }
    assert_none_wrong(&rows);
    let (of_models, slips) = rows.split_at(damage::of_models().len());
    for (rows, least) in [(of_models, LEAST_MENDED_PERCENT), (slips, LEAST_SLIPS_MENDED_PERCENT)] {
        let mended: usize = rows.iter().map(|(_, tally)| tally.mended).sum();
        let total: usize = rows.iter().map(|(_, tally)| tally.total()).sum();
        assert!(mended * 100 >= total * least, "only {mended} of {total} calls were mended");
    }
}

#[test]
fn without_a_schema_a_damaged_call_comes_back_or_is_refused() {
    let rows = damaged(without_schema);
    report("damage, no schema", &rows);
    assert_none_wrong(&rows);
}

#[test]
fn a_call_with_two_kinds_of_damage_comes_back_or_is_refused() {
    let mut rows = Vec::new();
    for (seed, (around, wrap)) in damage::AROUND.iter().enumerate() {
        let mut random = Random::new(1000 + seed as u64);
        let mut tally = Tally::default();
        for damage in damage::all() {
            for _ in 0..CALLS / 8 {
                let call = document::random(&mut random);
                let Some(damaged) = (damage.apply)(&call, &mut random) else { continue };
                if !is_still_valid(&damaged) {
                    tally.add(damage.name, &call, &wrap(&damaged), with_tool);
                }
            }
        }
        rows.push((format!("{around} around any other"), tally));
    }
    report("two damages", &rows);
    assert_none_wrong(&rows);
}

#[test]
fn in_the_markers_of_a_dialect_a_damaged_call_comes_back_or_is_refused() {
    let mut rows = Vec::new();
    for (seed, (dialect, frame)) in framed::FRAMES.iter().enumerate() {
        let mut random = Random::new(2000 + seed as u64);
        let mut tally = Tally::default();
        for damage in damage::of_models() {
            for _ in 0..CALLS / 4 {
                let call = document::random(&mut random);
                let Some(damaged) = (damage.apply)(&call, &mut random) else { continue };
                if is_still_valid(&damaged) {
                    continue;
                }
                let text = frame(call.tool, &damaged);
                match framed::read_back(&call, &text) {
                    Ok(true) => tally.mended += 1,
                    Ok(false) => tally.refused += 1,
                    Err(_) if cut::lacks_closers(&damaged) => {}
                    Err(became) => {
                        tally.wrong += 1;
                        let example = format!("{text}\n  became  {became}\n  but was {}", call.text());
                        tally.examples.entry(damage.name).or_insert(example);
                    }
                }
            }
        }
        rows.push(((*dialect).to_owned(), tally));
    }
    report("damage in a dialect", &rows);
    assert_none_wrong(&rows);
    for (dialect, tally) in &rows {
        let (mended, total) = (tally.mended, tally.total());
        assert!(mended * 100 >= total * 95, "only {mended} of {total} calls came back from {dialect}");
    }
}

#[test]
fn a_truncated_call_never_runs() {
    let mut random = Random::new(7);
    for (name, spell) in damage::SPELLINGS {
        let mut failures = Vec::new();
        for _ in 0..CALLS * 2 {
            let call = document::random(&mut random);
            for finish in [Finish::Unknown, Finish::Length, Finish::Stop] {
                failures.extend(cut::run(&call, *spell, finish, &mut random));
            }
        }
        let shown = failures.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} cut calls run, {name}, such as:\n{shown}", failures.len());
    }
}
