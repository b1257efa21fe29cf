//! Feedback for the model about calls that do not fit their schema or name no declared tool.

use serde_json::{Value, json};
use toolmend::Mender;

fn mender() -> Mender {
    Mender::new(&json!([
        {"name": "search", "description": "x".repeat(5000), "input_schema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for", "minLength": 2},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "mode": {"enum": ["fast", "full"]},
                "filter": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Filter"}]},
                "filters": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
            },
            "required": ["query"],
            "additionalProperties": false,
            "$defs": {"Filter": {"type": "object", "properties": {"field": {"type": "string"}}, "required": ["field"]}},
        }},
        {"name": "write_file", "input_schema": {"type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"]}},
    ]))
    .unwrap()
}

fn check(tool: &str, arguments: &str, expected: &[&str]) {
    let verdict = mender().mend(tool, arguments).into_owned();
    assert_eq!(verdict.feedback(), Some(expected.join("\n").as_str()), "{tool} {arguments}");
}

#[test]
fn a_wrong_type_says_how_the_value_is_written() {
    check(
        "search",
        r#"{"query":"rust","limit":[1,2]}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/limit` must be an integer without quotes.",
            r#"Expected: {"maximum":50,"minimum":1,"type":"integer"}"#,
            "Got: [1,2]",
            "Correct as sent: `query`",
            "Next: write `/limit` as an integer without quotes, then send the call again.",
        ],
    );
}

#[test]
fn a_missing_field_is_named_with_its_type() {
    check(
        "search",
        r#"{"limit":5}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `query` is required in the arguments but missing.",
            r#"Expected: {"query":{"description":"What to look for","minLength":2,"type":"string"}}"#,
            r#"Got: {"limit":5}"#,
            "Correct as sent: `limit`",
            "Next: add `query` (string) to the arguments and keep the rest, then send the call again.",
        ],
    );
}

#[test]
fn an_unknown_field_comes_with_the_closest_name() {
    check(
        "search",
        r#"{"limit_max":5,"query":"rust"}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `limit_max` is not a field of the arguments.",
            "Expected: one JSON object with `query` (string, required), `filter` (any value), `filters` (array), `limit` (integer), `mode` (one of a list)",
            r#"Got: {"limit_max":5,"query":"rust"}"#,
            "Correct as sent: `query`",
            "Next: rename `limit_max` to `limit` if that is what you mean, otherwise remove it, then send the call again.",
        ],
    );
}

#[test]
fn further_violations_are_listed() {
    check(
        "search",
        r#"{"query":"rust","limit":99,"mode":"slow"}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/limit` must be a number that is at most 50.",
            r#"Expected: {"maximum":50,"minimum":1,"type":"integer"}"#,
            "Got: 99",
            r#"Also wrong: `/mode` must be one of "fast", "full""#,
            "Correct as sent: `query`",
            "Next: set `/limit` to a number that is at most 50, then send the call again.",
        ],
    );
}

#[test]
fn unions_and_references_are_written_out() {
    check(
        "search",
        r#"{"query":"rust","filter":7}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/filter` must match at least one of the allowed forms.",
            r#"Expected: {"anyOf":[{"type":"null"},{"properties":{"field":{"type":"string"}},"required":["field"],"type":"object"}]}"#,
            "Got: 7",
            "Correct as sent: `query`",
            "Next: write `/filter` as one of these: null, one JSON object with `field` (string, required), then send the call again.",
        ],
    );
    check(
        "search",
        r#"{"query":"rust","filters":[{}]}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `field` is required in `/filters/0` but missing.",
            r#"Expected: {"field":{"type":"string"}}"#,
            "Got: {}",
            "Correct as sent: `query`",
            "Next: add `field` (string) to `/filters/0` and keep the rest, then send the call again.",
        ],
    );
}

#[test]
fn an_unknown_tool_comes_with_suggestions() {
    check(
        "serch",
        "{}",
        &[
            "Tool call rejected: `serch` was not run.",
            "Problem: no tool has this name.",
            "Closest tools: `search`",
            "Next: if you meant `search`, send the call again with that exact name.",
        ],
    );
    check(
        "zzz",
        "{}",
        &[
            "Tool call rejected: `zzz` was not run.",
            "Problem: no tool has this name.",
            "Available tools: `search`, `write_file`",
            "Next: send the call again with one of these exact names.",
        ],
    );
}

#[test]
fn every_feedback_keeps_to_its_limit() {
    let long = json!({"query": "é".repeat(9000), "limit": "ü".repeat(9000), "x".repeat(9000): 1});
    let mender = mender();
    for limit in [1200, 300, 40] {
        let small = Mender::builder()
            .tools(&json!([{"name": "search", "input_schema": mender.tool("search").unwrap().schema().unwrap().source()}]))
            .feedback_limit(limit)
            .build()
            .unwrap();
        for (tool, arguments) in
            [("search", &long), ("search", &json!([])), (&"ß".repeat(5000), &json!({})), ("", &Value::Null)]
        {
            let verdict = small.mend_value(tool, arguments);
            let text = verdict.feedback().unwrap();
            assert!(text.chars().count() <= limit, "{} > {limit}: {text}", text.chars().count());
            if limit == 1200 {
                assert!(text.contains("\nNext: "), "{text}");
            }
        }
        let verdict = small.mend("search", &"{\u{1F600}".repeat(3000)).into_owned();
        assert!(verdict.feedback().unwrap().chars().count() <= limit);
    }
}
