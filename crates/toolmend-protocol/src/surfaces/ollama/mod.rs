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

use crate::adapter::{
    ClientSide, ClosingFrames, Credentials, Features, ProtocolAdapter, TurnMender, UpstreamHeaders,
    UpstreamSide,
};
use crate::answer::{Answer, AnswerEnd, AnswerMeta, FrameExtras, Usage};
use crate::capabilities::{Capabilities, DocumentSupport, ThinkingControl};
use crate::frame::{Frame, Framing};
use crate::history::{HistoryMender, append_turns};
use crate::json::{Kind, ValueRef, quote};
use crate::protocol::Protocol;
use crate::request::{DroppedFields, Request, Untranslatable};
use crate::stream::{FrameDecoder, FrameEncoder};
use crate::template::continue_prompt;
use crate::turn::{Arguments, CallKey, CallPiece, ReadyCall, StopReason};

/// The adapter of one of Ollama's endpoints.
pub(crate) struct Ollama(pub(crate) Endpoint);

/// The translation of conversations, which only the chat endpoint has.
struct Chat;

/// One of Ollama's endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    /// `/api/chat`
    Chat,
    /// `/api/generate`
    Generate,
}

impl Endpoint {
    /// Returns the object that holds text and calls.
    fn message(self, root: ValueRef<'_>) -> Option<ValueRef<'_>> {
        match self {
            Endpoint::Chat => root.some("message").filter(|message| message.is_object()),
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

impl ProtocolAdapter for Ollama {
    fn name(&self) -> &'static str {
        match self.0 {
            Endpoint::Chat => "ollama_chat",
            Endpoint::Generate => "ollama_generate",
        }
    }

    fn config_name(&self) -> Option<&'static str> {
        (self.0 == Endpoint::Chat).then_some("ollama")
    }

    fn paths(&self) -> &'static [&'static str] {
        match self.0 {
            Endpoint::Chat => &["/api/chat"],
            Endpoint::Generate => &["/api/generate"],
        }
    }

    fn path_prefix(&self) -> Option<&'static str> {
        (self.0 == Endpoint::Chat).then_some("/api/")
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn features(&self) -> Features {
        Features {
            declares_tools: self.0 == Endpoint::Chat,
            has_stop_reason_for_calls: false,
            streams_arguments: false,
            streams_by_default: true,
        }
    }

    fn error_body(&self, _kind: &str, message: &str) -> String {
        error_body(message)
    }

    fn decoder(&self) -> Box<dyn FrameDecoder> {
        Box::new(decode::Decoder::new(self.0))
    }

    fn encoder(&self) -> Box<dyn FrameEncoder> {
        Box::new(encode::Encoder::new(self.0))
    }

    fn mend_answer(&self, root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
        whole_answer::mend_answer(self.0, root, mender)
    }

    fn repair_history(
        &self,
        root: ValueRef<'_>,
        mender: &dyn HistoryMender,
    ) -> Option<(&'static str, String)> {
        match self.0 {
            Endpoint::Chat => Some(("messages", history::repair_messages(root.get("messages")?, mender)?)),
            // Prompts have no turns that could be told apart.
            Endpoint::Generate => None,
        }
    }

    fn append_feedback(&self, root: ValueRef<'_>, answer: &str, feedback: &str) -> Option<String> {
        if self.0 == Endpoint::Chat {
            return append_turns(root, "messages", answer, feedback);
        }
        let prompt = root.get_text("prompt")?;
        // Unless the prompt is raw, the server applies the template, and the prompt is what the user says.
        let next = if root.get("raw").is_some_and(ValueRef::is_true) {
            continue_prompt(&prompt, answer, feedback)?
        } else {
            format!("{prompt}\n\nYou answered:\n{answer}\n\n{feedback}")
        };
        Some(root.with(&[("prompt", Some(quote(&next)))]))
    }

    fn client_side(&self) -> Option<&'static dyn ClientSide> {
        (self.0 == Endpoint::Chat).then_some(&Chat)
    }

    fn upstream_side(&self) -> Option<&'static dyn UpstreamSide> {
        (self.0 == Endpoint::Chat).then_some(&Chat)
    }
}

impl ClientSide for Chat {
    fn decode_request(
        &self,
        root: ValueRef<'_>,
        _dropped: &mut DroppedFields,
    ) -> Result<Request, Untranslatable> {
        Ok(request::decode_request(root))
    }

    fn write_answer(&self, answer: &Answer) -> String {
        answer::write_answer(answer)
    }

    fn opening_frames(&self, meta: &AnswerMeta, _usage: Usage) -> Vec<Frame> {
        vec![answer::first_line(meta)]
    }

    fn closing_frames(
        &self,
        meta: &AnswerMeta,
        end: &AnswerEnd,
        usage: Usage,
        _with_usage: bool,
    ) -> ClosingFrames {
        ClosingFrames { frames: vec![answer::last_line(meta, end, usage)], end: None }
    }

    fn answer_id_prefix(&self) -> &'static str {
        "chatcmpl-"
    }

    fn embeds_arguments(&self) -> bool {
        true
    }
}

impl UpstreamSide for Chat {
    fn capabilities(&self) -> Capabilities {
        let chat = Capabilities::of_chat();
        Capabilities {
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
            vendor_sampling: chat.sampling,
            user: false,
            cache_key: false,
            ..chat
        }
    }

    fn headers(&self) -> UpstreamHeaders {
        UpstreamHeaders { credentials: Credentials::Bearer, vendor_prefix: None, defaults: &[] }
    }

    fn encode_request(&self, request: &Request, _vendor: bool) -> String {
        request::encode_request(request)
    }

    fn read_answer(&self, root: ValueRef<'_>) -> Option<Answer> {
        answer::read_answer(root)
    }

    fn read_frame_extras(&self, root: ValueRef<'_>) -> FrameExtras {
        answer::read_frame_extras(root)
    }

    fn add_usage(&self, root: ValueRef<'_>, usage: &mut Usage) {
        answer::add_usage(root, usage);
    }
}

fn error_body(message: &str) -> String {
    format!(r#"{{"error":{}}}"#, quote(message))
}

/// Reads a stop reason.
fn read_stop(reason: Option<&str>) -> StopReason {
    match reason {
        Some("stop") | None => StopReason::End,
        Some("length") => StopReason::Length,
        Some(_) => StopReason::Other,
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

/// Reads a call, which is always complete. Older servers send no ids.
fn read_call_piece(call: ValueRef<'_>, number: u64) -> CallPiece {
    let function = call.some("function").filter(|function| function.is_object()).unwrap_or(call);
    let name = function.get_text("name").map(Cow::into_owned);
    let id = call.get_text("id").filter(|id| !id.is_empty()).map(Cow::into_owned);
    let (arguments, is_object) = match function.some("arguments") {
        None => (None, false),
        Some(view) if view.kind() == Kind::String => {
            (view.text().map(|text| Arguments::Whole(text.into_owned())), false)
        }
        Some(view) => (Some(Arguments::Piece(view.raw().to_owned())), view.is_object()),
    };
    let exact =
        is_object && name.as_deref().is_some_and(|name| !name.is_empty()) && call.get("function").is_some();
    let id = Some(id.unwrap_or_else(|| format!("call_{number}")));
    CallPiece { key: CallKey { index: Some(number), id }, name, arguments, exact, last: false }
}

/// Writes a call; its arguments are an object.
fn call_json(call: &ReadyCall) -> String {
    format!(
        r#"{{"id":{},"function":{{"name":{},"arguments":{}}}}}"#,
        quote(&call.id),
        quote(&call.name),
        call.arguments
    )
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
