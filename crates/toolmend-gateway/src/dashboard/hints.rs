//! Suggests a sentence for a tool's description that would prevent its most frequent repairs.

use serde_json::json;
use toolmend::with_contract_hints;

/// Sentences for models that keep needing these repairs. The first matching row wins.
const SENTENCES: &[(&[&str], &str)] = &[
    (
        &["inner_quote_escaped", "over_escaped_quote_fixed", "doubled_quote_removed", "missing_quote_added"],
        "Escape quotes inside a string with one backslash.",
    ),
    (&["control_character_escaped", "triple_quotes_replaced"], "Write line breaks inside a string as \\n."),
    (
        &["invalid_escape_fixed", "escaped_apostrophe_fixed"],
        "Write a backslash inside a string as two backslashes.",
    ),
    (
        &["string_to_number", "string_to_boolean", "string_to_null", "number_to_boolean", "float_to_integer"],
        "Write numbers, true, false and null without quotes.",
    ),
    (
        &["string_to_container", "list_text_split", "double_encoding_removed", "over_escaping_removed"],
        "Write arrays and objects as JSON, not as a string that contains JSON.",
    ),
    (
        &["value_to_array", "empty_object_to_array", "indexed_object_to_array"],
        "Write a list as an array, even if it has only one element.",
    ),
    (
        &["scalar_to_string", "container_to_text"],
        "Write text in double quotes, even if it looks like a number or is JSON itself.",
    ),
    (&["element_unwrapped"], "Write a single value without brackets around it."),
    (
        &["null_dropped", "empty_string_dropped", "not_a_number_to_null"],
        "Leave out optional fields that are not needed; do not send null or empty values.",
    ),
    (
        &["key_respelled", "key_renamed", "unknown_key_dropped", "paths_unflattened", "value_lifted"],
        "Use only the declared fields, spelled exactly as declared.",
    ),
    (&["enum_matched"], "Use one of the declared values, spelled exactly as declared."),
    (
        &[
            "envelope_removed",
            "placeholder_unwrapped",
            "main_field_wrapped",
            "list_to_object",
            "tool_label_dropped",
        ],
        "Write the arguments as one object with the declared fields, not wrapped in another object.",
    ),
    (&["link_unwrapped"], "Write paths and addresses as plain text, not as Markdown links."),
    (
        &["fence_removed", "prose_removed", "comment_removed"],
        "Write only the JSON object as the arguments, with nothing before or after it.",
    ),
    (&["name_respelled", "name_cleaned", "arguments_taken_from_name"], "Call the tool by its exact name."),
    (
        &[
            "call_syntax_read",
            "key_value_text_read",
            "key_lines_read",
            "yaml_read",
            "toml_read",
            "query_string_read",
            "arrow_array_read",
            "xml_attributes_read",
            "command_line_read",
        ],
        "Write the arguments as a JSON object, not as YAML, a command line or a function call.",
    ),
    (
        &["quotes_replaced", "key_quoted", "value_quoted", "trailing_comma_removed", "literal_spelled"],
        "Write strict JSON: double quotes around keys and strings, and no comma after the last member.",
    ),
    (
        &["missing_closer_added", "extra_closer_removed", "closer_replaced"],
        "Close every bracket exactly once.",
    ),
];

/// The suggestion for truncated and refused calls without a more specific one.
const SHORTER: &str = "Send long content in several smaller calls.";

/// Returns a suggestion for a tool whose calls need these repairs, the most frequent first.
pub(super) fn suggest(tool: &str, kinds: &[(String, u64)], failed: bool) -> Option<String> {
    let family = with_contract_hints(&json!([{"name": tool, "parameters": {"type": "object"}}]));
    if let Some(sentence) = family[0]["description"].as_str().filter(|text| !text.is_empty()) {
        return Some(sentence.to_owned());
    }
    let known = kinds.iter().find_map(|(kind, _)| {
        SENTENCES.iter().find(|(names, _)| names.contains(&kind.as_str())).map(|(_, sentence)| *sentence)
    });
    known.or(failed.then_some(SHORTER)).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_well_known_tool_takes_precedence_over_repairs() {
        let kinds = [("string_to_number".to_owned(), 3)];
        assert!(suggest("read_file", &kinds, false).unwrap().contains("plain text"));
        assert!(suggest("deploy", &kinds, false).unwrap().contains("without quotes"));
        assert_eq!(suggest("deploy", &[], false), None);
        assert_eq!(suggest("deploy", &[], true).as_deref(), Some(SHORTER));
    }

    #[test]
    fn every_kind_exists_in_the_library_and_is_listed_once() {
        let mut seen = std::collections::HashSet::new();
        for kind in SENTENCES.iter().flat_map(|(names, _)| *names) {
            assert!(toolmend::REPAIRS.iter().any(|row| row.name == *kind), "{kind}");
            assert!(seen.insert(kind), "{kind} twice");
        }
    }
}
