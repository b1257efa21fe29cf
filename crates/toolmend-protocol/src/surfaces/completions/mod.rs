//! Text completions: `POST /v1/completions`.
//!
//! There is nothing but text. If a request declares tools, calls in the text are mended in place, in the dialect that they
//! were written in, and listed beside the text. As a server's protocol, conversations are written as prompts.

mod answer;
mod decode;
mod encode;
mod request;
mod whole_answer;

use super::chunk::split_into_chunks;
use super::stop_words::StopWords;
use crate::adapter::{Conversation, Features, ProtocolAdapter, ProtocolFacts, UpstreamHeaders, UpstreamSide};
use crate::capabilities::{Capabilities, DocumentSupport, ThinkingControl};
use crate::frame::Framing;
use crate::protocol::Protocol;
use crate::template::continue_prompt;
use crate::turn::{ReadyCall, StopReason};

/// The adapter of text completions.
pub(crate) static COMPLETIONS: ProtocolAdapter = ProtocolAdapter {
    facts: ProtocolFacts {
        name: "completions",
        config_name: Some("completions"),
        paths: &["/v1/completions", "/completions"],
        path_prefix: None,
        framing: Framing::Sse,
        features: Features {
            declares_tools: false,
            has_stop_reason_for_calls: false,
            streams_arguments: false,
            streams_by_default: false,
            limit_ends_agents: false,
        },
    },
    error_body: super::chunk::error_body,
    decoder: || Box::<decode::Decoder>::default(),
    encoder: || Box::<encode::Encoder>::default(),
    mend_answer: whole_answer::mend_answer,
    write_frames: Some(|root, wants_usage| {
        split_into_chunks(root, "text_completion", wants_usage, |choice, _| {
            Some(vec![choice.raw().to_owned()])
        })
    }),
    conversation: Conversation::Prompt {
        append: |request, answer, feedback| {
            continue_prompt(&request.get_lossy_text("prompt")?, answer, feedback)
        },
    },
    inner_system_prompts: None,
    // A prompt is not a conversation, so there is nothing to translate.
    client_side: None,
    upstream_side: Some(&UPSTREAM_SIDE),
};

static UPSTREAM_SIDE: UpstreamSide = UpstreamSide {
    capabilities: Capabilities {
        protocol: Protocol::Completions,
        inner_system_prompts: false,
        tool_choice: false,
        parallel_calls: false,
        image_urls: false,
        documents: DocumentSupport::None,
        reasoning: false,
        thinking: ThinkingControl::None,
        vendor_sampling: Capabilities::of_chat().sampling,
        ..Capabilities::of_chat()
    },
    headers: UpstreamHeaders::BEARER,
    encode_request: |request, _vendor| request::encode_request(request),
    read_answer: answer::read_answer,
    read_frame_extras: answer::read_frame_extras,
    add_usage: super::chat::add_usage,
};

const STOP_WORDS: StopWords = StopWords { end: "stop", calls: "stop", length: "length" };

/// Reads a stop reason.
fn read_stop(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::End,
        "length" => StopReason::Length,
        _ => StopReason::Other,
    }
}

/// Writes a call for programs. The text holds it as well.
fn call_json(call: &ReadyCall) -> String {
    super::chat::call_json(call, None)
}
