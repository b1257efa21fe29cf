//! The stream of a completion, written.

use bytes::Bytes;

use crate::surface::{Encode, Surface, comment};
use crate::turn::Made;
use crate::wire::doc::{Doc, array, quote};
use crate::wire::frame::{Frame, Framing};

use super::{call_json, stop_word};

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The last frame of the server: what is written anew has its envelope.
    model: Option<Frame>,
}

impl Encode for Encoder {
    fn keep(&mut self, _lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        out.push(frame.raw.clone());
        if frame.data.is_some() {
            self.model = Some(frame);
        }
    }

    fn instead(&mut self, lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>) {
        let doc = frame.as_ref().or(self.model.as_ref()).and_then(Frame::doc);
        let root = doc.as_ref().map(Doc::root);
        let choice = root.and_then(|root| root.get("choices")?.items().next());
        let raw = choice.and_then(|choice| choice.get_text("finish_reason"));
        let last = made.len().saturating_sub(1);
        for (at, made) in made.into_iter().enumerate() {
            let (text, reason, more) = match made {
                Made::Text(text) => (text, None, String::new()),
                Made::Reasoning(text) => {
                    let more = format!(r#","reasoning":{}"#, quote(&text));
                    (text, None, more)
                }
                // Where calls are text, the text has it already.
                Made::Call(call) | Made::Rest(call, _) => {
                    (String::new(), None, format!(r#","tool_calls":{}"#, array([call_json(&call)])))
                }
                // Calls are never sent in pieces here.
                Made::Begin(_) | Made::Piece(_) => continue,
                Made::Stop(stop) => {
                    (String::new(), Some(quote(stop_word(stop, raw.as_deref()))), String::new())
                }
            };
            let reason = reason.unwrap_or_else(|| "null".to_owned());
            let choice = format!(
                r#"{{"index":{lane},"text":{},"logprobs":null,"finish_reason":{reason}{more}}}"#,
                quote(&text)
            );
            let choices = array([choice]);
            let data = match root {
                Some(root) if frame.is_some() && at == last => root.with(&[("choices", Some(choices))]),
                Some(root) => root.with(&[("choices", Some(choices)), ("usage", None)]),
                None => format!(r#"{{"object":"text_completion","choices":{choices}}}"#),
            };
            out.push(Frame::new(Framing::Sse, None, &data).raw);
        }
        if frame.is_some() {
            self.model = frame;
        }
    }

    fn end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        out.extend(summary.map(comment));
        out.push(frame.map_or_else(|| Bytes::from_static(b"data: [DONE]\n\n"), |frame| frame.raw));
    }

    fn error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let body = Surface::Completions.error_body("upstream_error", message);
        out.push(Frame::new(Framing::Sse, None, &body).raw);
    }
}
