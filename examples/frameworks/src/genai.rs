//! genai parses the arguments itself. In a stream, arguments that it cannot parse stay text, which toolmend mends. A whole answer
//! with such arguments is an error of the client, so mend it before: point the client to the gateway.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

mod scripted_server;
mod search;

use std::error::Error;

use futures::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Value, json};
use toolmend::Mender;

use self::search::Search;

/// Asks the model, and returns what the tool answers to each call, or the feedback for the model.
async fn run_turn(address: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let schema = schemars::schema_for!(Search).to_value();
    let mender = Mender::new(&json!({"search": schema.clone()}))?;
    let request = ChatRequest::new(vec![ChatMessage::user("Where is 42?")])
        .with_tools(vec![Tool::new("search").with_schema(schema)]);
    let mut results = Vec::new();
    for call in ask(address, request).await? {
        // was: serde_json::from_value(call.fn_arguments)?
        let verdict = mender.mend_value(&call.fn_name, &call.fn_arguments);
        results.push(match verdict.value() {
            Some(arguments) => serde_json::from_value::<Search>(arguments)?.run(),
            None => verdict.feedback().unwrap_or_default().to_owned(),
        });
    }
    Ok(results)
}

/// Sends a request and returns the calls of the answer.
async fn ask(address: &str, request: ChatRequest) -> Result<Vec<ToolCall>, Box<dyn Error>> {
    let address = address.to_owned();
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(address.clone()),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        },
    );
    let client = Client::builder().with_service_target_resolver(resolver).build()?;
    let options = ChatOptions::default().with_capture_tool_calls(true);
    let mut stream = client.exec_chat_stream("small-model", request, Some(&options)).await?.stream;
    let mut calls = Vec::new();
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::End(end) = event? {
            calls = end.captured_into_tool_calls().unwrap_or_default();
        }
    }
    Ok(calls)
}

/// The stream of a model that writes these arguments, in two pieces.
fn script_stream(arguments: &str) -> String {
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let frame = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!("data: {}\n\n", json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}))
    };
    let call = |function: Value| json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]});
    [
        frame(call(json!({"name": "search", "arguments": first})), Value::Null),
        frame(call(json!({"arguments": second})), Value::Null),
        frame(json!({}), json!("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let stream = script_stream("{'query': 42, 'paths': 'src',}");
    let address = scripted_server::serve_once("text/event-stream", stream)?;
    println!("{}", run_turn(&address).await?.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn broken_arguments_run_and_invalid_ones_get_feedback() {
        for (arguments, expected) in [
            ("{'query': 42, 'paths': 'src',}", "42 in src"),
            (r#"{"query": "a", "paths": "[\"src\", \"tests\"]"}"#, "a in src and tests"),
            (r#"{"paths": ["src"]}"#, "Tool call rejected: `search` was not run."),
        ] {
            let address = scripted_server::serve_once("text/event-stream", script_stream(arguments)).unwrap();
            let results = run_turn(&address).await.unwrap();
            assert_eq!(results.len(), 1);
            assert!(results[0].starts_with(expected), "{results:?}");
        }
    }
}
