//! The path of a text: the strict pass, otherwise syntax, then shape, then the proof.
//!
//! Every entry point that takes a schema or none ends here, so their promises hold for all of them or for none. What leaves
//! as mended is strict JSON, fits its schema, and differs from the input only by repairs that the policy allows. The
//! pipeline knows nothing of tools beyond the name and schema it is given, and writes no feedback.

use serde_json::Value;

use crate::json::strict::{self, Fault};
use crate::json::text::compact_json;
use crate::json::tree::Tree;
use crate::json::value::{self, SERDE_DEPTH};
use crate::patch::Patch;
use crate::policy::{Policy, Preset};
use crate::repair::{Layer, Repair, RepairKind};
use crate::report;
use crate::schema::Schema;
use crate::schema::guide::Guide;
use crate::shape::{self, Fit};
use crate::syntax::{
    self, Allowance, CorrectedText, DoubtfulReading, Finish, Likelihood, MendedText, ReadContext, Reading,
    SeveralValues,
};
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

/// A text to mend, and everything known about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) schema: Option<&'a Schema>,
    pub(crate) policy: &'a Policy,
    pub(crate) finish: Finish,
    pub(crate) tool: Option<&'a str>,
    pub(crate) main_field: Option<&'a str>,
    /// Whether the reasons of a refusal are passed on.
    pub(crate) explains: bool,
    /// What this and other texts may spend together.
    pub(crate) allowance: Option<&'a Allowance>,
}

/// The result of the shape layer.
struct ShapedText {
    mended: MendedText,
    /// The value that the validator accepted.
    value: Value,
    notes: Vec<String>,
    repairs: Option<Vec<Repair>>,
}

