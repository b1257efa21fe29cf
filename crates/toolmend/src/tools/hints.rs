//! What a tool's author says about it, wherever that stands: in the schema, beside it, in the MCP annotations.

use serde_json::Value;

use super::Declared;
use crate::schema::hints::Hints;

/// Everything that is said about one tool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) destructive: bool,
    pub(crate) main_field: Option<String>,
    pub(crate) contract: Vec<String>,
}

impl Said {
    pub(crate) fn about(declared: &Declared<'_>) -> Self {
        let mut said =
            Said { destructive: declared.about.is_some_and(annotated_destructive), ..Said::default() };
        let places = [declared.about, declared.schema].into_iter().flatten();
        for hints in places.map(Hints::of) {
            said.destructive |= hints.destructive.unwrap_or(false);
            said.main_field = said.main_field.or(hints.main_field);
            // A map of names to schemas has both in one place.
            said.contract.extend(hints.contract.filter(|sentence| !said.contract.contains(sentence)));
        }
        let properties = declared.schema.and_then(|schema| schema.get("properties")?.as_object());
        said.main_field =
            said.main_field.filter(|field| properties.is_some_and(|known| known.contains_key(field)));
        said
    }
}

/// The MCP annotation. Absent counts as false: MCP's own default would put every tool under suspicion.
fn annotated_destructive(about: &Value) -> bool {
    about.get("annotations").and_then(|notes| notes.get("destructiveHint")?.as_bool()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::declared;
    use serde_json::json;

    #[test]
    fn all_places_are_read() {
        let properties = json!({"a": {"type": "string"}});
        let said = |tools: Value| Said::about(&declared(&tools).0[0]);
        let hinted = json!({"destructive": true, "main_field": "a", "contract": "Be brief."});
        let full =
            Said { destructive: true, main_field: Some("a".into()), contract: vec!["Be brief.".into()] };
        assert_eq!(
            said(json!([{"name": "f", "parameters": {"properties": properties, "x-toolmend": hinted}}])),
            full
        );
        assert_eq!(
            said(json!([{"name": "f", "parameters": {"properties": properties}, "x-toolmend": hinted}])),
            full
        );
        assert_eq!(said(json!({"f": {"properties": properties, "dirge-hints": hinted}})), full);
        assert!(said(json!([{"name": "f", "annotations": {"destructiveHint": true}}])).destructive);
        assert_eq!(said(json!([{"name": "f", "annotations": {"readOnlyHint": false}}])), Said::default());
        let stray = json!([{"name": "f", "parameters": {"properties": properties, "x-toolmend": {"main_field": "b"}}}]);
        assert_eq!(said(stray), Said::default(), "a field that the schema does not declare");
    }
}
