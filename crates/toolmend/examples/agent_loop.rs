//! An agent loop: mend the calls of a turn, run them or send them back, and count.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::json;
use toolmend::{Finish, Mender, Recovery, Reprompt, Stats, ToolsError, with_contract_hints};

fn main() -> Result<(), ToolsError> {
    let tools = json!([
        {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": {
            "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}},
        {"name": "list_dir", "input_schema": {"type": "object", "properties": {"dir": {"type": "string"}}}},
    ]);
    // The model gets the tools with advice in their descriptions. Schemas are unchanged.
    let advised = with_contract_hints(&tools);
    let mender = Mender::new(&advised)?;
    let stats = Stats::new();
    let mut reprompt = Reprompt::default();

    for (id, name, arguments, finish_reason) in [
        ("1", "read_file", r#"{"path": "a.txt"}"#, "tool_calls"),
        ("2", "functions.ListDir", "", "tool_calls"),
        ("3", "read_file", "{}", "tool_calls"),
        ("4", "open", r#"{"path": "a.txt"}"#, "tool_calls"),
    ] {
        let verdict = mender.mend_finished(name, arguments, Finish::from_reason(finish_reason));
        stats.record(&verdict, "some-model");
        let label = reprompt.label(id, &verdict).map_or("clean", Recovery::name);
        println!("{id} {label}: {:?} {:?}", verdict.tool(), verdict.json());
        if let Some(feedback) = verdict.feedback() {
            println!("{feedback}");
        }
    }
    println!("{:?}, {} invalid", stats.snapshot().by_kind(), stats.snapshot().invalid());
    Ok(())
}
