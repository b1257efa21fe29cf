//! Streams cut into frames that remember their bytes: server-sent events, and one JSON value a line.

use std::borrow::Cow;

use bytes::{Buf, Bytes, BytesMut};
use toolmend_json::BYTE_ORDER_MARK;

use super::doc::Doc;

/// How a stream is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events: a blank line ends a frame.
    Sse,
    /// One JSON value a line, as Ollama streams.
    Lines,
}

/// What a frame does to the numbered things of its surface (blocks, items).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mark {
    #[default]
    Other,
    /// Begins the turn.
    Begin,
    /// Opens the thing of that number.
    Open(u64),
    /// Adds to it.
    Inside(u64),
    /// Closes it.
    Close(u64),
    /// Tells why the turn ended.
    Stop,
}

/// One event as it came, with the blank line that ended it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Every byte of it.
    pub(crate) raw: Bytes,
    /// The name in its `event:` line.
    pub(crate) event: Option<Bytes>,
    /// Its `data:` lines, joined. Absent for comments.
    pub(crate) data: Option<Bytes>,
    pub(crate) mark: Mark,
}

impl Frame {
    /// A frame of our own with this payload.
    pub(crate) fn new(framing: Framing, event: Option<&str>, data: &str) -> Frame {
        // A payload is one line. It is JSON, which has line breaks only where any white space will do.
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
        Frame { data: Some(raw.slice(at..at + data.len())), raw, event, mark: Mark::Other }
    }

    /// The frame with what it does to numbered things.
    pub(crate) fn marked(self, mark: Mark) -> Frame {
        Frame { mark, ..self }
    }

    /// A frame of the same kind with another payload.
    pub(crate) fn with_data(&self, data: &str) -> Frame {
        let event = self.event.as_ref().and_then(|event| std::str::from_utf8(event).ok());
        let framing = if self.raw.ends_with(b"\n\n") || self.raw.ends_with(b"\r\n\r\n") || event.is_some() {
            Framing::Sse
        } else {
            Framing::Lines
        };
        Frame { mark: self.mark, ..Frame::new(framing, event, data) }
    }

    /// Its payload as JSON.
    pub(crate) fn doc(&self) -> Option<Doc> {
        Doc::parse(self.data.as_ref()?)
    }

    /// The frame as a comment, for what no client would understand.
    pub(crate) fn into_comment(self) -> Frame {
        let mut raw = BytesMut::with_capacity(self.raw.len() + 16);
        for line in lines(&self.raw).filter(|line| !line.is_empty()) {
            raw.extend_from_slice(b": ");
            raw.extend_from_slice(&line);
            raw.extend_from_slice(b"\n");
        }
        raw.extend_from_slice(b"\n");
        Frame { raw: raw.freeze(), event: None, data: None, mark: Mark::Other }
    }

    /// Whether it carries nothing but comments or blank lines.
    pub(crate) fn is_comment(&self) -> bool {
        self.data.is_none() && self.event.is_none()
    }
}

/// Whether a body that begins like this is a stream of events, whatever it is called.
pub(crate) fn begins_events(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|field| bytes.starts_with(field))
}

/// A frame that is longer than allowed, with what was read of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Cuts a stream into frames. Bytes come in any pieces; each is looked at once.
#[derive(Debug)]
pub(crate) struct Splitter {
    framing: Framing,
    buffer: BytesMut,
    /// Everything before was searched.
    searched: usize,
    /// The longest frame.
    limit: usize,
}

impl Splitter {
    pub(crate) fn new(framing: Framing, limit: usize) -> Self {
        Splitter { framing, buffer: BytesMut::new(), searched: 0, limit }
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes wait for their end.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// The next frame that is complete.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, TooLong> {
        let Some(end) = self.end() else {
            return if self.buffer.len() > self.limit { Err(TooLong) } else { Ok(None) };
        };
        if end > self.limit {
            return Err(TooLong);
        }
        let raw = self.buffer.split_to(end).freeze();
        self.searched = 0;
        Ok(Some(self.frame(raw)))
    }

