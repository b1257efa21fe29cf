//! The rounds: watch the type fail, rewrite the value that it failed on, keep that if it gets further.

use serde::de::DeserializeOwned;

use super::fault::{Cause, Want};
use super::probe::{Failure, probe};
use super::rewrite::{RULES, Rule, Site};
use crate::json::strict;
use crate::json::tree::{Kind, Node, Tree};
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::{Repair, RepairKind};
use crate::report;
use crate::schema::guide::Guide;
use crate::syntax::{self, Ask, Finish, Mended, Reading};

/// So many different places of a document are repaired; elements of one list count once.
const MAX_ROUNDS: usize = 64;
/// So many values are tried where a type decides from a copy and does not say which of them it refused.
const MAX_COPIED: usize = 64;

/// Where the text of a document comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The model wrote it.
    Text,
    /// It was written from a parsed value; numbers may have been written otherwise by the model.
    Value,
}

/// What a type makes of a document.
type Reader<'r> = &'r dyn Fn(&Tree<'_>) -> Result<Vec<Want>, Failure>;

/// A value of the type from a text that the strict reader refused, and what had to be done to the text.
pub(super) fn mend<T: DeserializeOwned>(text: &str, source: Source) -> Option<(T, Vec<Repair>)> {
    let mended = match text.trim() {
        "" => no_arguments(text, &probe::<T>)?,
        _ => readable(text)?,
    };
    let reader: Reader<'_> = &probe::<T>;
    let mended =
        reshape(mended.clone(), source, reader, true).or_else(|| reshape(mended, source, reader, false))?;
    let value = serde_json::from_str(&mended.text).ok()?;
    let mut repairs = report::repairs(&Tree::of(&mended.text), &mended.layers);
    if source == Source::Value {
        for repair in &mut repairs {
            repair.at = None;
        }
    }
    Some((value, repairs))
}

/// An empty object for a text without anything, where the type asks for an object.
fn no_arguments(text: &str, reader: Reader<'_>) -> Option<Mended> {
    let empty = "{}".to_owned();
    let wants = reader(&Tree::of(&empty)).unwrap_or_else(|failure| failure.wants);
    let edit = Edit::new(0..text.len(), "{}", RepairKind::EmptyArgumentsFilled);
    matches!(wants.first(), Some(Want::Struct(_) | Want::Map))
        .then(|| Mended { text: empty, layers: vec![Patch::new(vec![edit])] })
}

/// The text as strict JSON.
fn readable(text: &str) -> Option<Mended> {
    let policy = Policy::default();
    if text.len() > policy.limits.bytes {
        return None;
    }
    if strict::check(text, policy.limits.depth).is_ok() {
        return Some(Mended { text: text.to_owned(), layers: Vec::new() });
    }
    let guide = Guide::default();
    let ask = Ask { guide: &guide, policy: &policy, finish: Finish::Unknown, tool: None, main_field: None };
    match syntax::read(text, &ask) {
        Reading::One(mended) if strict::check(&mended.text, policy.limits.depth).is_ok() => Some(mended),
        _ => None,
    }
}

/// The rounds. With `in_lists`, what one element of a list needs is done to all of them at once, on the assumption
/// that the type asks all of them for the same; that is checked in the end.
fn reshape(mut mended: Mended, source: Source, reader: Reader<'_>, in_lists: bool) -> Option<Mended> {
    let mut assumed: Vec<Assumed> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let tree = Tree::of(&mended.text);
        let failure = match reader(&tree) {
            Ok(wants) => return assumed.iter().all(|one| one.holds(&tree, &wants)).then_some(mended),
            Err(failure) => failure,
        };
        let round = Round { tree: &tree, failure: &failure, source, reader, in_lists };
        let (patch, more) = round.at_the_failure().or_else(|| Some((round.in_the_copy()?, Vec::new())))?;
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

/// The type was not seen to ask for this at the value that starts here.
struct Assumed {
    start: usize,
    want: Want,
}

impl Assumed {
    fn holds(&self, tree: &Tree<'_>, wants: &[Want]) -> bool {
        let node = tree.nodes.partition_point(|node| node.span.start < self.start);
        wants.get(node) == Some(&self.want)
    }
}

struct Round<'r> {
    tree: &'r Tree<'r>,
    failure: &'r Failure,
    source: Source,
    reader: Reader<'r>,
    in_lists: bool,
}

impl Round<'_> {
    /// The first rule that gets the type past the value it failed on.
    fn at_the_failure(&self) -> Option<(Patch, Vec<Assumed>)> {
        let node = self.failure.node;
        let want = match (self.failure.want(node), &self.failure.cause) {
            // The tag of an enum that is read as plain text.
            (Want::Text, Cause::UnknownVariant(_, variants)) => Want::Variant(variants),
            (want, _) => want,
        };
        RULES.iter().find_map(|rule| {
            let edit = rule.edit(&self.site(node, want))?;
            let single = Patch::new(vec![edit.clone()]);
            self.gets_further(rule, &single).then(|| match self.with_likes(rule, want, &edit) {
                Some(more) if self.in_lists => more,
                _ => (single, Vec::new()),
            })
        })
    }

    fn site(&self, node: usize, want: Want) -> Site<'_, '_> {
        let parent = self.tree.nodes.get(node).and_then(|node| node.parent);
        // Elements that the type did not get to are like the one that it failed on.
        let is_field = parent.is_some_and(|parent| match self.failure.want(parent) {
            Want::Struct(fields) => self.tree.key(node).is_some_and(|key| fields.contains(&&*key)),
            Want::Unseen => true,
            _ => false,
        });
        Site { tree: self.tree, node, want, is_field, cause: &self.failure.cause, source: self.source }
    }

    /// Whether the type, after this edit, stops later or not at all.
    fn gets_further(&self, rule: &Rule, patch: &Patch) -> bool {
        let text = patch.apply(self.tree.text);
        let tree = Tree::of(&text);
        let Err(after) = (self.reader)(&tree) else { return true };
        let (Some(now), Some(before)) = (tree.nodes.get(after.node), self.tree.nodes.get(self.failure.node))
        else {
            return false;
        };
        let place = before.span.start;
        if drops(rule) {
            // Without a default the field is missed, and the drop was no help.
            let key = self.tree.key(self.failure.node);
            let missed = matches!(after.cause, Cause::MissingField(field) if key.as_deref() == Some(field));
            let removed_at = patch.edits().first().map_or(place, |edit| edit.start);
            return !missed && (now.span.start >= removed_at || now.span.end > removed_at);
        }
        if now.span.start != place {
            // Behind the value or inside of it, or around it: an object is judged after its members.
            return now.span.start > place || now.span.end > place;
        }
        match rule.kind {
            RepairKind::KeyRespelled => after.cause != self.failure.cause,
            RepairKind::EnvelopeRemoved => after.cause != self.failure.cause || now.kind != before.kind,
            // The object is one now; that it lacks something comes next.
            RepairKind::StringToContainer => now.kind == Kind::Object && after.cause != Cause::Unfit,
            _ => false,
        }
    }

    /// The same edit for the values that stand in the same place of other elements. One round then serves a list.
    fn with_likes(&self, rule: &Rule, want: Want, first: &Edit) -> Option<(Patch, Vec<Assumed>)> {
        let node = self.failure.node;
        let pattern = self.pattern(node)?;
        let likes = (node + 1..self.tree.nodes.len())
            .filter(|&other| self.tree.nodes[other].kind == self.tree.nodes[node].kind)
            .filter(|&other| self.pattern(other).as_ref() == Some(&pattern));
        let mut edits = vec![first.clone()];
        let mut assumed = Vec::new();
        for other in likes {
            let Some(edit) = rule.edit(&self.site(other, want)) else { continue };
            // A key that stands twice: dropping both would take the same comma twice.
            if edits.last().is_some_and(|last| edit.start < last.end) {
                continue;
            }
            edits.push(edit);
            // What is dropped is no more; its object still is.
            let (here, there) = if drops(rule) {
                (self.tree.nodes[node].parent?, self.tree.nodes[other].parent?)
            } else {
                (node, other)
            };
            assumed.push(Assumed { start: self.tree.nodes[there].span.start, want: self.failure.want(here) });
        }
        Some((Patch::new(edits), assumed))
    }

    /// The way down to a node, with the indices of lists left out. `None` where no list is on the way.
    fn pattern(&self, node: usize) -> Option<Vec<Option<&str>>> {
        let mut way = Vec::new();
        let mut listed = false;
        let mut at = node;
        while let Some(parent) = self.tree.nodes[at].parent {
            let key = self.tree.nodes[at].key.clone().map(|key| &self.tree.text[key]);
            // Only a list without a fixed length has elements of one type.
            if key.is_none() && !matches!(self.failure.want(parent), Want::List(None) | Want::Unseen) {
                return None;
            }
            listed |= key.is_none();
            way.push(key);
            at = parent;
        }
        listed.then_some(way)
    }

    /// Where a type buffers what it reads (untagged and internally tagged enums, flattened fields) it does not say
    /// which value it refused. Then each scalar of the copy is tried; only a single answer is taken.
    fn in_the_copy(&self) -> Option<Patch> {
        let (wants, word): (&[Want], _) = match &self.failure.cause {
            Cause::Unfit => (&[Want::Float, Want::Boolean, Want::Text, Want::List(None)], None),
            Cause::UnknownVariant(word, variants) => (&[Want::Variant(variants)], Some(word.as_str())),
            _ => return None,
        };
        let copy = self.tree.nodes.get(self.failure.node)?;
        let copied = (self.failure.node..copy.after)
            .filter(|&node| self.failure.want(node) == Want::Anything)
            .filter(|&node| word.is_none() || self.tree.string(node).as_deref() == word);
        let mut found: Option<Patch> = None;
        for node in copied.take(MAX_COPIED) {
            let sites = wants.iter().map(|&want| self.site(node, want));
            for edit in sites.flat_map(|site| RULES.iter().filter_map(move |rule| rule.edit(&site))) {
                let patch = Patch::new(vec![edit]);
                if found.as_ref().is_some_and(|known| same(known, &patch)) || !self.leaves(copy, &patch) {
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

    /// Whether the type, after this edit, is done with the copy.
    fn leaves(&self, copy: &Node, patch: &Patch) -> bool {
        let text = patch.apply(self.tree.text);
        let tree = Tree::of(&text);
        match (self.reader)(&tree) {
            Ok(_) => true,
            Err(after) => {
                tree.nodes.get(after.node).is_some_and(|now| now.span.start >= patch.target(copy.span.end))
            }
        }
    }
}

fn drops(rule: &Rule) -> bool {
    matches!(rule.kind, RepairKind::NullDropped | RepairKind::EmptyStringDropped)
}

/// Whether two patches make the same text.
fn same(one: &Patch, other: &Patch) -> bool {
    one.edits().len() == other.edits().len()
        && one
            .edits()
            .iter()
            .zip(other.edits())
            .all(|(a, b)| (a.start, a.end, &a.with) == (b.start, b.end, &b.with))
}
