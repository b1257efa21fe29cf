//! From patches to the list of repairs that people and metrics read.
//!
//! The list is made from the edits alone, so it cannot be empty if something changed.

use std::ops::Range;

use crate::json::tree::Tree;
use crate::patch::Patch;
use crate::repair::{REPAIRS, Repair, RepairKind};

/// A kind that changes more values than this is reported once, for the value that holds them all. A thousand lines that
/// say "single quotes" help no reader, and writing them took a third of the time.
pub(crate) const MAX_LISTED_PER_KIND: usize = 32;

/// Lists one repair for each run of edits of one kind at one value, in the order of the text; and one for all edits of a
/// kind that has many.
pub(crate) fn list_repairs(tree: &Tree<'_>, layers: &[Patch]) -> Vec<Repair> {
    let mut found = Vec::new();
    for depth in 0..layers.len() {
        let layer = Layer { tree, layers, depth };
        let first = found.len();
        let mut counts = [0usize; REPAIRS.len()];
        // The last edit of each kind that is gathered anyway: only its value matters, not those before it.
        let mut rest = [None; REPAIRS.len()];
        let mut cursor = 0;
        for (index, edit) in layers[depth].edits().iter().enumerate() {
            let kind = edit.kind as usize;
            if counts[kind] > MAX_LISTED_PER_KIND && !edit.with.is_empty() {
                rest[kind] = Some(index);
                continue;
            }
            let node = layer.node(index, &mut cursor);
            match found.last_mut() {
                Some(ChangedValue { kind, node: last, at }) if *kind == edit.kind && *last == node => {
                    let origin = layer.origin(index);
                    *at = at.start.min(origin.start)..at.end.max(origin.end);
                }
                _ => {
                    found.push(ChangedValue { kind: edit.kind, node, at: layer.origin(index) });
                    counts[kind] += 1;
                }
            }
        }
        for index in rest.into_iter().flatten() {
            let kind = layers[depth].edits()[index].kind;
            found.push(ChangedValue { kind, node: layer.node(index, &mut cursor), at: layer.origin(index) });
        }
        if found.len() - first > MAX_LISTED_PER_KIND {
            join_frequent_kinds(tree, &mut found, first);
        }
    }
    let mut pointers = Pointers { tree, chain: Vec::new(), path: String::new() };
    found.into_iter().map(|found| Repair::new(found.kind, pointers.of(found.node), Some(found.at))).collect()
}

/// One patch among those before and after it.
struct Layer<'a, 't> {
    tree: &'a Tree<'t>,
    layers: &'a [Patch],
    depth: usize,
}

impl Layer<'_, '_> {
    /// The value that an edit of this layer is about.
    fn node(&self, index: usize, cursor: &mut usize) -> usize {
        let Layer { tree, layers, depth } = *self;
        let start = layers[depth].start(index);
        let position = layers[depth + 1..].iter().fold(start, |position, layer| layer.target(position));
        let node = tree.at(position, cursor);
        let with = &layers[depth].edits()[index].with;
        // What was removed before a value is not part of it.
        if with.is_empty() && tree.start(node) == position {
            return tree.nodes[node].parent.unwrap_or(node);
        }
        // One edit may hold many values.
        match position + with.len() {
            end if depth + 1 == layers.len() && with.len() > 1 && end > tree.nodes[node].span.end => {
                common_ancestor(tree, node, tree.at(end - 1, cursor))
            }
            _ => node,
        }
    }

    /// The range of the original text that an edit of this layer replaced.
    fn origin(&self, index: usize) -> Range<usize> {
        let edit = &self.layers[self.depth].edits()[index];
        self.layers[..self.depth].iter().rev().fold(edit.start..edit.end, |range, layer| layer.origin(&range))
    }
}

/// Edits of one kind at one value.
struct ChangedValue {
    kind: RepairKind,
    node: usize,
    at: Range<usize>,
}

