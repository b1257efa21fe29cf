//! Chat completions: `POST /v1/chat/completions`.
//!
//! Streams are chunks with a list of choices. Calls are numbered by `index` within their choice, and arguments are text.

mod answer;
mod as_stream;
mod decode;
mod encode;
mod history;
mod request;
mod whole_answer;

pub(super) use self::answer::add_usage;
pub(super) use self::request::read_tool_choice;

use super::stop_words::StopWords;
use crate::adapter::{
    ClientSide, Conversation, Features, ProtocolAdapter, ProtocolFacts, UpstreamHeaders, UpstreamSide,
};
use crate::capabilities::Capabilities;
use crate::extras::{CallExtras, ExtraMembers};
use crate::frame::Framing;
use crate::json::{Kind, Object, ValueRef};
use crate::turn::{Arguments, CallForm, CallKey, CallPiece, ReadyCall, StopReason};

/// The adapter of chat completions.
pub(crate) static CHAT: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "chat",
        config_name: Some("chat"),
        paths: &["/v1/chat/completions", "/chat/completions"],
        path_prefix: None,
        framing: Framing::Sse,
        features: Features {
            declares_tools: true,
            has_stop_reason_for_calls: true,
            streams_arguments: true,
            streams_by_default: false,
            limit_ends_agents: false,
        },
    },
    error_body: super::chunk::error_body,
    decoder: || Box::<decode::Decoder>::default(),
    encoder: || Box::<encode::Encoder>::default(),
    mend_answer: whole_answer::mend_answer,
    write_frames: Some(as_stream::write_frames),
    conversation: Conversation::Turns {
        member: "messages",
        repair: |_request, messages, mender| history::repair_messages(messages, mender),
        write: request::write_message,
    },
    inner_system_prompts: None,
    client_side: Some(&CLIENT_SIDE),
    upstream_side: Some(&UPSTREAM_SIDE),
};

static CLIENT_SIDE: ClientSide = ClientSide {
    decode_request: |root, _dropped| request::decode_request(root),
    write_answer: answer::write_answer,
    opening_frames: |meta, _usage| vec![answer::first_chunk(meta)],
    closing_frames: answer::closing_frames,
    answer_id_prefix: "chatcmpl-",
    embeds_arguments: false,
    restricted_call_id_prefix: None,
    continues_earlier_answers: false,
};

static UPSTREAM_SIDE: UpstreamSide = UpstreamSide {
    capabilities: Capabilities::of_chat(),
    headers: UpstreamHeaders::BEARER,
    encode_request: request::encode_request,
    read_answer: answer::read_answer,
    read_frame_extras: answer::read_frame_extras,
    add_usage: answer::add_usage,
};

/// The names under which servers send reasoning.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Returns the reasoning in a message or a delta, and the name of its member.
fn read_reasoning(of: ValueRef<'_>) -> Option<(&'static str, String)> {
    REASONING.iter().find_map(|&name| {
        let text = of.get_lossy_text(name)?;
        (!text.is_empty()).then(|| (name, text.into_owned()))
    })
}

const STOP_WORDS: StopWords = StopWords { end: "stop", calls: "tool_calls", length: "length" };

/// Reads a stop reason. Servers borrow words from other protocols.
fn read_stop(reason: &str) -> StopReason {
    match reason {
        "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => StopReason::End,
        "tool_calls" | "function_call" | "tool_use" | "tool_call" => StopReason::Calls,
        "length" | "max_tokens" => StopReason::Length,
        _ => StopReason::Other,
    }
}

/// Whether clients know this word for a stop reason.
fn is_standard_stop_word(reason: &str) -> bool {
    ["stop", "tool_calls", "length", "content_filter"].contains(&reason)
}

/// Reads an entry of `tool_calls`. `None` for calls of tools that take free text.
fn read_call_piece(view: ValueRef<'_>, first: bool) -> Option<CallPiece> {
    let kind = view.get_lossy_text("type");
    if kind.as_deref() == Some("custom") || view.get("custom").is_some() {
        return None;
    }
    // Some servers leave out the inner object.
    let function = view.get_non_null("function").filter(|function| function.is_object()).unwrap_or(view);
    let index = view.get("index").and_then(ValueRef::number);
    let id_view = view.get_non_null("id");
    let id =
        id_view.map(|id| id.lossy_text().map_or_else(|| id.raw().to_owned(), std::borrow::Cow::into_owned));
    let name = function.get_lossy_text("name").map(std::borrow::Cow::into_owned);
    let arguments =
        function.get("arguments").or_else(|| function.get("parameters")).or_else(|| function.get("input"));
    let (arguments, text_arguments) = match arguments {
        None => (None, true),
        Some(view) => match view.kind() {
            Kind::Null => (None, true),
            Kind::String => (
                view.text_with_escapes().map(|text| Arguments::Piece(text.into_owned())),
                view.key() == "arguments",
            ),
            _ => (Some(Arguments::Whole(view.raw().to_owned())), false),
        },
    };
    let has_name = name.as_deref().is_some_and(|name| !name.is_empty());
    let id_is_text = id_view.is_none_or(|id| id.kind() == Kind::String);
    let exact = text_arguments
        && id_is_text
        && view.get("function").is_some()
        && if first {
            kind.as_deref() == Some("function") && has_name && id.as_deref().is_some_and(|id| !id.is_empty())
        } else {
            !has_name && kind.as_deref().is_none_or(|kind| kind == "function")
        };
    let extras = read_call_extras(view);
    Some(CallPiece { key: CallKey { index, id }, name, arguments, exact, last: false, extras })
}

/// Reads what a call carries beside its id, its name and its arguments.
pub(super) fn read_call_extras(call: ValueRef<'_>) -> CallExtras {
    const OUTER: [&str; 9] =
        ["index", "id", "type", "function", "custom", "name", "arguments", "parameters", "input"];
    const INNER: [&str; 4] = ["name", "arguments", "parameters", "input"];
    let inner = call.get_non_null("function").map(|function| ExtraMembers::read(function, &INNER));
    CallExtras { outer: ExtraMembers::read(call, &OUTER), inner: inner.unwrap_or_default() }
}

/// Writes an entry of `tool_calls`; streams need its index.
pub(super) fn call_json(call: &ReadyCall, index: Option<u64>) -> String {
    let (kind, member) = match call.form {
        CallForm::Custom => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let inner = Object::new().text("name", &call.name).text(member, &call.arguments);
    let outer = Object::new()
        .maybe("index", index.map(|index| index.to_string()))
        .text("id", &call.id)
        .text("type", kind)
        .raw(kind, call.extras.inner.write_to(inner).end());
    call.extras.outer.write_to(outer).end()
}
