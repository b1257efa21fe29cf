//! An agent loop that reports its repairs as events, and a summary at its end.
//!
//! ```sh
//! RUST_LOG=tool_repair=info,tool_input_invalid=info cargo run --example traced_agent --features tracing
//! ```

use serde_json::{Value, json};
use toolmend::{Mender, Recovery, Reprompt, Stats, ToolsError};
use tracing_subscriber::EnvFilter;

const MODEL: &str = "small-model";

/// What the model answers, turn by turn: the id of the call, the tool and the arguments.
const ANSWERS: [(&str, &str, &str); 4] = [
    ("call-1", "read_file", r#"{"path": "a.txt"}"#),
    ("call-2", "ReadFile", r#"{"path": "b.txt", "limit": "30",}"#),
    ("call-3", "read_file", "{}"),
    ("call-3", "read_file", "no idea"),
];

/// Runs the agent.
///
/// # Errors
/// If the tools cannot be read.
pub(crate) fn main() -> Result<(), ToolsError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let tools = json!([{"name": "read_file", "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    }}]);
    let mender = Mender::builder().tools(&tools).trace(MODEL).build()?;
    let mut reprompt = Reprompt::default().trace(MODEL);
    let stats = Stats::new();
    for (id, tool, arguments) in ANSWERS {
        let verdict = mender.mend(tool, arguments);
        stats.record(&verdict, MODEL);
        match (verdict.value(), reprompt.label(id, &verdict)) {
            (Some(arguments), _) => run_tool(&arguments),
            (None, Some(Recovery::Reprompt)) => send_back(verdict.feedback().unwrap_or_default()),
            (None, _) => break,
        }
    }
    stats.snapshot().trace();
    Ok(())
}

/// Stands for the tool.
fn run_tool(_arguments: &Value) {}

/// Stands for the next request to the model.
fn send_back(_feedback: &str) {}
