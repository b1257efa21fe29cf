use serde_json::{Value, json};

use super::{About, write};
use crate::mender::Mender;
use crate::policy::Limits;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

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
fn a_wrong_type() {
    check(
        "search",
        r#"{"query":"rust","limit":[1,2]}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/limit` must be an integer without quotes.",
            r#"Expected: {"maximum":50,"minimum":1,"type":"integer"}"#,
            "Got: [1,2]",
            "Fine as sent: `query`",
            "Next: write `/limit` as an integer without quotes, then send the call again.",
        ],
    );
}

#[test]
fn a_missing_field() {
    check(
        "search",
        r#"{"limit":5}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `query` is required in the arguments and missing.",
            r#"Expected: {"query":{"description":"What to look for","minLength":2,"type":"string"}}"#,
            r#"Got: {"limit":5}"#,
            "Fine as sent: `limit`",
            "Next: add `query` (string) to the arguments and keep the rest, then send the call again.",
        ],
    );
}

#[test]
fn an_unknown_field() {
    check(
        "search",
        r#"{"limits":5,"query":"rust"}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `limits` is no field of the arguments.",
            "Expected: one JSON object with `query` (string, required), `filter` (any value), `filters` (array), `limit` (integer), `mode` (one of a list)",
            r#"Got: {"limits":5,"query":"rust"}"#,
            "Fine as sent: `query`",
            "Next: rename `limits` to `limit` if that is what you mean, else remove it, then send the call again.",
        ],
    );
}

#[test]
fn several_violations_and_a_list() {
    check(
        "search",
        r#"{"query":"rust","limit":99,"mode":"slow"}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/limit` must be a number of at most 50.",
            r#"Expected: {"maximum":50,"minimum":1,"type":"integer"}"#,
            "Got: 99",
            r#"Also wrong: `/mode` must be one of "fast", "full""#,
            "Fine as sent: `query`",
            "Next: set `/limit` to a number of at most 50, then send the call again.",
        ],
    );
}

#[test]
fn a_union_and_a_reference() {
    check(
        "search",
        r#"{"query":"rust","filter":7}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `/filter` must fit at least one of the allowed forms.",
            r#"Expected: {"anyOf":[{"type":"null"},{"properties":{"field":{"type":"string"}},"required":["field"],"type":"object"}]}"#,
            "Got: 7",
            "Fine as sent: `query`",
            "Next: write `/filter` as one of these: null, one JSON object with `field` (string, required), then send the call again.",
        ],
    );
    check(
        "search",
        r#"{"query":"rust","filters":[{}]}"#,
        &[
            "Tool call rejected: `search` was not run.",
            "Problem: `field` is required in `/filters/0` and missing.",
            r#"Expected: {"field":{"type":"string"}}"#,
            "Got: {}",
            "Fine as sent: `query`",
            "Next: add `field` (string) to `/filters/0` and keep the rest, then send the call again.",
        ],
    );
}

#[test]
fn an_unknown_tool() {
    check(
        "serch",
        "{}",
        &[
            "Tool call rejected: `serch` was not run.",
            "Problem: no tool has this name.",
            "Closest tools: `search`",
            "Next: if you meant `search`, send the call again with exactly that name.",
        ],
    );
    check(
        "zzz",
        "{}",
        &[
            "Tool call rejected: `zzz` was not run.",
            "Problem: no tool has this name.",
            "Available tools: `search`, `write_file`",
            "Next: send the call again with exactly one of these names.",
        ],
    );
}

/// Feedback for troubles that the syntax layer finds.
fn check_trouble(outcome: Outcome, refusal: Refusal, sent: &str, expected: &[&str]) {
    let mender = mender();
    let verdict = Verdict::refused(sent, outcome, refusal);
    let text = write(&verdict, &about(&mender, "write_file", sent));
    assert_eq!(text, expected.join("\n"));
}

fn about<'a>(mender: &'a Mender, tool: &'a str, sent: &'a str) -> About<'a> {
    About {
        called: tool,
        tool: mender.tool(tool),
        schema: mender.tool(tool).and_then(crate::tools::Tool::schema),
        sent,
        value: serde_json::from_str(sent).ok(),
        declared: mender.tools(),
        plain: false,
        limits: Limits::default(),
        max_chars: super::MAX_CHARS,
    }
}

#[test]
fn a_cut_call() {
    let sent = format!(r#"{{"path":"a.html","content":"{}"#, "<p>".repeat(200));
    let refusal = Refusal {
        cut: Some("/content".to_owned()),
        partial: Some(r#"{"path":"a.html"}"#.to_owned()),
        ..Refusal::default()
    };
    check_trouble(
        Outcome::Truncated,
        refusal,
        &sent,
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: the output was cut off inside `/content`; a partial call is never run.",
            "Complete: `path`",
            "Next: only about 628 characters fitted, so keep each call under 314: put the first part of `/content` into one call to `write_file`, then add the rest with further calls that append or edit.",
        ],
    );
}

#[test]
fn two_readings() {
    let refusal = Refusal {
        reason: Some(Reason::Ambiguous),
        readings: vec![r#"{"path":"a, b"}"#.to_owned(), r#"{"path":"a","b":1}"#.to_owned()],
        ..Refusal::default()
    };
    check_trouble(
        Outcome::Rejected,
        refusal,
        "{path: a, b}",
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: it can be read in two ways, and toolmend does not guess.",
            r#"One reading: {"path":"a, b"}"#,
            r#"Another reading: {"path":"a","b":1}"#,
            r#"Next: write the arguments again as strict JSON so that only one of these readings is possible: escape quotes inside strings as \" and close every string."#,
        ],
    );
}

#[test]
fn unreadable_text_shows_no_parser_error() {
    let refusal = Refusal {
        reason: Some(Reason::Syntax),
        message: "expected `,` or `}` at line 1 column 9".to_owned(),
        ..Refusal::default()
    };
    check_trouble(
        Outcome::Rejected,
        refusal,
        "{path}}}: [",
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: the arguments are not valid JSON.",
            "Expected: one JSON object with `content` (string, required), `path` (string, required)",
            "Got: {path}}}: [",
            r#"Next: send the arguments again as one JSON object: keys and strings in double quotes, quotes inside strings as \", line breaks as \n, nothing before or after it."#,
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
