//! async-openai returns the arguments as the text that the model wrote. Mend it before you parse it.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

mod scripted_server;
mod search;

use std::error::Error;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionMessageToolCalls, CreateChatCompletionRequest};
use serde_json::json;
use toolmend::{Finish, Mender};

use self::search::Search;

/// Asks the model, and returns what the tool answers to each call, or the feedback for the model.
async fn run_turn(address: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let request: CreateChatCompletionRequest = serde_json::from_value(json!({
        "model": "small-model",
        "messages": [{"role": "user", "content": "Where is 42?"}],
        "tools": [{"type": "function", "function": {"name": "search", "parameters": schemars::schema_for!(Search)}}],
    }))?;
    let mender = Mender::new(&serde_json::to_value(&request.tools)?)?;
    let client = Client::with_config(OpenAIConfig::new().with_api_base(address.trim_end_matches('/')));
    let mut answer = client.chat().create(request).await?;
    let choice = answer.choices.swap_remove(0);
    let reason = serde_json::to_value(choice.finish_reason)?;
    let finish = Finish::from_reason(reason.as_str().unwrap_or_default());
    let mut results = Vec::new();
    for call in choice.message.tool_calls.into_iter().flatten() {
        let ChatCompletionMessageToolCalls::Function(call) = call else { continue };
        let verdict = mender.mend_finished(&call.function.name, &call.function.arguments, finish);
        // was: serde_json::from_str(&call.function.arguments)?
        results.push(match verdict.json() {
            Some(json) => serde_json::from_str::<Search>(json)?.run(),
            None => verdict.feedback().unwrap_or_default().to_owned(),
        });
    }
    Ok(results)
}

/// The answer of a model that writes these arguments.
fn script_answer(arguments: &str, finish_reason: &str) -> String {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "search", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": null});
    json!({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer = script_answer("{'query': 42, 'paths': 'src',}", "tool_calls");
    let address = scripted_server::serve_once("application/json", answer)?;
    println!("{}", run_turn(&address).await?.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn broken_arguments_run_and_truncated_ones_get_feedback() {
        for (arguments, finish_reason, expected) in [
            ("{'query': 42, 'paths': 'src',}", "tool_calls", "42 in src"),
            (r#"{"query": "a", "paths": ["src"]}"#, "tool_calls", "a in src"),
            (r#"{"query": "a", "paths": ["sr"#, "length", "Tool call rejected: `search` was not run."),
        ] {
            let answer = script_answer(arguments, finish_reason);
            let address = scripted_server::serve_once("application/json", answer).unwrap();
            let results = run_turn(&address).await.unwrap();
            assert_eq!(results.len(), 1);
            assert!(results[0].starts_with(expected), "{results:?}");
        }
    }
}
