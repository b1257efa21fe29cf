//! A stream of one protocol, written as a stream of another.
//!
//! Calls are sent once they are complete, even with live delivery: pieces of one protocol cannot be promised in another.

use bytes::Bytes;
use toolmend_protocol::{
    Answer, AnswerEnd, AnswerPart, Arguments, CallPiece, ClosingFrames, DecodedFrame, Document, Frame,
    FrameDecoder, FrameEncoder, FrameExtras, FrameSplitter, Framing, OutgoingPart, Part, ReadyCall,
    Replacement, SUMMARY_COMMENT, error_message_in,
};

use super::Translation;
use crate::mend::{is_object, retry_message};

/// Reads the bytes of one protocol and writes those of the other.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about the stream")]
pub(crate) struct StreamTranslator {
    translation: Translation,
    splitter: FrameSplitter,
    decoder: Box<dyn FrameDecoder>,
    encoder: Box<dyn FrameEncoder>,
    /// Whether the opening frames were written.
    begun: bool,
    answer: Answer,
    calls: Vec<OpenCall>,
    /// Whether a call was written.
    has_calls: bool,
    end: Option<AnswerEnd>,
    is_over: bool,
    has_failed: bool,
    /// Whether the whole answer is wanted.
    collects: bool,
    /// What was mended, for the end of the stream.
    summary: Option<String>,
    out: Vec<Bytes>,
}

/// A call whose pieces are arriving.
#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    call: ReadyCall,
    done: bool,
}

impl StreamTranslator {
    /// Returns a translator for one stream; `limit` is the longest frame in bytes.
    pub(crate) fn new(translation: Translation, limit: usize) -> Self {
        let collects = translation.keeps_conversation();
        StreamTranslator::with_answer(translation, limit, collects)
    }

    /// Returns a translator that keeps the whole answer.
    pub(crate) fn collecting(translation: Translation, limit: usize) -> Self {
        StreamTranslator::with_answer(translation, limit, true)
    }

    fn with_answer(translation: Translation, limit: usize, collects: bool) -> Self {
        let meta = translation.new_meta();
        StreamTranslator {
            splitter: FrameSplitter::new(translation.protocols.upstream.framing(), limit),
            decoder: translation.protocols.upstream.decoder(),
            encoder: translation.protocols.client.encoder(),
            translation,
            begun: false,
            answer: Answer { meta, ..Answer::default() },
            calls: Vec::new(),
            has_calls: false,
            end: None,
            is_over: false,
            has_failed: false,
            collects,
            summary: None,
            out: Vec::new(),
        }
    }

