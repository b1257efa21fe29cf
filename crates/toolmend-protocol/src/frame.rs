//! Frames: the units of a stream, with the bytes that they arrived in.
//!
//! A [`FrameSplitter`] cuts server-sent events or lines of JSON out of a stream of bytes. It never interprets the payload
//! and never loses a byte: a frame that stays unchanged is sent on as [`Frame::raw`].

use std::borrow::Cow;

use bytes::{Buf, Bytes, BytesMut};
use toolmend_json::BYTE_ORDER_MARK;

use crate::json::Document;

/// How a stream is divided into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events: a blank line ends a frame.
    Sse,
    /// One JSON value per line.
    Lines,
}

impl Framing {
    /// Returns the media type of such a stream.
    pub fn content_type(self) -> &'static str {
        match self {
            Framing::Sse => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
        }
    }
}

/// What a frame does to the numbered blocks or items of its protocol. Decoders set it for encoders of the same protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrameRole {
    /// None of the others.
    #[default]
    Other,
    /// Begins the turn.
    Begin,
    /// Opens the block or item with this number.
    Open(u64),
    /// Adds to the block or item with this number.
    Inside(u64),
    /// Closes the block or item with this number.
    Close(u64),
    /// Starts this many calls, in protocols that number calls without opening and closing them.
    StartCalls(u64),
    /// Says why the turn ended.
    Stop,
}

/// One event or line, with the bytes that it arrived in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// All of its bytes, including the blank line at its end.
    pub raw: Bytes,
    /// The name in its `event:` line.
    pub event: Option<Bytes>,
    /// Its `data:` lines, joined. Missing for comments.
    pub data: Option<Bytes>,
    /// What it does to numbered blocks or items.
    pub role: FrameRole,
}

impl Frame {
    /// Returns a new frame with this payload.
    pub fn new(framing: Framing, event: Option<&str>, data: &str) -> Frame {
        // A payload is one line of JSON. Line breaks in JSON are white space, so a space can replace them.
        let data = match memchr::memchr2(b'\n', b'\r', data.as_bytes()) {
            Some(_) => Cow::Owned(data.replace(['\n', '\r'], " ")),
            None => Cow::Borrowed(data),
        };
        let mut raw = BytesMut::with_capacity(data.len() + 48);
        let mut at = 0;
        if framing == Framing::Sse {
            if let Some(event) = event {
                raw.extend_from_slice(b"event: ");
                raw.extend_from_slice(event.as_bytes());
                raw.extend_from_slice(b"\n");
            }
            raw.extend_from_slice(b"data: ");
            at = raw.len();
        }
        raw.extend_from_slice(data.as_bytes());
        raw.extend_from_slice(if framing == Framing::Sse { b"\n\n" } else { b"\n" });
        let raw = raw.freeze();
        let event = event.map(|event| Bytes::copy_from_slice(event.as_bytes()));
        Frame { data: Some(raw.slice(at..at + data.len())), raw, event, role: FrameRole::Other }
    }

    /// Returns the frame with this role.
    #[must_use]
    pub fn with_role(self, role: FrameRole) -> Frame {
        Frame { role, ..self }
    }

    /// Returns a frame with the same name and role and another payload.
    #[must_use]
    pub fn with_data(&self, data: &str) -> Frame {
        let event = self.event.as_ref().and_then(|event| std::str::from_utf8(event).ok());
        let framing = if self.raw.ends_with(b"\n\n") || self.raw.ends_with(b"\r\n\r\n") || event.is_some() {
            Framing::Sse
        } else {
            Framing::Lines
        };
        Frame { role: self.role, ..Frame::new(framing, event, data) }
    }

    /// Returns its payload, if that is JSON.
    pub fn doc(&self) -> Option<Document> {
        Document::parse(self.data.as_ref()?)
    }

