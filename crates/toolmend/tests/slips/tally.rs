//! Counts the answers to damaged texts. Every text is in exactly one of five columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use toolmend::{Finish, FixOptions, Outcome, Verdict};

use crate::damage::Damage;
use crate::evidence::KindEvidence;
use crate::gold::Gold;

/// Which entry point judges a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    WithSchema,
    WithoutSchema,
}

impl Door {
    pub(crate) fn mend<'t>(self, gold: &Gold, damaged: &'t str) -> Verdict<'t> {
        match self {
            Door::WithSchema => gold.mender.mend_finished(gold.tool, damaged, Finish::Stop),
            Door::WithoutSchema => toolmend::fix_with(damaged, &FixOptions::new().finish(Finish::Stop)),
        }
    }

    /// The value of a text in which nothing shows the damage, because it is strict JSON and fits.
    pub(crate) fn hidden_value(self, gold: &Gold, damaged: &str) -> Option<Value> {
        let value = serde_json::from_str(damaged).ok()?;
        (self == Door::WithoutSchema || gold.schema.accepts(&value)).then_some(value)
    }
}

/// The columns.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) indistinguishable: usize,
    pub(crate) recovered: usize,
    pub(crate) refused: usize,
    /// The answer is another call, and the text is exactly that call with one mark lost or doubled. Only marks that slip into
    /// a text are counted here: `"x",,"y"` is `["x,","y"]` with two characters swapped, and it is `["x","y"]` with a comma
    /// written twice, which is what models do.
    pub(crate) likelier_slip: usize,
    pub(crate) wrong: usize,
}

impl Counts {
    fn merge(&mut self, other: Counts) {
        self.indistinguishable += other.indistinguishable;
        self.recovered += other.recovered;
        self.refused += other.refused;
        self.likelier_slip += other.likelier_slip;
        self.wrong += other.wrong;
    }

    pub(crate) fn total(self) -> usize {
        self.indistinguishable + self.rest()
    }

    /// The texts that show their damage.
    pub(crate) fn rest(self) -> usize {
        self.recovered + self.refused + self.likelier_slip + self.wrong
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below the limit, and this is for people")]
    pub(crate) fn recovered_percent(self) -> f64 {
        self.recovered as f64 * 100.0 / self.rest().max(1) as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below the limit, and this is for people")]
    pub(crate) fn wrong_percent(self) -> f64 {
        self.wrong as f64 * 100.0 / self.rest().max(1) as f64
    }
}

/// The answers to many damaged texts, by damage and kind of content.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cells: BTreeMap<(Damage, &'static str), Counts>,
    pub(crate) wrong_answers: Vec<WrongAnswer>,
    pub(crate) kinds: KindEvidence,
}

/// A damaged text that runs as another call.
#[derive(Debug)]
pub(crate) struct WrongAnswer {
    pub(crate) damage: Damage,
    pub(crate) content: &'static str,
    description: String,
}

impl std::fmt::Display for WrongAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}: {}", self.damage.name(), self.content, self.description)
    }
}

impl Tally {
    /// Mends a damaged text and counts the answer. It is recovered if it is `meant`.
    pub(crate) fn add(&mut self, door: Door, gold: &Gold, damage: Damage, damaged: &str, meant: &Value) {
        let verdict = door.mend(gold, damaged);
        let counts = self.cells.entry((damage, gold.content)).or_default();
        let runs = verdict.outcome().runs();
        let is_wrong = if door.hidden_value(gold, damaged).is_some() {
            let is_clean = verdict.outcome() == Outcome::Clean && verdict.json() == Some(damaged);
            counts.indistinguishable += usize::from(is_clean);
            !is_clean
        } else {
            let is_meant = verdict.value().is_some_and(|value| is_same(&value, meant));
            counts.recovered += usize::from(runs && is_meant);
            counts.refused += usize::from(!runs);
            let is_likelier = runs
                && !is_meant
                && damage == Damage::SwapWithText
                && verdict.json().is_some_and(|answer| is_one_mark_apart(answer, damaged));
            counts.likelier_slip += usize::from(is_likelier);
            runs && !is_meant && !is_likelier
        };
        counts.wrong += usize::from(is_wrong);
        if runs {
            self.kinds.add(verdict.repairs(), is_wrong);
        }
        if is_wrong {
            let kinds: BTreeSet<_> = verdict.repairs().iter().map(|repair| repair.kind).collect();
            let kinds: Vec<_> = kinds.into_iter().map(toolmend::RepairKind::name).collect();
            let answer = verdict.json().unwrap_or("several values, or none");
            let description = format!(
                "{} by {}\n  input  {damaged}\n  answer {answer}\n  gold   {}",
                gold.tool,
                kinds.join(", "),
                gold.rendered.text
            );
            self.wrong_answers.push(WrongAnswer { damage, content: gold.content, description });
        }
    }

