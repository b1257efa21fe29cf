//! The surfaces: each is read into the neutral turn by one decoder and written from it by one encoder.

pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod fields;
pub(crate) mod messages;
pub(crate) mod ollama;
pub(crate) mod request;
pub(crate) mod responses;

use bytes::Bytes;

use self::ollama::Form;
use crate::mend::judge::Judge;
use crate::translate::error;
use crate::turn::{Made, Part};
use crate::wire::doc::{Doc, quote};
use crate::wire::frame::{Frame, Framing};

/// What a frame of a stream means.
#[derive(Debug)]
pub(crate) enum Heard {
    /// An item of one choice.
    Item(u64, Frame, Vec<Part>),
    /// Something that concerns no choice.
    Aside(Frame),
    /// The end of the stream.
    End(Frame),
    /// The server gives up.
    Error(Frame),
}

/// A frame of a stream whose events have choices, as a document; or what it is instead.
pub(crate) fn chunk(frame: Frame) -> Result<(Frame, Doc), Vec<Heard>> {
    let Some(data) = &frame.data else {
        return Err(vec![Heard::Aside(if frame.is_comment() { frame } else { frame.into_comment() })]);
    };
    if data.trim_ascii().starts_with(b"[DONE]") {
        return Err(vec![Heard::End(frame)]);
    }
    let doc = frame.doc();
    let failed = doc.as_ref().and_then(|doc| doc.root().some("error"));
    if failed.is_some_and(|error| error.raw() != "false") {
        return Err(vec![Heard::Error(frame)]);
    }
    if frame.event.as_deref() == Some(b"error") {
        // Clients look for the member, not for the name of the event.
        let body = Surface::Chat.error_body("upstream_error", &error::message_of(data));
        return Err(vec![Heard::Error(Frame::new(Framing::Sse, None, &body))]);
    }
    // What is no chunk makes clients fail: it passes as a comment.
    let Some(doc) = doc else { return Err(vec![Heard::Aside(frame.into_comment())]) };
    let root = doc.root();
    match root.some("choices").filter(|choices| choices.is_array()) {
        None => Err(vec![Heard::Aside(frame.into_comment())]),
        Some(choices) if choices.items().next().is_none() => Err(vec![Heard::Aside(frame)]),
        Some(_) => Ok((frame, doc)),
    }
}

/// Reads the frames of a stream.
pub(crate) trait Decode: Send {
    fn decode(&mut self, frame: Frame) -> Vec<Heard>;
}

/// Writes the frames of a stream.
pub(crate) trait Encode: Send {
    /// A frame that stays, in its place.
    fn keep(&mut self, lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>);
    /// What stands in the place of a frame.
    fn instead(&mut self, lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>);
    /// The end of the stream; its frame is missing where the server forgot it.
    fn end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>);
    /// An error in the middle of the stream.
    fn error(&mut self, message: &str, out: &mut Vec<Bytes>);
    /// Something that keeps the connection alive and means nothing.
    fn keep_alive(&mut self, out: &mut Vec<Bytes>) {
        out.push(Bytes::from_static(b": toolmend holds a call\n\n"));
    }
}

/// A surface that the gateway understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Surface {
    Chat,
    Completions,
    Messages,
    Ollama(Form),
    Responses,
}

impl Surface {
    /// The surface of a path that is posted to.
    pub(crate) fn of_path(path: &str) -> Option<Surface> {
        match path.trim_end_matches('/') {
            "/v1/chat/completions" | "/chat/completions" => Some(Surface::Chat),
            "/v1/completions" | "/completions" => Some(Surface::Completions),
            "/v1/messages" | "/messages" => Some(Surface::Messages),
            "/v1/responses" | "/responses" => Some(Surface::Responses),
            "/api/chat" => Some(Surface::Ollama(Form::Chat)),
            "/api/generate" => Some(Surface::Ollama(Form::Generate)),
            _ => None,
        }
    }

    /// The surface whose clients use a path that is only passed on.
    pub(crate) fn near(path: &str) -> Surface {
        match path {
            path if path.starts_with("/v1/messages") => Surface::Messages,
            path if path.starts_with("/api/") => Surface::Ollama(Form::Chat),
            _ => Surface::Chat,
        }
    }

    /// The name in logs and counters.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Surface::Chat => "chat",
            Surface::Completions => "completions",
            Surface::Messages => "messages",
            Surface::Ollama(Form::Chat) => "ollama_chat",
            Surface::Ollama(Form::Generate) => "ollama_generate",
            Surface::Responses => "responses",
        }
    }

    pub(crate) fn framing(self) -> Framing {
        match self {
            Surface::Ollama(_) => Framing::Lines,
            _ => Framing::Sse,
        }
    }

    /// Whether the surface has a word for turns that end in calls.
    pub(crate) fn stops_for_calls(self) -> bool {
        matches!(self, Surface::Chat | Surface::Messages)
    }

    /// Whether calls may be sent in pieces.
    pub(crate) fn calls_flow(self) -> bool {
        matches!(self, Surface::Chat | Surface::Messages | Surface::Responses)
    }

    /// Whether answers are streamed where the request does not say.
    pub(crate) fn streams_unasked(self) -> bool {
        matches!(self, Surface::Ollama(_))
    }

    /// Whether the surface knows tools. Where it does not, those of a request are for the gateway alone.
    pub(crate) fn knows_tools(self) -> bool {
        !matches!(self, Surface::Completions | Surface::Ollama(Form::Generate))
    }

    /// Mends a whole answer. None where it stays as it is.
    pub(crate) fn mend_whole(self, doc: &Doc, judge: &mut Judge) -> Option<String> {
        match self {
            Surface::Chat => chat::whole::mend(doc, judge),
            Surface::Completions => completions::whole::mend(doc, judge),
            Surface::Messages => messages::whole::mend(doc, judge),
            Surface::Ollama(form) => ollama::whole::mend(form, doc, judge),
            Surface::Responses => responses::whole::mend(doc, judge),
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn Decode> {
        match self {
            Surface::Chat => Box::new(chat::decode::Decoder::default()),
            Surface::Completions => Box::new(completions::decode::Decoder::default()),
            Surface::Messages => Box::new(messages::decode::Decoder::default()),
            Surface::Ollama(form) => Box::new(ollama::decode::Decoder::new(form)),
            Surface::Responses => Box::new(responses::decode::Decoder::default()),
        }
    }

    pub(crate) fn encoder(self) -> Box<dyn Encode> {
        match self {
            Surface::Chat => Box::new(chat::encode::Encoder::default()),
            Surface::Completions => Box::new(completions::encode::Encoder::default()),
            Surface::Messages => Box::new(messages::encode::Encoder::default()),
            Surface::Ollama(form) => Box::new(ollama::encode::Encoder::new(form)),
            Surface::Responses => Box::new(responses::encode::Encoder::default()),
        }
    }

    /// An error body as the clients of this surface read it.
    pub(crate) fn error_body(self, kind: &str, message: &str) -> String {
        let (kind, message) = (quote(kind), quote(message));
        match self {
            Surface::Messages => {
                format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}}}}}"#)
            }
            Surface::Ollama(_) => format!(r#"{{"error":{message}}}"#),
            _ => format!(r#"{{"error":{{"message":{message},"type":{kind},"param":null,"code":null}}}}"#),
        }
    }
}

/// A comment that tells what was done, for the end of a stream.
pub(crate) fn comment(text: &str) -> Bytes {
    Bytes::from(format!(": toolmend {text}\n\n"))
}
