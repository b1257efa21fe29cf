//! Text completions: `POST /v1/completions`.
//!
//! There is nothing but text. If a request declares tools, calls in the text are mended in place, in the dialect that they
//! were written in, and listed beside the text. As a server's protocol, conversations are written as prompts.

mod answer;
mod decode;
mod encode;
mod request;
mod whole_answer;

use crate::adapter::{
    ClientSide, Features, ProtocolAdapter, ProtocolFacts, TurnMender, UpstreamHeaders, UpstreamSide,
};
use crate::capabilities::{Capabilities, DocumentSupport, ThinkingControl};
use crate::frame::Framing;
use crate::history::HistoryMender;
use crate::json::{ValueRef, quote};
use crate::protocol::Protocol;
use crate::stream::{FrameDecoder, FrameEncoder};
use crate::template::continue_prompt;
use crate::turn::{ReadyCall, StopReason};

/// The adapter of text completions.
pub(crate) struct Completions;

static FACTS: ProtocolFacts = ProtocolFacts {
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
    },
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

impl ProtocolAdapter for Completions {
    fn facts(&self) -> &'static ProtocolFacts {
        &FACTS
    }

    fn error_body(&self, kind: &str, message: &str) -> String {
        super::chunk::error_body(kind, message)
    }

    fn decoder(&self) -> Box<dyn FrameDecoder> {
        Box::new(decode::Decoder {})
    }

    fn encoder(&self) -> Box<dyn FrameEncoder> {
        Box::new(encode::Encoder::default())
    }

    fn mend_answer(&self, root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
        whole_answer::mend_answer(root, mender)
    }

    /// Prompts have no turns that could be told apart.
    fn repair_history(
        &self,
        _root: ValueRef<'_>,
        _mender: &dyn HistoryMender,
    ) -> Option<(&'static str, String)> {
        None
    }

    fn append_feedback(&self, root: ValueRef<'_>, answer: &str, feedback: &str) -> Option<String> {
        let prompt = continue_prompt(&root.get_text("prompt")?, answer, feedback)?;
        Some(root.with(&[("prompt", Some(quote(&prompt)))]))
    }

    /// A prompt is not a conversation, so there is nothing to translate.
    fn client_side(&self) -> Option<&'static ClientSide> {
        None
    }

    fn upstream_side(&self) -> Option<&'static UpstreamSide> {
        Some(&UPSTREAM_SIDE)
    }
}

/// Reads a stop reason.
fn read_stop(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::End,
        "length" => StopReason::Length,
        _ => StopReason::Other,
    }
}

/// Returns the word for a stop reason; `raw` is the server's own word.
fn stop_word(stop: StopReason, raw: Option<&str>) -> &str {
    match stop {
        StopReason::End | StopReason::Calls => "stop",
        StopReason::Length => "length",
        StopReason::Other => raw.unwrap_or("stop"),
    }
}

/// Writes a call for programs. The text holds it as well.
fn call_json(call: &ReadyCall) -> String {
    super::chat::call_json(call, None)
}
