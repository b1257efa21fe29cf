//! The example agent reports every repair, every refusal and every malformed call once, and a summary at its end.

use std::process::Command;

#[path = "../examples/traced_agent.rs"]
mod traced_agent;

/// Runs the agent. It is the child process of the other test, which sets what is logged.
#[test]
#[ignore = "run by the test below, with RUST_LOG"]
fn run_agent() {
    traced_agent::main().unwrap();
}

#[test]
fn the_agent_reports_events_and_a_summary() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run_agent", "--ignored", "--nocapture"])
        .env("RUST_LOG", "tool_repair=info,tool_input_invalid=info")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let count =
        |parts: &[&str]| log.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count();
    assert!(output.status.success(), "{log}");

    let repaired = ["tool_repair: tool_input_repaired", r#"tool="read_file" model="small-model""#];
    for kind in ["name_respelled", "string_to_number", "trailing_comma_removed"] {
        assert_eq!(
            count(&[repaired[0], repaired[1], &format!(r#"repair_kind="{kind}""#)]),
            1,
            "{kind}\n{log}"
        );
    }
    assert_eq!(count(&repaired), 3, "{log}");

    let invalid = ["WARN tool_input_invalid: tool_input_invalid", r#"tool="read_file" model="small-model""#];
    assert_eq!(count(&invalid), 2, "{log}");
    assert_eq!(count(&[invalid[0], r#"reason="schema""#]), 1, "{log}");

    for (id, outcome) in [("call-2", "local-salvage"), ("call-3", "re-prompt"), ("call-3", "gave-up")] {
        let parts = [&*format!(r#"call_id="{id}""#), &*format!(r#"outcome="{outcome}""#)];
        assert_eq!(count(&["tool.call_repaired", parts[0], parts[1]]), 1, "{log}");
    }
    assert_eq!(count(&["tool.call_repaired"]), 3, "{log}");
    assert_eq!(
        count(&["repair summary", "calls=4", "mended=1", "invalid=2", "string_to_number=1"]),
        1,
        "{log}"
    );
    assert_eq!(log.lines().count(), 9, "nothing else is reported\n{log}");
}
