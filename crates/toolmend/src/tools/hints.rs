//! Hints that the author of a tool gives: in the schema, next to it, or in the MCP annotations.
//!
//! A hint that cannot be read is ignored. It never makes a tool unusable.

use serde_json::Value;

use super::ToolDeclaration;
use crate::schema::hints::Hints;

/// The hints about one tool, from all sources.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ToolHints {
    pub(crate) destructive: bool,
    pub(crate) main_field: Option<String>,
    pub(crate) contract: Vec<String>,
}

impl ToolHints {
    /// Collects the hints in a declaration.
    pub(crate) fn of(declaration: &ToolDeclaration<'_>) -> Self {
        let mut found = ToolHints {
            destructive: declaration.definition.is_some_and(annotated_destructive),
            ..ToolHints::default()
        };
        let sources = [declaration.definition, declaration.schema].into_iter().flatten();
        for hints in sources.map(Hints::of) {
            found.destructive |= hints.destructive.unwrap_or(false);
            found.main_field = found.main_field.or(hints.main_field);
            // In a map of names to schemas, the definition and the schema are the same object.
            found.contract.extend(hints.contract.filter(|sentence| !found.contract.contains(sentence)));
        }
        let properties = declaration.schema.and_then(|schema| schema.get("properties")?.as_object());
        found.main_field =
            found.main_field.filter(|field| properties.is_some_and(|known| known.contains_key(field)));
        found
    }
}

/// Reads the MCP annotation. If it is absent the tool is not destructive: by MCP's own default, every tool would be.
fn annotated_destructive(definition: &Value) -> bool {
    definition.get("annotations").and_then(|notes| notes.get("destructiveHint")?.as_bool()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::read_declarations;
    use serde_json::json;

    #[test]
    fn hints_are_read_from_every_source() {
        let properties = json!({"a": {"type": "string"}});
        let hints_in = |tools: Value| ToolHints::of(&read_declarations(&tools).0[0]);
        let hinted = json!({"destructive": true, "main_field": "a", "contract": "Be brief."});
        let full =
            ToolHints { destructive: true, main_field: Some("a".into()), contract: vec!["Be brief.".into()] };
        assert_eq!(
            hints_in(json!([{"name": "f", "parameters": {"properties": properties, "x-toolmend": hinted}}])),
            full
        );
        assert_eq!(
            hints_in(json!([{"name": "f", "parameters": {"properties": properties}, "x-toolmend": hinted}])),
            full
        );
        assert_eq!(hints_in(json!({"f": {"properties": properties, "dirge-hints": hinted}})), full);
        assert!(hints_in(json!([{"name": "f", "annotations": {"destructiveHint": true}}])).destructive);
        assert_eq!(
            hints_in(json!([{"name": "f", "annotations": {"readOnlyHint": false}}])),
            ToolHints::default()
        );
        let stray = json!([{"name": "f", "parameters": {"properties": properties, "x-toolmend": {"main_field": "b"}}}]);
        assert_eq!(hints_in(stray), ToolHints::default(), "a field that the schema does not declare");
    }
}
