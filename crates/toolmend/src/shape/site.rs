//! Where a repair stands, and what it answers.

use std::borrow::Cow;

use crate::guide::{Guide, Place, Types};
use crate::json::pointer;
use crate::json::tree::{Kind, Node, Tree};
use crate::patch::{Edit, Patch};
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::Schema;

use super::fault::{Fault, Wants};

/// What stays the same over all repairs of a document.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) schema: &'a Schema,
    pub(super) policy: &'a Policy,
    pub(super) tool: Option<&'a str>,
}

/// A fault and the value that it is about.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) tree: &'a Tree<'a>,
    /// The value at the fault's path.
    pub(super) id: usize,
    pub(super) fault: &'a Fault,
    pub(super) ground: Ground<'a>,
}

impl<'a> Site<'a> {
    pub(super) fn node(&self) -> &'a Node {
        &self.tree.nodes[self.id]
    }

    pub(super) fn kind(&self) -> Kind {
        self.node().kind
    }

    pub(super) fn source(&self) -> &'a str {
        self.tree.source(self.id)
    }

    /// The value, where it is a string.
    pub(super) fn string(&self) -> Option<Cow<'a, str>> {
        self.tree.string(self.id)
    }

    pub(super) fn guide(&self) -> &'a Guide {
        self.ground.schema.guide()
    }

    /// The types that would be right, where the type is what is wrong.
    pub(super) fn wanted(&self) -> Types {
        match self.fault.wants {
            Wants::Type { types, .. } => types,
            _ => Types::NONE,
        }
    }

    /// The place of the value in the guide.
    pub(super) fn place(&self) -> Place {
        let mut chain = Vec::new();
        let mut up = self.node().parent;
        while let Some(id) = up {
            chain.push(self.tree.nodes[id].kind);
            up = self.tree.nodes[id].parent;
        }
        let guide = self.guide();
        chain.iter().rev().zip(pointer::borrowed_tokens(&self.fault.path)).fold(
            guide.root(),
            |place, (kind, token)| match kind {
                Kind::Array => token.parse().map_or(Place::ANY, |index| guide.element(place, index)),
                _ => guide.member(place, &token),
            },
        )
    }

    /// Whether the object at this place declares a key of exactly this name.
    pub(super) fn declares(&self, place: Place, key: &str) -> bool {
        self.guide().properties(place).any(|(name, ..)| name == key)
    }

    /// The whole value replaced by `with`.
    pub(super) fn replace(&self, with: impl Into<Cow<'static, str>>, kind: RepairKind) -> Change {
        Change::new(vec![Edit::new(self.node().span.clone(), with, kind)])
    }
}

/// What a repair wants to do to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) edits: Vec<Edit>,
    /// Patches on what the first edit put in, as the syntax layer made them.
    pub(super) within: Vec<Patch>,
    /// Whether the value leaves its object, which then is what changes.
    pub(super) drops: bool,
    /// The value that it is about, where that is not the one at the fault.
    pub(super) node: Option<usize>,
    /// A line for the tool result.
    pub(super) note: Option<String>,
}

impl Change {
    pub(super) fn new(edits: Vec<Edit>) -> Self {
        Change { edits, within: Vec::new(), drops: false, node: None, note: None }
    }
}
