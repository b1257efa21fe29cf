//! Keys such as `a[0].b` and `a_b`, rebuilt into arrays and objects.
//!
//! Only names that the schema declares start a path, so a key with a dot in it is never split by chance. Between other
//! separators, all names have to be declared.

use std::collections::BTreeMap;

use crate::json::text::quote_into;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::{Guide, SchemaPosition, Types};

use super::member_edits;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, SchemaMismatch};

/// The longest path that is rebuilt.
const MAX_STEPS: usize = 32;
/// The most paths in one object. Names are searched linearly, and a flattened call has a few dozen.
const MAX_PATHS: usize = 1024;

/// Rebuilds every flattened key of the object. A key that is declared with its dots is not a path.
pub(super) fn unflatten_paths(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if !matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_)) || mismatch.kind() != Kind::Object {
        return None;
    }
    let (tree, position) = (mismatch.tree, mismatch.position());
    let mut flat = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut root = RebuiltValue::Members(Vec::new());
    for child in tree.children(mismatch.id) {
        let key = tree.key(child)?;
        if mismatch.declares(position, &key) {
            names.push(key.into_owned());
            continue;
        }
        let steps = steps(&key, mismatch.guide(), position)
            .or_else(|| joined_steps(&key, mismatch.guide(), position));
        let Some(steps) = steps else { continue };
        root.put(&steps, tree.source(child))?;
        flat.push(child);
        if flat.len() > MAX_PATHS {
            return None;
        }
    }
    let RebuiltValue::Members(members) = root else { return None };
    if flat.is_empty() || members.iter().any(|(name, _)| names.contains(name)) {
        return None;
    }
    let mut text = String::new();
    for (index, (name, built)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        quote_into(&mut text, name);
        text.push(':');
        built.write(&mut text)?;
    }
    let kind = RepairKind::PathsUnflattened;
    let (&first, rest) = flat.split_first()?;
    let start = tree.nodes[first].key.as_ref()?.start;
    // The first one stays where it is, so each of the others has a comma before it.
    let mut edits = vec![Edit::new(start..tree.nodes[first].span.end, text, kind)];
    edits.extend(rest.iter().filter_map(|&member| member_edits::remove_member(tree, member, kind)));
    Some(Change::new(edits))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

/// The steps of a path whose first name is declared; `None` if the key is not a path of at least two steps.
fn steps(key: &str, guide: &Guide, position: SchemaPosition) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut position = position;
    for part in key.split('.') {
        let (name, mut indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !name.is_empty() {
            let types = guide.types(position);
            let index = name.parse().ok().filter(|_| types.has(Types::ARRAY) && !types.has(Types::OBJECT));
            let declared = guide.properties(position).any(|(known, ..)| known == name);
            match index {
                Some(index) if !steps.is_empty() => {
                    position = guide.element(position, index);
                    steps.push(Step::Index(index));
                }
                _ if declared || (!steps.is_empty() && !guide.is_closed(position)) => {
                    position = guide.member(position, name);
                    steps.push(Step::Name(name.to_owned()));
                }
                _ => return None,
            }
        } else if indexes.is_empty() || steps.is_empty() {
            return None;
        }
        while let Some(rest) = indexes.strip_prefix('[') {
            let (index, rest) = rest.split_once(']')?;
            let index = index.parse().ok()?;
            position = guide.element(position, index);
            steps.push(Step::Index(index));
            indexes = rest;
        }
        if !indexes.is_empty() {
            return None;
        }
    }
    (2..=MAX_STEPS).contains(&steps.len()).then_some(steps)
}

/// What models put between the names of a path, beside a point. The longest comes first.
const SEPARATORS: [&str; 7] = ["__", "->", "::", "_", "-", "/", ":"];

