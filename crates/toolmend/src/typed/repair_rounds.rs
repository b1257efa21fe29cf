//! Rounds of repair for a Rust type: watch the type fail, change the value that it failed on, keep the change if the
//! type gets further.
//!
//! The changes come from the table of shape rules. A round never decides by itself what a value means, and the final
//! value is read by `serde_json`.

use serde::de::DeserializeOwned;

use super::probe::{Failure, probe_type};
use crate::json::strict;
use crate::json::tree::{Kind, Node, Tree};
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::{Repair, RepairKind};
use crate::report;
use crate::schema::guide::Guide;
use crate::shape::{Expectation, RULES, RefusalCause, Rule, Spelling, TypeMismatch};
use crate::syntax::{self, Finish, Fuel, MendedText, ReadContext, Reading};

/// Rounds for one document. Values in the same position of list elements share a round.
const MAX_ROUNDS: usize = 64;
/// Values that are tried if a type decides from a copy and does not say which of them it refused.
const MAX_COPIED: usize = 64;

/// Lets the type read a document, as [`probe_type`] does.
type Probe<'r> = &'r dyn Fn(&Tree<'_>) -> Result<Vec<Expectation>, Failure>;

/// Reads a value of the type from text that the strict reader refused. Returns it with the repairs of the text.
pub(super) fn read_with_repairs<T: DeserializeOwned>(
    text: &str,
    spelling: Spelling,
) -> Option<(T, Vec<Repair>)> {
    let probe: Probe<'_> = &probe_type::<T>;
    let mended = match text.trim() {
        "" => fill_empty_arguments(text, probe)?,
        _ => read_syntax(text)?,
    };
    let mended =
        reshape(mended.clone(), spelling, probe, true).or_else(|| reshape(mended, spelling, probe, false))?;
    let value = serde_json::from_str(&mended.text).ok()?;
    let mut repairs = report::list_repairs(&Tree::of_strict(&mended.text), &mended.layers);
    if spelling == Spelling::Parsed {
        for repair in &mut repairs {
            repair.at = None;
        }
    }
    Some((value, repairs))
}

/// An empty object for empty text, if the type expects an object.
fn fill_empty_arguments(text: &str, probe: Probe<'_>) -> Option<MendedText> {
    let empty = "{}".to_owned();
    let expected = probe(&Tree::of_strict(&empty)).unwrap_or_else(|failure| failure.expected);
    let edit = Edit::new(0..text.len(), "{}", RepairKind::EmptyArgumentsFilled);
    matches!(expected.first(), Some(Expectation::Struct(_) | Expectation::Map))
        .then(|| MendedText { text: empty, layers: vec![Patch::new(vec![edit])] })
}

/// The text as strict JSON.
fn read_syntax(text: &str) -> Option<MendedText> {
    let policy = Policy::default();
    if text.len() > policy.limits.bytes {
        return None;
    }
    if strict::check(text, policy.limits.depth).is_ok() {
        return Some(MendedText { text: text.to_owned(), layers: Vec::new() });
    }
    let guide = Guide::default();
    let context = ReadContext {
        guide: &guide,
        policy: &policy,
        finish: Finish::Unknown,
        tool: None,
        main_field: None,
        explains: false,
        fuel: &Fuel::for_text(text),
    };
    match syntax::read(text, &context) {
        Reading::One(mended) if strict::check(&mended.text, policy.limits.depth).is_ok() => Some(mended),
        _ => None,
    }
}

/// Runs the rounds. With `in_lists`, a change to one element of a list is made to all of them together, on the assumption
/// that the type expects the same of each. That is checked at the end.
fn reshape(
    mut mended: MendedText,
    spelling: Spelling,
    probe: Probe<'_>,
    in_lists: bool,
) -> Option<MendedText> {
    let mut assumed: Vec<Assumption> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let tree = Tree::of_strict(&mended.text);
        let failure = match probe(&tree) {
            Ok(expected) => {
                return assumed.iter().all(|one| one.holds(&tree, &expected)).then_some(mended);
            }
            Err(failure) => failure,
        };
        let round = Round { tree: &tree, failure: &failure, spelling, probe, in_lists };
        let (patch, more) =
            round.change_failed_value().or_else(|| Some((round.change_copied_value()?, Vec::new())))?;
        assumed.extend(more);
        for one in &mut assumed {
            one.start = patch.target(one.start);
        }
        let text = patch.apply(&mended.text);
        mended.layers.push(patch);
        mended.text = text;
    }
    None
}

