//! `POST /v1/messages`.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod request;
pub(crate) mod whole;

use std::borrow::Cow;

use crate::turn::{Arguments, CallPiece, ReadyCall, Slot, Stop};
use crate::wire::doc::{Kind, View, quote};

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::Calls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "end_turn" | "stop_sequence" => Stop::End,
        _ => Stop::Other,
    }
}

/// The word for a reason; `raw` is the server's own word.
fn stop_word(stop: Stop, raw: Option<&str>) -> &str {
    match stop {
        Stop::End => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Other => raw.unwrap_or("end_turn"),
    }
}

/// A `tool_use` block. Its input is empty where a stream begins it.
fn call_piece(block: View<'_>, number: u64, streamed: bool) -> CallPiece {
    let id = block.get_text("id").map(Cow::into_owned);
    let name = block.get_text("name").map(Cow::into_owned);
    let input = block.some("input");
    let (arguments, fits) = match input {
        None => (None, false),
        Some(input) if input.kind() == Kind::Object => {
            let empty = input.items().next().is_none();
            let arguments = (!streamed || !empty).then(|| input.raw().to_owned());
            (arguments, !streamed || empty)
        }
        Some(input) => {
            let text = input.text().map_or_else(|| input.raw().to_owned(), Cow::into_owned);
            ((!text.is_empty()).then_some(text), false)
        }
    };
    let arguments =
        arguments.map(|text| if streamed || !fits { Arguments::Whole(text) } else { Arguments::Piece(text) });
    let filled = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let exact = fits && filled(&id) && filled(&name);
    CallPiece { slot: Slot { index: Some(number), id }, name, arguments, exact, last: !streamed }
}

/// A call as a block.
fn call_block(call: &ReadyCall, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#, quote(&call.id), quote(&call.name))
}
