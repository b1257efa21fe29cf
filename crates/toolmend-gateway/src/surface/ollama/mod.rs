//! Ollama's `POST /api/chat` and `POST /api/generate`.
//!
//! The two differ in where text and calls stand: in a `message`, or beside everything else.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod request;
pub(crate) mod whole;

use std::borrow::Cow;

use crate::turn::{Arguments, CallPiece, ReadyCall, Slot, Stop};
use crate::wire::doc::{Kind, View, quote};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Chat,
    Generate,
}

impl Form {
    /// The object with text and calls.
    fn said(self, root: View<'_>) -> Option<View<'_>> {
        match self {
            Form::Chat => root.some("message").filter(|message| message.is_object()),
            Form::Generate => Some(root),
        }
    }

    /// The name of the text.
    fn text(self) -> &'static str {
        match self {
            Form::Chat => "content",
            Form::Generate => "response",
        }
    }
}

fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("stop") | None => Stop::End,
        Some("length") => Stop::Length,
        Some(_) => Stop::Other,
    }
}

fn stop_word(stop: Stop, raw: Option<&str>) -> &str {
    match stop {
        Stop::End | Stop::Calls => "stop",
        Stop::Length => "length",
        Stop::Other => raw.unwrap_or("stop"),
    }
}

/// A call, which always comes as a whole. Ids are newer than the surface and often missing.
fn call_piece(call: View<'_>, number: u64) -> CallPiece {
    let function = call.some("function").filter(|function| function.is_object()).unwrap_or(call);
    let name = function.get_text("name").map(Cow::into_owned);
    let id = call.get_text("id").filter(|id| !id.is_empty()).map(Cow::into_owned);
    let arguments = function.some("arguments");
    let (arguments, fits) = match arguments {
        None => (None, false),
        Some(view) if view.kind() == Kind::String => {
            (view.text().map(|text| Arguments::Whole(text.into_owned())), false)
        }
        Some(view) => (Some(Arguments::Piece(view.raw().to_owned())), view.is_object()),
    };
    let exact =
        fits && name.as_deref().is_some_and(|name| !name.is_empty()) && call.get("function").is_some();
    let id = Some(id.unwrap_or_else(|| format!("call_{number}")));
    CallPiece { slot: Slot { index: Some(number), id }, name, arguments, exact, last: false }
}

/// A call as the surface has it: arguments are an object.
fn call_json(call: &ReadyCall) -> String {
    format!(
        r#"{{"id":{},"function":{{"name":{},"arguments":{}}}}}"#,
        quote(&call.id),
        quote(&call.name),
        call.arguments
    )
}
