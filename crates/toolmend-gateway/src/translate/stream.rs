//! A stream of one surface, written as a stream of another.

use bytes::Bytes;

use super::Plan;
use super::answer::{Answer, End, Meta, Said, Usage};
use super::error::message_of;
use crate::surface::{Decode, Encode, Heard};
use crate::turn::{Arguments, CallPiece, Made, Part, ReadyCall};
use crate::wire::doc::Doc;
use crate::wire::frame::{Frame, Framing, Splitter};

/// Reads the bytes of one surface and writes those of the other.
pub(crate) struct Translator {
    plan: Plan,
    splitter: Splitter,
    decoder: Box<dyn Decode>,
    encoder: Box<dyn Encode>,
    /// Known once the first words were said.
    begun: bool,
    answer: Answer,
    calls: Vec<Open>,
    told_end: Option<End>,
    over: bool,
    /// What was done to the stream, for its last words.
    summary: Option<String>,
    out: Vec<Bytes>,
}

/// A call whose pieces come.
#[derive(Debug, Default)]
struct Open {
    index: Option<u64>,
    call: ReadyCall,
    done: bool,
}

impl Translator {
    pub(crate) fn new(plan: Plan, limit: usize) -> Self {
        let meta = plan.meta();
        Translator {
            splitter: Splitter::new(plan.upstream.framing(), limit),
            decoder: plan.upstream.surface().decoder(),
            encoder: plan.client.surface().encoder(),
            plan,
            begun: false,
            answer: Answer { meta, ..Answer::default() },
            calls: Vec::new(),
            told_end: None,
            over: false,
            summary: None,
            out: Vec::new(),
        }
    }

