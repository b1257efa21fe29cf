//! What the front door needs of the hints that a tool's author may leave in the schema.

use serde_json::{Map, Value};

use super::Declared;

/// The names under which hints stand, ours first.
const HINT_KEYS: &[&str] = &["x-toolmend", "dirge-hints"];

/// What a tool's author says beside the schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints<'v> {
    pub(crate) destructive: bool,
    pub(crate) main_field: Option<&'v str>,
    pub(crate) contract: Vec<&'v str>,
}

impl<'v> Hints<'v> {
    pub(crate) fn of(declared: &Declared<'v>) -> Self {
        let schema = declared.schema.and_then(Value::as_object);
        let blocks = [declared.about, schema]
            .into_iter()
            .flatten()
            .flat_map(|map| HINT_KEYS.iter().filter_map(|key| map.get(*key)?.as_object()));
        let mut hints = Hints { destructive: annotated_destructive(declared.about), ..Hints::default() };
        for block in blocks {
            hints.destructive |= block.get("destructive").and_then(Value::as_bool).unwrap_or(false);
            hints.main_field = hints.main_field.or(block.get("main_field").and_then(Value::as_str));
            hints.contract.extend(sentences(block.get("contract")));
        }
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        hints.main_field = hints
            .main_field
            .filter(|field| properties.is_some_and(|known| known.contains_key(*field)))
            .or_else(|| only_required_string(schema?, properties?));
        hints
    }
}

/// The MCP annotation. Absent counts as false: MCP's own default would put every tool under suspicion.
fn annotated_destructive(about: Option<&Map<String, Value>>) -> bool {
    about.and_then(|about| about.get("annotations")?.get("destructiveHint")?.as_bool()).unwrap_or(false)
}

fn sentences(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match value {
        Some(Value::Array(list)) => (None, list.as_slice()),
        other => (other, [].as_slice()),
    };
    one.into_iter().chain(many).filter_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The one field that has to be there, where it is a string.
fn only_required_string<'v>(
    schema: &'v Map<String, Value>,
    properties: &'v Map<String, Value>,
) -> Option<&'v str> {
    let [name] = schema.get("required")?.as_array()?.as_slice() else { return None };
    let name = name.as_str()?;
    (properties.get(name)?.get("type")? == "string").then_some(name)
}
