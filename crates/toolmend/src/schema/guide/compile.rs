//! From a JSON Schema to the nodes of the guide.
//!
//! A node is made from a *set* of subschemas: the branches that can apply in one position. Sets are memoised, so recursive
//! schemas terminate. Keywords that say nothing about keys and types are ignored: the validator knows them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::super::hints::Semantic;
use super::super::references::{REFERENCES, References};
use super::{Guide, Node, Property, SchemaPosition, Types, fold};

/// Beyond this many nodes the rest of a schema is left unguided; the validator still sees all of it.
const MAX_NODES: usize = 4096;
/// How many references and combinators are followed for one position.
const MAX_HOPS: usize = 64;
/// How many keywords are looked at. Beyond that the rest of a schema is left unguided as well.
const MAX_WORK: usize = 1 << 18;

pub(super) fn compile(schema: &Value) -> Guide {
    let mut compiler = Compiler {
        references: References::new(schema),
        nodes: Vec::new(),
        memo: HashMap::new(),
        types: HashMap::new(),
        pending: Vec::new(),
        work: 0,
    };
    compiler.position(vec![schema]);
    while let Some((id, set)) = compiler.pending.pop() {
        let node = compiler.node(&set);
        compiler.nodes[id] = Some(node);
    }
    Guide { nodes: compiler.nodes.into_iter().flatten().collect() }
}

struct Compiler<'s> {
    references: References<'s>,
    nodes: Vec<Option<Node>>,
    memo: HashMap<Vec<usize>, SchemaPosition>,
    /// The types of the subschemas that were asked about, by address.
    types: HashMap<usize, Types>,
    pending: Vec<(usize, Vec<&'s Value>)>,
    work: usize,
}

/// The subschemas that were gathered for one position, by address, and whether each was certain. A schema that includes
/// another one twice says no more than one that includes it once.
type Visited = HashSet<(usize, bool)>;

/// What all branches say together about one position.
#[derive(Default)]
struct GatheredKeywords<'s> {
    properties: BTreeMap<&'s str, Vec<&'s Value>>,
    required: BTreeSet<&'s str>,
    closed: bool,
    additional: Vec<&'s Value>,
    prefix: Vec<Vec<&'s Value>>,
    items: Vec<&'s Value>,
    words: Vec<&'s Value>,
    semantic: Option<Semantic>,
    defaults: Vec<&'s Value>,
}

impl<'s> Compiler<'s> {
    /// The position of a set of subschemas; its node is compiled later.
    fn position(&mut self, mut set: Vec<&'s Value>) -> SchemaPosition {
        set.retain(|schema| schema.is_object());
        if set.is_empty() || self.nodes.len() >= MAX_NODES || self.work >= MAX_WORK {
            return SchemaPosition::ANY;
        }
        // A subschema is identified by its address: the document does not move while it is compiled.
        let mut key: Vec<usize> = set.iter().map(|schema| std::ptr::from_ref(*schema).addr()).collect();
        self.work += key.len();
        key.sort_unstable();
        key.dedup();
        if let Some(&position) = self.memo.get(&key) {
            return position;
        }
        let id = self.nodes.len();
        let position = u32::try_from(id).map_or(SchemaPosition::ANY, SchemaPosition);
        self.nodes.push(None);
        self.memo.insert(key, position);
        self.pending.push((id, set));
        position
    }

