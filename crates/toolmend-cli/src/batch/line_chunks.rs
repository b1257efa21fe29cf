//! Splits endless input into bounded chunks of lines.
//!
//! A chunk is all the complete lines of one read. So a file is split into chunks that are large enough for all cores, and a
//! peer that writes one line and waits gets its answer immediately. Nothing blocks while a complete line is held.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// How many bytes one read asks for.
const READ_BYTES: usize = 1 << 20;

/// Splits the input of a reader into chunks of lines.
#[derive(Debug)]
pub(crate) struct LineChunks<R> {
    reader: R,
    longest: usize,
    /// Read, but not returned yet: the start of a line whose end has not arrived.
    pending: Vec<u8>,
    lines_before: u64,
    finished: bool,
}

/// Consecutive lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    lines: Vec<Span>,
    /// The number of the first line, counted from 1.
    first: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Span {
    Text(Range<usize>),
    Overlong,
}

/// One line, without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'c> {
    Text(&'c [u8]),
    /// Longer than the limit; its bytes were dropped.
    Overlong,
}

impl Chunk {
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns how many bytes of the input this is, for the progress bar.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the line at `index` with its number.
    pub(crate) fn line(&self, index: usize) -> (u64, Line<'_>) {
        let line = match self.lines.get(index) {
            Some(Span::Text(range)) => Line::Text(self.bytes.get(range.clone()).unwrap_or_default()),
            Some(Span::Overlong) | None => Line::Overlong,
        };
        (self.first + index as u64, line)
    }

    fn split(bytes: Vec<u8>, longest: usize, first: u64) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &bytes).chain(Some(bytes.len())) {
            if end - start > longest {
                lines.push(Span::Overlong);
            } else if end < bytes.len() || start < end {
                lines.push(Span::Text(start..end));
            }
            start = end + 1;
        }
        Chunk { bytes, lines, first }
    }
}

impl<R: Read> LineChunks<R> {
    /// Creates a splitter that skips lines of more than `longest` bytes and reports them as overlong.
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        LineChunks { reader, longest, pending: Vec::new(), lines_before: 0, finished: false }
    }

    /// Returns the next lines, at least one, or `None` at the end of the input.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut scanned = 0;
        while !self.finished {
            if self.pending.len() > self.longest {
                self.skip_line()?;
                return Ok(Some(
                    self.number_lines(Chunk { lines: vec![Span::Overlong], ..Chunk::default() }),
                ));
            }
            self.finished = self.fill()? == 0;
            if let Some(offset) = memchr::memrchr(b'\n', &self.pending[scanned..]) {
                let rest = self.pending.split_off(scanned + offset + 1);
                let bytes = std::mem::replace(&mut self.pending, rest);
                return Ok(Some(self.number_lines(Chunk::split(bytes, self.longest, 0))));
            }
            scanned = self.pending.len();
        }
        let bytes = std::mem::take(&mut self.pending);
        Ok((!bytes.is_empty()).then(|| self.number_lines(Chunk::split(bytes, self.longest, 0))))
    }

    fn number_lines(&mut self, chunk: Chunk) -> Chunk {
        let first = self.lines_before + 1;
        self.lines_before += chunk.len() as u64;
        Chunk { first, ..chunk }
    }

    /// Reads once and appends to what is pending.
    fn fill(&mut self) -> io::Result<usize> {
        let start = self.pending.len();
        self.pending.resize(start + READ_BYTES, 0);
        let count = loop {
            match self.reader.read(&mut self.pending[start..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.pending.truncate(start + *count.as_ref().unwrap_or(&0));
        count
    }

    /// Drops the rest of an overlong line and keeps what follows it.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            self.pending.clear();
            self.finished = self.fill()? == 0;
            if self.finished {
                return Ok(());
            }
            if let Some(end) = memchr::memchr(b'\n', &self.pending) {
                self.pending.drain(..=end);
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one piece per read, as a pipe does.
    struct Pieces<'p>(std::slice::Iter<'p, &'static str>);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.next().copied().unwrap_or_default().as_bytes();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    /// Compares the lines of each chunk, joined with `|`; `<long>` is an overlong line.
    #[track_caller]
    fn check(pieces: &[&'static str], longest: usize, expected: &[&str]) {
        let mut chunks = LineChunks::new(Pieces(pieces.iter()), longest);
        let mut chunks_found = Vec::new();
        let mut number = 0;
        while let Some(chunk) = chunks.next_chunk().unwrap() {
            let lines: Vec<_> = (0..chunk.len())
                .map(|index| {
                    number += 1;
                    let (found, line) = chunk.line(index);
                    assert_eq!(found, number);
                    match line {
                        Line::Text(bytes) => std::str::from_utf8(bytes).unwrap().to_owned(),
                        Line::Overlong => "<long>".to_owned(),
                    }
                })
                .collect();
            chunks_found.push(lines.join("|"));
        }
        assert_eq!(chunks_found, expected);
    }

    #[test]
    fn a_chunk_is_every_complete_line_of_a_read() {
        check(&["a\nb\nc", "d\n", "e"], 9, &["a|b", "cd", "e"]);
        check(&["a\n\n\nb\n"], 9, &["a|||b"]);
        check(&["a", "b", "c\n"], 9, &["abc"]);
        check(&[], 9, &[]);
        check(&["\n"], 9, &[""]);
    }

    #[test]
    fn overlong_lines_are_dropped_and_keep_their_number() {
        check(&["a\nlonger\nb\n"], 3, &["a|<long>|b"]);
        check(&["a\nlong", "er", " and longer\nb", "\nc"], 3, &["a", "<long>", "b", "c"]);
        check(&["long", "er"], 3, &["<long>"]);
        check(&["longer"], 3, &["<long>"]);
        check(&["abc\n"], 3, &["abc"]);
    }
}