    pub(crate) fn merge(&mut self, other: Tally) {
        for (cell, counts) in other.cells {
            self.cells.entry(cell).or_default().merge(counts);
        }
        self.wrong_answers.extend(other.wrong_answers);
        self.kinds.merge(&other.kinds);
    }

    /// The sum over these kinds of damage.
    pub(crate) fn sum(&self, wanted: impl Fn(Damage) -> bool) -> Counts {
        let mut sum = Counts::default();
        self.cells
            .iter()
            .filter(|((damage, _), _)| wanted(*damage))
            .for_each(|(_, counts)| sum.merge(*counts));
        sum
    }

    /// The tally as two tables: the sums for each damage, then contents against damages.
    pub(crate) fn table(&self, title: &str) -> String {
        let mut out = format!(
            "\n{title}\n{:<12} {:>7} {:>17} {:>9} {:>7} {:>13} {:>5}   recovered\n",
            "damage", "texts", "indistinguishable", "recovered", "refused", "likelier slip", "wrong"
        );
        for damage in Damage::ALL {
            let counts = self.sum(|other| other == damage);
            let _ = writeln!(
                out,
                "{:<12} {:>7} {:>17} {:>9} {:>7} {:>13} {:>5}   {:>7.2} %",
                damage.name(),
                counts.total(),
                counts.indistinguishable,
                counts.recovered,
                counts.refused,
                counts.likelier_slip,
                counts.wrong,
                counts.recovered_percent()
            );
        }
        out.push_str("\nindistinguishable / recovered / refused / wrong\n");
        self.write_contents(&mut out);
        out
    }

    fn write_contents(&self, out: &mut String) {
        let _ = write!(out, "{:<13}", "content");
        for damage in Damage::ALL {
            let _ = write!(out, " {:>18}", damage.name());
        }
        let contents: BTreeSet<_> = self.cells.keys().map(|(_, content)| *content).collect();
        for content in contents {
            let _ = write!(out, "\n{content:<13}");
            for damage in Damage::ALL {
                let counts = self.cells.get(&(damage, content)).copied().unwrap_or_default();
                let Counts { indistinguishable, recovered, refused, wrong, .. } = counts;
                let _ = write!(out, " {:>18}", format!("{indistinguishable}/{recovered}/{refused}/{wrong}"));
            }
        }
        out.push('\n');
    }

    /// The first wrong answers, of as many kinds as possible.
    pub(crate) fn shown_wrong_answers(&self, wanted: impl Fn(Damage) -> bool, most: usize) -> String {
        let mut seen = BTreeSet::new();
        let answers = self.wrong_answers.iter().filter(|answer| wanted(answer.damage));
        let (first, others): (Vec<_>, Vec<_>) =
            answers.partition(|answer| seen.insert((answer.damage, answer.content)));
        first
            .into_iter()
            .chain(others)
            .take(most)
            .fold(String::new(), |out, answer| format!("{out}\n\n{answer}"))
    }
}

/// Whether one text is the other with one mark lost or written twice.
fn is_one_mark_apart(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() > other.len() { (one, other) } else { (other, one) };
    let (long, short) = (long.as_bytes(), short.as_bytes());
    let same = long.iter().zip(short).take_while(|(a, b)| a == b).count();
    long.len() == short.len() + 1 && b"{}[],:\"".contains(&long[same]) && long[same + 1..] == short[same..]
}

/// Whether two values mean the same. `2` and `2.0` do.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| is_same(value, other)))
        }
        _ => left == right,
    }
}
