//! The stream of a text completion, decoded.

use super::super::chunk::decode_choices;
use super::read_stop;
use crate::frame::Frame;
use crate::json::ValueRef;
use crate::stream::{DecodedFrame, FrameDecoder};
use crate::turn::Part;

#[derive(Debug, Default)]
pub(super) struct Decoder {}

impl FrameDecoder for Decoder {
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame> {
        decode_choices(frame, |chunk, choice, alone| {
            let frame = if alone { chunk.frame.clone() } else { chunk.frame_with_choice(choice.raw()) };
            decode_choice(choice, frame)
        })
    }
}

fn decode_choice(choice: ValueRef<'_>, frame: Frame) -> DecodedFrame {
    let number = choice.get("index").and_then(ValueRef::number).unwrap_or(0);
    let mut parts = vec![Part::Text(choice.get_lossy_text("text").unwrap_or_default().into_owned())];
    if let Some(reason) = choice.get_lossy_text("finish_reason").filter(|reason| !reason.is_empty()) {
        parts.push(Part::Stop(read_stop(&reason)));
    }
    DecodedFrame::Item(number, frame, parts)
}
