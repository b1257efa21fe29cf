//! A file that is being written. It has another name until it is complete.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::append_file::AppendFile;
use super::arrow::{self, ArrowBlocks};
use super::parquet_footer::{self, RowGroups};
use super::row_group::{EncodedRowGroup, RowGroupError, SourceFile};
use super::{EditedBytes, EncodedUnit, FooterNote, OutputSpec, lines};
use crate::failure::Failure;
use crate::format::Format;

/// A file to which units are appended.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    part: PathBuf,
    file: AppendFile,
    footer: FooterBuilder,
    /// The input, once columns are copied from it.
    input: Option<File>,
}

/// A unit that was appended.
#[derive(Debug)]
pub(crate) struct AppendedUnit {
    /// The CRC-32 of its bytes.
    pub(crate) checksum: u32,
    pub(crate) note: FooterNote,
    /// Buffers that can be reused.
    pub(crate) buffers: [Vec<u8>; 2],
}

/// What is kept for the end of a file.
#[derive(Debug)]
enum FooterBuilder {
    None,
    Parquet(RowGroups),
    Arrow(ArrowBlocks),
}

/// Returns the name of a file until it is complete.
pub(crate) fn part_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Creates the folder of a file.
pub(crate) fn create_parent_folder(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(Failure::write(folder)),
        None => Ok(()),
    }
}

impl OutputFile {
    /// Creates a file.
    pub(crate) fn create(path: &Path, spec: &OutputSpec) -> Result<OutputFile, Failure> {
        create_parent_folder(path)?;
        let part = part_path(path);
        let mut file = AppendFile::create(&part).map_err(Failure::write(&part))?;
        let head = encode_head(spec).map_err(Failure::invalid(&part))?;
        file.append(&head.into()).map_err(Failure::write(&part))?;
        Ok(OutputFile { path: path.to_owned(), part, file, footer: FooterBuilder::new(spec), input: None })
    }

    /// Continues a file after its units. `units` has the end and the note of each.
    pub(crate) fn reopen<'n>(
        path: &Path,
        spec: &OutputSpec,
        units: impl Iterator<Item = (u64, &'n FooterNote)>,
    ) -> Result<OutputFile, Failure> {
        let part = part_path(path);
        let mut length = encode_head(spec).map_err(Failure::invalid(&part))?.len() as u64;
        let mut footer = FooterBuilder::new(spec);
        for (end, note) in units {
            footer.add_unit(note, length).map_err(Failure::invalid(&part))?;
            length = end;
        }
        let file = AppendFile::reopen(&part, length).map_err(Failure::write(&part))?;
        Ok(OutputFile { path: path.to_owned(), part, file, footer, input: None })
    }

    /// Returns where the next unit begins.
    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    /// Returns how many bytes survive if this process is killed now.
    pub(crate) fn written(&self) -> u64 {
        self.file.written()
    }

    /// Appends a unit.
    pub(crate) fn append_unit(
        &mut self,
        unit: EncodedUnit,
        spec: &OutputSpec,
    ) -> Result<AppendedUnit, Failure> {
        let start = self.file.length();
        let appended = match unit {
            EncodedUnit::Bytes(bytes, note) => {
                self.file.append(&bytes).map_err(Failure::write(&self.part))?;
                AppendedUnit { checksum: bytes.checksum(), note, buffers: bytes.into_buffers() }
            }
            EncodedUnit::RowGroup(group) => {
                let (checksum, footer) = self.append_row_group(group, spec)?;
                AppendedUnit { checksum, note: FooterNote::Parquet(footer), buffers: Default::default() }
            }
        };
        self.footer.add_unit(&appended.note, start).map_err(Failure::invalid(&self.part))?;
        Ok(appended)
    }

    fn append_row_group(
        &mut self,
        group: EncodedRowGroup,
        spec: &OutputSpec,
    ) -> Result<(u32, String), Failure> {
        if self.input.is_none() && spec.input_footer.is_some() {
            self.input = Some(File::open(&spec.input).map_err(Failure::read(&spec.input))?);
        }
        let source = match (&self.input, &spec.input_footer) {
            (Some(file), Some(metadata)) => Some(SourceFile { file, metadata }),
            _ => None,
        };
        group.append_to(&mut self.file, spec, source.as_ref()).map_err(|error| match error {
            RowGroupError::Write(error) => Failure::write(&self.part)(error),
            RowGroupError::Encode(error) => Failure::invalid(&spec.input)(error),
        })
    }

    /// Hands all bytes to the system, so that they survive if this process is killed.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.file.flush().map_err(Failure::write(&self.part))
    }

    /// Waits until all bytes are on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Failure> {
        self.file.sync().map_err(Failure::write(&self.part))
    }

    /// Writes the end of the file and waits until all of it is on the disk. The file keeps its temporary name.
    pub(crate) fn complete(mut self, spec: &OutputSpec, has_units: bool) -> Result<CompleteFile, Failure> {
        let tail = match self.footer {
            FooterBuilder::Parquet(groups) => {
                groups.encode_footer(spec).map_err(Failure::invalid(&self.part))?.into()
            }
            FooterBuilder::Arrow(blocks) => blocks.encode_footer(spec).into(),
            FooterBuilder::None => match spec.format {
                // A compressed file without contents is not an empty file.
                Format::Lines(compression) if !has_units => {
                    lines::compress(EditedBytes::default(), compression)
                        .map_err(Failure::write(&self.part))?
                }
                _ => EditedBytes::default(),
            },
        };
        self.file.append(&tail).map_err(Failure::write(&self.part))?;
        self.file.sync().map_err(Failure::write(&self.part))?;
        Ok(CompleteFile { path: self.path, part: self.part })
    }
}

/// A complete file that still has its temporary name.
#[derive(Debug)]
pub(crate) struct CompleteFile {
    path: PathBuf,
    part: PathBuf,
}

impl CompleteFile {
    /// Gives the file its name.
    pub(crate) fn rename(self) -> Result<(), Failure> {
        fs::rename(&self.part, &self.path).map_err(Failure::write(&self.path))
    }
}

impl FooterBuilder {
    fn new(spec: &OutputSpec) -> FooterBuilder {
        match spec.format {
            Format::Parquet => FooterBuilder::Parquet(RowGroups::default()),
            Format::ArrowFile | Format::ArrowStream => FooterBuilder::Arrow(ArrowBlocks::default()),
            Format::Lines(_) => FooterBuilder::None,
        }
    }

    /// Adds a unit that begins at `start`.
    fn add_unit(&mut self, note: &FooterNote, start: u64) -> Result<(), String> {
        match (self, note) {
            (FooterBuilder::Parquet(groups), FooterNote::Parquet(footer)) => groups.add_unit(footer, start),
            (FooterBuilder::Arrow(blocks), FooterNote::Arrow(messages)) => {
                blocks.add_unit(messages, start);
                Ok(())
            }
            (FooterBuilder::None, FooterNote::None) => Ok(()),
            _ => Err("expected a unit of the same format, found another one".to_owned()),
        }
    }
}

fn encode_head(spec: &OutputSpec) -> Result<Vec<u8>, String> {
    match spec.format {
        Format::Parquet => Ok(parquet_footer::MAGIC.to_vec()),
        Format::ArrowFile | Format::ArrowStream => arrow::encode_head(spec),
        Format::Lines(_) => Ok(Vec::new()),
    }
}

/// Returns the CRC-32 of a range of a file, or `None` if the file is too short.
pub(crate) fn range_checksum(file: &mut File, from: u64, to: u64) -> io::Result<Option<u32>> {
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
