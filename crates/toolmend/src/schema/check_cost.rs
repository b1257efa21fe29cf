//! How much work it is to check a value against a schema.
//!
//! Unions and references can apply many schemas to one value, and inside a recursive union the number multiplies with each
//! level of the value. It is counted here before the validator sees either: once for the schema (a hopeless one is
//! reported, like a broken one), and once for each value under a schema whose numbers grow.
//!
//! For each subschema, the count at depth `d` is how many schemas are applied to one value that is `d` levels below the
//! value it is for. It is an upper bound: it takes the key with the highest count at each level.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::SchemaError;
use super::pattern_cost;
use super::references::{REFERENCES, References};

/// The most schemas that may apply to one value before anything is known about the value.
const MAX_IN_PLACE: f64 = 4096.0;
/// The longest chain of schemas that include each other.
const MAX_CHAIN: usize = 512;
/// How many plain references in a row are followed.
const MAX_RENAMES: usize = 16;
/// Counts up to this are never added up for a value.
const FREE: f64 = 256.0;
/// The most schemas that are applied to decide whether a value fits.
const MAX_TO_DECIDE: f64 = (1 << 20) as f64;
/// The most schemas that are applied to find out what is wrong with a value. Each of them writes a report of its own.
const MAX_TO_EXPLAIN: f64 = (1 << 12) as f64;
/// Values that are deeper are refused before they are checked.
const MAX_DEPTH: usize = 128;
/// Steps that the count itself may take.
const MAX_WORK: usize = 1 << 19;

/// The counts of a schema's root, by depth. The last one holds for everything below; without any, checking is cheap.
#[derive(Debug, Default)]
pub(super) struct CheckCost {
    to_decide: Vec<f64>,
    to_explain: Vec<f64>,
}

impl CheckCost {
    /// Counts for a schema.
    ///
    /// # Errors
    /// If no value could be checked against it in reasonable time.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaError> {
        if pattern_cost::are_too_many(schema) {
            return Err(hopeless("its patterns take too long to compile"));
        }
        let references = References::new(schema);
        let to_explain = Counter::new(&references, false).count(schema)?;
        if to_explain.last().is_none_or(|most| *most <= FREE) {
            return Ok(CheckCost::default());
        }
        let to_decide = Counter::new(&references, true).count(schema)?;
        Ok(CheckCost { to_decide, to_explain })
    }

    /// Whether it can be decided in reasonable time if the value fits.
    pub(super) fn allows_deciding(&self, value: &Value) -> bool {
        is_within(&self.to_decide, value, MAX_TO_DECIDE)
    }

    /// Whether it can be found out in reasonable time what is wrong with the value.
    pub(super) fn allows_explaining(&self, value: &Value) -> bool {
        is_within(&self.to_explain, value, MAX_TO_EXPLAIN)
    }
}