impl Task<'_> {
    /// Judges and mends one text.
    pub(crate) fn run<'t>(&self, text: &'t str) -> Verdict<'t> {
        if self.policy.preset == Preset::Off {
            return Verdict::clean(text);
        }
        // The validator needs the parsed value anyway, so parsing it serves as the strict pass. Only numbers that no float
        // can hold need the strict pass itself.
        let parse = self.schema.is_some() && self.policy.limits.depth >= SERDE_DEPTH;
        let parsed = if parse { value::parse(text) } else { None };
        let strict = if parsed.is_some() { Ok(()) } else { strict::check(text, self.policy.limits.depth) };
        match strict {
            Ok(()) => match self.shape_text(text, parsed) {
                Ok(None) => return Verdict::clean(text),
                Ok(Some(shaped)) => {
                    return self.prove_shape(text, Vec::new(), shaped);
                }
                // A string that holds the whole value is a matter of syntax. Anything else is decided.
                Err(refusal) if !text.trim_start().starts_with('"') => {
                    return Verdict::refused(text, Outcome::Rejected, *refusal);
                }
                Err(_) => {}
            },
            Err(Fault::Depth(at)) => {
                let limit = self.policy.limits.depth;
                let message = format!("brackets are nested deeper than {limit} at byte {at}");
                return refuse(text, Reason::Limit, message);
            }
            Err(Fault::Syntax(_)) => {}
        }
        if text.len() > self.policy.limits.bytes {
            let message =
                format!("{} bytes to repair, the limit is {}", text.len(), self.policy.limits.bytes);
            return refuse(text, Reason::Limit, message);
        }
        let unguided = Guide::default();
        let reading = Allowance::refuel(self.allowance, text, |fuel| {
            let context = ReadContext {
                guide: self.schema.map_or(&unguided, Schema::guide),
                policy: self.policy,
                finish: self.finish,
                tool: self.tool,
                main_field: self.main_field,
                explains: self.explains,
                fuel,
            };
            syntax::read(text, &context)
        });
        match reading {
            Some(reading) => self.prove_reading(text, reading),
            None => refuse(text, Reason::Limit, syntax::OUT_OF_FUEL.to_owned()),
        }
    }

    fn prove_reading<'t>(&self, text: &'t str, reading: Reading) -> Verdict<'t> {
        match reading {
            Reading::One(mended) => self.prove_value(text, mended),
            Reading::Several(several) => self.prove_values(text, *several),
            Reading::Cut(refusal) => Verdict::refused(text, Outcome::Truncated, refusal),
            Reading::Refused(refusal) => Verdict::refused(text, Outcome::Rejected, refusal),
            Reading::Doubtful(doubtful) => self.settle_doubt(text, *doubtful),
        }
    }

    /// Decides between the reader's own reading and the texts that are one slip away. One value that fits is the answer, and
    /// two are a refusal. A reading that assumes several lost marks gives way to one that needs a single correction.
    // Case: syntax/closer-of-either-object
    fn settle_doubt<'t>(&self, text: &'t str, doubtful: DoubtfulReading) -> Verdict<'t> {
        let DoubtfulReading { own, marks, corrected, incomplete } = doubtful;
        let own = self.prove_reading(text, own);
        let (mut rivals, is_likely) = self.prove_corrections(text, corrected);
        let own_value = own.outcome.runs().then(|| compact_json(&own.text));
        match (rivals.pop(), rivals.pop(), own_value) {
            // What only completes a truncated text proves nothing.
            (None, ..) | (Some((_, _, true)), Some((_, _, true)), None) => own,
            (Some((_, first, _)), Some((_, second, _)), _) => refuse_both(text, second, first),
            (Some((_, rival, _)), None, Some(own_value)) if rival == own_value => own,
            (Some((verdict, _, false)), None, None) if !incomplete && is_likely => verdict,
            (Some((verdict, rival, completes)), None, Some(own_value)) => {
                let is_cheaper = marks > 1
                    || is_reshaped(&own) && !is_reshaped(&verdict)
                    || count_odd_strings(&own_value) > count_odd_strings(&rival);
                if is_cheaper && !completes && !incomplete && is_likely {
                    verdict
                } else {
                    refuse_both(text, own_value, rival)
                }
            }
            (Some(_), None, None) => own,
        }
    }

    /// The corrections that fit and of which none is likelier, each value once, with whether it only completes the text.
    /// Also whether they are likely enough to be an answer.
    fn prove_corrections<'t>(
        &self,
        text: &'t str,
        corrected: Vec<CorrectedText>,
    ) -> (Vec<(Verdict<'t>, String, bool)>, bool) {
        let mut fitting = Vec::new();
        let mut partial = Vec::new();
        for CorrectedText { mended, completes, is_partial, likelihood, misfit } in corrected {
            let verdict = self.prove_value(text, mended);
            // Two marks are not added to make room for a key that nobody declared.
            // Case: syntax/quote-and-closer-lost
            let is_strained = likelihood == Likelihood::Pair && misfit > 0;
            if verdict.outcome.runs() && !is_strained {
                // A value that fits as it is was meant sooner than one that has to be changed to fit.
                let rank = (is_reshaped(&verdict), misfit, likelihood);
                if is_partial {
                    partial.push(compact_json(&verdict.text));
                }
                fitting.push((rank, verdict, completes));
            }
        }
        let Some(best) = fitting.iter().map(|(rank, ..)| *rank).min() else { return (Vec::new(), false) };
        let (reshaped, misfit, likelihood) = best;
        // A string that is odd in every correction speaks against none of them.
        // Case: syntax/odd-text-in-every-correction
        let least_odd = fitting.iter().filter(|(rank, ..)| *rank == best);
        let least_odd = least_odd.map(|(_, verdict, _)| count_odd_strings(&verdict.text)).min().unwrap_or(0);
        let mut rivals: Vec<(Verdict<'t>, String, bool)> = Vec::new();
        for (rank, verdict, completes) in fitting {
            let is_as_odd = rank == (reshaped, misfit, Likelihood::OddText)
                && count_odd_strings(&verdict.text) <= least_odd;
            if rank != best && !is_as_odd {
                continue;
            }
            let value = compact_json(&verdict.text);
            if !rivals.iter().any(|(_, known, _)| *known == value) {
                rivals.push((verdict, value, completes));
            }
        }
        let is_whole = rivals.last().is_none_or(|(_, value, _)| !partial.contains(value));
        (rivals, !reshaped && likelihood < Likelihood::OddText && is_whole)
    }

    /// Shapes and proves the one value that the syntax layer read.
    fn prove_value<'t>(&self, text: &'t str, mended: MendedText) -> Verdict<'t> {
        // If only surrounding text was removed, the proof that the value is strict needs no tree.
        let trimmed = matches!(mended.layers.as_slice(), [patch] if patch.trims(text.len()));
        let depth = self.policy.limits.depth;
        let tree = if trimmed && self.schema.is_none() {
            strict::check(&mended.text, depth).map(|()| Tree::root_only(&mended.text))
        } else {
            Tree::parse(&mended.text, depth)
        };
        let Ok(tree) = tree else {
            return refuse(text, Reason::Syntax, NO_READING.to_owned());
        };
        let parsed = self.schema.and_then(|_| tree.value());
        match self.shape_text(&mended.text, parsed) {
            Ok(None) => {
                if let Some(verdict) = self.prove_respelled(text, &mended, &tree) {
                    return verdict;
                }
                let repairs = report::list_repairs(&tree, &mended.layers);
                self.check_policy(text, mended.text, repairs)
            }
            Ok(Some(shaped)) => self.prove_shape(text, mended.layers, shaped),
            Err(refusal) => Verdict::refused(text, Outcome::Rejected, *refusal),
        }
    }

    /// The verdict on a damaged text with the declared spelling of its keys, if that differs, fits and is allowed.
    fn prove_respelled<'t>(
        &self,
        text: &'t str,
        mended: &MendedText,
        tree: &Tree<'_>,
    ) -> Option<Verdict<'t>> {
        let schema = self.schema?;
        let patch = shape::respell_damaged(tree, schema)?;
        let respelled = patch.apply(&mended.text);
        let tree = Tree::parse(&respelled, self.policy.limits.depth).ok()?;
        if !tree.value().is_some_and(|value| schema.accepts(&value)) {
            return None;
        }
        let mut layers = mended.layers.clone();
        layers.push(patch);
        let repairs = report::list_repairs(&tree, &layers);
        Some(self.check_policy(text, respelled.clone(), repairs)).filter(|verdict| verdict.outcome.runs())
    }

    /// Proves several different values. If each fits, each is a call of its own if a tool is known and no words are between
    /// them, otherwise the text is ambiguous. If none fits alone, they may be one object that was closed too early.
    fn prove_values<'t>(&self, text: &'t str, several: SeveralValues) -> Verdict<'t> {
        let SeveralValues { values, merged, words_between } = several;
        let verdicts: Vec<Verdict<'t>> =
            values.into_iter().map(|mended| self.prove_value(text, mended)).collect();
        if let Some(merged) = merged.filter(|merged| !syntax::has_duplicate_keys(&merged.text)) {
            let merged = self.prove_value(text, merged);
            if merged.outcome.runs() && verdicts.iter().all(|verdict| !verdict.outcome.runs()) {
                return merged;
            }
            // Objects without a common key are one call or several.
            // Case: syntax/objects-without-a-common-key
            if merged.outcome.runs() && verdicts.iter().all(|verdict| verdict.outcome.runs()) {
                let values: Vec<String> =
                    verdicts.into_iter().map(|verdict| verdict.text.into_owned()).collect();
                let message = format!("{} objects that may be one", values.len());
                return Verdict { values, ..refuse(text, Reason::Ambiguous, message) };
            }
        }
        let mut values = Vec::with_capacity(verdicts.len());
        let mut repairs = Vec::new();
        for verdict in verdicts {
            if !verdict.outcome.runs() {
                return verdict;
            }
            repairs.extend(verdict.repairs);
            values.push(verdict.text.into_owned());
        }
        // A server that repeats growing arguments sends the same call again and again.
        // Case: syntax/growing-arguments
        let read: Vec<Value> = values.iter().filter_map(|value| serde_json::from_str(value).ok()).collect();
        let grows = read.windows(2).any(|pair| extends(&pair[1], &pair[0]));
        if grows {
            let message = "a value repeats the one before it, with more members".to_owned();
            return Verdict { values, ..refuse(text, Reason::Ambiguous, message) };
        }
        if self.tool.is_some() && !words_between {
            Verdict { values, ..Verdict::mended(text.to_owned(), repairs) }
        } else {
            let message = format!("{} different values in one text", values.len());
            Verdict { values, ..refuse(text, Reason::Ambiguous, message) }
        }
    }

    /// Runs the shape layer on strict text: nothing to do, a new text, or the refusal.
    fn shape_text(&self, text: &str, parsed: Option<Value>) -> Result<Option<ShapedText>, Box<Refusal>> {
        let Some(schema) = self.schema else { return Ok(None) };
        let value = match parsed.map_or_else(|| serde_json::from_str(text), Ok) {
            Ok(value) => value,
            Err(error) => {
                return Err(Box::new(Refusal {
                    reason: Some(Reason::Limit),
                    message: format!("a number that no validator can hold: {error}"),
                    ..Refusal::default()
                }));
            }
        };
        match shape::fit(text, value, schema, self.policy, self.tool) {
            Fit::Fits => Ok(None),
            Fit::Mended { text, value, layers, notes, repairs } => {
                Ok(Some(ShapedText { mended: MendedText { text, layers }, value, notes, repairs }))
            }
            Fit::Unfit { violations } => Err(Box::new(Refusal {
                reason: Some(Reason::Schema),
                message: violations.first().map_or_else(String::new, |violation| {
                    let place = if violation.path.is_empty() { "the root" } else { &violation.path };
                    format!("at {place}: {}", violation.message)
                }),
                violations,
                ..Refusal::default()
            })),
        }
    }

    /// The proof of a shaped text. The validator accepted a value in the shape layer, and the text must mean exactly that
    /// value. Otherwise the text is thrown away.
    fn prove_shape<'t>(&self, input: &'t str, mut layers: Vec<Patch>, shaped: ShapedText) -> Verdict<'t> {
        let ShapedText { mended, value, notes, repairs } = shaped;
        // If only whole values of strict text were replaced by scalars, the text is strict if the scalars are.
        if let (true, Some(repairs)) = (layers.is_empty(), repairs) {
            debug_assert!(strict::check(&mended.text, self.policy.limits.depth).is_ok(), "{}", mended.text);
            debug_assert!(
                Tree::of_strict(&mended.text).value().is_none_or(|own| own == value),
                "{}",
                mended.text
            );
            debug_assert_eq!(repairs, report::list_repairs(&Tree::of_strict(&mended.text), &mended.layers));
            let mut edits = mended.layers.iter().flat_map(Patch::edits);
            if edits.all(|edit| strict::check(&edit.with, 0).is_ok()) {
                return Verdict { notes, ..self.check_policy(input, mended.text, repairs) };
            }
            return refuse(input, Reason::Syntax, NO_READING.to_owned());
        }
        let Ok(tree) = Tree::parse(&mended.text, self.policy.limits.depth) else {
            return refuse(input, Reason::Syntax, NO_READING.to_owned());
        };
        // The parts were parsed one by one as they changed. If a key occurs twice, the tree cannot be compared.
        let accepts = |value: &Value| self.schema.is_none_or(|schema| schema.accepts(value));
        if !tree.means(&value) && !tree.value().is_some_and(|value| accepts(&value)) {
            return refuse(input, Reason::Schema, "no repair makes the value fit its schema".to_owned());
        }
        layers.extend(mended.layers);
        let repairs = report::list_repairs(&tree, &layers);
        Verdict { notes, ..self.check_policy(input, mended.text, repairs) }
    }

    /// The verdict on a proved text, if the policy allows every repair that led to it.
    fn check_policy<'t>(&self, input: &'t str, text: String, repairs: Vec<Repair>) -> Verdict<'t> {
        if let Some(repair) = repairs.iter().find(|repair| !self.policy.allows(repair.kind)) {
            return refuse(input, Reason::Policy, format!("the policy forbids the repair {}", repair.kind));
        }
        if repairs.is_empty() {
            return Verdict::clean(input);
        }
        if let Some(message) = find_conflict(&text, &repairs) {
            return refuse(input, Reason::Ambiguous, message.to_owned());
        }
        Verdict::mended(text, repairs)
    }
}