    /// What is left when the stream is over: a last frame whose end never came.
    pub(crate) fn rest(&mut self) -> Option<Frame> {
        if self.buffer.is_empty() {
            return None;
        }
        let raw = self.buffer.copy_to_bytes(self.buffer.len());
        self.searched = 0;
        Some(self.frame(raw))
    }

    /// The length of the first frame, its blank line included.
    fn end(&mut self) -> Option<usize> {
        let bytes = &self.buffer[..];
        match self.framing {
            Framing::Lines => {
                let found = memchr::memchr(b'\n', &bytes[self.searched..]);
                let from = self.searched;
                self.searched = bytes.len();
                found.map(|at| from + at + 1)
            }
            Framing::Sse => {
                // Two line ends in a row, of any of the three kinds. A carriage return at the end of what is there
                // may be half of a line end.
                let mut at = self.searched;
                while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
                    let first = at + found;
                    let Some(second) = behind_line_end(bytes, first) else { break };
                    match bytes.get(second) {
                        None => break,
                        Some(b'\n' | b'\r') => match behind_line_end(bytes, second) {
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

    fn frame(&self, raw: Bytes) -> Frame {
        if self.framing == Framing::Lines {
            let blank = raw.iter().all(u8::is_ascii_whitespace);
            return Frame { data: (!blank).then(|| raw.clone()), event: None, raw, mark: Mark::Other };
        }
        let mut event = None;
        let mut data: Option<Bytes> = None;
        for line in lines(&raw) {
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
                // No field of the standard: llama.cpp gives up like this.
                b"error" if data.is_none() => {
                    event = Some(Bytes::from_static(b"error"));
                    data = Some(value);
                }
                _ => {}
            }
        }
        Frame { raw, event, data, mark: Mark::Other }
    }
}

/// Where the line end at `at` is over. None where that cannot be told yet.
fn behind_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        // At the very end of what came, another half could follow. Servers that end lines with a lone carriage
        // return hardly exist, and none is known to stop there.
        (Some(b'\r'), None) => None,
        _ => Some(at + 1),
    }
}

fn lines(raw: &Bytes) -> impl Iterator<Item = Bytes> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= raw.len() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', &raw[at..]).map_or(raw.len(), |found| at + found);
        let line = raw.slice(at..end);
        at = behind_line_end(raw, end).unwrap_or(raw.len());
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nevent: a\ndata: {\"x\":\ndata: 1}\n\r\ndata:y\r\n\r\ndata: z\r\rid: 7\nretry: 5\n\n\ndata: é\n\ndata: cut";

    fn frames(pieces: &[&[u8]]) -> Vec<Frame> {
        let mut splitter = Splitter::new(Framing::Sse, 1000);
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece);
            while let Some(frame) = splitter.next().unwrap() {
                out.push(frame);
            }
        }
        out.extend(splitter.rest());
        assert_eq!(splitter.waiting(), 0);
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
    fn no_byte_is_lost_and_no_split_is_seen() {
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
    fn a_frame_that_is_too_long_is_told() {
        let mut splitter = Splitter::new(Framing::Sse, 10);
        splitter.push(b"data: 123456");
        assert_eq!(splitter.next(), Err(TooLong));
        let mut splitter = Splitter::new(Framing::Lines, 10);
        splitter.push(b"{}\n[1]\n");
        assert_eq!(splitter.next().unwrap().unwrap().data.unwrap(), "{}\n");
        assert_eq!(splitter.next().unwrap().unwrap().raw, "[1]\n");
        assert_eq!(splitter.next(), Ok(None));
    }

    #[test]
    fn frames_of_our_own_read_like_others() {
        let made = Frame::new(Framing::Sse, Some("ping"), "{}");
        assert_eq!(frames(&[&made.raw]), [made]);
    }
}
