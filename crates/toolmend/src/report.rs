//! From patches to the list of repairs that a person or a metric reads.

use crate::json::tree::Tree;
use crate::repair::Repair;
use crate::syntax::Mended;

/// One repair for each run of edits of one kind at one value, in the order of the text.
pub(crate) fn repairs(mended: &Mended) -> Vec<Repair> {
    let tree = Tree::of(&mended.text);
    let mut out: Vec<Repair> = Vec::new();
    for (depth, layer) in mended.layers.iter().enumerate() {
        let mut shift = 0isize;
        for edit in layer.edits() {
            // Where the edit stands in the final text, through the layers after it.
            let mut place = edit.start.wrapping_add_signed(shift);
            shift += edit.with.len().cast_signed() - (edit.end - edit.start).cast_signed();
            for later in &mended.layers[depth + 1..] {
                place = later.target(place);
            }
            let mut origin = edit.start..edit.end;
            for earlier in mended.layers[..depth].iter().rev() {
                origin = earlier.origin(&origin);
            }
            let path = if tree.nodes.is_empty() { String::new() } else { tree.pointer(tree.at(place)) };
            match out.last_mut() {
                Some(last) if last.kind == edit.kind && last.path == path => {
                    if let Some(at) = &mut last.at {
                        at.start = at.start.min(origin.start);
                        at.end = at.end.max(origin.end);
                    }
                }
                _ => out.push(Repair::new(edit.kind, path, Some(origin))),
            }
        }
    }
    out
}