    /// Takes what was written since the last time.
    pub(crate) fn take_output(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.out)
    }

    /// Returns the whole answer, if the stream was complete.
    pub(crate) fn into_answer(self) -> Option<Answer> {
        (self.is_over && !self.has_failed).then_some(self.answer)
    }

    /// Whether the end or an error was written.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds the next bytes of the server.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.splitter.push(bytes);
        loop {
            match self.splitter.next_frame() {
                Ok(Some(frame)) => self.add_frame(frame),
                Ok(None) => return,
                Err(error) => return self.fail(&error.to_string()),
            }
        }
    }

    /// Ends the stream.
    pub(crate) fn finish(&mut self) {
        if let Some(rest) = self.splitter.take_rest().filter(|rest| rest.doc().is_some()) {
            self.add_frame(rest);
        }
        if self.is_over {
            return;
        }
        // Nothing can follow in a call that is complete, so it counts without an end of the turn.
        let is_complete = |open: &OpenCall| open.done || is_object(&open.call.arguments);
        let has_calls = self.has_calls || !self.calls.is_empty();
        if self.end.is_some() || (has_calls && self.calls.iter().all(is_complete)) {
            self.write_end();
        } else {
            self.fail(&retry_message("the server's stream ended before the turn was complete"));
        }
    }

    /// Ends the stream with an error. Incomplete calls are not sent.
    pub(crate) fn fail(&mut self, message: &str) {
        if !self.is_over {
            self.is_over = true;
            self.has_failed = true;
            self.write_opening();
            self.encoder.write_error(message, &mut self.out);
        }
    }

    fn add_frame(&mut self, frame: Frame) {
        if self.is_over {
            return;
        }
        if frame.is_comment() {
            return self.add_comment(&frame);
        }
        let doc = frame.doc();
        let mut extras = FrameExtras::default();
        if let Some(root) = doc.as_ref().map(Document::root) {
            (self.translation.protocols.upstream_side.add_usage)(root, &mut self.answer.usage);
            extras = (self.translation.protocols.upstream_side.read_frame_extras)(root);
            self.summary =
                root.get_text("toolmend").map(std::borrow::Cow::into_owned).or(self.summary.take());
        }
        if let Some(model) = extras.model.filter(|model| !model.is_empty() && !self.begun) {
            self.answer.meta.model = model;
        }
        if extras.end.is_some() {
            self.end = extras.end;
        }
        for decoded in self.decoder.decode_frame(frame) {
            match decoded {
                DecodedFrame::Item(0, ..) if extras.replaces_parts => self.write_opening(),
                DecodedFrame::Item(0, _, parts) => {
                    self.write_opening();
                    self.write_parts(parts);
                }
                DecodedFrame::Item(..) | DecodedFrame::Other(_) => {}
                DecodedFrame::End(_) => {
                    self.write_end();
                    return;
                }
                DecodedFrame::Error(frame) => {
                    let message = frame.data.as_ref().map(error_message_in).unwrap_or_default();
                    return self.fail(&message);
                }
            }
        }
        self.write_answer_parts(extras.parts);
    }

    fn write_answer_parts(&mut self, parts: Vec<AnswerPart>) {
        for part in parts {
            match part {
                AnswerPart::Text(text) => self.write_text(OutgoingPart::Text(text)),
                AnswerPart::Reasoning(text) => self.write_text(OutgoingPart::Reasoning(text)),
                AnswerPart::Call(call) => {
                    self.flush_calls();
                    self.write_call(call);
                }
            }
        }
    }

    /// Handles a comment, which keeps the connection alive or says what was mended.
    fn add_comment(&mut self, frame: &Frame) {
        if self.translation.protocols.client.framing() == Framing::Sse
            && self.translation.protocols.upstream.framing() == Framing::Sse
        {
            self.out.push(frame.raw.clone());
            return;
        }
        let text = std::str::from_utf8(&frame.raw).unwrap_or_default().trim();
        match text.strip_prefix(SUMMARY_COMMENT) {
            Some(summary) if summary != "holds a call" => self.summary = Some(summary.to_owned()),
            _ if self.begun => self.encoder.write_keep_alive(&mut self.out),
            _ => {}
        }
    }

    fn write_parts(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Text(text) if !text.is_empty() => self.write_text(OutgoingPart::Text(text)),
                Part::Reasoning(text) if !text.is_empty() => self.write_text(OutgoingPart::Reasoning(text)),
                Part::Text(_) | Part::Reasoning(_) | Part::Opaque => {}
                Part::Call(piece) => self.add_call_piece(piece),
                Part::Stop(_) => self.flush_calls(),
            }
        }
    }

    /// Writes the opening frames, before anything else is written.
    fn write_opening(&mut self) {
        if !self.begun {
            self.begun = true;
            let frames =
                (self.translation.protocols.client_side.opening_frames)(&self.answer.meta, self.answer.usage);
            // Streams of lines have no opening, but the encoder learns from one.
            let mut unsent = Vec::new();
            let out = if self.translation.protocols.client.framing() == Framing::Lines {
                &mut unsent
            } else {
                &mut self.out
            };
            for frame in frames {
                self.encoder.write_unchanged(Some(0), frame, out);
            }
        }
    }

    fn write_text(&mut self, part: OutgoingPart) {
        self.flush_calls();
        self.write_opening();
        if self.collects {
            match (&part, self.answer.parts.last_mut()) {
                (OutgoingPart::Text(text), Some(AnswerPart::Text(before)))
                | (OutgoingPart::Reasoning(text), Some(AnswerPart::Reasoning(before))) => {
                    before.push_str(text);
                }
                (OutgoingPart::Text(text), _) => self.answer.parts.push(AnswerPart::Text(text.clone())),
                (OutgoingPart::Reasoning(text), _) => {
                    self.answer.parts.push(AnswerPart::Reasoning(text.clone()));
                }
                _ => {}
            }
        }
        self.encode_part(part);
    }

    /// Writes a part with the client's encoder.
    fn encode_part(&mut self, part: OutgoingPart) {
        let added = Replacement { choice: 0, frame: None, parts: vec![part] };
        self.encoder.write_parts(added, &mut self.out);
    }

    fn add_call_piece(&mut self, piece: CallPiece) {
        let named = piece.name.as_deref().is_some_and(|name| !name.is_empty());
        let at = match piece.key.index {
            Some(index) => self.calls.iter().position(|open| open.index == Some(index)),
            None => self.calls.len().checked_sub(1).filter(|_| !named),
        };
        let at = at.unwrap_or_else(|| {
            self.calls.push(OpenCall { index: piece.key.index, ..OpenCall::default() });
            self.calls.len() - 1
        });
        let open = &mut self.calls[at];
        if open.call.id.is_empty() {
            open.call.id = piece.key.id.unwrap_or_default();
        }
        if let Some(name) = piece.name.filter(|_| open.call.name.is_empty()) {
            open.call.name = name;
        }
        open.call.extras.merge(piece.extras);
        match piece.arguments {
            Some(Arguments::Piece(text)) => open.call.arguments.push_str(&text),
            Some(Arguments::Whole(text)) => open.call.arguments = text,
            None => {}
        }
        open.done |= piece.last;
        // Calls are sent in order: a complete one waits for those before it.
        let ready = self.calls.iter().take_while(|open| open.done).count();
        let ready: Vec<OpenCall> = self.calls.drain(..ready).collect();
        for open in ready {
            self.write_call(open.call);
        }
    }

    /// Sends all open calls: nothing more follows for them.
    fn flush_calls(&mut self) {
        for open in std::mem::take(&mut self.calls) {
            self.write_call(open.call);
        }
    }

    fn write_call(&mut self, call: ReadyCall) {
        self.write_opening();
        match self.translation.restore_call(call) {
            Ok(call) => {
                self.has_calls = true;
                if self.collects {
                    self.answer.parts.push(AnswerPart::Call(call.clone()));
                }
                self.encode_part(OutgoingPart::Call(call));
            }
            Err(text) => self.encode_part(OutgoingPart::Text(text)),
        }
    }

    fn write_end(&mut self) {
        self.flush_calls();
        self.write_opening();
        self.is_over = true;
        self.answer.end = self.end.take().unwrap_or_default().with_calls(self.has_calls);
        let client = &self.translation.protocols.client_side;
        let ClosingFrames { frames, end } =
            (client.closing_frames)(&self.answer, self.translation.wants_usage);
        for frame in frames {
            self.encoder.write_unchanged(Some(0), frame, &mut self.out);
        }
        self.encoder.write_end(end, self.summary.as_deref(), &mut self.out);
        self.translation.keep_conversation(&self.answer);
    }
}