/// Why repairs that are right one by one are wrong together, or for a value that is written twice.
fn find_conflict(text: &str, repairs: &[Repair]) -> Option<&'static str> {
    let has = |kind| repairs.iter().any(|repair| repair.kind == kind);
    // A comment in an object that becomes the text of a file is part of that text.
    // Case: shape/comment-in-an-object-that-is-text
    if has(RepairKind::ContainerToText) && has(RepairKind::CommentRemoved) {
        return Some("a comment may be part of the text");
    }
    // `[path]` is a placeholder where no list is wanted.
    // Case: shape/placeholder-in-brackets
    let of = |kind| repairs.iter().filter(move |repair| repair.kind == kind);
    let quotes = |path: &str| of(RepairKind::ValueQuoted).any(|quoted| quoted.path == path);
    if of(RepairKind::ElementUnwrapped).any(|unwrapped| quotes(&unwrapped.path)) {
        return Some("a word in brackets is a placeholder or a list");
    }
    // A client that reads a key twice takes one value and drops the other.
    // Case: syntax/key-twice-with-other-values
    syntax::has_contradicting_keys(text).then_some("an object has the same key twice, with different values")
}

/// Whether one value has all members of another, with the same values, and more.
fn extends(value: &Value, other: &Value) -> bool {
    let (Value::Object(value), Value::Object(other)) = (value, other) else { return false };
    value.len() > other.len() && other.iter().all(|(key, member)| value.get(key) == Some(member))
}

