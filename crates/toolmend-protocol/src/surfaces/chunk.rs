//! Chunks: the frames of streams whose events hold a list of choices.

use bytes::Bytes;

use crate::adapter::AnswerFrames;
use crate::error::error_message_in;
use crate::frame::{Frame, Framing};
use crate::history::MendedList;
use crate::ids::new_id;
use crate::json::{Changes, Document, ValueRef, array, quote};
use crate::stream::{DecodedFrame, summary_comment};

/// A chunk with at least one choice.
pub(super) struct Chunk {
    pub(super) frame: Frame,
    pub(super) doc: Document,
}

impl Chunk {
    /// Reads a frame as a chunk, or says what it is instead.
    pub(super) fn read(frame: Frame) -> Result<Chunk, Vec<DecodedFrame>> {
        let Some(data) = &frame.data else {
            return Err(vec![DecodedFrame::Other(if frame.is_comment() {
                frame
            } else {
                frame.into_comment()
            })]);
        };
        if data.trim_ascii().starts_with(b"[DONE]") {
            return Err(vec![DecodedFrame::End(frame)]);
        }
        let doc = frame.doc();
        let error = doc.as_ref().and_then(|doc| doc.root().get_non_null("error"));
        if error.is_some_and(|error| error.raw() != "false") {
            return Err(vec![DecodedFrame::Error(frame)]);
        }
        if frame.event.as_deref() == Some(b"error") {
            // Clients look for the member, not for the name of the event.
            let body = error_body("upstream_error", &error_message_in(data));
            return Err(vec![DecodedFrame::Error(Frame::new(Framing::Sse, None, &body))]);
        }
        // Anything that is not a chunk makes clients fail, so it passes as a comment.
        let Some(doc) = doc else { return Err(vec![DecodedFrame::Other(frame.into_comment())]) };
        match doc.root().get_non_null("choices").filter(|choices| choices.is_array()) {
            None => Err(vec![DecodedFrame::Other(frame.into_comment())]),
            Some(choices) if choices.items().next().is_none() => Err(vec![DecodedFrame::Other(frame)]),
            Some(_) => Ok(Chunk { frame, doc }),
        }
    }

    /// Returns its choices.
    pub(super) fn choices(&self) -> Vec<ValueRef<'_>> {
        self.doc.root().get("choices").into_iter().flat_map(ValueRef::items).collect()
    }

    /// Returns a frame with the chunk's envelope and one choice.
    pub(super) fn frame_with_choice(&self, choice: &str) -> Frame {
        let data = self.doc.root().with(&[("choices", Some(array([choice])))]);
        Frame::new(Framing::Sse, None, &data)
    }
}

/// Decodes every choice of a chunk. `decode_choice` is told whether the choice is alone in its chunk.
pub(super) fn decode_choices(
    frame: Frame,
    mut decode_choice: impl FnMut(&Chunk, ValueRef<'_>, bool) -> DecodedFrame,
) -> Vec<DecodedFrame> {
    let chunk = match Chunk::read(frame) {
        Ok(chunk) => chunk,
        Err(decoded) => return decoded,
    };
    let choices = chunk.choices();
    let alone = choices.len() == 1;
    choices.into_iter().map(|choice| decode_choice(&chunk, choice, alone)).collect()
}

/// What the chunks of a protocol have in common.
pub(super) struct ChunkForm {
    /// The type of a chunk, for streams in which the server sent none that could be copied.
    pub(super) object: &'static str,
    /// The members with numbers about the whole turn, which are sent once.
    pub(super) counts: &'static [&'static str],
}

/// The server's last frame: new chunks copy its envelope.
#[derive(Debug, Default)]
pub(super) struct Envelope(Option<Frame>);

impl Envelope {
    /// Copies this frame from now on. Comments have no envelope.
    pub(super) fn keep(&mut self, frame: Frame) {
        if frame.data.is_some() {
            self.0 = Some(frame);
        }
    }

    /// Returns what new chunks are written from: the frame that they replace, or else the last one.
    pub(super) fn template(&mut self, replaced: Option<Frame>) -> ChunkTemplate {
        let replaces_frame = replaced.is_some();
        if replaces_frame {
            self.0 = replaced;
        }
        ChunkTemplate { doc: self.0.as_ref().and_then(Frame::doc), replaces_frame }
    }
}

