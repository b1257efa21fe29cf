//! Files of lines, plain or compressed: a piece is as many whole lines as fit into a unit.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::{Piece, PieceContent, PieceReader, ReadPosition};
use crate::buffers::BufferPool;
use crate::failure::Failure;
use crate::format::Compression;

/// How many bytes of the first row are read to detect the layout.
const FIRST_ROW_BYTES: usize = 2 << 20;
/// How many bytes of a compressed file are read at a time.
const COMPRESSED_BUFFER_BYTES: usize = 256 << 10;

/// How long lines and pieces are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineLimits {
    /// Longer lines are divided into parts.
    pub(crate) longest_line: usize,
    /// The size of a piece. A line that is longer becomes a longer piece.
    pub(crate) unit: usize,
}

/// Reads a file of lines.
pub(crate) struct LineReader {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// How many bytes of the file were read.
    bytes_read: Arc<AtomicU64>,
    limits: LineLimits,
    buffers: Arc<BufferPool>,
    /// The first `filled` bytes were read and are in no piece yet. The bytes after them are left over from earlier use.
    buffer: Vec<u8>,
    filled: usize,
    position: ReadPosition,
    /// Whether the end of the file was reached.
    finished: bool,
}

/// Counts the bytes that are read from a file.
struct CountingFile(File, Arc<AtomicU64>);

impl Read for CountingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl LineReader {
    /// Opens a file at a position.
    pub(crate) fn open(
        path: &Path,
        compression: Compression,
        limits: LineLimits,
        position: ReadPosition,
        buffers: Arc<BufferPool>,
    ) -> Result<Self, Failure> {
        let unreadable = Failure::read(path);
        let mut file = File::open(path).map_err(&unreadable)?;
        let bytes_read = Arc::new(AtomicU64::new(0));
        // An empty file is not a compressed file without contents.
        let empty = file.metadata().map_err(&unreadable)?.len() == 0;
        let reader: Box<dyn Read + Send> = match if empty { Compression::Plain } else { compression } {
            Compression::Plain => {
                file.seek(SeekFrom::Start(position.offset)).map_err(&unreadable)?;
                bytes_read.store(position.offset, Ordering::Relaxed);
                Box::new(CountingFile(file, Arc::clone(&bytes_read)))
            }
            compression => {
                let mut reader = decompress(CountingFile(file, Arc::clone(&bytes_read)), compression)
                    .map_err(&unreadable)?;
                // Compressed text can only be read from its start.
                let skipped = io::copy(&mut reader.by_ref().take(position.offset), &mut io::sink())
                    .map_err(&unreadable)?;
                if skipped < position.offset {
                    return Err(unreadable(ErrorKind::UnexpectedEof.into()));
                }
                reader
            }
        };
        Ok(LineReader {
            path: path.to_owned(),
            reader,
            bytes_read,
            limits,
            buffers,
            buffer: Vec::new(),
            filled: 0,
            position,
            finished: false,
        })
    }

    /// Reads until `wanted` bytes are pending, or to the end.
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while !self.finished && self.filled < wanted {
            match self.reader.read(&mut self.buffer[self.filled..wanted]) {
                Ok(0) => self.finished = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Read(self.path.clone(), error)),
            }
        }
        Ok(())
    }

    fn pending(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// Takes a piece of this length out of the pending bytes. For a part of a line that is too long, `long_line` says whether it
    /// is the first part.
    fn take_piece(&mut self, length: usize, long_line: Option<bool>) -> Piece {
        let mut next = self.buffers.take(self.limits.unit + 1);
        let rest = &self.buffer[length..self.filled];
        if next.len() < rest.len() {
            next.resize(rest.len(), 0);
        }
        next[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
        let mut bytes = std::mem::replace(&mut self.buffer, next);
        bytes.truncate(length);
        let rows_before = self.position.rows;
        let ends = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let ended = bytes.last() == Some(&b'\n');
        self.position.offset += bytes.len() as u64;
        self.position.inside_long_line =
            long_line.is_some() && !ended && !(self.finished && self.filled == 0);
        self.position.rows += ends + u64::from(!ended && !self.position.inside_long_line);
        self.position.bytes_read = self.bytes_read.load(Ordering::Relaxed).saturating_sub(self.filled as u64);
        let weight = 2 * bytes.len();
        let content = match long_line {
            Some(is_first_part) => PieceContent::LongLine { bytes, is_first_part },
            None => PieceContent::Lines(bytes),
        };
        Piece { content, rows_before, weight, end: self.position }
    }
}

impl PieceReader for LineReader {
    /// Reads one byte more than a unit, to know whether this piece is the last one. So a piece depends on nothing but where it
    /// begins.
    fn next_piece(&mut self) -> Result<Option<Piece>, Failure> {
        let unit = self.limits.unit;
        self.fill(unit + 1)?;
        let window = &self.pending()[..unit.min(self.filled)];
        if window.is_empty() {
            return Ok(None);
        }
        if self.position.inside_long_line {
            let end = memchr::memchr(b'\n', window).map_or(window.len(), |end| end + 1);
            return Ok(Some(self.take_piece(end, Some(false))));
        }
        if self.filled <= unit {
            return Ok(Some(self.take_piece(self.filled, None)));
        }
        if let Some(end) = memchr::memrchr(b'\n', window) {
            return Ok(Some(self.take_piece(end + 1, None)));
        }
        // The line is longer than a unit. Look for its end, up to the longest line.
        let mut searched = unit;
        loop {
            let seen = self.filled.min(self.limits.longest_line.max(unit) + 1);
            if let Some(end) = memchr::memchr(b'\n', &self.pending()[searched..seen]) {
                return Ok(Some(self.take_piece(searched + end + 1, None)));
            }
            searched = seen;
            if seen > self.limits.longest_line {
                return Ok(Some(self.take_piece(unit, Some(true))));
            }
            if self.finished {
                return Ok(Some(self.take_piece(self.filled, None)));
            }
            self.fill((2 * seen).min(self.limits.longest_line + 1))?;
        }
    }
}

fn decompress(file: CountingFile, compression: Compression) -> io::Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, file);
    Ok(match compression {
        Compression::Plain => Box::new(file),
        Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
    })
}