/// The steps of a path such as `root_name`: declared names one inside the other, and indexes. `None` if there are several
/// ways to take it apart.
// Case: shape/keys-joined-by-underscores
fn joined_steps(key: &str, guide: &Guide, position: SchemaPosition) -> Option<Vec<Step>> {
    let mut found = Vec::new();
    // The rest of the key, and the steps that led there.
    let mut open: Vec<(&str, SchemaPosition, Vec<Step>)> = vec![(key, position, Vec::new())];
    let mut tries = 0;
    while let Some((rest, position, steps)) = open.pop() {
        tries += 1;
        if tries > MAX_TRIES || steps.len() > MAX_STEPS {
            return None;
        }
        for (step, inner, length) in next_steps(rest, guide, position) {
            let mut steps: Vec<Step> = steps.clone();
            steps.push(step);
            let rest = &rest[length..];
            if rest.is_empty() {
                found.push(steps);
            } else if let Some(separator) = SEPARATORS.iter().find(|one| rest.starts_with(**one)) {
                open.push((&rest[separator.len()..], inner, steps));
            }
        }
    }
    match <[Vec<Step>; 1]>::try_from(found) {
        Ok([steps]) if steps.len() > 1 => Some(steps),
        _ => None,
    }
}

/// The most ways of taking a key apart that are looked at.
const MAX_TRIES: usize = 64;

/// The steps that the start of a key can be, with the position that each leads to and its length.
fn next_steps(key: &str, guide: &Guide, position: SchemaPosition) -> Vec<(Step, SchemaPosition, usize)> {
    let types = guide.types(position);
    let digits = key.bytes().take_while(u8::is_ascii_digit).count();
    if types.has(Types::ARRAY) && !types.has(Types::OBJECT) {
        let index = key[..digits].parse().ok();
        return index
            .map(|index| (Step::Index(index), guide.element(position, index), digits))
            .into_iter()
            .collect();
    }
    let names = guide.properties(position).filter(|(name, ..)| !name.is_empty() && key.starts_with(name));
    names.map(|(name, inner, _)| (Step::Name(name.to_owned()), inner, name.len())).collect()
}

/// A value assembled from flattened keys.
enum RebuiltValue<'t> {
    Leaf(&'t str),
    Members(Vec<(String, RebuiltValue<'t>)>),
    Elements(BTreeMap<usize, RebuiltValue<'t>>),
}

impl<'t> RebuiltValue<'t> {
    fn empty_for(step: Option<&Step>, leaf: &'t str) -> Self {
        match step {
            None => RebuiltValue::Leaf(leaf),
            Some(Step::Name(_)) => RebuiltValue::Members(Vec::new()),
            Some(Step::Index(_)) => RebuiltValue::Elements(BTreeMap::new()),
        }
    }

    /// Puts a leaf at the end of a path; fails if two paths contradict each other.
    fn put(&mut self, steps: &[Step], leaf: &'t str) -> Option<()> {
        let mut here = self;
        for (at, step) in steps.iter().enumerate() {
            let next = steps.get(at + 1);
            here = match (here, step) {
                (RebuiltValue::Members(members), Step::Name(name)) => {
                    let known = members.iter().position(|(known, _)| known == name);
                    let index = match (known, next) {
                        (Some(_), None) => return None,
                        (Some(index), Some(_)) => index,
                        (None, _) => {
                            members.push((name.clone(), RebuiltValue::empty_for(next, leaf)));
                            members.len() - 1
                        }
                    };
                    &mut members.get_mut(index)?.1
                }
                (RebuiltValue::Elements(elements), Step::Index(index)) => {
                    if next.is_none() && elements.contains_key(index) {
                        return None;
                    }
                    elements.entry(*index).or_insert_with(|| RebuiltValue::empty_for(next, leaf))
                }
                _ => return None,
            };
        }
        matches!(here, RebuiltValue::Leaf(_)).then_some(())
    }

    /// Writes the value; fails if an array has gaps. The recursion is bounded by [`MAX_STEPS`].
    fn write(&self, out: &mut String) -> Option<()> {
        match self {
            RebuiltValue::Leaf(text) => out.push_str(text),
            RebuiltValue::Members(members) => {
                out.push('{');
                for (index, (name, built)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote_into(out, name);
                    out.push(':');
                    built.write(out)?;
                }
                out.push('}');
            }
            RebuiltValue::Elements(elements) => {
                out.push('[');
                for (index, (number, built)) in elements.iter().enumerate() {
                    if index != *number {
                        return None;
                    }
                    if index > 0 {
                        out.push(',');
                    }
                    built.write(out)?;
                }
                out.push(']');
            }
        }
        Some(())
    }
}
