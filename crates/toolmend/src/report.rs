//! From patches to the list of repairs that a person or a metric reads.

use crate::json::tree::Tree;
use crate::patch::Patch;
use crate::repair::Repair;

/// One repair for each run of edits of one kind at one value, in the order of the text.
pub(crate) fn repairs(tree: &Tree<'_>, layers: &[Patch]) -> Vec<Repair> {
    let mut out: Vec<Repair> = Vec::new();
    let mut last_node = None;
    let mut cursor = 0;
    let mut pointers = Pointers { tree, parent: None, prefix: String::new() };
    for (depth, layer) in layers.iter().enumerate() {
        let (earlier, later) = (&layers[..depth], &layers[depth + 1..]);
        for (index, edit) in layer.edits().iter().enumerate() {
            let place = later.iter().fold(layer.start(index), |place, layer| layer.target(place));
            let origin = earlier.iter().rev().fold(edit.start..edit.end, |range, layer| layer.origin(&range));
            let node = tree.at(place, &mut cursor);
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

/// Pointers of nodes that mostly share their parent.
struct Pointers<'a, 't> {
    tree: &'a Tree<'t>,
    parent: Option<usize>,
    prefix: String,
}

impl Pointers<'_, '_> {
    fn of(&mut self, node: usize) -> String {
        let Some(parent) = self.tree.nodes[node].parent else { return String::new() };
        if self.parent != Some(parent) {
            self.prefix = self.tree.pointer(parent);
            self.parent = Some(parent);
        }
        let mut pointer = String::with_capacity(self.prefix.len() + 16);
        pointer.push_str(&self.prefix);
        self.tree.push_token(node, &mut pointer);
        pointer
    }
}