/// A chunk of the server that new chunks are written from.
pub(super) struct ChunkTemplate {
    doc: Option<Document>,
    /// Whether the new chunks replace it. Otherwise it was sent before.
    pub(super) replaces_frame: bool,
}

impl ChunkTemplate {
    /// Returns its first choice.
    pub(super) fn choice(&self) -> Option<ValueRef<'_>> {
        self.doc.as_ref()?.root().get("choices")?.items().next()
    }

    /// Writes a chunk for each of the choices.
    pub(super) fn write_choices(&self, choices: Vec<String>, form: &ChunkForm, out: &mut Vec<Bytes>) {
        let last = choices.len().saturating_sub(1);
        for (at, choice) in choices.into_iter().enumerate() {
            let choices = array([choice]);
            let data = match &self.doc {
                Some(doc) => {
                    let mut changes = vec![("choices", Some(choices))];
                    // Numbers that the frame carries beside its choices are sent once.
                    if !self.replaces_frame || at < last {
                        changes.extend(form.counts.iter().map(|name| (*name, None)));
                    }
                    doc.root().with(&changes)
                }
                None => format!(r#"{{"object":"{}","choices":{choices}}}"#, form.object),
            };
            out.push(Frame::new(Framing::Sse, None, &data).raw);
        }
    }
}

/// Mends every choice of a whole answer. `None`: all of them stay as they are.
pub(super) fn mend_choices<'d>(
    root: ValueRef<'d>,
    mend_choice: impl FnMut(ValueRef<'d>) -> Option<String>,
) -> Option<String> {
    let choices = root.get("choices").filter(|choices| choices.is_array())?;
    let mended = MendedList::of(choices.items(), mend_choice).into_json()?;
    Some(root.with(&[("choices", Some(mended))]))
}

/// Writes a whole answer as chunks. `split_choice` gets a choice and its position, and returns the choices that are sent for it; `None` if it
/// is not a choice of the protocol.
pub(super) fn split_into_chunks<'d>(
    root: ValueRef<'d>,
    object: &str,
    wants_usage: bool,
    split_choice: impl Fn(ValueRef<'d>, usize) -> Option<Vec<String>>,
) -> Option<AnswerFrames> {
    let choices = root.get("choices").filter(|choices| choices.is_array())?;
    let mut envelope: Changes<'_> = vec![("object", Some(quote(object)))];
    let defaults = [("id", quote(&new_id("chatcmpl-"))), ("created", "0".to_owned()), ("model", quote(""))];
    let missing = defaults.into_iter().filter(|(name, _)| root.get_non_null(name).is_none());
    envelope.extend(missing.map(|(name, value)| (name, Some(value))));
    let write_chunk = |choices: String, usage: Option<String>| {
        let mut changes = envelope.clone();
        changes.extend([("choices", Some(choices)), ("usage", usage)]);
        Frame::new(Framing::Sse, None, &root.with(&changes))
    };
    let mut frames = Vec::new();
    for (at, choice) in choices.items().enumerate() {
        frames.extend(split_choice(choice, at)?.into_iter().map(|choice| write_chunk(array([choice]), None)));
    }
    if let Some(usage) = root.get_non_null("usage").filter(|_| wants_usage) {
        frames.push(write_chunk("[]".to_owned(), Some(usage.raw().to_owned())));
    }
    Some(AnswerFrames { frames, end: Frame::new(Framing::Sse, None, "[DONE]") })
}

/// Writes an error body in `OpenAI`'s form.
pub(super) fn error_body(kind: &str, message: &str) -> String {
    let (kind, message) = (quote(kind), quote(message));
    format!(r#"{{"error":{{"message":{message},"type":{kind},"param":null,"code":null}}}}"#)
}

/// Writes the end of a stream.
pub(super) fn write_end(frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
    out.extend(summary.map(summary_comment));
    out.push(frame.map_or_else(|| Bytes::from_static(b"data: [DONE]\n\n"), |frame| frame.raw));
}

/// Writes an error in the middle of a stream.
pub(super) fn write_error(message: &str, out: &mut Vec<Bytes>) {
    out.push(Frame::new(Framing::Sse, None, &error_body("upstream_error", message)).raw);
}
