//! Lines, plain or compressed, in pieces of whole lines.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::{Cut, Mark, Piece, Source};
use crate::buffers::Pool;
use crate::failure::Failure;
use crate::format::Packing;

/// How much is looked at for the first row.
const LOOK: usize = 2 << 20;
/// How much is read at a time from a compressed file.
const BUFFER: usize = 256 << 10;

/// How much text is taken at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Longer lines are cut.
    pub(crate) longest: usize,
    /// How much a piece holds; a longer line makes it longer.
    pub(crate) unit: usize,
}

/// A file of lines that is being cut.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// How much of the file was read.
    read: Arc<AtomicU64>,
    sizes: Sizes,
    pool: Arc<Pool>,
    /// Its first bytes were read and not cut yet. What stands behind them is rubbish.
    buffer: Vec<u8>,
    filled: usize,
    mark: Mark,
    finished: bool,
}

/// Counts what goes through it.
struct Counted(File, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Lines {
    /// Opens a file behind a mark.
    pub(crate) fn open(
        path: &Path,
        packing: Packing,
        sizes: Sizes,
        mark: Mark,
        pool: Arc<Pool>,
    ) -> Result<Self, Failure> {
        let unreadable = Failure::read(path);
        let mut file = File::open(path).map_err(&unreadable)?;
        let read = Arc::new(AtomicU64::new(0));
        // Nothing at all is no compressed nothing.
        let empty = file.metadata().map_err(&unreadable)?.len() == 0;
        let reader: Box<dyn Read + Send> = match if empty { Packing::Plain } else { packing } {
            Packing::Plain => {
                file.seek(SeekFrom::Start(mark.at)).map_err(&unreadable)?;
                read.store(mark.at, Ordering::Relaxed);
                Box::new(Counted(file, Arc::clone(&read)))
            }
            packed => {
                let mut reader = unpacked(Counted(file, Arc::clone(&read)), packed).map_err(&unreadable)?;
                // There is no way into the middle of compressed text but through its beginning.
                let skipped =
                    io::copy(&mut reader.by_ref().take(mark.at), &mut io::sink()).map_err(&unreadable)?;
                if skipped < mark.at {
                    return Err(unreadable(ErrorKind::UnexpectedEof.into()));
                }
                reader
            }
        };
        Ok(Lines {
            path: path.to_owned(),
            reader,
            read,
            sizes,
            pool,
            buffer: Vec::new(),
            filled: 0,
            mark,
            finished: false,
        })
    }

    /// Reads until so much is pending, or the end.
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

    /// Takes so much of what is pending. Parts of a line that is too long say whether they are the first.
    fn cut(&mut self, length: usize, long: Option<bool>) -> Cut {
        let mut next = self.pool.take(self.sizes.unit + 1);
        let rest = &self.buffer[length..self.filled];
        if next.len() < rest.len() {
            next.resize(rest.len(), 0);
        }
        next[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
        let mut bytes = std::mem::replace(&mut self.buffer, next);
        bytes.truncate(length);
        let rows_before = self.mark.rows;
        let ends = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let ended = bytes.last() == Some(&b'\n');
        self.mark.at += bytes.len() as u64;
        self.mark.inside = long.is_some() && !ended && !(self.finished && self.filled == 0);
        self.mark.rows += ends + u64::from(!ended && !self.mark.inside);
        self.mark.read = self.read.load(Ordering::Relaxed).saturating_sub(self.filled as u64);
        let weight = 2 * bytes.len();
        let piece = match long {
            Some(first) => Piece::Long(bytes, first),
            None => Piece::Lines(bytes),
        };
        Cut { piece, rows_before, weight, end: self.mark }
    }
}

impl Source for Lines {
    /// One byte more than a unit tells whether this is the last, so that a piece depends on where it begins alone.
    fn next(&mut self) -> Result<Option<Cut>, Failure> {
        let unit = self.sizes.unit;
        self.fill(unit + 1)?;
        let window = &self.pending()[..unit.min(self.filled)];
        if window.is_empty() {
            return Ok(None);
        }
        if self.mark.inside {
            let end = memchr::memchr(b'\n', window).map_or(window.len(), |end| end + 1);
            return Ok(Some(self.cut(end, Some(false))));
        }
        if self.filled <= unit {
            return Ok(Some(self.cut(self.filled, None)));
        }
        if let Some(end) = memchr::memrchr(b'\n', window) {
            return Ok(Some(self.cut(end + 1, None)));
        }
        // One line is longer than a unit.
        let mut searched = unit;
        loop {
            let seen = self.filled.min(self.sizes.longest.max(unit) + 1);
            if let Some(end) = memchr::memchr(b'\n', &self.pending()[searched..seen]) {
                return Ok(Some(self.cut(searched + end + 1, None)));
            }
            searched = seen;
            if seen > self.sizes.longest {
                return Ok(Some(self.cut(unit, Some(true))));
            }
            if self.finished {
                return Ok(Some(self.cut(self.filled, None)));
            }
            self.fill((2 * seen).min(self.sizes.longest + 1))?;
        }
    }
}

fn unpacked(file: Counted, packing: Packing) -> io::Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(BUFFER, file);
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(MultiGzDecoder::new(file)),
        Packing::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
    })
}