/// Whether the value had to be changed to fit its schema.
fn is_reshaped(verdict: &Verdict<'_>) -> bool {
    verdict.repairs.iter().any(|repair| repair.kind.layer() == Layer::Shape)
}

/// Strings and keys of a strict text whose quotes or brackets do not pair up. They may have swallowed structure.
fn count_odd_strings(text: &str) -> usize {
    let tree = Tree::of_strict(text);
    let is_odd =
        |text: Option<std::borrow::Cow<'_, str>>| text.is_some_and(|text| syntax::is_odd_text(&text));
    (0..tree.nodes.len())
        .map(|id| usize::from(is_odd(tree.string(id))) + usize::from(is_odd(tree.key(id))))
        .sum()
}

fn refuse_both(text: &str, first: String, second: String) -> Verdict<'_> {
    Verdict::refused(
        text,
        Outcome::Rejected,
        Refusal {
            reason: Some(Reason::Ambiguous),
            message: "one slipped character explains the text in two ways".to_owned(),
            readings: vec![first, second],
            ..Refusal::default()
        },
    )
}

/// The message if no reading passes the proof.
const NO_READING: &str = "no reading of this text is valid JSON";

fn refuse(text: &str, reason: Reason, message: String) -> Verdict<'_> {
    Verdict::refused(text, Outcome::Rejected, Refusal { reason: Some(reason), message, ..Refusal::default() })
}
