//! The sentence in a tool's description that would have helped.

use serde_json::json;
use toolmend::with_contract_hints;

/// What to tell a model that keeps needing these repairs. The first row that fits counts.
const SENTENCES: &[(&[&str], &str)] = &[
    (
        &["inner_quote_escaped", "over_escaped_quote_fixed", "doubled_quote_removed", "missing_quote_added"],
        "Quotes inside of a string are escaped with one backslash.",
    ),
    (
        &["control_character_escaped", "triple_quotes_replaced"],
        "Line breaks inside of a string are written as \\n.",
    ),
    (&["invalid_escape_fixed", "escaped_apostrophe_fixed"], "A backslash in a string is written twice."),
    (
        &["string_to_number", "string_to_boolean", "string_to_null", "number_to_boolean", "float_to_integer"],
        "Numbers, true, false and null are written without quotes.",
    ),
    (
        &["string_to_container", "double_encoding_removed", "over_escaping_removed"],
        "Arrays and objects are written as JSON, not as a string that holds JSON.",
    ),
    (&["value_to_array", "empty_object_to_array"], "A list is an array even where it has one element."),
    (&["scalar_to_string"], "Text is written in double quotes even where it is a number."),
    (
        &["null_dropped", "empty_string_dropped", "not_a_number_to_null"],
        "Optional fields that are not needed are left out, not sent as null or empty.",
    ),
    (
        &["key_respelled", "key_renamed", "unknown_key_dropped", "paths_unflattened", "value_lifted"],
        "Only the declared fields exist, spelled exactly as declared.",
    ),
    (&["enum_matched"], "The value is one of the declared ones, spelled exactly as declared."),
    (
        &["envelope_removed", "placeholder_unwrapped", "main_field_wrapped"],
        "The arguments are one object with the declared fields, without another object around them.",
    ),
    (&["link_unwrapped"], "Paths and addresses are plain text, not Markdown links."),
    (
        &["fence_removed", "prose_removed", "comment_removed"],
        "Nothing but the JSON object stands in the arguments.",
    ),
    (
        &["name_respelled", "name_cleaned", "arguments_taken_from_name"],
        "The tool is called by its exact name.",
    ),
    (
        &["call_syntax_read", "key_value_text_read", "command_line_read"],
        "Arguments are a JSON object, not a command line or a function call.",
    ),
    (
        &["quotes_replaced", "key_quoted", "value_quoted", "trailing_comma_removed", "literal_spelled"],
        "Arguments are strict JSON: double quotes around keys and strings, no comma after the last member.",
    ),
    (
        &["missing_closer_added", "extra_closer_removed", "closer_replaced"],
        "Every bracket is closed exactly once.",
    ),
];

/// For calls that were cut off or refused, whatever their repairs.
const SHORTER: &str = "Long content is sent in several smaller calls.";

/// The sentence for a tool whose calls need these repairs, the most frequent first.
pub(super) fn hint(tool: &str, kinds: &[(String, u64)], failed: bool) -> Option<String> {
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
    fn the_tool_counts_before_the_repairs() {
        let kinds = [("string_to_number".to_owned(), 3)];
        assert!(hint("read_file", &kinds, false).unwrap().contains("plain text"));
        assert!(hint("deploy", &kinds, false).unwrap().contains("without quotes"));
        assert_eq!(hint("deploy", &[], false), None);
        assert_eq!(hint("deploy", &[], true).as_deref(), Some(SHORTER));
    }

    #[test]
    fn every_kind_is_one_of_the_library_and_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for kind in SENTENCES.iter().flat_map(|(names, _)| *names) {
            assert!(toolmend::REPAIRS.iter().any(|row| row.name == *kind), "{kind}");
            assert!(seen.insert(kind), "{kind} twice");
        }
    }
}
