//! Ollama's `POST /api/chat` and `POST /api/generate`.
//!
//! Streams are lines of JSON. The two endpoints differ in where text and calls are: in a `message`, or in the answer itself.
//! Calls are always complete, and their arguments are an object.

mod answer;
mod decode;
mod encode;
mod history;
mod request;
mod whole_answer;

use std::borrow::Cow;

use super::stop_words::StopWords;
use crate::adapter::{
    ClientSide, Conversation, Features, ProtocolAdapter, ProtocolFacts, UpstreamHeaders, UpstreamSide,
};
use crate::capabilities::{Capabilities, DocumentSupport, ThinkingControl};
use crate::extras::{CallExtras, ExtraMembers};
use crate::frame::Framing;
use crate::json::{Kind, Object, ValueRef, quote};
use crate::protocol::Protocol;
use crate::template::continue_prompt;
use crate::turn::{Arguments, CallKey, CallPiece, ReadyCall, StopReason};

/// One of Ollama's endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Endpoint {
    /// `/api/chat`
    Chat,
    /// `/api/generate`
    Generate,
}

impl Endpoint {
    /// Returns the object that holds text and calls.
    fn message(self, root: ValueRef<'_>) -> Option<ValueRef<'_>> {
        match self {
            Endpoint::Chat => root.get_non_null("message").filter(|message| message.is_object()),
            Endpoint::Generate => Some(root),
        }
    }

    /// Returns the name of the member that holds the text.
    fn text_member(self) -> &'static str {
        match self {
            Endpoint::Chat => "content",
            Endpoint::Generate => "response",
        }
    }
}

const FEATURES: Features = Features {
    declares_tools: true,
    has_stop_reason_for_calls: false,
    streams_arguments: false,
    streams_by_default: true,
    limit_ends_agents: false,
};

/// The adapter of Ollama's chat.
pub(crate) static CHAT: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "ollama_chat",
        config_name: Some("ollama"),
        paths: &["/api/chat"],
        path_prefix: Some("/api/"),
        framing: Framing::Lines,
        features: FEATURES,
    },
    error_body: |_kind, message| error_body(message),
    decoder: || Box::new(decode::Decoder::new(Endpoint::Chat)),
    encoder: || Box::new(encode::Encoder::new(Endpoint::Chat)),
    mend_answer: |root, mender| whole_answer::mend_answer(Endpoint::Chat, root, mender),
    write_frames: None,
    conversation: Conversation::Turns {
        member: "messages",
        repair: |_request, messages, mender| history::repair_messages(messages, mender),
        write: request::write_message,
    },
    inner_system_prompts: None,
    client_side: Some(&CLIENT_SIDE),
    upstream_side: Some(&UPSTREAM_SIDE),
};

/// The adapter of Ollama's text completion.
pub(crate) static GENERATE: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "ollama_generate",
        config_name: None,
        paths: &["/api/generate"],
        path_prefix: None,
        framing: Framing::Lines,
        features: Features { declares_tools: false, ..FEATURES },
    },
    error_body: |_kind, message| error_body(message),
    decoder: || Box::new(decode::Decoder::new(Endpoint::Generate)),
    encoder: || Box::new(encode::Encoder::new(Endpoint::Generate)),
    mend_answer: |root, mender| whole_answer::mend_answer(Endpoint::Generate, root, mender),
    write_frames: None,
    conversation: Conversation::Prompt { append: append_to_prompt },
    inner_system_prompts: None,
    client_side: None,
    upstream_side: None,
};

static CLIENT_SIDE: ClientSide = ClientSide {
    decode_request: |root, _dropped| Ok(request::decode_request(root)),
    write_answer: answer::write_answer,
    opening_frames: |meta, _usage| vec![answer::first_line(meta)],
    closing_frames: answer::closing_frames,
    answer_id_prefix: "chatcmpl-",
    embeds_arguments: true,
    restricted_call_id_prefix: None,
    continues_earlier_answers: false,
};

static UPSTREAM_SIDE: UpstreamSide = UpstreamSide {
    capabilities: Capabilities {
        protocol: Protocol::OllamaChat,
        strict_tools: false,
        tool_choice: false,
        parallel_calls: false,
        result_names: true,
        image_urls: false,
        image_detail: false,
        documents: DocumentSupport::None,
        inline_media: false,
        thinking: ThinkingControl::Switch,
        named_schemas: false,
        vendor_sampling: Capabilities::of_chat().sampling,
        user: false,
        cache_key: false,
        ..Capabilities::of_chat()
    },
    headers: UpstreamHeaders::BEARER,
    encode_request: |request, _vendor| request::encode_request(request),
    read_answer: answer::read_answer,
    read_frame_extras: answer::read_frame_extras,
    add_usage: answer::add_usage,
};

