//! Decoders and encoders of streams: the two halves that every protocol implements.
//!
//! A decoder says what a frame means and repairs nothing but its envelope (a missing event name, a missing role). An
//! encoder owns all numbers on the wire: indices, block numbers, sequence numbers. Once a part was added or removed, it
//! renumbers the frames that stay.

use bytes::Bytes;

use crate::frame::Frame;
use crate::turn::{OutgoingPart, Part};

/// What a frame of a stream means.
#[derive(Debug)]
pub enum DecodedFrame {
    /// An item of the choice with this number, and the parts that it carries.
    Item(u64, Frame, Vec<Part>),
    /// A frame that belongs to no choice.
    Other(Frame),
    /// The end of the stream.
    End(Frame),
    /// An error of the server; nothing follows.
    Error(Frame),
}

/// Reads the frames of a stream.
pub trait FrameDecoder: Send {
    /// Says what a frame means. One frame may carry several items.
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame>;

    /// Returns about how many bytes of the turn it keeps.
    fn memory(&self) -> usize {
        0
    }
}

/// Parts that take the place of a frame.
#[derive(Debug)]
pub struct Replacement {
    /// The number of the choice that they belong to.
    pub choice: u64,
    /// The frame that they replace. Missing if they are added to the stream.
    pub frame: Option<Frame>,
    /// What is written instead.
    pub parts: Vec<OutgoingPart>,
}

/// Writes the frames of a stream.
pub trait FrameEncoder: Send {
    /// Writes a frame that stays, under the client's numbers.
    fn write_unchanged(&mut self, choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>);
    /// Writes the parts that replace a frame.
    fn write_parts(&mut self, replacement: Replacement, out: &mut Vec<Bytes>);
    /// Writes the end of the stream. `frame` is missing if the server forgot it; `summary` says what was mended.
    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>);
    /// Writes an error in the middle of the stream.
    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>);
    /// Returns about how many bytes of the turn it keeps.
    fn memory(&self) -> usize {
        0
    }

    /// Writes something that keeps the connection alive and means nothing.
    fn write_keep_alive(&mut self, out: &mut Vec<Bytes>) {
        out.push(Bytes::from_static(b": toolmend holds a call\n\n"));
    }
}

/// How a comment begins that says what was mended.
pub const SUMMARY_COMMENT: &str = ": toolmend ";

/// Returns a comment that says what was mended, for the end of a stream.
pub(crate) fn summary_comment(summary: &str) -> Bytes {
    Bytes::from(format!("{SUMMARY_COMMENT}{summary}\n\n"))
}
