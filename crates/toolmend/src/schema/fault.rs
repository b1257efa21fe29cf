//! A violation of the schema in the terms that the shape rules work with: what is wanted, and where.
//!
//! Plain data and questions about it. Faults are found by the validator and by the check of hints.

use std::sync::Arc;

use serde_json::Value;

use super::guide::Types;

/// What the schema wants in a position, and does not get.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "schema"), allow(dead_code, reason = "only the validator finds faults"))]
pub(crate) enum Wants {
    /// One of these types. Without `fraction`, a number must be whole.
    Type { types: Types, fraction: bool },
    /// A value of this list.
    OneOf(Arc<Value>),
    /// This very value.
    Exactly(Arc<Value>),
    /// A member of this name.
    Key(String),
    /// No member of this name.
    NoKey(String),
    /// One of several schemas; for each branch, what is wrong with the value.
    Union(Vec<Vec<Fault>>),
    /// What a hint asks for.
    Hint(HintKind),
    /// Something that no rule can give: a range, a length, a pattern.
    Other,
}

/// The hints that can be violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HintKind {
    /// A path or address is written as a link to itself.
    Link,
    /// Code holds curly quotes, and the policy wants them straight.
    CodeQuotes,
    /// The relation of this index is incomplete.
    Relation(usize),
}

/// One violation.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// JSON pointer of the value.
    pub(crate) path: String,
    /// The path through the schema, with the references that were followed. It distinguishes the branches of a union.
    pub(crate) schema_path: String,
    pub(crate) wants: Wants,
}

/// What identifies a fault before and after a change: the path, the path in the schema, and the key.
pub(crate) type FaultId = (String, String, String);

impl Fault {
    pub(crate) fn id(&self) -> FaultId {
        let detail = match &self.wants {
            Wants::Key(name) | Wants::NoKey(name) => name.clone(),
            _ => String::new(),
        };
        (self.path.clone(), self.schema_path.clone(), detail)
    }

    pub(crate) fn is_hint(&self) -> bool {
        matches!(self.wants, Wants::Hint(_))
    }
}

/// A fault and the union branches that it is in.
#[derive(Debug, Clone)]
pub(crate) struct ScopedFault<'f> {
    pub(crate) scope: String,
    pub(crate) fault: &'f Fault,
}

/// All faults, including those inside unions.
pub(crate) fn flatten<'f>(faults: &'f [Fault]) -> Vec<ScopedFault<'f>> {
    let mut out: Vec<ScopedFault<'f>> =
        faults.iter().map(|fault| ScopedFault { scope: String::new(), fault }).collect();
    let mut at = 0;
    while let Some(ScopedFault { scope, fault }) = out.get(at).cloned() {
        if let Wants::Union(branches) = &fault.wants {
            for (index, branch) in branches.iter().enumerate() {
                let scope = branch_scope(&scope, fault, index);
                out.extend(branch.iter().map(|fault| ScopedFault { scope: scope.clone(), fault }));
            }
        }
        at += 1;
    }
    out
}

/// Whether there are only a few faults, including those inside unions.
pub(crate) fn are_few(faults: &[Fault]) -> bool {
    fn count(faults: &[Fault], left: usize) -> Option<usize> {
        faults.iter().try_fold(left, |left, fault| {
            let left = left.checked_sub(1)?;
            match &fault.wants {
                Wants::Union(branches) => branches.iter().try_fold(left, |left, branch| count(branch, left)),
                _ => Some(left),
            }
        })
    }
    count(faults, 8).is_some()
}

/// The name of a union's branch. A scope is a prefix of every scope within it.
pub(crate) fn branch_scope(outer: &str, union: &Fault, branch: usize) -> String {
    format!("{outer}{}\n{}\n{branch}\n\n", union.path, union.schema_path)
}

/// How far a value is from a branch of a union at `path`. A branch that wants another type or another tag is unlikely to
/// be the one that was meant, whatever else is wrong.
pub(crate) fn distance(branch: &[Fault], path: &str) -> usize {
    branch
        .iter()
        .map(|fault| match &fault.wants {
            Wants::Type { .. } if fault.path == path => 1000,
            Wants::OneOf(_) | Wants::Exactly(_) if fault.path == path => 500,
            Wants::Exactly(_) => 100,
            Wants::OneOf(options) if options.as_array().is_some_and(|list| list.len() == 1) => 100,
            Wants::Union(branches) => {
                1 + branches.iter().map(|inner| distance(inner, &fault.path)).min().unwrap_or(10)
            }
            _ => 10,
        })
        .sum()
}

/// Whether the pointer `path` names the value at `top` or one inside it.
pub(crate) fn is_within(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pointer of the container that holds the value at `path`.
pub(crate) fn parent_path(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..slash])
}

/// A pointer and those of all containers around the value.
pub(crate) fn enclosing_paths(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| (!path.is_empty()).then(|| parent_path(path)))
}
