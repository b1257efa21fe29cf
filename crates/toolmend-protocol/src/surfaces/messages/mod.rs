//! Messages: `POST /v1/messages`.
//!
//! A turn is a list of numbered blocks that a stream opens, fills and closes one after the other. Arguments are an object;
//! a stream sends its text in pieces.

mod answer;
mod as_stream;
mod decode;
mod encode;
mod history;
mod request;
mod system_prompts;
mod whole_answer;

pub(super) use self::decode::with_event_name;

use std::borrow::Cow;

use super::stop_words::StopWords;
use crate::adapter::{
    ClientSide, Conversation, Credentials, Features, InnerSystemPrompts, ProtocolAdapter, ProtocolFacts,
    UpstreamHeaders, UpstreamSide,
};
use crate::capabilities::{Capabilities, DocumentSupport, ThinkingControl};
use crate::extras::{CallExtras, ExtraMembers};
use crate::frame::Framing;
use crate::json::{Kind, Object, ValueRef, quote};
use crate::protocol::Protocol;
use crate::turn::{Arguments, CallKey, CallPiece, ReadyCall, StopReason};

/// The token limit if the client sets none; the protocol requires one.
const DEFAULT_LIMIT: u64 = 8192;

/// The adapter of messages.
pub(crate) static MESSAGES: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "messages",
        config_name: Some("messages"),
        paths: &["/v1/messages", "/messages"],
        path_prefix: Some("/v1/messages"),
        framing: Framing::Sse,
        features: Features {
            declares_tools: true,
            has_stop_reason_for_calls: true,
            streams_arguments: true,
            streams_by_default: false,
            limit_ends_agents: false,
        },
    },
    error_body,
    decoder: || Box::<decode::Decoder>::default(),
    encoder: || Box::<encode::Encoder>::default(),
    mend_answer: whole_answer::mend_answer,
    write_frames: Some(as_stream::write_frames),
    conversation: Conversation::Turns {
        member: "messages",
        repair: |_request, messages, mender| history::repair_messages(messages, mender),
        write: request::write_message,
    },
    inner_system_prompts: Some(InnerSystemPrompts {
        may_exist: system_prompts::may_have_inner_prompts,
        inline: system_prompts::inline_prompts,
    }),
    client_side: Some(&CLIENT_SIDE),
    upstream_side: Some(&UPSTREAM_SIDE),
};

static CLIENT_SIDE: ClientSide = ClientSide {
    decode_request: request::decode_request,
    write_answer: answer::write_answer,
    opening_frames: |meta, usage| vec![answer::first_event(meta, usage)],
    closing_frames: answer::closing_frames,
    answer_id_prefix: "msg_",
    embeds_arguments: true,
    restricted_call_id_prefix: Some("toolu_"),
    continues_earlier_answers: false,
};

static UPSTREAM_SIDE: UpstreamSide = UpstreamSide {
    capabilities: Capabilities {
        protocol: Protocol::Messages,
        billing_line: true,
        tool_name_length: 128,
        parallel_in_choice: true,
        result_media: true,
        result_errors: true,
        image_detail: false,
        documents: DocumentSupport::Linked,
        text_documents: true,
        single_text: false,
        thinking: ThinkingControl::Budget,
        json_format: false,
        named_schemas: false,
        sampling: request::SAMPLING,
        vendor_sampling: request::SAMPLING,
        cache_key: false,
        default_limit: Some(DEFAULT_LIMIT),
        ..Capabilities::of_chat()
    },
    headers: UpstreamHeaders {
        credentials: Credentials::ApiKey,
        vendor_prefix: Some("anthropic-"),
        defaults: &[("anthropic-version", "2023-06-01")],
    },
    encode_request: |request, _vendor| request::encode_request(request),
    read_answer: answer::read_answer,
    read_frame_extras: answer::read_frame_extras,
    add_usage: answer::add_event_usage,
};

fn error_body(kind: &str, message: &str) -> String {
    let (kind, message) = (quote(kind), quote(message));
    format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}}}}}"#)
}

const STOP_WORDS: StopWords = StopWords { end: "end_turn", calls: "tool_use", length: "max_tokens" };

/// Reads a stop reason.
fn read_stop(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "end_turn" | "stop_sequence" => StopReason::End,
        _ => StopReason::Other,
    }
}

/// Reads a `tool_use` block. At the start of a streamed block the input is empty.
fn read_call_piece(block: ValueRef<'_>, number: u64, streamed: bool) -> CallPiece {
    let id = block.get_lossy_text("id").map(Cow::into_owned);
    let name = block.get_lossy_text("name").map(Cow::into_owned);
    let input = block.get_non_null("input");
    let (arguments, is_standard) = match input {
        None => (None, false),
        Some(input) if input.kind() == Kind::Object => {
            let empty = input.items().next().is_none();
            let arguments = (!streamed || !empty).then(|| input.raw().to_owned());
            (arguments, !streamed || empty)
        }
        Some(input) => {
            let text = input.text_with_escapes().map_or_else(|| input.raw().to_owned(), Cow::into_owned);
            ((!text.is_empty()).then_some(text), false)
        }
    };
    let arguments = arguments
        .map(|text| if streamed || !is_standard { Arguments::Whole(text) } else { Arguments::Piece(text) });
    let is_filled = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let exact = is_standard && is_filled(&id) && is_filled(&name);
    let key = CallKey { index: Some(number), id };
    CallPiece { key, name, arguments, exact, last: !streamed, extras: read_call_extras(block) }
}

/// Reads what a `tool_use` block carries beside its id, its name and its input.
fn read_call_extras(block: ValueRef<'_>) -> CallExtras {
    let outer = ExtraMembers::read(block, &["type", "id", "name", "input"]);
    CallExtras { outer, ..CallExtras::default() }
}

/// Writes a `tool_use` block.
fn call_block(call: &ReadyCall, input: &str) -> String {
    let block = Object::new().text("type", "tool_use").text("id", &call.id).text("name", &call.name);
    call.extras.outer.write_to(block.raw("input", input)).end()
}

/// Writes a `thinking` block without a signature.
fn thinking_block(text: &str) -> String {
    format!(r#"{{"type":"thinking","thinking":{},"signature":""}}"#, quote(text))
}

/// Writes a `text` block.
fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}