/// Whether the counts for all parts of a value add up to no more than `most`.
fn is_within(by_depth: &[f64], value: &Value, most: f64) -> bool {
    let Some(&last) = by_depth.last().filter(|last| **last > FREE) else { return true };
    let mut sum = 0.0;
    let mut pending = vec![(value, 0)];
    while let Some((part, depth)) = pending.pop() {
        let times = by_depth.get(depth).copied().unwrap_or(last);
        if times > FREE {
            sum += times;
        }
        if sum > most {
            return false;
        }
        match part {
            Value::Array(elements) => pending.extend(elements.iter().map(|element| (element, depth + 1))),
            Value::Object(map) => pending.extend(map.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    true
}

/// A subschema, by its index.
type Id = usize;
/// A branch of a union of which only one branch is checked: the schema and keyword of the union, and the branch.
type Branch = (Id, usize, usize);
/// Subschemas, and how often each is applied.
type Counts = Vec<(Id, f64)>;
/// One of them, with the outermost branch that it is in.
type Application = (Id, Option<Branch>, f64);
type Applied = Vec<Application>;

/// How often each subschema is applied at most, if only one branch of each union is.
fn join_branches(applied: &Applied) -> Counts {
    let mut in_branches: BTreeMap<(Id, Option<Branch>), f64> = BTreeMap::new();
    for &(id, branch, times) in applied {
        *in_branches.entry((id, branch)).or_insert(0.0) += times;
    }
    let mut in_unions: BTreeMap<(Id, Option<(Id, usize)>), f64> = BTreeMap::new();
    for ((id, branch), times) in in_branches {
        let most = in_unions.entry((id, branch.map(|(union, keyword, _)| (union, keyword)))).or_insert(0.0);
        *most = most.max(times);
    }
    let mut all: BTreeMap<Id, f64> = BTreeMap::new();
    for ((id, _), times) in in_unions {
        *all.entry(id).or_insert(0.0) += times;
    }
    all.into_iter().collect()
}

struct Counter<'s, 'r> {
    references: &'r References<'s>,
    /// Whether a union whose branches are told apart by a constant counts as its dearest branch.
    dispatches: bool,
    ids: HashMap<usize, Id>,
    schemas: Vec<&'s Map<String, Value>>,
    /// What is applied to a value together with this schema, itself included.
    in_place: Vec<Option<Rc<Applied>>>,
    /// The schemas whose inclusions are being followed.
    open: Vec<Id>,
    work: usize,
}

impl<'s, 'r> Counter<'s, 'r> {
    fn new(references: &'r References<'s>, dispatches: bool) -> Self {
        Counter {
            references,
            dispatches,
            ids: HashMap::new(),
            schemas: Vec::new(),
            in_place: Vec::new(),
            open: Vec::new(),
            work: 0,
        }
    }

    /// The counts of the root, by depth.
    fn count(mut self, root: &'s Value) -> Result<Vec<f64>, SchemaError> {
        let Some(root) = self.id(root) else { return Ok(Vec::new()) };
        // For each position, what is applied to it and to each of its members and elements.
        let mut counts: BTreeMap<Id, f64> = BTreeMap::new();
        let mut groups: BTreeMap<Id, Vec<Counts>> = BTreeMap::new();
        let mut pending = vec![root];
        while let Some(position) = pending.pop() {
            if counts.contains_key(&position) {
                continue;
            }
            let applied = self.applied_in_place(position)?;
            let count = applied.iter().map(|(.., times)| times).sum();
            if self.dispatches && count > MAX_IN_PLACE {
                return Err(hopeless("its unions and references apply too many schemas to one value"));
            }
            counts.insert(position, count);
            let below = self.applied_below(&applied)?;
            pending.extend(below.iter().flatten().map(|(id, _)| *id));
            groups.insert(position, below);
        }
        let mut by_depth = vec![counts[&root]];
        for _ in 0..MAX_DEPTH {
            let mut next = counts.clone();
            let mut grows = false;
            for (position, groups) in &groups {
                let highest = groups.iter().map(|group| {
                    group.iter().map(|(id, times)| times * counts.get(id).copied().unwrap_or(0.0)).sum()
                });
                self.work += groups.iter().map(Vec::len).sum::<usize>();
                let highest = highest.fold(0.0, f64::max);
                if let Some(count) = next.get_mut(position).filter(|count| **count < highest) {
                    *count = highest;
                    grows = true;
                }
            }
            self.check_work()?;
            counts = next;
            by_depth.push(counts[&root]);
            if !grows || counts[&root] > MAX_TO_DECIDE {
                break;
            }
        }
        Ok(by_depth)
    }

    fn id(&mut self, schema: &'s Value) -> Option<Id> {
        let mut schema = schema;
        // A schema that is a reference and nothing else is what it leads to.
        for _ in 0..MAX_RENAMES {
            let name =
                schema.as_object().filter(|map| map.len() == 1).and_then(|map| Some((map, map.get("$ref")?)));
            match name.and_then(|(map, name)| self.references.resolve(map, name.as_str()?)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        let map = schema.as_object()?;
        let next = self.schemas.len();
        let id = *self.ids.entry(std::ptr::from_ref(schema).addr()).or_insert(next);
        if id == next {
            self.schemas.push(map);
            self.in_place.push(None);
        }
        Some(id)
    }

    /// Everything that is applied to the same value as this schema.
    fn applied_in_place(&mut self, id: Id) -> Result<Rc<Applied>, SchemaError> {
        if let Some(known) = &self.in_place[id] {
            return Ok(Rc::clone(known));
        }
        let map = self.schemas[id];
        if self.open.contains(&id) {
            return Err(hopeless("it includes itself, so checking it would never end"));
        }
        if self.open.len() >= MAX_CHAIN {
            return Err(hopeless("its references form too long a chain"));
        }
        check_patterns(map)?;
        self.open.push(id);
        let mut all: BTreeMap<(Id, Option<Branch>), f64> = BTreeMap::from([((id, None), 1.0)]);
        // The search for members that nothing evaluated applies everything a second time.
        let again = ["unevaluatedProperties", "unevaluatedItems"].iter().any(|name| map.contains_key(*name));
        let times = if again { 2.0 } else { 1.0 };
        for schema in self.included(map) {
            self.add(&mut all, schema, times, None)?;
        }
        for (keyword, name) in ["anyOf", "oneOf"].iter().enumerate() {
            let Some(Value::Array(branches)) = map.get(*name) else { continue };
            let dispatched = self.dispatches && self.is_dispatched(branches);
            for (index, branch) in branches.iter().enumerate() {
                self.add(&mut all, branch, times, dispatched.then_some((id, keyword, index)))?;
            }
        }
        self.open.pop();
        let applied: Rc<Applied> =
            Rc::new(all.into_iter().map(|((id, branch), times)| (id, branch, times)).collect());
        self.in_place[id] = Some(Rc::clone(&applied));
        Ok(applied)
    }

    /// Adds what a schema applies to those that are known already.
    fn add(
        &mut self,
        all: &mut BTreeMap<(Id, Option<Branch>), f64>,
        schema: &'s Value,
        times: f64,
        branch: Option<Branch>,
    ) -> Result<(), SchemaError> {
        let Some(id) = self.id(schema) else { return Ok(()) };
        let applied = self.applied_in_place(id)?;
        self.work += applied.len();
        self.check_work()?;
        for &(id, inner, more) in &*applied {
            *all.entry((id, branch.or(inner))).or_insert(0.0) += more * times;
        }
        Ok(())
    }

    /// What a schema always applies to the same value, unions apart.
    fn included(&self, map: &'s Map<String, Value>) -> Vec<&'s Value> {
        let mut out = Vec::new();
        for keyword in REFERENCES {
            let name = map.get(keyword).and_then(Value::as_str);
            out.extend(name.and_then(|name| self.references.resolve(map, name)));
        }
        if let Some(Value::Array(all)) = map.get("allOf") {
            out.extend(all);
        }
        out.extend(["not", "if", "then", "else"].iter().filter_map(|keyword| map.get(*keyword)));
        for keyword in ["dependentSchemas", "dependencies"] {
            out.extend(map.get(keyword).and_then(Value::as_object).into_iter().flat_map(Map::values));
        }
        out
    }

    /// Whether each branch requires the same property with a constant of its own. The validator then checks only one.
    fn is_dispatched(&self, branches: &'s [Value]) -> bool {
        let constants = |branch: &'s Value| -> Vec<(&'s str, &'s str)> {
            let mut schema = branch;
            for _ in 0..8 {
                let Some(map) = schema.as_object() else { break };
                let name = map.get("$ref").and_then(Value::as_str);
                match name.and_then(|name| self.references.resolve(map, name)) {
                    Some(next) => schema = next,
                    None => break,
                }
            }
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
            let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            let constant = |schema: &'s Value| {
                let only = schema.get("enum").and_then(Value::as_array).filter(|all| all.len() == 1);
                schema.get("const").or_else(|| only.map(|all| &all[0]))?.as_str()
            };
            properties
                .filter(|(name, _)| is_required(name))
                .filter_map(|(name, schema)| Some((name.as_str(), constant(schema)?)))
                .collect()
        };
        let all: Vec<_> = branches.iter().map(constants).collect();
        let Some(first) = all.first().filter(|_| all.len() >= 3) else { return false };
        first.iter().any(|(key, _)| {
            let mut values: Vec<&str> = all
                .iter()
                .filter_map(|one| one.iter().find(|(name, _)| name == key).map(|row| row.1))
                .collect();
            values.sort_unstable();
            values.dedup();
            values.len() == branches.len()
        })
    }

    /// What these schemas apply to one member or element: one list for each key and index that they name, and one for
    /// the others.
    fn applied_below(&mut self, applied: &Applied) -> Result<Vec<Counts>, SchemaError> {
        let mut keys: BTreeMap<&'s str, Applied> = BTreeMap::new();
        let mut lists: BTreeMap<usize, Applied> = BTreeMap::new();
        let mut rest: Vec<(Id, Application)> = Vec::new();
        let mut rest_of_list: Vec<(usize, Application)> = Vec::new();
        let mut always: Applied = Vec::new();
        for &(id, branch, times) in applied {
            let map = self.schemas[id];
            self.work += map.len();
            for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
                keys.entry(name).or_default().extend(self.id(schema).map(|id| (id, branch, times)));
                self.work += 1;
            }
            let (prefix, items) = match (map.get("prefixItems"), map.get("items")) {
                (Some(Value::Array(prefix)), items) => (prefix.as_slice(), items),
                (_, Some(Value::Array(prefix))) => (prefix.as_slice(), map.get("additionalItems")),
                (_, items) => (&[][..], items),
            };
            for (index, schema) in prefix.iter().enumerate() {
                lists.entry(index).or_default().extend(self.id(schema).map(|id| (id, branch, times)));
            }
            for schema in items.into_iter().chain(map.get("unevaluatedItems")) {
                rest_of_list.extend(self.id(schema).map(|schema| (prefix.len(), (schema, branch, times))));
            }
            for keyword in ["additionalProperties", "unevaluatedProperties"] {
                let own = map.get(keyword).and_then(|schema| self.id(schema));
                rest.extend(own.map(|own| (id, (own, branch, times))));
            }
            let patterns = map.get("patternProperties").and_then(Value::as_object);
            let more = ["propertyNames", "contains"].iter().filter_map(|keyword| map.get(*keyword));
            for schema in patterns.into_iter().flat_map(Map::values).chain(more) {
                always.extend(self.id(schema).map(|id| (id, branch, times)));
            }
        }
        let mut out: Vec<Applied> = Vec::new();
        for (name, mut group) in keys {
            // What a schema says about other keys does not apply to those that it declares.
            let declares =
                |id: Id| self.schemas[id].get("properties").is_some_and(|all| all.get(name).is_some());
            group.extend(rest.iter().filter(|(id, _)| !declares(*id)).map(|row| row.1));
            group.extend(&always);
            self.work += group.len() + rest.len();
            out.push(group);
        }
        for (index, mut group) in lists {
            group.extend(rest_of_list.iter().filter(|row| row.0 <= index).map(|row| row.1));
            group.extend(&always);
            self.work += group.len() + rest_of_list.len();
            out.push(group);
        }
        self.check_work()?;
        out.push(rest.into_iter().map(|row| row.1).chain(always.iter().copied()).collect());
        out.push(rest_of_list.into_iter().map(|row| row.1).chain(always).collect());
        out.retain(|group| !group.is_empty());
        Ok(out.iter().map(join_branches).collect())
    }

    fn check_work(&self) -> Result<(), SchemaError> {
        if self.work > MAX_WORK { Err(hopeless("it is too large to be checked in time")) } else { Ok(()) }
    }
}

/// Checks the regular expressions of one schema.
fn check_patterns(map: &Map<String, Value>) -> Result<(), SchemaError> {
    let own = map.get("pattern").and_then(Value::as_str);
    let keys = map.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    match own.into_iter().chain(keys.map(String::as_str)).find(|pattern| pattern_cost::is_hopeless(pattern)) {
        Some(pattern) => Err(hopeless(&format!("the pattern {pattern:?} repeats a repetition"))),
        None => Ok(()),
    }
}

fn hopeless(message: &str) -> SchemaError {
    SchemaError { path: String::new(), message: format!("too expensive to check: {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(schema: &Value) -> String {
        CheckCost::of(schema).map_or_else(|error| error.message, |_| String::new())
    }

    /// Each level is a union of two references to the next one.
    fn chain(levels: usize, level: impl Fn(Value) -> Value) -> Value {
        let mut defs = json!({format!("L{levels}"): {"type": "string"}});
        for index in 0..levels {
            defs[format!("L{index}")] = level(json!({"$ref": format!("#/$defs/L{}", index + 1)}));
        }
        json!({"$ref": "#/$defs/L0", "$defs": defs})
    }

    #[test]
    fn hopeless_schemas_are_reported() {
        let itself = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "object"}]});
        assert!(message(&itself).contains("includes itself"));
        let unions = chain(30, |next| json!({"anyOf": [next, next]}));
        assert!(message(&unions).contains("too many schemas"));
        let pattern = json!({"properties": {"s": {"pattern": "(?<!b)(a+)+$"}}});
        assert!(message(&pattern).contains("repeats a repetition"));
        let named = json!({"$id": "http://x/root", "$ref": "a", "$defs": {"a": {"$id": "a", "allOf": [{"$ref": "root"}]}}});
        assert!(message(&named).contains("includes itself"));
        let patterns = |count: usize| {
            let keys = (0..count).map(|index| (format!("^k{index}\\w*$"), json!({"type": "string"})));
            json!({"patternProperties": keys.collect::<Map<String, Value>>()})
        };
        assert!(message(&patterns(2000)).contains("too long to compile"));
        assert_eq!(message(&patterns(100)), "");
    }

    #[test]
    fn ordinary_schemas_cost_nothing_to_count() {
        let tree = json!({"$defs": {"N": {"properties": {
            "left": {"$ref": "#/$defs/N"}, "right": {"$ref": "#/$defs/N"},
        }, "additionalProperties": {"$ref": "#/$defs/N"}}}, "$ref": "#/$defs/N"});
        let wide = chain(100, |next| json!({"properties": {"a": next, "b": next}}));
        for schema in [tree, wide, json!(true), json!({})] {
            assert!(CheckCost::of(&schema).is_ok_and(|cost| cost.to_decide.is_empty()), "{schema}");
        }
    }

    #[test]
    fn deep_values_under_recursive_unions_are_counted() {
        let node = |kind: &str| json!({"properties": {"next": {"$ref": "#"}, "kind": {"const": kind}}, "required": ["kind"]});
        let deep = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"next": inner, "kind": "x"}));
        let two = CheckCost::of(&json!({"oneOf": [node("x"), node("y")]})).unwrap();
        assert!(two.allows_deciding(&deep(10)) && !two.allows_deciding(&deep(30)));
        assert!(two.allows_explaining(&deep(5)) && !two.allows_explaining(&deep(20)));
        let told_apart = CheckCost::of(&json!({"oneOf": [node("x"), node("y"), node("z")]})).unwrap();
        assert!(told_apart.allows_deciding(&deep(100)) && !told_apart.allows_explaining(&deep(30)));
    }
}