    /// Turns it into a comment. This is for frames that no client would understand: nothing is lost, nothing breaks.
    #[must_use]
    pub fn into_comment(self) -> Frame {
        let mut raw = BytesMut::with_capacity(self.raw.len() + 16);
        for line in split_lines(&self.raw).filter(|line| !line.is_empty()) {
            raw.extend_from_slice(b": ");
            raw.extend_from_slice(&line);
            raw.extend_from_slice(b"\n");
        }
        raw.extend_from_slice(b"\n");
        Frame { raw: raw.freeze(), event: None, data: None, role: FrameRole::Other }
    }

    /// Whether it holds nothing but comments or blank lines.
    pub fn is_comment(&self) -> bool {
        self.data.is_none() && self.event.is_none()
    }
}

/// Whether a body begins like a stream of server-sent events, whatever its content type says.
pub fn begins_like_event_stream(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|field| bytes.starts_with(field))
}

/// The error for a frame that is longer than the splitter allows.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameTooLong;

impl std::fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server sent an event that is longer than the gateway holds")
    }
}

impl std::error::Error for FrameTooLong {}

/// Cuts a stream into frames. Bytes may arrive in pieces of any size; each byte is searched once.
#[derive(Debug)]
pub struct FrameSplitter {
    framing: Framing,
    buffer: BytesMut,
    /// Everything before this position was searched.
    searched: usize,
    /// The longest frame, in bytes.
    limit: usize,
}

impl FrameSplitter {
    /// Returns a splitter for frames of at most `limit` bytes.
    pub fn new(framing: Framing, limit: usize) -> Self {
        FrameSplitter { framing, buffer: BytesMut::new(), searched: 0, limit }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the number of bytes without a complete frame.
    pub fn pending_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the next complete frame.
    ///
    /// # Errors
    /// If the frame is longer than the limit.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameTooLong> {
        let Some(end) = self.find_frame_end() else {
            return if self.buffer.len() > self.limit { Err(FrameTooLong) } else { Ok(None) };
        };
        if end > self.limit {
            return Err(FrameTooLong);
        }
        let raw = self.buffer.split_to(end).freeze();
        self.searched = 0;
        Ok(Some(self.read_frame(raw)))
    }

    /// Returns the rest of a stream that is over: a last frame without its end.
    pub fn take_rest(&mut self) -> Option<Frame> {
        if self.buffer.is_empty() {
            return None;
        }
        let raw = self.buffer.copy_to_bytes(self.buffer.len());
        self.searched = 0;
        Some(self.read_frame(raw))
    }

    /// Returns the length of the first frame, including its blank line.
    fn find_frame_end(&mut self) -> Option<usize> {
        let bytes = &self.buffer[..];
        match self.framing {
            Framing::Lines => {
                let found = memchr::memchr(b'\n', &bytes[self.searched..]);
                let from = self.searched;
                self.searched = bytes.len();
                found.map(|at| from + at + 1)
            }
            Framing::Sse => {
                // Two line ends in a row, of any of the three kinds. A carriage return at the end of the buffer may be the
                // first half of a line end.
                let mut at = self.searched;
                while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
                    let first = at + found;
                    let Some(second) = skip_line_end(bytes, first) else { break };
                    match bytes.get(second) {
                        None => break,
                        Some(b'\n' | b'\r') => match skip_line_end(bytes, second) {
                            Some(end) => return Some(end),
                            None => break,
                        },
                        Some(_) => {
                            at = second;
                            self.searched = at;
                        }
                    }
                }
                None
            }
        }
    }

    fn read_frame(&self, raw: Bytes) -> Frame {
        if self.framing == Framing::Lines {
            let blank = raw.iter().all(u8::is_ascii_whitespace);
            return Frame { data: (!blank).then(|| raw.clone()), event: None, raw, role: FrameRole::Other };
        }
        let mut event = None;
        let mut data: Option<Bytes> = None;
        for line in split_lines(&raw) {
            let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
            let (name, mut value) = (&line[..colon], line.slice((colon + 1).min(line.len())..));
            let name = name.strip_prefix(BYTE_ORDER_MARK).unwrap_or(name);
            if value.first() == Some(&b' ') {
                value.advance(1);
            }
            match name {
                b"event" => event = Some(value),
                b"data" => {
                    data = Some(match data {
                        None => value,
                        Some(before) => [before, Bytes::from_static(b"\n"), value].concat().into(),
                    });
                }
                // Not a field of the standard, but llama.cpp reports errors like this.
                b"error" if data.is_none() => {
                    event = Some(Bytes::from_static(b"error"));
                    data = Some(value);
                }
                _ => {}
            }
        }
        Frame { raw, event, data, role: FrameRole::Other }
    }
}