    fn node(&mut self, set: &[&'s Value]) -> Node {
        let mut all = GatheredKeywords::default();
        let mut types = Types::NONE;
        let mut required: Option<BTreeSet<&str>> = None;
        let mut closed = true;
        for schema in set {
            let mut part = GatheredKeywords::default();
            self.gather(schema, &mut part, true, MAX_HOPS, &mut Visited::new());
            types = types.union(self.types(schema, MAX_HOPS));
            closed &= part.closed;
            let names = std::mem::take(&mut part.required);
            required = Some(match required {
                Some(before) => before.intersection(&names).copied().collect(),
                None => names,
            });
            merge(&mut all, part);
        }
        let required = required.unwrap_or_default();
        for name in &required {
            all.properties.entry(name).or_default();
        }
        let additional = self.position(all.additional);
        let properties: Vec<Property> = all
            .properties
            .into_iter()
            .map(|(name, set)| Property {
                name: name.into(),
                folded: fold(name).into(),
                position: self.position(set),
            })
            .collect();
        let bits = properties
            .iter()
            .take(128)
            .enumerate()
            .filter(|(_, property)| required.contains(&*property.name))
            .fold(0, |bits, (index, _)| bits | 1 << index);
        let initials = properties.iter().fold(0, |bits, property| {
            bits | property
                .folded
                .bytes()
                .next()
                .map_or(u64::MAX, |first| super::initial_bit(first).unwrap_or(u64::MAX))
        });
        Node {
            types,
            initials,
            required: bits,
            open: !closed,
            additional,
            prefix: all.prefix.into_iter().map(|set| self.position(set)).collect(),
            items: self.position(all.items),
            words: all.words.iter().filter_map(|word| word.as_str()).map(Into::into).collect(),
            properties,
            semantic: all.semantic,
            default: match all.defaults.split_first() {
                Some((first, rest)) if rest.iter().all(|other| other == first) => {
                    Some(first.to_string().into())
                }
                _ => None,
            },
        }
    }

    /// Collects what a subschema and everything it includes says. `certain` is false inside a union: what one branch
    /// requires does not bind the others.
    fn gather(
        &mut self,
        schema: &'s Value,
        out: &mut GatheredKeywords<'s>,
        certain: bool,
        hops: usize,
        visited: &mut Visited,
    ) {
        let (Some(map), Some(hops)) = (schema.as_object(), hops.checked_sub(1)) else { return };
        if self.work >= MAX_WORK || !visited.insert((std::ptr::from_ref(schema).addr(), certain)) {
            return;
        }
        self.work += map.len();
        if let Some(properties) = map.get("properties").and_then(Value::as_object) {
            self.work += properties.len();
            for (name, schema) in properties {
                out.properties.entry(name).or_default().push(schema);
            }
        }
        if certain && let Some(names) = map.get("required").and_then(Value::as_array) {
            out.required.extend(names.iter().filter_map(Value::as_str));
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(false)) if certain => out.closed = true,
            Some(schema @ Value::Object(_)) => out.additional.push(schema),
            _ => {}
        }
        if let Some(Value::Object(patterns)) = map.get("patternProperties") {
            out.additional.extend(patterns.values());
        }
        // Up to draft 2019-09, a list of `items` is what `prefixItems` is now, and `additionalItems` is the rest.
        let (prefix, items) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(prefix)), items) => (Some(prefix), items),
            (_, Some(Value::Array(prefix))) => (Some(prefix), map.get("additionalItems")),
            (_, items) => (None, items),
        };
        for (index, schema) in prefix.into_iter().flatten().enumerate() {
            if out.prefix.len() <= index {
                out.prefix.push(Vec::new());
            }
            out.prefix[index].push(schema);
        }
        out.items.extend(items.filter(|items| items.is_object()));
        if let Some(Value::Array(words)) = map.get("enum") {
            out.words.extend(words);
        }
        out.words.extend(map.get("const"));
        out.semantic = out.semantic.or_else(|| Semantic::of(map));
        out.defaults.extend(map.get("default"));
        for (schema, sure) in self.included(map) {
            self.gather(schema, out, certain && sure, hops, visited);
        }
    }

    /// The types that a subschema allows.
    fn types(&mut self, schema: &'s Value, hops: usize) -> Types {
        let (Some(map), Some(hops)) = (schema.as_object(), hops.checked_sub(1)) else { return Types::ALL };
        let address = std::ptr::from_ref(schema).addr();
        // A schema that includes itself says nothing about its types by that.
        if let Some(&known) = self.types.get(&address) {
            return known;
        }
        self.types.insert(address, Types::ALL);
        let types = self.stated_types(map, hops);
        self.types.insert(address, types);
        types
    }

    /// The types that the keywords of a subschema allow.
    fn stated_types(&mut self, map: &'s Map<String, Value>, hops: usize) -> Types {
        let mut types = match map.get("type") {
            Some(Value::String(name)) => Types::named(name),
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(Value::as_str)
                .fold(Types::NONE, |types, name| types.union(Types::named(name))),
            _ => Types::ALL,
        };
        if let Some(Value::Array(words)) = map.get("enum") {
            types =
                types.intersection(words.iter().fold(Types::NONE, |all, word| all.union(Types::of(word))));
        }
        if let Some(word) = map.get("const") {
            types = types.intersection(Types::of(word));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.get(keyword) {
                let any =
                    branches.iter().fold(Types::NONE, |all, branch| all.union(self.types(branch, hops)));
                types = types.intersection(any);
            }
        }
        for schema in self.always(map) {
            types = types.intersection(self.types(schema, hops));
        }
        types
    }

    /// Subschemas that apply to the same value, each with whether it always does.
    fn included(&self, map: &'s Map<String, Value>) -> Vec<(&'s Value, bool)> {
        let mut out: Vec<_> = self.always(map).into_iter().map(|schema| (schema, true)).collect();
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.get(keyword) {
                let only = branches.len() == 1;
                out.extend(branches.iter().map(|branch| (branch, only)));
            }
        }
        for keyword in ["if", "then", "else"] {
            out.extend(map.get(keyword).map(|schema| (schema, false)));
        }
        if let Some(Value::Object(dependent)) = map.get("dependentSchemas") {
            out.extend(dependent.values().map(|schema| (schema, false)));
        }
        out
    }

    fn always(&self, map: &'s Map<String, Value>) -> Vec<&'s Value> {
        let mut out = Vec::new();
        for keyword in REFERENCES {
            let name = map.get(keyword).and_then(Value::as_str);
            out.extend(name.and_then(|name| self.references.resolve(map, name)));
        }
        if let Some(Value::Array(branches)) = map.get("allOf") {
            out.extend(branches);
        }
        out
    }
}

fn merge<'s>(all: &mut GatheredKeywords<'s>, part: GatheredKeywords<'s>) {
    for (name, set) in part.properties {
        all.properties.entry(name).or_default().extend(set);
    }
    all.additional.extend(part.additional);
    for (index, set) in part.prefix.into_iter().enumerate() {
        if all.prefix.len() <= index {
            all.prefix.push(Vec::new());
        }
        all.prefix[index].extend(set);
    }
    all.items.extend(part.items);
    all.words.extend(part.words);
    all.semantic = all.semantic.or(part.semantic);
    all.defaults.extend(part.defaults);
}
