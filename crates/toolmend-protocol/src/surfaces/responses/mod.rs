//! Responses: `POST /v1/responses`.
//!
//! A turn is a list of numbered output items. Every event has a sequence number, and the last event repeats all items.

mod answer;
mod as_stream;
mod decode;
mod encode;
mod history;
mod items;
mod request;
mod whole_answer;

use std::borrow::Cow;

use crate::adapter::{
    ClientSide, Conversation, Features, ProtocolAdapter, ProtocolFacts, UpstreamHeaders, UpstreamSide,
};
use crate::capabilities::{Capabilities, DocumentSupport};
use crate::extras::{CallExtras, ExtraMembers};
use crate::frame::Framing;
use crate::json::{Kind, ValueRef};
use crate::protocol::Protocol;
use crate::turn::{Arguments, CallKey, CallPiece, StopReason};

/// The adapter of responses.
pub(crate) static RESPONSES: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "responses",
        config_name: Some("responses"),
        paths: &["/v1/responses", "/responses"],
        path_prefix: None,
        framing: Framing::Sse,
        features: Features {
            declares_tools: true,
            has_stop_reason_for_calls: false,
            streams_arguments: true,
            streams_by_default: false,
            limit_ends_agents: true,
        },
    },
    error_body: super::chunk::error_body,
    decoder: || Box::<decode::Decoder>::default(),
    encoder: || Box::<encode::Encoder>::default(),
    mend_answer: whole_answer::mend_answer,
    write_frames: Some(as_stream::write_frames),
    conversation: Conversation::Turns {
        member: "input",
        repair: |request, items, mender| {
            // Items that the server remembers itself are not in the request.
            let is_complete = request.get_non_null("previous_response_id").is_none()
                && request.get_non_null("conversation").is_none();
            history::repair_items(items, mender, is_complete)
        },
        write: request::write_message,
    },
    inner_system_prompts: None,
    client_side: Some(&CLIENT_SIDE),
    upstream_side: Some(&UPSTREAM_SIDE),
};

static CLIENT_SIDE: ClientSide = ClientSide {
    decode_request: request::decode_request,
    write_answer: answer::write_answer,
    opening_frames: |meta, _usage| answer::first_events(meta),
    closing_frames: answer::closing_frames,
    answer_id_prefix: "resp_",
    embeds_arguments: false,
    restricted_call_id_prefix: None,
    continues_earlier_answers: true,
};

static UPSTREAM_SIDE: UpstreamSide = UpstreamSide {
    capabilities: Capabilities {
        protocol: Protocol::Responses,
        custom_tools: true,
        tool_groups: true,
        strict_by_default: true,
        result_media: true,
        documents: DocumentSupport::Linked,
        single_text: false,
        reasoning_summary: true,
        stop_texts: false,
        sampling: request::SAMPLING,
        vendor_sampling: request::SAMPLING,
        ..Capabilities::of_chat()
    },
    headers: UpstreamHeaders::BEARER,
    encode_request: |request, _vendor| request::encode_request(request),
    read_answer: answer::read_answer,
    read_frame_extras: answer::read_frame_extras,
    add_usage: answer::add_usage,
};

/// Reads why a response ended, from its status.
fn read_stop(response: ValueRef<'_>) -> StopReason {
    match response.get_lossy_text("status").as_deref() {
        Some("incomplete") => {
            let details = response.get_non_null("incomplete_details");
            match details.and_then(|details| details.get_lossy_text("reason")).as_deref() {
                Some("content_filter") => StopReason::Other,
                _ => StopReason::Length,
            }
        }
        Some("failed" | "cancelled") => StopReason::Other,
        _ => StopReason::End,
    }
}

/// Returns the status of a response that ends for this reason, if it has another one.
fn end_status(stop: StopReason, response: ValueRef<'_>) -> Option<&'static str> {
    let is_incomplete = response.get_lossy_text("status").as_deref() == Some("incomplete");
    match stop {
        StopReason::Length => Some("incomplete"),
        StopReason::End | StopReason::Calls if is_incomplete => Some("completed"),
        _ => None,
    }
}

/// Returns why a response with this status is not complete.
fn incomplete_details(status: &str) -> String {
    if status == "incomplete" { r#"{"reason":"max_output_tokens"}"#.to_owned() } else { "null".to_owned() }
}

/// Returns the arguments of a call, and whether they are in the form that clients read.
fn read_arguments(of: ValueRef<'_>) -> (Option<String>, bool) {
    match of.get_non_null("arguments") {
        None => (None, true),
        Some(view) if view.kind() == Kind::String => (view.text_with_escapes().map(Cow::into_owned), true),
        Some(view) => (Some(view.raw().to_owned()), false),
    }
}

/// Reads a `function_call` item.
fn read_call_piece(item: ValueRef<'_>, number: u64) -> CallPiece {
    let filled = |name: &str| item.get_lossy_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
    let (text, is_text) = read_arguments(item);
    let id = filled("call_id");
    let name = filled("name");
    let exact = is_text && id.is_some() && name.is_some() && filled("id").is_some();
    let arguments = text.filter(|text| !text.is_empty());
    let arguments =
        arguments.map(|text| if is_text { Arguments::Piece(text) } else { Arguments::Whole(text) });
    let key = CallKey { index: Some(number), id };
    CallPiece { key, name, arguments, exact, last: false, extras: read_call_extras(item) }
}

/// Reads what a call carries beside its id, its name and its arguments. The id of its item and its group are among them.
fn read_call_extras(item: ValueRef<'_>) -> CallExtras {
    let outer = ExtraMembers::read(item, &["type", "status", "call_id", "name", "arguments", "input"]);
    CallExtras { outer, ..CallExtras::default() }
}

/// Returns the parts of a message item, with the text of those that hold text.
fn message_parts(item: ValueRef<'_>) -> impl Iterator<Item = (ValueRef<'_>, Option<Cow<'_, str>>)> {
    let content = item.get_non_null("content").filter(|content| content.is_array());
    content.into_iter().flat_map(ValueRef::items).map(|part| {
        let is_text = part.get_lossy_text("type").as_deref() == Some("output_text");
        (part, if is_text { part.get_lossy_text("text") } else { None })
    })
}
