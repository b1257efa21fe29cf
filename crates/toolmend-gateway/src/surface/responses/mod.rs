//! `POST /v1/responses`.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod items;
pub(crate) mod request;
pub(crate) mod whole;

use std::borrow::Cow;

use crate::turn::{Arguments, CallPiece, Slot, Stop};
use crate::wire::doc::{Kind, View};

/// Why a response ended, by its status.
fn stop(response: View<'_>) -> Stop {
    match response.get_text("status").as_deref() {
        Some("incomplete") => {
            let details = response.some("incomplete_details");
            match details.and_then(|details| details.get_text("reason")).as_deref() {
                Some("content_filter") => Stop::Other,
                _ => Stop::Length,
            }
        }
        Some("failed" | "cancelled") => Stop::Other,
        _ => Stop::End,
    }
}

/// The arguments of a call, and whether they are written as clients read them.
fn arguments(of: View<'_>) -> (Option<String>, bool) {
    match of.some("arguments") {
        None => (None, true),
        Some(view) if view.kind() == Kind::String => (view.text().map(Cow::into_owned), true),
        Some(view) => (Some(view.raw().to_owned()), false),
    }
}

/// A `function_call` item.
fn call_piece(item: View<'_>, number: u64) -> CallPiece {
    let filled = |name: &str| item.get_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
    let (text, fits) = arguments(item);
    let id = filled("call_id");
    let name = filled("name");
    let exact = fits && id.is_some() && name.is_some() && filled("id").is_some();
    let arguments = text.filter(|text| !text.is_empty());
    let arguments = arguments.map(|text| if fits { Arguments::Piece(text) } else { Arguments::Whole(text) });
    CallPiece { slot: Slot { index: Some(number), id }, name, arguments, exact, last: false }
}

/// The texts of a message item.
fn texts(item: View<'_>) -> impl Iterator<Item = (View<'_>, Option<Cow<'_, str>>)> {
    let content = item.some("content").filter(|content| content.is_array());
    content.into_iter().flat_map(View::items).map(|part| {
        let plain = part.get_text("type").as_deref() == Some("output_text");
        (part, if plain { part.get_text("text") } else { None })
    })
}
