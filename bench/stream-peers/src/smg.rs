//! `tool-parser`, the parser of the smg gateway.

use std::hint::black_box;

use futures::executor::block_on;
use openai_protocol::common::Tool;
use serde_json::Value;
use tool_parser::ParserFactory;

use crate::timing::{Work, measure_shortest};
use crate::{Answer, Call, ROUNDS};

/// Returns its name for a dialect.
fn parser_name(dialect: &str) -> Option<&'static str> {
    Some(match dialect {
        "hermes_json" => "qwen",
        "qwen3_xml" => "qwen_xml",
        "kimi_k2" => "kimik2",
        "glm47" => "glm47_moe",
        "mistral_array" => "mistral",
        "deepseek_v31" => "deepseek31",
        "pythonic" => "pythonic",
        _ => return None,
    })
}

/// Reads the pieces and measures the time.
pub(crate) fn read_stream(dialect: &str, pieces: &[&str], tools: &Value) -> Option<Answer> {
    let tools: Vec<Tool> = serde_json::from_value(tools.clone()).ok()?;
    let factory = ParserFactory::new();
    let name = parser_name(dialect)?;
    let run = || -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        let Some(mut parser) = factory.registry().create_parser(name) else { return calls };
        let mut add_item = |item: tool_parser::types::ToolCallItem| {
            while calls.len() <= item.tool_index {
                calls.push(Call::default());
            }
            let call = &mut calls[item.tool_index];
            call.0.extend(item.name);
            call.1.push_str(&item.parameters);
        };
        for piece in pieces {
            if let Ok(found) = block_on(parser.parse_incremental(piece, &tools)) {
                found.calls.into_iter().for_each(&mut add_item);
            }
        }
        parser.get_unstreamed_tool_args().into_iter().flatten().for_each(&mut add_item);
        calls
    };
    let calls = run();
    let mut works: [Work<'_>; 1] = [Box::new(|| drop(black_box(run())))];
    Some(Answer { calls, nanoseconds: *measure_shortest(&mut works, ROUNDS).first()? })
}