    /// What was written since the last time.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.splitter.push(bytes);
        loop {
            match self.splitter.next() {
                Ok(Some(frame)) => self.frame(frame),
                Ok(None) => return,
                Err(_) => return self.fail("the server sent an event that is longer than the gateway holds"),
            }
        }
    }

    /// The server is done.
    pub(crate) fn finish(&mut self) {
        if let Some(rest) = self.splitter.rest().filter(|rest| rest.doc().is_some()) {
            self.frame(rest);
        }
        if self.over {
            return;
        }
        if self.told_end.is_some() {
            self.end();
        } else {
            self.fail("the server's stream ended before the turn was complete");
        }
    }

    /// Ends the stream with an error. Calls that are not complete are not sent.
    pub(crate) fn fail(&mut self, message: &str) {
        if !self.over {
            self.over = true;
            self.begin();
            self.encoder.error(message, &mut self.out);
        }
    }

    fn frame(&mut self, frame: Frame) {
        if self.over {
            return;
        }
        if frame.is_comment() {
            return self.comment(&frame);
        }
        let doc = frame.doc();
        let mut aside = super::answer::Aside::default();
        if let Some(root) = doc.as_ref().map(Doc::root) {
            self.plan.upstream.add_counts(root, &mut self.answer.usage);
            aside = self.plan.upstream.aside(root);
            self.summary =
                root.get_text("toolmend").map(std::borrow::Cow::into_owned).or(self.summary.take());
        }
        if let Some(model) = aside.model.filter(|model| !model.is_empty() && !self.begun) {
            self.answer.meta.model = model;
        }
        if aside.end.is_some() {
            self.told_end = aside.end;
        }
        for heard in self.decoder.decode(frame) {
            match heard {
                Heard::Item(0, ..) if aside.instead => self.begin(),
                Heard::Item(0, _, parts) => {
                    self.begin();
                    self.parts(parts);
                }
                Heard::Item(..) | Heard::Aside(_) => {}
                Heard::End(_) => {
                    self.end();
                    return;
                }
                Heard::Error(frame) => {
                    let message = frame.data.as_ref().map(message_of).unwrap_or_default();
                    return self.fail(&message);
                }
            }
        }
        for said in aside.said {
            match said {
                Said::Text(text) => self.say(Made::Text(text)),
                Said::Reasoning(text) => self.say(Made::Reasoning(text)),
                Said::Call(call) => {
                    self.flush();
                    self.call(call);
                }
            }
        }
    }

    /// Comments keep connections alive, and tell what was mended.
    fn comment(&mut self, frame: &Frame) {
        if self.plan.client.framing() == Framing::Sse && self.plan.upstream.framing() == Framing::Sse {
            self.out.push(frame.raw.clone());
            return;
        }
        let text = std::str::from_utf8(&frame.raw).unwrap_or_default().trim();
        match text.strip_prefix(": toolmend ") {
            Some(told) if told != "holds a call" => self.summary = Some(told.to_owned()),
            _ if self.begun => self.encoder.keep_alive(&mut self.out),
            _ => {}
        }
    }

    fn parts(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Text(text) if !text.is_empty() => self.say(Made::Text(text)),
                Part::Reasoning(text) if !text.is_empty() => self.say(Made::Reasoning(text)),
                Part::Text(_) | Part::Reasoning(_) | Part::Opaque => {}
                Part::Call(piece) => self.piece(piece),
                Part::Stop(_) => self.flush(),
            }
        }
    }

    /// The first words, before anything else is said.
    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            let frames = self.plan.client.begin(&self.answer.meta, self.answer.usage);
            // The lines of this surface have no beginning; the encoder learns from one all the same.
            let mut unsent = Vec::new();
            let out = if self.plan.client.framing() == Framing::Lines { &mut unsent } else { &mut self.out };
            for frame in frames {
                self.encoder.keep(Some(0), frame, out);
            }
        }
    }

    fn say(&mut self, made: Made) {
        self.flush();
        self.begin();
        if self.plan.keeps() {
            match (&made, self.answer.said.last_mut()) {
                (Made::Text(text), Some(Said::Text(before)))
                | (Made::Reasoning(text), Some(Said::Reasoning(before))) => before.push_str(text),
                (Made::Text(text), _) => self.answer.said.push(Said::Text(text.clone())),
                (Made::Reasoning(text), _) => self.answer.said.push(Said::Reasoning(text.clone())),
                _ => {}
            }
        }
        self.encoder.instead(0, None, vec![made], &mut self.out);
    }

    fn piece(&mut self, piece: CallPiece) {
        let named = piece.name.as_deref().is_some_and(|name| !name.is_empty());
        let at = match piece.slot.index {
            Some(index) => self.calls.iter().position(|open| open.index == Some(index)),
            None => self.calls.len().checked_sub(1).filter(|_| !named),
        };
        let at = at.unwrap_or_else(|| {
            self.calls.push(Open { index: piece.slot.index, ..Open::default() });
            self.calls.len() - 1
        });
        let open = &mut self.calls[at];
        if open.call.id.is_empty() {
            open.call.id = piece.slot.id.unwrap_or_default();
        }
        if let Some(name) = piece.name.filter(|_| open.call.name.is_empty()) {
            open.call.name = name;
        }
        match piece.arguments {
            Some(Arguments::Piece(text)) => open.call.arguments.push_str(&text),
            Some(Arguments::Whole(text)) => open.call.arguments = text,
            None => {}
        }
        open.done |= piece.last;
        // In their order: a later call that is complete waits for those before it.
        let ready = self.calls.iter().take_while(|open| open.done).count();
        let ready: Vec<Open> = self.calls.drain(..ready).collect();
        for open in ready {
            self.call(open.call);
        }
    }

    /// Nothing follows for the calls that came.
    fn flush(&mut self) {
        for open in std::mem::take(&mut self.calls) {
            self.call(open.call);
        }
    }

    fn call(&mut self, call: ReadyCall) {
        self.begin();
        match self.plan.call(call) {
            Ok(call) => {
                self.answer.said.push(Said::Call(call.clone()));
                self.encoder.instead(0, None, vec![Made::Call(call)], &mut self.out);
            }
            Err(text) => self.encoder.instead(0, None, vec![Made::Text(text)], &mut self.out),
        }
    }

    fn end(&mut self) {
        self.flush();
        self.begin();
        self.over = true;
        let ran = self.answer.calls().next().is_some();
        self.answer.end = self.told_end.take().unwrap_or_default().with_calls(ran);
        let Answer { meta, end, usage, .. } = &self.answer;
        let (frames, last) = self.plan.client.finish(meta, end, *usage, self.plan.counts);
        for frame in frames {
            self.encoder.keep(Some(0), frame, &mut self.out);
        }
        self.encoder.end(last, self.summary.as_deref(), &mut self.out);
        self.plan.keep(&self.answer);
    }
}

impl super::Wire {
    /// What a stream of this surface begins with.
    fn begin(self, meta: &Meta, usage: Usage) -> Vec<Frame> {
        use crate::surface::{chat, messages, ollama, responses};
        match self {
            super::Wire::Chat | super::Wire::Completions => vec![chat::answer::begin(meta)],
            super::Wire::Messages => vec![messages::answer::begin(meta, usage)],
            super::Wire::Responses => responses::answer::begin(meta),
            super::Wire::Ollama => vec![ollama::answer::begin(meta)],
        }
    }

    /// What it ends with: frames, and the very last one where it holds everything once more.
    fn finish(self, meta: &Meta, end: &End, usage: Usage, counts: bool) -> (Vec<Frame>, Option<Frame>) {
        use crate::surface::{chat, messages, ollama, responses};
        match self {
            super::Wire::Chat | super::Wire::Completions => {
                (chat::answer::finish(meta, end, usage, counts), None)
            }
            super::Wire::Messages => (vec![messages::answer::finish(end, usage)], None),
            super::Wire::Responses => (Vec::new(), Some(responses::answer::finish(meta, end, usage))),
            super::Wire::Ollama => (vec![ollama::answer::finish(meta, end, usage)], None),
        }
    }
}
