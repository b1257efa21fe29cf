//! Hints that a tool's author gives in the schema beyond JSON Schema, under `x-toolmend` or `dirge-hints`.
//!
//! A property may carry `semantic`; the schema of the tool may carry `relational`, `destructive`, `main_field` and
//! `contract`. A hint that cannot be read is ignored: a typing error in it never refuses a call.

use serde_json::{Map, Value};

/// The keywords that hold hints; the first one wins.
const KEYWORDS: [&str; 2] = ["x-toolmend", "dirge-hints"];

/// What a string means to its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Semantic {
    AbsolutePath,
    RelativePath,
    Code,
    Url,
    Shell,
}

impl Semantic {
    const NAMES: [(&'static str, Semantic); 5] = [
        ("absolute_path", Semantic::AbsolutePath),
        ("relative_path", Semantic::RelativePath),
        ("code", Semantic::Code),
        ("url", Semantic::Url),
        ("shell", Semantic::Shell),
    ];

    /// The hint on a subschema.
    pub(crate) fn of(schema: &Map<String, Value>) -> Option<Self> {
        let name = hint(schema, "semantic").and_then(Value::as_str);
        match name {
            Some(name) => Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, semantic)| *semantic),
            // An older spelling of the same hint, still found in schemas.
            None => (schema.get("x-dirge-kind")?.as_str()? == "path").then_some(Semantic::AbsolutePath),
        }
    }

    pub(crate) fn is_path(self) -> bool {
        matches!(self, Semantic::AbsolutePath | Semantic::RelativePath)
    }
}

/// Fields that belong together: if one is given, the others are filled from the defaults.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    pub(crate) fields: Vec<String>,
    pub(crate) defaults: Map<String, Value>,
}

/// The hints on a tool's schema. Those on single properties are in the guide.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Hints {
    /// Whether the tool destroys something, if its author says so.
    pub(crate) destructive: Option<bool>,
    /// The field that a plain value belongs to.
    pub(crate) main_field: Option<String>,
    /// A sentence for the tool's description.
    pub(crate) contract: Option<String>,
    pub(crate) relational: Vec<Relation>,
}

impl Hints {
    /// The hints of a tool's schema.
    pub(crate) fn of(schema: &Value) -> Self {
        let Some(schema) = schema.as_object() else { return Hints::default() };
        let text = |name| hint(schema, name).and_then(Value::as_str).map(str::to_owned);
        Hints {
            destructive: hint(schema, "destructive").and_then(Value::as_bool),
            main_field: text("main_field"),
            contract: text("contract"),
            relational: hint(schema, "relational")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(relation)
                .collect(),
        }
    }
}

/// The hint of that name on a subschema, under either keyword.
fn hint<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    KEYWORDS.iter().find_map(|keyword| schema.get(*keyword)?.get(name))
}

/// One relation, in either spelling.
fn relation(value: &Value) -> Option<Relation> {
    let either = |names: [&str; 2]| names.into_iter().find_map(|name| value.get(name));
    let fields = either(["fields", "requires"])?.as_array()?;
    let defaults = either(["default", "defaults"])?.as_object()?;
    Some(Relation {
        fields: fields.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        defaults: defaults.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_keywords_and_both_spellings_are_read() {
        let ours = Hints::of(&json!({"x-toolmend": {
            "destructive": true, "main_field": "path", "contract": "Paths are plain.",
            "relational": [{"fields": ["offset", "limit"], "default": {"offset": 0}}],
        }}));
        assert_eq!(ours.destructive, Some(true));
        assert_eq!(ours.main_field.as_deref(), Some("path"));
        assert_eq!(ours.contract.as_deref(), Some("Paths are plain."));
        let theirs = Hints::of(&json!({"dirge-hints": {
            "relational": [{"requires": ["offset", "limit"], "defaults": {"offset": 0}}],
        }}));
        assert_eq!(ours.relational, theirs.relational);
    }

    #[test]
    fn a_hint_that_cannot_be_read_is_ignored() {
        assert_eq!(
            Hints::of(&json!({"x-toolmend": {"relational": [{"fields": 1}], "destructive": "very"}})),
            Hints::default()
        );
        let semantic = |schema: Value| Semantic::of(schema.as_object().unwrap());
        assert_eq!(semantic(json!({"x-toolmend": {"semantic": "music"}})), None);
        assert_eq!(semantic(json!({"dirge-hints": {"semantic": "url"}})), Some(Semantic::Url));
        assert_eq!(semantic(json!({"x-dirge-kind": "path"})), Some(Semantic::AbsolutePath));
    }
}
