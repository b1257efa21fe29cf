//! From patches to the list of repairs that a person or a metric reads.

use crate::json::tree::Tree;
use crate::patch::Patch;
use crate::repair::Repair;

/// One repair for each run of edits of one kind at one value, in the order of the text.
pub(crate) fn repairs(tree: &Tree<'_>, layers: &[Patch]) -> Vec<Repair> {
    let mut out: Vec<Repair> = Vec::new();
    let mut last_node = None;
    let mut cursor = 0;
    let mut pointers = Pointers { tree, chain: Vec::new(), path: String::new() };
    for (depth, layer) in layers.iter().enumerate() {
        let (earlier, later) = (&layers[..depth], &layers[depth + 1..]);
        for (index, edit) in layer.edits().iter().enumerate() {
            let place = later.iter().fold(layer.start(index), |place, layer| layer.target(place));
            let origin = earlier.iter().rev().fold(edit.start..edit.end, |range, layer| layer.origin(&range));
            let mut node = tree.at(place, &mut cursor);
            // What was taken out before a value is no part of it.
            let gone = edit.with.is_empty() && tree.start(node) == place;
            if let Some(parent) = tree.nodes[node].parent.filter(|_| gone) {
                node = parent;
            }
            match out.last_mut() {
                Some(last) if last.kind == edit.kind && last_node == Some(node) => {
                    if let Some(at) = &mut last.at {
                        at.start = at.start.min(origin.start);
                        at.end = at.end.max(origin.end);
                    }
                }
                _ => out.push(Repair::new(edit.kind, pointers.of(node), Some(origin))),
            }
            last_node = Some(node);
        }
    }
    out
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
        // A node's subtree is a range of the arena, so ancestors are told by comparison.
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

    #[test]
    fn pointers_are_those_of_the_tree_in_any_order() {
        let tree = Tree::of(r#"{"a": [1, {"b/c": [2, 3]}], "d": {"e": 4}}"#);
        let mut pointers = Pointers { tree: &tree, chain: Vec::new(), path: String::new() };
        let ids = 0..tree.nodes.len();
        for id in ids.clone().chain(ids.clone().rev()).chain(ids.step_by(2)) {
            assert_eq!(pointers.of(id), tree.pointer(id));
        }
    }
}