/// The first line that is not blank, as far as it is short enough to be looked at.
pub(crate) fn first_row(path: &Path, packing: Packing) -> Result<Option<Vec<u8>>, Failure> {
    let sizes = Sizes { longest: LOOK, unit: LOOK };
    let mut lines = Lines::open(path, packing, sizes, Mark::default(), Arc::new(Pool::new(0)))?;
    while let Some(cut) = lines.next()? {
        if let Piece::Lines(bytes) = cut.piece {
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

    /// The pieces of a text, with the mark behind each.
    fn pieces(text: &[u8], longest: usize, mark: Mark) -> Vec<(Vec<u8>, bool, Mark)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, text).unwrap();
        let (sizes, pool) = (Sizes { longest, unit: UNIT }, Arc::new(Pool::new(8 * UNIT)));
        // Buffers come with what was in them.
        pool.give(vec![b'\n'; 2 * UNIT]);
        let mut lines = Lines::open(&path, Packing::Plain, sizes, mark, Arc::clone(&pool)).unwrap();
        let mut found = Vec::new();
        while let Some(cut) = lines.next().unwrap() {
            let (bytes, long) = match cut.piece {
                Piece::Lines(bytes) => (bytes, false),
                Piece::Long(bytes, _) => (bytes, true),
                _ => unreachable!(),
            };
            found.push((bytes.clone(), long, cut.end));
            pool.give(bytes);
        }
        found
    }

    #[test]
    fn pieces_are_whole_lines_and_go_on_from_every_mark() {
        let mut text = Vec::new();
        for (length, count) in [(100, 300), (UNIT + 5, 2), (3 * UNIT, 1), (50, 1000)] {
            for _ in 0..count {
                text.extend(std::iter::repeat_n(b'x', length));
                text.push(b'\n');
            }
        }
        text.extend_from_slice(b"no end");
        let all = pieces(&text, 2 * UNIT, Mark::default());
        assert_eq!(all.iter().flat_map(|piece| piece.0.clone()).collect::<Vec<_>>(), text);
        assert_eq!(all.last().unwrap().2.rows, 1304);
        for (bytes, long, mark) in &all {
            let ended = bytes.last() == Some(&b'\n') || mark.at == text.len() as u64;
            assert!(ended || *long, "only lines that are too long are cut");
        }
        assert!(all.iter().any(|piece| piece.1), "one line was too long");
        for (number, (_, _, mark)) in all.iter().enumerate() {
            assert!(pieces(&text, 2 * UNIT, *mark) == all[number + 1..], "from mark {number} on");
        }
        assert!(pieces(b"", 9, Mark::default()).is_empty());
    }
}
