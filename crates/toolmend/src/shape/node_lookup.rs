//! From the JSON pointers of faults to the nodes of the tree.

use std::collections::{HashMap, HashSet};

use crate::json::pointer;
use crate::json::tree::{Kind, Tree};

use crate::schema::fault::{self, Fault, ScopedFault};

/// Finds the nodes of faults. Each search walks past all elements before the node, so with many faults one walk over all
/// nodes is cheaper.
pub(super) enum NodeLookup<'f> {
    /// Searches for each path.
    Search,
    /// Looks each path up in an index.
    Index(HashMap<&'f str, usize>),
}

impl<'f> NodeLookup<'f> {
    pub(super) fn of(tree: &Tree<'_>, faults: &'f [Fault]) -> Self {
        if fault::are_few(faults) { NodeLookup::Search } else { NodeLookup::Index(index_nodes(tree, faults)) }
    }

    pub(super) fn find(&self, tree: &Tree<'_>, path: &str) -> Option<usize> {
        match self {
            NodeLookup::Search => tree.find(path),
            NodeLookup::Index(nodes) => nodes.get(path).copied(),
        }
    }
}

/// The nodes at the paths of the faults, by path.
fn index_nodes<'f>(tree: &Tree<'_>, faults: &'f [Fault]) -> HashMap<&'f str, usize> {
    let scoped = fault::flatten(faults);
    let paths: HashSet<&'f str> =
        scoped.iter().map(|ScopedFault { fault, .. }| fault.path.as_str()).collect();
    let mut out = HashMap::with_capacity(paths.len());
    let mut path = String::new();
    // Open containers: id, length of the path above, index of the next element.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        while let Some(&(top, length, _)) = open.last() {
            path.truncate(length);
            if id < tree.nodes[top].after {
                break;
            }
            open.pop();
        }
        if let Some((_, _, index)) = open.last_mut() {
            match tree.key(id) {
                Some(key) => pointer::push(&mut path, &key),
                None => pointer::push(&mut path, &index.to_string()),
            }
            *index += 1;
        }
        if let Some(&known) = paths.get(path.as_str()) {
            out.insert(known, id);
        }
        if matches!(node.kind, Kind::Array | Kind::Object) {
            open.push((id, path.len(), 0));
        }
    }
    out
}
