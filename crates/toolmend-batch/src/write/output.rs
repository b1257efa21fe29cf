//! A file that is being written, under a name that says so.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::group::Unwritten;
use super::{Body, Columns, Encoded, Note, Origin, Target, arrow, nothing, parquet};
use crate::failure::Failure;
use crate::format::Format;

/// A file whose units come one after the other.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    part: PathBuf,
    disk: Disk,
    end: End,
    /// The file that is cleaned, once something is copied from it.
    source: Option<File>,
}

/// A unit that was added.
#[derive(Debug)]
pub(crate) struct Added {
    /// Of its bytes.
    pub(crate) checksum: u32,
    pub(crate) note: Note,
    /// Memory for others.
    pub(crate) rooms: [Vec<u8>; 2],
}

/// What is kept for the end of the file.
#[derive(Debug)]
enum End {
    Nothing,
    Parquet(parquet::Groups),
    Arrow(arrow::Blocks),
}

/// The name of a file until it is complete.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

impl Output {
    /// Begins a file.
    pub(crate) fn create(path: &Path, target: &Target) -> Result<Output, Failure> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        let part = part_of(path);
        let mut disk = Disk::create(&part).map_err(Failure::write(&part))?;
        let head = head(target).map_err(Failure::broken(&part))?;
        disk.append(&head.into()).map_err(Failure::write(&part))?;
        Ok(Output { path: path.to_owned(), part, disk, end: End::of(target), source: None })
    }

    /// Goes on with a file behind its units; each is told with where it ends.
    pub(crate) fn reopen<'n>(
        path: &Path,
        target: &Target,
        units: impl Iterator<Item = (u64, &'n Note)>,
    ) -> Result<Output, Failure> {
        let part = part_of(path);
        let mut length = head(target).map_err(Failure::broken(&part))?.len() as u64;
        let mut end = End::of(target);
        for (behind, note) in units {
            end.add(note, length).map_err(Failure::broken(&part))?;
            length = behind;
        }
        let disk = Disk::reopen(&part, length).map_err(Failure::write(&part))?;
        Ok(Output { path: path.to_owned(), part, disk, end, source: None })
    }

    /// Where the next unit begins.
    pub(crate) fn length(&self) -> u64 {
        self.disk.length()
    }

    /// How much of the file is there even if this process is killed now.
    pub(crate) fn written(&self) -> u64 {
        self.disk.written()
    }

    /// Adds a unit of a file.
    pub(crate) fn append(&mut self, unit: Encoded, target: &Target) -> Result<Added, Failure> {
        let start = self.disk.length();
        let added = match unit {
            Encoded::Bytes(body, note) => {
                self.disk.append(&body).map_err(Failure::write(&self.part))?;
                Added { checksum: body.checksum(), note, rooms: body.into_rooms() }
            }
            Encoded::Group(columns) => {
                let (checksum, note) = self.append_group(columns, target)?;
                Added { checksum, note, rooms: Default::default() }
            }
        };
        self.end.add(&added.note, start).map_err(Failure::broken(&self.part))?;
        Ok(added)
    }

    fn append_group(&mut self, columns: Columns, target: &Target) -> Result<(u32, Note), Failure> {
        if self.source.is_none() && target.footer.is_some() {
            self.source = Some(File::open(&target.input).map_err(Failure::read(&target.input))?);
        }
        let origin = match (&self.source, &target.footer) {
            (Some(file), Some(metadata)) => Some(Origin { file, metadata }),
            _ => None,
        };
        columns.write(&mut self.disk, target, origin.as_ref()).map_err(|why| match why {
            Unwritten::Disk(error) => Failure::write(&self.part)(error),
            Unwritten::Group(error) => Failure::broken(&target.input)(error),
        })
    }

    /// Gives the system everything, so that it is there even if this process is killed.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        self.disk.settle().map_err(Failure::write(&self.part))
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Failure> {
        self.disk.sync().map_err(Failure::write(&self.part))
    }

    /// Writes the end, and everything to the disk. The file still has its other name.
    pub(crate) fn close(mut self, target: &Target, empty: bool) -> Result<Closed, Failure> {
        let tail = match self.end {
            End::Parquet(groups) => groups.footer(target).map_err(Failure::broken(&self.part))?.into(),
            End::Arrow(blocks) => blocks.footer(target).into(),
            End::Nothing => match target.format {
                Format::Lines(packing) if empty => nothing(packing).map_err(Failure::write(&self.part))?,
                _ => Body::default(),
            },
        };
        self.disk.append(&tail).map_err(Failure::write(&self.part))?;
        self.disk.sync().map_err(Failure::write(&self.part))?;
        Ok(Closed { path: self.path, part: self.part })
    }
}

/// A file that is complete and not yet in its place.
#[derive(Debug)]
pub(crate) struct Closed {
    path: PathBuf,
    part: PathBuf,
}

impl Closed {
    /// Moves it into its place.
    pub(crate) fn place(self) -> Result<(), Failure> {
        fs::rename(&self.part, &self.path).map_err(Failure::write(&self.path))
    }
}

impl End {
    fn of(target: &Target) -> End {
        match target.format {
            Format::Parquet => End::Parquet(parquet::Groups::default()),
            Format::ArrowFile | Format::ArrowStream => End::Arrow(arrow::Blocks::default()),
            Format::Lines(_) => End::Nothing,
        }
    }

    fn add(&mut self, note: &Note, start: u64) -> Result<(), String> {
        match (self, note) {
            (End::Parquet(groups), Note::Parquet(note)) => groups.add(note, start),
            (End::Arrow(blocks), Note::Arrow(note)) => {
                blocks.add(note, start);
                Ok(())
            }
            (End::Nothing, Note::None) => Ok(()),
            _ => Err("a unit of another format".to_owned()),
        }
    }
}

fn head(target: &Target) -> Result<Vec<u8>, String> {
    match target.format {
        Format::Parquet => Ok(parquet::MAGIC.to_vec()),
        Format::ArrowFile | Format::ArrowStream => arrow::head(target),
        Format::Lines(_) => Ok(Vec::new()),
    }
}

/// A checksum of a range of a file; none where the file is too short.
pub(crate) fn checksum(file: &mut File, from: u64, to: u64) -> io::Result<Option<u32>> {
    file.seek(SeekFrom::Start(from))?;
    let mut hasher = crc32fast::Hasher::new();
    let mut left = to.saturating_sub(from);
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match file.read(&mut buffer[..wanted])? {
            0 => return Ok(None),
            count => {
                hasher.update(&buffer[..count]);
                left -= count as u64;
            }
        }
    }
    Ok(Some(hasher.finalize()))
}