/// Joins all repairs of a kind, from `first` on, if there are many.
fn join_frequent_kinds(tree: &Tree<'_>, found: &mut Vec<ChangedValue>, first: usize) {
    let mut counts = [0usize; REPAIRS.len()];
    for one in &found[first..] {
        counts[one.kind as usize] += 1;
    }
    // The index of the first of each joined kind.
    let mut firsts = [usize::MAX; REPAIRS.len()];
    let mut kept = first;
    for index in first..found.len() {
        let ChangedValue { kind, node, at } = ChangedValue { at: found[index].at.clone(), ..found[index] };
        let joined = firsts[kind as usize];
        if joined == usize::MAX || counts[kind as usize] <= MAX_LISTED_PER_KIND {
            firsts[kind as usize] = kept;
            found.swap(kept, index);
            kept += 1;
        } else {
            let whole = &mut found[joined];
            whole.at = whole.at.start.min(at.start)..whole.at.end.max(at.end);
            whole.node = common_ancestor(tree, whole.node, node);
        }
    }
    found.truncate(kept);
}

/// The innermost value that holds both.
fn common_ancestor(tree: &Tree<'_>, mut one: usize, other: usize) -> usize {
    while !(one..tree.nodes[one].after).contains(&other) {
        match tree.nodes[one].parent {
            Some(parent) => one = parent,
            None => return one,
        }
    }
    one
}

/// Pointers of nodes that mostly share their ancestors: the chain of the last node is kept.
struct Pointers<'a, 't> {
    tree: &'a Tree<'t>,
    /// The last node and its ancestors, root first, each with the length of its pointer in `path`.
    chain: Vec<(usize, usize)>,
    path: String,
}

impl Pointers<'_, '_> {
    fn of(&mut self, node: usize) -> String {
        // A node's subtree is a range of the arena, so a comparison finds out whether it is an ancestor.
        let nodes = &self.tree.nodes;
        while self.chain.last().is_some_and(|&(id, _)| node < id || node >= nodes[id].after) {
            self.chain.pop();
        }
        let (known, len) = self.chain.last().map_or((None, 0), |&(id, len)| (Some(id), len));
        self.path.truncate(len);
        let mut missing = Vec::new();
        let mut id = Some(node);
        while let Some(next) = id.filter(|&next| known != Some(next)) {
            missing.push(next);
            id = nodes[next].parent;
        }
        for id in missing.into_iter().rev() {
            if nodes[id].parent.is_some() {
                self.tree.push_token(id, &mut self.path);
            }
            self.chain.push((id, self.path.len()));
        }
        self.path.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Edit;

    #[test]
    fn many_of_a_kind_are_joined_and_few_stay_separate() {
        let count = MAX_LISTED_PER_KIND + 1;
        let text = format!("[{}[1]]", "'x',".repeat(count));
        let mut edits = vec![Edit::new(text.len()..text.len(), " ", RepairKind::TrailingCommaRemoved)];
        for at in (1..=4 * count).step_by(4).take(count) {
            edits.push(Edit::new(at..at + 3, "\"x\"", RepairKind::QuotesReplaced));
        }
        let patch = Patch::new(edits);
        let mended = patch.apply(&text);
        let repairs = list_repairs(&Tree::of_strict(&mended), &[patch]);
        let kinds: Vec<_> = repairs.iter().map(|repair| (repair.kind, repair.path.as_str())).collect();
        assert_eq!(kinds, [(RepairKind::QuotesReplaced, ""), (RepairKind::TrailingCommaRemoved, "")]);
        assert_eq!(repairs[0].at, Some(1..4 * count));
    }

    #[test]
    fn pointers_are_those_of_the_tree_in_any_order() {
        let tree = Tree::of_strict(r#"{"a": [1, {"b/c": [2, 3]}], "d": {"e": 4}}"#);
        let mut pointers = Pointers { tree: &tree, chain: Vec::new(), path: String::new() };
        let ids = 0..tree.nodes.len();
        for id in ids.clone().chain(ids.clone().rev()).chain(ids.step_by(2)) {
            assert_eq!(pointers.of(id), tree.pointer(id));
        }
    }
}
