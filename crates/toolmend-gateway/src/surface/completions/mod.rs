//! `POST /v1/completions`: text only. Where the request brings tools along, calls in the text are mended in place, in
//! the dialect that they were written in, and told beside it.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod whole;

use crate::turn::{ReadyCall, Stop};
use crate::wire::doc::quote;

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" => Stop::End,
        "length" => Stop::Length,
        _ => Stop::Other,
    }
}

fn stop_word(stop: Stop, raw: Option<&str>) -> &str {
    match stop {
        Stop::End | Stop::Calls => "stop",
        Stop::Length => "length",
        Stop::Other => raw.unwrap_or("stop"),
    }
}

/// A call for programs, beside the text that has it too.
fn call_json(call: &ReadyCall) -> String {
    format!(
        r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
        quote(&call.id),
        quote(&call.name),
        quote(&call.arguments)
    )
}
