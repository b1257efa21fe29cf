//! A file that grows at its end, written without the page cache of the system if possible.
//!
//! The output is not read again soon. Copying it into the page cache took a fifth of the processor time of a run, more than all
//! copying of our own. So whole blocks bypass the cache, from a buffer that is aligned as the disk requires. The last bytes of
//! a file, and files that are smaller than the buffer, are written the usual way.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::EditedBytes;

/// The alignment of writes in the file and in memory, and of their lengths. The few disks that need more report it as an error,
/// and get everything the usual way.
const BLOCK: usize = 4096;
/// The size of the buffer, which is written as a whole.
const BUFFER_BYTES: usize = 4 << 20;

/// A file to which bytes are appended.
#[derive(Debug)]
pub(crate) struct AppendFile {
    file: File,
    /// The same file, opened to bypass the page cache.
    direct: Option<File>,
    /// Bytes that are not written yet. They start at a block boundary, in the file and in memory.
    buffer: Vec<u8>,
    /// Where the aligned part of the buffer begins.
    shift: usize,
    filled: usize,
    /// The position of the buffer in the file.
    start: u64,
    /// How many bytes the system has.
    written: u64,
}

impl AppendFile {
    /// Creates a file.
    pub(crate) fn create(path: &Path) -> io::Result<AppendFile> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(AppendFile::new(file, path))
    }

    /// Continues a file after its first `length` bytes, and drops the rest.
    pub(crate) fn reopen(path: &Path, length: u64) -> io::Result<AppendFile> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        file.set_len(length)?;
        let mut reopened = AppendFile::new(file, path);
        reopened.written = length;
        reopened.start = length;
        if reopened.direct.is_some() {
            reopened.start -= length % BLOCK as u64;
            // The first block that is written again begins with bytes that are in the file already.
            reopened.file.seek(SeekFrom::Start(reopened.start))?;
            let before = usize::try_from(length - reopened.start).unwrap_or_default();
            reopened.file.read_exact(&mut reopened.buffer[reopened.shift..reopened.shift + before])?;
            reopened.filled = before;
        }
        Ok(reopened)
    }

    fn new(file: File, path: &Path) -> AppendFile {
        let direct = open_direct(path);
        let buffer = vec![0; if direct.is_some() { BUFFER_BYTES + BLOCK } else { 0 }];
        let shift = buffer.as_ptr().align_offset(BLOCK).min(buffer.len().saturating_sub(BUFFER_BYTES));
        AppendFile { file, direct, buffer, shift, filled: 0, start: 0, written: 0 }
    }

    /// Returns the length of the file with all appended bytes.
    pub(crate) fn length(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// Returns how many bytes survive if this process is killed now.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Appends the bytes of a unit.
    pub(crate) fn append(&mut self, bytes: &EditedBytes) -> io::Result<()> {
        if self.direct.is_some() {
            return bytes.parts().try_for_each(|part| self.append_slice(part));
        }
        self.append_slice(&bytes.to_bytes())
    }

    /// Appends bytes that are in one piece.
    pub(crate) fn append_slice(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.direct.is_some() && !bytes.is_empty() {
            let taken = bytes.len().min(BUFFER_BYTES - self.filled);
            let at = self.shift + self.filled;
            self.buffer[at..at + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == BUFFER_BYTES {
                self.write_buffer()?;
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.start))?;
        self.file.write_all(bytes)?;
        self.start += bytes.len() as u64;
        self.written = self.start;
        Ok(())
    }

    /// Writes the full buffer without the page cache. If the disk refuses, this and everything after it is written the usual way.
    fn write_buffer(&mut self) -> io::Result<()> {
        let Some(direct) = &mut self.direct else { return Ok(()) };
        let bytes = &self.buffer[self.shift..self.shift + BUFFER_BYTES];
        direct.seek(SeekFrom::Start(self.start))?;
        match direct.write_all(bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                self.file.seek(SeekFrom::Start(self.start))?;
                self.file.write_all(bytes)?;
                self.direct = None;
            }
            Err(error) => return Err(error),
        }
        self.start += BUFFER_BYTES as u64;
        self.filled = 0;
        self.written = self.start;
        Ok(())
    }

    /// Hands all bytes to the system. Those in the buffer are also kept, because they are written again with their block.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.written < self.length() {
            self.file.seek(SeekFrom::Start(self.start))?;
            self.file.write_all(&self.buffer[self.shift..self.shift + self.filled])?;
            self.written = self.length();
        }
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_all()
    }
}

/// Opens a file to write it without the page cache. Returns `None` if the system or the disk cannot do that.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that differ by position.
    fn test_bytes(length: usize) -> Vec<u8> {
        (0..length).map(|at| u8::try_from((at ^ at >> 8 ^ at >> 16) & 255).unwrap()).collect()
    }

    #[test]
    fn appended_bytes_are_written_in_pieces_of_any_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let all = test_bytes(2 * BUFFER_BYTES + BUFFER_BYTES / 2 + 77);
        for piece in [BUFFER_BYTES, BUFFER_BYTES + 1, 300_001, all.len()] {
            let mut file = AppendFile::create(&path).unwrap();
            for (number, part) in all.chunks(piece).enumerate() {
                file.append(&part.to_vec().into()).unwrap();
                if number % 3 == 1 {
                    file.flush().unwrap();
                    assert_eq!(file.written(), file.length());
                }
                let there = usize::try_from(file.written()).unwrap();
                assert_eq!(std::fs::read(&path).unwrap()[..there], all[..there]);
            }
            file.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{piece}");
        }
    }

    #[test]
    fn a_file_can_be_continued_after_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let all = test_bytes(2 * BUFFER_BYTES + 5);
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 9] {
            let mut longer = all[..length].to_vec();
            longer.extend_from_slice(b"what a killed process wrote");
            std::fs::write(&path, longer).unwrap();
            let mut file = AppendFile::reopen(&path, length as u64).unwrap();
            assert_eq!((file.length(), file.written()), (length as u64, length as u64));
            file.append(&all[length..].to_vec().into()).unwrap();
            file.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{length}");
        }
    }
}
