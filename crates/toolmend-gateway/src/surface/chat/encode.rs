//! The stream of a chat completion, written.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use crate::surface::{Encode, Surface, comment};
use crate::turn::{Made, Stop};
use crate::wire::doc::{array, quote};
use crate::wire::frame::{Frame, Framing, Mark};

use super::{REASONING, call_json, stop_word};

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The last frame that a server sent: what is written anew has its envelope.
    model: Option<Frame>,
    /// How many calls each choice has so far.
    calls: HashMap<u64, u64>,
    /// Choices whose role was told.
    begun: HashSet<u64>,
}

impl Encode for Encoder {
    fn keep(&mut self, lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        out.push(frame.raw.clone());
        self.begun.extend(lane);
        if let (Some(lane), Mark::Open(calls)) = (lane, frame.mark) {
            *self.calls.entry(lane).or_default() += calls;
        }
        if frame.data.is_some() {
            self.model = Some(frame);
        }
    }

    fn instead(&mut self, lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>) {
        let doc = frame.as_ref().or(self.model.as_ref()).and_then(Frame::doc);
        let root = doc.as_ref().map(crate::wire::doc::Doc::root);
        let choice = root.and_then(|root| root.get("choices")?.items().next());
        let own = frame.is_some();
        let delta = choice.and_then(|choice| choice.get("delta"));
        let field = delta.and_then(|delta| REASONING.into_iter().find(|name| delta.get(name).is_some()));
        let raw_reason = choice.and_then(|choice| choice.get_text("finish_reason"));
        let calls = self.calls.entry(lane).or_default();
        let mut chunks = Vec::new();
        // A role that came with what is replaced still has to be told.
        let first = self.begun.insert(lane);
        let role = delta.filter(|_| own && first).and_then(|delta| delta.get("role"));
        let mut role = role.map(|role| format!(r#""role":{},"#, role.raw())).unwrap_or_default();
        for made in made {
            let (delta, reason) = match made {
                Made::Text(text) => (format!(r#"{{{}"content":{}}}"#, role, quote(&text)), None),
                Made::Reasoning(text) => {
                    (format!(r#"{{{role}"{}":{}}}"#, field.unwrap_or(REASONING[0]), quote(&text)), None)
                }
                Made::Call(call) | Made::Begin(call) => {
                    let call = array([call_json(&call, Some(*calls))]);
                    *calls += 1;
                    (format!(r#"{{{role}"tool_calls":{call}}}"#), None)
                }
                Made::Rest(_, rest) if rest.is_empty() => continue,
                Made::Rest(_, rest) | Made::Piece(rest) => {
                    let index = calls.saturating_sub(1);
                    let rest = quote(&rest);
                    (
                        format!(
                            r#"{{{role}"tool_calls":[{{"index":{index},"function":{{"arguments":{rest}}}}}]}}"#
                        ),
                        None,
                    )
                }
                Made::Stop(stop) => {
                    let raw = raw_reason.as_deref().filter(|_| own && stop == Stop::Other);
                    ("{}".to_owned(), Some(stop_word(stop, raw).to_owned()))
                }
            };
            role.clear();
            let reason = reason.map_or_else(|| "null".to_owned(), |reason| quote(&reason));
            chunks.push(format!(
                r#"{{"index":{lane},"delta":{delta},"logprobs":null,"finish_reason":{reason}}}"#
            ));
        }
        if chunks.is_empty() && !role.is_empty() {
            let role = role.trim_end_matches(',');
            chunks.push(format!(
                r#"{{"index":{lane},"delta":{{{role}}},"logprobs":null,"finish_reason":null}}"#
            ));
        }
        let last = chunks.len().saturating_sub(1);
        for (at, chunk) in chunks.into_iter().enumerate() {
            let choices = array([chunk]);
            let data = match root {
                // Numbers that the frame carries beside its choices are told once.
                Some(root) if own && at == last => root.with(&[("choices", Some(choices))]),
                Some(root) => root.with(&[("choices", Some(choices)), ("usage", None), ("timings", None)]),
                None => format!(r#"{{"object":"chat.completion.chunk","choices":{choices}}}"#),
            };
            out.push(Frame::new(Framing::Sse, None, &data).raw);
        }
        if own {
            self.model = frame;
        }
    }

    fn end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        out.extend(summary.map(comment));
        out.push(frame.map_or_else(|| Bytes::from_static(b"data: [DONE]\n\n"), |frame| frame.raw));
    }

    fn error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let body = Surface::Chat.error_body("upstream_error", message);
        out.push(Frame::new(Framing::Sse, None, &body).raw);
    }
}
