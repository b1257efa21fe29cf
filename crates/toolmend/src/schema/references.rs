//! Where the references of a schema lead, inside the schema itself. Remote references are never followed.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::json::pointer;

/// The keywords that include another schema by its name.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Resolves references within one schema document.
pub(super) struct References<'s> {
    root: &'s Value,
    /// The schemas that have a name of their own, with that name.
    named: Vec<(&'s str, &'s Value)>,
    /// The named schema that a subschema belongs to, by the address of its members. Empty if only the root is named.
    owners: HashMap<usize, &'s Value>,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let mut references = References { root, named: Vec::new(), owners: HashMap::new() };
        references.find_named_schemas();
        references
    }

    /// Finds the schemas that are named by `$id`, and what belongs to each of them.
    fn find_named_schemas(&mut self) {
        let mut pending = vec![(self.root, self.root)];
        while let Some((value, mut owner)) = pending.pop() {
            if let Some(map) = value.as_object() {
                let id = ["$id", "id"].iter().find_map(|keyword| map.get(*keyword)?.as_str());
                if let Some(id) = id.filter(|id| !id.starts_with('#') && !std::ptr::eq(value, self.root)) {
                    self.named.push((id, value));
                    owner = value;
                }
                if !std::ptr::eq(owner, self.root) {
                    self.owners.insert(std::ptr::from_ref(map).addr(), owner);
                }
                pending.extend(map.values().map(|member| (member, owner)));
            } else if let Some(list) = value.as_array() {
                pending.extend(list.iter().map(|element| (element, owner)));
            }
        }
    }

    /// What this reference, in the schema with these members, leads to.
    pub(super) fn resolve(&self, from: &'s Map<String, Value>, reference: &str) -> Option<&'s Value> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if name.is_empty() {
            self.owners.get(&std::ptr::from_ref(from).addr()).copied().unwrap_or(self.root)
        } else {
            let last = |id: &str| id.trim_end_matches('#').rsplit('/').next().unwrap_or_default().to_owned();
            let wanted = last(name);
            let root = self.root.get("$id").and_then(Value::as_str).filter(|id| last(id) == wanted);
            let named = || self.named.iter().find(|(id, _)| last(id) == wanted).map(|row| row.1);
            if root.is_some() { self.root } else { named()? }
        };
        if fragment.is_empty() {
            return Some(base);
        }
        if fragment.starts_with('/') {
            let plain = fragment.replace("%25", "%").replace("%20", " ");
            return pointer::tokens(&plain).try_fold(base, |value, token| match value {
                Value::Array(list) => list.get(token.parse::<usize>().ok()?),
                other => other.get(&token),
            });
        }
        ["$defs", "definitions"].iter().filter_map(|keyword| base.get(keyword)?.as_object()).find_map(
            |defs| {
                defs.values().find(|schema| {
                    ["$anchor", "$dynamicAnchor"]
                        .iter()
                        .any(|key| schema.get(key).and_then(Value::as_str) == Some(fragment))
                })
            },
        )
    }
}
