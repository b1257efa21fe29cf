//! `POST /v1/chat/completions`.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod request;
pub(crate) mod whole;

use crate::turn::{Arguments, CallPiece, Form, ReadyCall, Slot, Stop};
use crate::wire::doc::{Kind, View, quote};

/// The names under which servers send thoughts.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// The thoughts in a message or a delta.
fn reasoning(of: View<'_>) -> Option<(&'static str, String)> {
    REASONING.iter().find_map(|&name| {
        let text = of.get_text(name)?;
        (!text.is_empty()).then(|| (name, text.into_owned()))
    })
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => Stop::End,
        "tool_calls" | "function_call" | "tool_use" | "tool_call" => Stop::Calls,
        "length" | "max_tokens" => Stop::Length,
        _ => Stop::Other,
    }
}

/// The word for a reason; `raw` is the server's own word.
fn stop_word(stop: Stop, raw: Option<&str>) -> &str {
    match stop {
        Stop::End => "stop",
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
        Stop::Other => raw.unwrap_or("stop"),
    }
}

/// A reason that clients know, in the word that they know it by.
fn is_known(reason: &str) -> bool {
    ["stop", "tool_calls", "length", "content_filter"].contains(&reason)
}

/// A call as it stands in `tool_calls`. None for calls of tools that take free text.
fn call_piece(view: View<'_>, first: bool) -> Option<CallPiece> {
    let kind = view.get_text("type");
    if kind.as_deref() == Some("custom") || view.get("custom").is_some() {
        return None;
    }
    // Some servers leave the layer out.
    let function = view.some("function").filter(|function| function.is_object()).unwrap_or(view);
    let index = view.get("index").and_then(View::number);
    let id_view = view.some("id");
    let id = id_view.map(|id| id.text().map_or_else(|| id.raw().to_owned(), std::borrow::Cow::into_owned));
    let name = function.get_text("name").map(std::borrow::Cow::into_owned);
    let arguments =
        function.get("arguments").or_else(|| function.get("parameters")).or_else(|| function.get("input"));
    let (arguments, text_arguments) = match arguments {
        None => (None, true),
        Some(view) => match view.kind() {
            Kind::Null => (None, true),
            Kind::String => {
                (view.text().map(|text| Arguments::Piece(text.into_owned())), view.key() == "arguments")
            }
            _ => (Some(Arguments::Whole(view.raw().to_owned())), false),
        },
    };
    let named = name.as_deref().is_some_and(|name| !name.is_empty());
    let id_fits = id_view.is_none_or(|id| id.kind() == Kind::String);
    let exact = text_arguments
        && id_fits
        && view.get("function").is_some()
        && if first {
            kind.as_deref() == Some("function") && named && id.as_deref().is_some_and(|id| !id.is_empty())
        } else {
            !named && kind.as_deref().is_none_or(|kind| kind == "function")
        };
    Some(CallPiece { slot: Slot { index, id }, name, arguments, exact, last: false })
}

/// A call as the answer has it; with an index as the stream has it.
fn call_json(call: &ReadyCall, index: Option<u64>) -> String {
    let index = index.map(|index| format!(r#""index":{index},"#)).unwrap_or_default();
    if call.form == Form::Custom {
        return format!(
            r#"{{{index}"id":{},"type":"custom","custom":{{"name":{},"input":{}}}}}"#,
            quote(&call.id),
            quote(&call.name),
            quote(&call.arguments)
        );
    }
    format!(
        r#"{{{index}"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
        quote(&call.id),
        quote(&call.name),
        quote(&call.arguments)
    )
}
