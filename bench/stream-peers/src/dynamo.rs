//! `dynamo-parsers`, the parser of NVIDIA Dynamo, which filters streams of chat completions.

use std::hint::black_box;

use dynamo_parsers::tool_calling::ToolDefinition;
use dynamo_parsers::tool_calling::jail::{Annotated, JailedStream};
use dynamo_protocols::types::CreateChatCompletionStreamResponse;
use futures::StreamExt;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::timing::{Work, measure_shortest};
use crate::{Answer, Call, ROUNDS};

type Chunk = Annotated<CreateChatCompletionStreamResponse>;

/// Returns its name for a dialect.
fn parser_name(dialect: &str) -> Option<&'static str> {
    Some(match dialect {
        "hermes_json" => "hermes",
        "qwen3_xml" => "qwen3_coder",
        "kimi_k2" => "kimi_k2",
        "glm47" => "glm47",
        "mistral_array" => "mistral",
        "deepseek_v31" => "deepseek_v3_1",
        "pythonic" => "pythonic",
        _ => return None,
    })
}

/// Reads the pieces and measures the time.
pub(crate) fn read_stream(dialect: &str, pieces: &[&str], tools: &Value) -> Option<Answer> {
    let parser = parser_name(dialect)?;
    let tools: Vec<ToolDefinition> = tools
        .as_array()?
        .iter()
        .map(|tool| ToolDefinition {
            name: tool["function"]["name"].as_str().unwrap_or_default().to_owned(),
            parameters: tool["function"].get("parameters").cloned(),
            strict: None,
        })
        .collect();
    let chunks: Vec<Chunk> = pieces.iter().map(|piece| build_chunk(piece)).collect::<Option<_>>()?;
    let run = || {
        let stream = futures::stream::iter(chunks.clone());
        let jail = JailedStream::builder().tool_call_parser(parser).tool_definitions(tools.clone()).build();
        block_on(jail.apply(stream).collect::<Vec<Chunk>>())
    };
    let calls = collect_calls(&run());
    // A server has the chunks anyway, so the time to clone them is subtracted.
    let mut works: [Work<'_>; 2] =
        [Box::new(|| drop(black_box(run()))), Box::new(|| drop(black_box((chunks.clone(), tools.clone()))))];
    let times = measure_shortest(&mut works, ROUNDS);
    Some(Answer { calls, nanoseconds: (times.first()? - times.get(1)?).max(1.0) })
}

fn build_chunk(text: &str) -> Option<Chunk> {
    let data = json!({
        "id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": null}],
    });
    let data = serde_json::from_value(data).ok()?;
    Some(Chunk { data: Some(data), id: None, event: None, comment: None, error: None })
}

fn collect_calls(chunks: &[Chunk]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let choices = chunks.iter().filter_map(|chunk| chunk.data.as_ref()).flat_map(|data| &data.choices);
    for delta in choices.flat_map(|choice| choice.delta.tool_calls.iter().flatten()) {
        let index = delta.index as usize;
        while calls.len() <= index {
            calls.push(Call::default());
        }
        if let Some(function) = &delta.function {
            calls[index].0.extend(function.name.clone());
            calls[index].1.extend(function.arguments.clone());
        }
    }
    calls
}
