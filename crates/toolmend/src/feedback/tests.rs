use serde_json::json;

use super::{CallContext, MAX_CHARS, write_feedback};
use crate::policy::Limits;
use crate::tools::Tool;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

/// Checks the feedback for a refusal of the syntax layer.
fn check_refusal(outcome: Outcome, refusal: Refusal, sent: &str, expected: &[&str]) {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    });
    let tools = [Tool::new("write_file", &schema).unwrap()];
    let context = CallContext {
        called: "write_file",
        tool: tools.first(),
        schema: tools[0].schema(),
        sent,
        value: serde_json::from_str(sent).ok(),
        declared: &tools,
        is_plain_json: false,
        limits: Limits::default(),
        max_chars: MAX_CHARS,
    };
    let verdict = Verdict::refused(sent, outcome, refusal);
    assert_eq!(write_feedback(&verdict, &context), expected.join("\n"));
}

#[test]
fn a_truncated_call_says_how_to_split_it() {
    let sent = format!(r#"{{"path":"a.html","content":"{}"#, "<p>".repeat(200));
    let refusal = Refusal {
        cut: Some("/content".to_owned()),
        partial: Some(r#"{"path":"a.html"}"#.to_owned()),
        ..Refusal::default()
    };
    check_refusal(
        Outcome::Truncated,
        refusal,
        &sent,
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: the output was cut off inside `/content`; a partial call is never run.",
            "Complete: `path`",
            "Next: only about 628 characters fit, so keep each call under 314 characters: put the first part of `/content` into one call to `write_file`, then add the rest with more calls that append or edit.",
        ],
    );
}

#[test]
fn a_truncated_path_has_to_be_sent_again_in_full() {
    let refusal = Refusal { cut: Some("/path".to_owned()), ..Refusal::default() };
    check_refusal(
        Outcome::Truncated,
        refusal,
        r#"{"path":"/srv/data/pro"#,
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: the output was cut off inside `/path`; a partial call is never run.",
            "Next: send the whole call again: `/path` has to be complete in one call to `write_file`. Say less before it, so that it fits.",
        ],
    );
}

#[test]
fn an_ambiguous_call_shows_both_readings() {
    let refusal = Refusal {
        reason: Some(Reason::Ambiguous),
        readings: vec![r#"{"path":"a, b"}"#.to_owned(), r#"{"path":"a","b":1}"#.to_owned()],
        ..Refusal::default()
    };
    check_refusal(
        Outcome::Rejected,
        refusal,
        "{path: a, b}",
        &[
            "Tool call rejected: `write_file` was not run.",
            "Problem: it can be read in two ways, so neither was chosen.",
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
    check_refusal(
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