/// Reads the first line that is neither blank nor too long.
pub(crate) fn read_first_row(path: &Path, compression: Compression) -> Result<Option<Vec<u8>>, Failure> {
    let limits = LineLimits { longest_line: FIRST_ROW_BYTES, unit: FIRST_ROW_BYTES };
    let mut lines =
        LineReader::open(path, compression, limits, ReadPosition::default(), Arc::new(BufferPool::new(0)))?;
    while let Some(piece) = lines.next_piece()? {
        if let PieceContent::Lines(bytes) = piece.content {
            let row = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
            if let Some(row) = row {
                return Ok(Some(row.to_vec()));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: usize = 10_000;

    /// Reads a text in pieces. Returns the bytes of each, whether they are part of a long line, and the position after them.
    fn read_pieces(
        text: &[u8],
        longest_line: usize,
        position: ReadPosition,
    ) -> Vec<(Vec<u8>, bool, ReadPosition)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, text).unwrap();
        let (limits, buffers) =
            (LineLimits { longest_line, unit: UNIT }, Arc::new(BufferPool::new(8 * UNIT)));
        // Buffers of the pool hold the bytes of earlier use.
        buffers.give_back(vec![b'\n'; 2 * UNIT]);
        let mut lines =
            LineReader::open(&path, Compression::Plain, limits, position, Arc::clone(&buffers)).unwrap();
        let mut found = Vec::new();
        while let Some(piece) = lines.next_piece().unwrap() {
            let (bytes, long) = match piece.content {
                PieceContent::Lines(bytes) => (bytes, false),
                PieceContent::LongLine { bytes, .. } => (bytes, true),
                _ => unreachable!(),
            };
            found.push((bytes.clone(), long, piece.end));
            buffers.give_back(bytes);
        }
        found
    }

    #[test]
    fn pieces_are_whole_lines_and_the_same_from_every_position() {
        let mut text = Vec::new();
        for (length, count) in [(100, 300), (UNIT + 5, 2), (3 * UNIT, 1), (50, 1000)] {
            for _ in 0..count {
                text.extend(std::iter::repeat_n(b'x', length));
                text.push(b'\n');
            }
        }
        text.extend_from_slice(b"no end");
        let all = read_pieces(&text, 2 * UNIT, ReadPosition::default());
        assert_eq!(all.iter().flat_map(|piece| piece.0.clone()).collect::<Vec<_>>(), text);
        assert_eq!(all.last().unwrap().2.rows, 1304);
        for (bytes, long, position) in &all {
            let ended = bytes.last() == Some(&b'\n') || position.offset == text.len() as u64;
            assert!(ended || *long, "only lines that are too long are divided");
        }
        assert!(all.iter().any(|piece| piece.1), "one line was too long");
        for (number, (_, _, position)) in all.iter().enumerate() {
            assert!(
                read_pieces(&text, 2 * UNIT, *position) == all[number + 1..],
                "from position {number} on"
            );
        }
        assert!(read_pieces(b"", 9, ReadPosition::default()).is_empty());
    }
}
