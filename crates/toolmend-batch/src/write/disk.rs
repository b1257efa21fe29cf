//! The end of a file that grows by gigabytes.
//!
//! What is written here is not read again soon, and copying it into the system's cache of pages takes more processor time
//! than all of our own copying. So whole blocks go around that cache where the system has a way to do so, from one piece of
//! memory that begins where the disk wants it to. The last bytes of a file, and small files, take the usual way.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::Body;

/// Where writes begin, in the file and in memory, and what their length is a multiple of. Disks that want more are rare, and
/// say so.
const BLOCK: usize = 4096;
/// How much is written at once.
const ROOM: usize = 4 << 20;

/// A file that only gets longer.
#[derive(Debug)]
pub(crate) struct Disk {
    file: File,
    /// The same file, around the cache.
    direct: Option<File>,
    /// What was not written that way yet. It begins at a multiple of a block, in the file and in memory.
    buffer: Vec<u8>,
    /// Where that is in memory.
    shift: usize,
    filled: usize,
    /// Where it is in the file.
    start: u64,
    /// How much of the file the system has.
    written: u64,
}

impl Disk {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> io::Result<Disk> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Disk::new(file, path))
    }

    /// Goes on with a file behind its first bytes; what it has more of is dropped.
    pub(crate) fn reopen(path: &Path, length: u64) -> io::Result<Disk> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        file.set_len(length)?;
        let mut disk = Disk::new(file, path);
        disk.written = length;
        disk.start = length;
        if disk.direct.is_some() {
            disk.start -= length % BLOCK as u64;
            // The first block that is written holds bytes of before.
            disk.file.seek(SeekFrom::Start(disk.start))?;
            let before = usize::try_from(length - disk.start).unwrap_or_default();
            disk.file.read_exact(&mut disk.buffer[disk.shift..disk.shift + before])?;
            disk.filled = before;
        }
        Ok(disk)
    }

    fn new(file: File, path: &Path) -> Disk {
        let direct = around_cache(path);
        let buffer = vec![0; if direct.is_some() { ROOM + BLOCK } else { 0 }];
        let shift = buffer.as_ptr().align_offset(BLOCK).min(buffer.len().saturating_sub(ROOM));
        Disk { file, direct, buffer, shift, filled: 0, start: 0, written: 0 }
    }

    /// Where the next byte will stand.
    pub(crate) fn length(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// How much of the file is there even if this process is killed now.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Adds bytes.
    pub(crate) fn append(&mut self, body: &Body) -> io::Result<()> {
        if self.direct.is_some() {
            return body.parts().try_for_each(|part| self.add(part));
        }
        self.add(&body.whole())
    }

    /// Adds bytes that are in one piece.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.direct.is_some() && !bytes.is_empty() {
            let taken = bytes.len().min(ROOM - self.filled);
            let at = self.shift + self.filled;
            self.buffer[at..at + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == ROOM {
                self.write_room()?;
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

    /// Writes the buffer, which is full, around the cache. A disk that does not take it gets everything the usual way from now on.
    fn write_room(&mut self) -> io::Result<()> {
        let Some(direct) = &mut self.direct else { return Ok(()) };
        let bytes = &self.buffer[self.shift..self.shift + ROOM];
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
        self.start += ROOM as u64;
        self.filled = 0;
        self.written = self.start;
        Ok(())
    }

    /// Gives the system everything. What is not a whole block is kept as well, to be written again with its block.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.written < self.length() {
            self.file.seek(SeekFrom::Start(self.start))?;
            self.file.write_all(&self.buffer[self.shift..self.shift + self.filled])?;
            self.written = self.length();
        }
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.settle()?;
        self.file.sync_all()
    }
}

/// The file, for writing around the cache; none where the system or the disk cannot do that.
#[cfg(target_os = "linux")]
fn around_cache(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn around_cache(_: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that tell where they belong.
    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|at| u8::try_from((at ^ at >> 8 ^ at >> 16) & 255).unwrap()).collect()
    }

    #[test]
    fn what_is_appended_is_there_however_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let all = bytes(2 * ROOM + ROOM / 2 + 77);
        for piece in [ROOM, ROOM + 1, 300_001, all.len()] {
            let mut disk = Disk::create(&path).unwrap();
            for (number, part) in all.chunks(piece).enumerate() {
                disk.append(&part.to_vec().into()).unwrap();
                if number % 3 == 1 {
                    disk.settle().unwrap();
                    assert_eq!(disk.written(), disk.length());
                }
                let there = usize::try_from(disk.written()).unwrap();
                assert_eq!(std::fs::read(&path).unwrap()[..there], all[..there]);
            }
            disk.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{piece}");
        }
    }

    #[test]
    fn a_file_goes_on_behind_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let all = bytes(2 * ROOM + 5);
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, ROOM - 1, ROOM, ROOM + 9] {
            let mut longer = all[..length].to_vec();
            longer.extend_from_slice(b"what a killed process wrote");
            std::fs::write(&path, longer).unwrap();
            let mut disk = Disk::reopen(&path, length as u64).unwrap();
            assert_eq!((disk.length(), disk.written()), (length as u64, length as u64));
            disk.append(&all[length..].to_vec().into()).unwrap();
            disk.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{length}");
        }
    }
}
