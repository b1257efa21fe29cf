//! The stream of a completion, read.

use crate::surface::{Decode, Heard, chunk};
use crate::turn::Part;
use crate::wire::doc::{Doc, View, array};
use crate::wire::frame::{Frame, Framing};

use super::stop;

#[derive(Debug, Default)]
pub(crate) struct Decoder {}

impl Decode for Decoder {
    fn decode(&mut self, frame: Frame) -> Vec<Heard> {
        let (frame, doc) = match chunk(frame) {
            Ok(chunk) => chunk,
            Err(heard) => return heard,
        };
        let choices: Vec<View<'_>> = doc.root().get("choices").into_iter().flat_map(View::items).collect();
        match choices.as_slice() {
            [only] => vec![item(*only, frame)],
            several => several.iter().map(|choice| item(*choice, alone(&doc, *choice))).collect(),
        }
    }
}

/// A frame for one choice of many.
fn alone(doc: &Doc, choice: View<'_>) -> Frame {
    let data = doc.root().with(&[("choices", Some(array([choice.raw()])))]);
    Frame::new(Framing::Sse, None, &data)
}

fn item(choice: View<'_>, frame: Frame) -> Heard {
    let lane = choice.get("index").and_then(View::number).unwrap_or(0);
    let mut parts = vec![Part::Text(choice.get_text("text").unwrap_or_default().into_owned())];
    if let Some(reason) = choice.get_text("finish_reason").filter(|reason| !reason.is_empty()) {
        parts.push(Part::Stop(stop(&reason)));
    }
    Heard::Item(lane, frame, parts)
}