/// Returns the position after the line end at `at`. `None` if more bytes are needed to know it.
fn skip_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        // A line feed could still follow. Servers that end lines with a lone carriage return hardly exist, and none is
        // known to pause there.
        (Some(b'\r'), None) => None,
        _ => Some(at + 1),
    }
}

fn split_lines(raw: &Bytes) -> impl Iterator<Item = Bytes> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= raw.len() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', &raw[at..]).map_or(raw.len(), |found| at + found);
        let line = raw.slice(at..end);
        at = skip_line_end(raw, end).unwrap_or(raw.len());
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nevent: a\ndata: {\"x\":\ndata: 1}\n\r\ndata:y\r\n\r\ndata: z\r\rid: 7\nretry: 5\n\n\ndata: é\n\ndata: cut";

    fn frames(pieces: &[&[u8]]) -> Vec<Frame> {
        let mut splitter = FrameSplitter::new(Framing::Sse, 1000);
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece);
            while let Some(frame) = splitter.next_frame().unwrap() {
                out.push(frame);
            }
        }
        out.extend(splitter.take_rest());
        assert_eq!(splitter.pending_bytes(), 0);
        out
    }

    #[test]
    fn all_line_ends_comments_and_joined_data_are_read() {
        let frames = frames(&[STREAM.as_bytes()]);
        let text =
            |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        let seen: Vec<_> = frames.iter().map(|frame| (text(&frame.event), text(&frame.data))).collect();
        let data = |text: &str| Some(text.to_owned());
        assert_eq!(
            seen,
            [
                (None, None),
                (data("a"), data("{\"x\":\n1}")),
                (None, data("y")),
                (None, data("z")),
                (None, None),
                (None, data("é")),
                (None, data("cut")),
            ]
        );
        assert!(frames[0].is_comment());
    }

    #[test]
    fn no_byte_is_lost_wherever_the_stream_is_split() {
        let whole = frames(&[STREAM.as_bytes()]);
        let bytes: Vec<u8> = whole.iter().flat_map(|frame| frame.raw.to_vec()).collect();
        assert_eq!(bytes, STREAM.as_bytes());
        for cut in 0..=STREAM.len() {
            let (left, right) = STREAM.as_bytes().split_at(cut);
            assert_eq!(frames(&[left, right]), whole, "cut at {cut}");
        }
        let single: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(frames(&single), whole);
    }

    #[test]
    fn a_frame_that_is_too_long_is_an_error() {
        let mut splitter = FrameSplitter::new(Framing::Sse, 10);
        splitter.push(b"data: 123456");
        assert_eq!(splitter.next_frame(), Err(FrameTooLong));
        let mut splitter = FrameSplitter::new(Framing::Lines, 10);
        splitter.push(b"{}\n[1]\n");
        assert_eq!(splitter.next_frame().unwrap().unwrap().data.unwrap(), "{}\n");
        assert_eq!(splitter.next_frame().unwrap().unwrap().raw, "[1]\n");
        assert_eq!(splitter.next_frame(), Ok(None));
    }

    #[test]
    fn new_frames_read_like_received_ones() {
        let frame = Frame::new(Framing::Sse, Some("ping"), "{}");
        assert_eq!(frames(&[&frame.raw]), [frame]);
    }
}