/// Returns the prompt of a request with an answer and feedback on it at its end.
fn append_to_prompt(request: ValueRef<'_>, answer: &str, feedback: &str) -> Option<String> {
    let prompt = request.get_lossy_text("prompt")?;
    // Unless the prompt is raw, the server applies the template, and the prompt is what the user says.
    if request.get("raw").is_some_and(ValueRef::is_true) {
        return continue_prompt(&prompt, answer, feedback);
    }
    Some(format!(
        "{prompt}

You answered:
{answer}

{feedback}"
    ))
}

fn error_body(message: &str) -> String {
    format!(r#"{{"error":{}}}"#, quote(message))
}

const STOP_WORDS: StopWords = StopWords { end: "stop", calls: "stop", length: "length" };

/// Reads a stop reason.
fn read_stop(reason: Option<&str>) -> StopReason {
    match reason {
        Some("stop") | None => StopReason::End,
        Some("length") => StopReason::Length,
        Some(_) => StopReason::Other,
    }
}

/// Reads a call, which is always complete. Older servers send no ids.
fn read_call_piece(call: ValueRef<'_>, number: u64) -> CallPiece {
    let function = call.get_non_null("function").filter(|function| function.is_object()).unwrap_or(call);
    let name = function.get_lossy_text("name").map(Cow::into_owned);
    let id = call.get_lossy_text("id").filter(|id| !id.is_empty()).map(Cow::into_owned);
    let (arguments, is_object) = match function.get_non_null("arguments") {
        None => (None, false),
        Some(view) if view.kind() == Kind::String => {
            (view.text_with_escapes().map(|text| Arguments::Whole(text.into_owned())), false)
        }
        Some(view) => (Some(Arguments::Piece(view.raw().to_owned())), view.is_object()),
    };
    let exact =
        is_object && name.as_deref().is_some_and(|name| !name.is_empty()) && call.get("function").is_some();
    let id = Some(id.unwrap_or_else(|| format!("call_{number}")));
    let extras = read_call_extras(call);
    CallPiece { key: CallKey { index: Some(number), id }, name, arguments, exact, last: false, extras }
}

/// Reads what a call carries beside its id, its name and its arguments.
fn read_call_extras(call: ValueRef<'_>) -> CallExtras {
    let inner = call.get_non_null("function").map(|function| {
        // The number of a call is not kept, because calls may be added or removed.
        ExtraMembers::read(function, &["index", "name", "arguments"])
    });
    let outer = ExtraMembers::read(call, &["id", "type", "function", "name", "arguments"]);
    CallExtras { outer, inner: inner.unwrap_or_default() }
}

/// Writes a call; its arguments are an object.
fn call_json(call: &ReadyCall) -> String {
    let inner = Object::new().text("name", &call.name).raw("arguments", &call.arguments);
    let outer = Object::new().text("id", &call.id).raw("function", call.extras.inner.write_to(inner).end());
    call.extras.outer.write_to(outer).end()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Document;

    #[test]
    fn prompts_are_continued_if_it_is_known_how() {
        let ask_again = |protocol: Protocol, body: &'static str| {
            let doc = Document::parse(&Bytes::from_static(body.as_bytes())).unwrap();
            protocol.append_feedback(doc.root(), "CALL", "WHY")
        };
        let generate = Protocol::OllamaGenerate;
        let next = ask_again(generate, r#"{"prompt":"hi"}"#).unwrap();
        assert_eq!(next, r#"{"prompt":"hi\n\nYou answered:\nCALL\n\nWHY"}"#);
        assert_eq!(ask_again(generate, r#"{"prompt":"hi","raw":true}"#), None);
        assert_eq!(ask_again(Protocol::Completions, r#"{"prompt":"hi"}"#), None);
        assert_eq!(ask_again(Protocol::Completions, r#"{"prompt":["hi"]}"#), None);
        assert!(ask_again(Protocol::Completions, r#"{"prompt":"[INST] hi [/INST]"}"#).is_some());
    }
}