/// An expectation assumed for the value that starts here, though the type did not get that far.
struct Assumption {
    start: usize,
    expected: Expectation,
}

impl Assumption {
    fn holds(&self, tree: &Tree<'_>, expected: &[Expectation]) -> bool {
        let node = tree.nodes.partition_point(|node| node.span.start < self.start);
        expected.get(node) == Some(&self.expected)
    }
}

/// One round: the document, and how the type failed on it.
struct Round<'r> {
    tree: &'r Tree<'r>,
    failure: &'r Failure,
    spelling: Spelling,
    probe: Probe<'r>,
    in_lists: bool,
}

impl Round<'_> {
    /// The first rule that gets the type past the value it failed on.
    fn change_failed_value(&self) -> Option<(Patch, Vec<Assumption>)> {
        let node = self.failure.node;
        let expected = match (self.failure.expected(node), &self.failure.cause) {
            // The tag of an enum is read as plain text.
            (Expectation::Text, RefusalCause::UnknownVariant(_, variants)) => Expectation::Variant(variants),
            (expected, _) => expected,
        };
        RULES.iter().find_map(|rule| {
            let change = rule.propose_for_type(&self.mismatch(node, expected))?;
            let single = Patch::new(change.edits.clone());
            self.gets_further(rule, change.drops, &single).then(|| {
                match self.change_similar_values(rule, expected, change.edits) {
                    Some(more) if self.in_lists => more,
                    _ => (single, Vec::new()),
                }
            })
        })
    }

    fn mismatch(&self, node: usize, expected: Expectation) -> TypeMismatch<'_> {
        let parent = self.tree.nodes.get(node).and_then(|node| node.parent);
        // Elements that the type did not get to are taken to be like the one that it failed on.
        let is_field = parent.is_some_and(|parent| match self.failure.expected(parent) {
            Expectation::Struct(fields) => self.tree.key(node).is_some_and(|key| fields.contains(&&*key)),
            Expectation::Unseen => true,
            _ => false,
        });
        TypeMismatch::new(self.tree, node, expected, &self.failure.cause, is_field, self.spelling)
    }

    /// Whether the type, after this change, stops later or not at all. `drops`: the change removes the value.
    fn gets_further(&self, rule: &Rule, drops: bool, patch: &Patch) -> bool {
        let text = patch.apply(self.tree.text);
        let tree = Tree::of_strict(&text);
        let probed = (self.probe)(&tree);
        if rule.kind == RepairKind::ListTextSplit && !self.expects_number(&probed) {
            return false;
        }
        let Err(after) = probed else { return true };
        let (Some(now), Some(before)) = (tree.nodes.get(after.node), self.tree.nodes.get(self.failure.node))
        else {
            return false;
        };
        let start = before.span.start;
        if drops {
            // Without a default the field is missing now, and the change did not help.
            let key = self.tree.key(self.failure.node);
            let missed =
                matches!(after.cause, RefusalCause::MissingField(field) if key.as_deref() == Some(field));
            let removed_at = patch.edits().first().map_or(start, |edit| edit.start);
            return !missed && (now.span.start >= removed_at || now.span.end > removed_at);
        }
        if now.span.start != start {
            // After the value, inside it or around it: an object is judged after its members.
            return now.span.start > start || now.span.end > start;
        }
        match rule.kind {
            RepairKind::KeyRespelled | RepairKind::KeyRenamed => after.cause != self.failure.cause,
            RepairKind::EnvelopeRemoved => after.cause != self.failure.cause || now.kind != before.kind,
            // It is an object now; what it lacks is for the next round.
            RepairKind::StringToContainer => now.kind == Kind::Object && after.cause != RefusalCause::Unfit,
            // A null may still leave its object.
            RepairKind::StringToNull => {
                let is_variant = matches!(self.failure.expected(self.failure.node), Expectation::Variant(_));
                now.kind == Kind::Null && !is_variant
            }
            _ => false,
        }
    }

    /// Whether the type turned out to expect numbers in the list that was split: a list of words has another reading.
    fn expects_number(&self, probed: &Result<Vec<Expectation>, Failure>) -> bool {
        let expected = match probed {
            Ok(expected) => expected,
            Err(failure) => &failure.expected,
        };
        // The first element follows its list.
        matches!(expected.get(self.failure.node + 1), Some(Expectation::Integer | Expectation::Float))
    }

    /// The same change for the values in the same position of other elements, so that one round serves a whole list.
    fn change_similar_values(
        &self,
        rule: &Rule,
        expected: Expectation,
        first: Vec<Edit>,
    ) -> Option<(Patch, Vec<Assumption>)> {
        let node = self.failure.node;
        let pattern = self.path_pattern(node)?;
        let similar = (node + 1..self.tree.nodes.len())
            .filter(|&other| self.tree.nodes[other].kind == self.tree.nodes[node].kind)
            .filter(|&other| self.path_pattern(other).as_ref() == Some(&pattern));
        let mut edits = first;
        let mut assumed = Vec::new();
        for other in similar {
            let Some(change) = rule.propose_for_type(&self.mismatch(other, expected)) else { continue };
            // If a key is written twice, dropping both members would remove the same comma twice.
            let end = edits.last().map_or(0, |last| last.end);
            if change.edits.iter().any(|edit| edit.start < end) {
                continue;
            }
            edits.extend(change.edits);
            // A dropped value is gone, but its object is still there.
            let (here, there) = if change.drops {
                (self.tree.nodes[node].parent?, self.tree.nodes[other].parent?)
            } else {
                (node, other)
            };
            assumed.push(Assumption {
                start: self.tree.nodes[there].span.start,
                expected: self.failure.expected(here),
            });
        }
        Some((Patch::new(edits), assumed))
    }

    /// The keys from a node up to the root, with `None` for elements of lists and values of maps. `None` if there is no
    /// list or map on the path.
    fn path_pattern(&self, node: usize) -> Option<Vec<Option<&str>>> {
        let mut path = Vec::new();
        let mut listed = false;
        let mut at = node;
        while let Some(parent) = self.tree.nodes[at].parent {
            // The values of a map are of one type, whatever their keys, as the elements of a list are.
            let is_map = self.failure.expected(parent) == Expectation::Map;
            let key = self.tree.nodes[at].key.clone().filter(|_| !is_map).map(|key| &self.tree.text[key]);
            // Only a list without a fixed length has elements of one type.
            if key.is_none()
                && !matches!(
                    self.failure.expected(parent),
                    Expectation::List(None) | Expectation::Map | Expectation::Unseen
                )
            {
                return None;
            }
            listed |= key.is_none();
            path.push(key);
            at = parent;
        }
        listed.then_some(path)
    }

    /// A type that buffers what it reads (untagged and internally tagged enums, flattened fields) does not say which value
    /// it refused. Then each value of the copy is tried, and a change is made only if it is the only one that helps.
    fn change_copied_value(&self) -> Option<Patch> {
        let (expectations, word): (&[Expectation], _) = match &self.failure.cause {
            RefusalCause::Unfit => (
                &[Expectation::Float, Expectation::Boolean, Expectation::Text, Expectation::List(None)],
                None,
            ),
            RefusalCause::UnknownVariant(word, variants) => {
                (&[Expectation::Variant(variants)], Some(word.as_str()))
            }
            _ => return None,
        };
        let copy = self.tree.nodes.get(self.failure.node)?;
        let copied = (self.failure.node..copy.after)
            .filter(|&node| self.failure.expected(node) == Expectation::Anything)
            .filter(|&node| word.is_none() || self.tree.string(node).as_deref() == word);
        let mut found: Option<Patch> = None;
        for node in copied.take(MAX_COPIED) {
            let mismatches = expectations.iter().map(|&expected| self.mismatch(node, expected));
            let changes = mismatches
                .flat_map(|mismatch| RULES.iter().filter_map(move |rule| rule.propose_for_type(&mismatch)));
            for change in changes {
                let patch = Patch::new(change.edits);
                let known = found.as_ref().is_some_and(|known| makes_same_text(known, &patch));
                if known || !self.gets_past(copy, &patch) {
                    continue;
                }
                if found.is_some() {
                    return None;
                }
                found = Some(patch);
            }
        }
        found
    }

    /// Whether the type, after this change, is done with the copy.
    fn gets_past(&self, copy: &Node, patch: &Patch) -> bool {
        let text = patch.apply(self.tree.text);
        let tree = Tree::of_strict(&text);
        match (self.probe)(&tree) {
            Ok(_) => true,
            Err(after) => {
                tree.nodes.get(after.node).is_some_and(|now| now.span.start >= patch.target(copy.span.end))
            }
        }
    }
}

/// Whether two patches make the same text.
fn makes_same_text(one: &Patch, other: &Patch) -> bool {
    one.edits().len() == other.edits().len()
        && one
            .edits()
            .iter()
            .zip(other.edits())
            .all(|(a, b)| (a.start, a.end, &a.with) == (b.start, b.end, &b.with))
}
