//! The manifest: a file that says what a run has finished, so that it can be resumed.
//!
//! It has one line for each unit, written after the bytes of the unit: where to continue reading, where its bytes end, their
//! checksum, its counts, and what the end of the output must say about it. If the process is killed, every line is true. If the
//! machine crashes, the last bytes may be lost although their lines exist. So bytes that were not synced are compared with
//! their checksum before a line is trusted.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::counts::CallCounts;
use crate::failure::Failure;
use crate::read::ReadPosition;
use crate::write::{FooterNote, part_path, range_checksum};

/// The version of the format of the manifest.
const VERSION: u32 = 2;

/// The first line: the inputs and the settings of the run. Only the same run can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunHeader {
    pub(crate) version: u32,
    /// Everything else that the output depends on.
    pub(crate) settings: String,
    pub(crate) inputs: Vec<InputFile>,
}

/// An input when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: u128,
}

impl RunHeader {
    /// Describes the run as it is now.
    pub(crate) fn new<'p>(
        settings: String,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<RunHeader, Failure> {
        let inputs = paths.map(|path| {
            let about = fs::metadata(path).map_err(Failure::read(path))?;
            let modified = about.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let modified = modified.map_or(0, |since| since.as_nanos());
            Ok(InputFile { path: path.to_owned(), bytes: about.len(), modified })
        });
        Ok(RunHeader { version: VERSION, settings, inputs: inputs.collect::<Result<_, Failure>>()? })
    }
}

/// Any line after the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ManifestLine {
    /// A unit was written.
    Unit(Box<UnitRecord>),
    /// Everything before this line is on the disk.
    Synced,
    /// The file with this number is complete and about to get its name.
    Closed(usize),
}

/// A unit that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnitRecord {
    /// The number of its file.
    pub(crate) file: usize,
    /// Where reading continues.
    pub(crate) position: ReadPosition,
    /// Where its bytes begin.
    pub(crate) from: u64,
    /// Where its bytes end.
    pub(crate) to: u64,
    /// The CRC-32 of its bytes.
    pub(crate) crc: u32,
    /// Where its rejects end.
    pub(crate) rejects: u64,
    /// The CRC-32 of its rejects.
    pub(crate) rejects_crc: u32,
    pub(crate) counts: CallCounts,
    pub(crate) note: FooterNote,
}

/// What an earlier run has finished.
#[derive(Debug, Default)]
pub(crate) struct FinishedWork {
    /// How many files are complete.
    pub(crate) files: usize,
    /// The finished units of the next file.
    pub(crate) units: Vec<UnitRecord>,
    /// The length of the rejects, in bytes.
    pub(crate) rejects: u64,
    pub(crate) counts: CallCounts,
    /// How many bytes of all inputs were read.
    pub(crate) bytes_read: u64,
}

/// A manifest that is being written.
#[derive(Debug)]
pub(crate) struct Manifest {
    path: PathBuf,
    file: File,
}

impl Manifest {
    /// Creates the manifest of a new run.
    pub(crate) fn create(path: &Path, header: &RunHeader) -> Result<Manifest, Failure> {
        let file = File::create(path).map_err(Failure::write(path))?;
        let mut manifest = Manifest { path: path.to_owned(), file };
        manifest.append(header)?;
        Ok(manifest)
    }

    /// Opens the manifest of a run that was stopped. Returns `None` if there is none.
    pub(crate) fn resume(
        path: &Path,
        header: &RunHeader,
        outputs: &[PathBuf],
        rejects: Option<&Path>,
    ) -> Result<Option<(Manifest, FinishedWork)>, Failure> {
        let Ok(text) = fs::read(path) else { return Ok(None) };
        // The last line may be incomplete if the process was killed.
        let complete = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        let mut lines = text[..complete].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else { return Ok(None) };
        let earlier: Option<RunHeader> = serde_json::from_slice(first).ok();
        check_same_run(path, earlier.as_ref(), header)?;
        let mut finished = FinishedWork::default();
        let mut valid = first.len() as u64;
        let synced =
            text[..complete].windows(9).rposition(|part| part == b"\"synced\"\n").map_or(0, |at| at as u64);
        for line in lines {
            let Ok(parsed) = serde_json::from_slice::<ManifestLine>(line) else { break };
            if !finished.accept_line(parsed, outputs, rejects, valid < synced) {
                break;
            }
            valid += line.len() as u64;
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(Failure::write(path))?;
        file.set_len(valid).map_err(Failure::write(path))?;
        file.seek(SeekFrom::End(0)).map_err(Failure::write(path))?;
        Ok(Some((Manifest { path: path.to_owned(), file }, finished)))
    }

    /// Syncs the manifest, and appends a line that says that everything before it is on the disk.
    pub(crate) fn append_synced(&mut self) -> Result<(), Failure> {
        self.file.sync_data().map_err(Failure::write(&self.path))?;
        self.append(&ManifestLine::Synced)
    }

    /// Removes the manifest after a complete run.
    pub(crate) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(Failure::write(&self.path))
    }

    /// Appends a line.
    pub(crate) fn append(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(Failure::invalid(&self.path))?;
        text.push(b'\n');
        // A single write, so that a process that is killed leaves the line complete, incomplete at the end of the file, or out.
        self.file.write_all(&text).map_err(Failure::write(&self.path))
    }
}

/// Fails if the earlier run had other inputs or settings.
fn check_same_run(path: &Path, earlier: Option<&RunHeader>, header: &RunHeader) -> Result<(), Failure> {
    let difference = match earlier {
        Some(earlier) if earlier == header => return Ok(()),
        Some(earlier) if earlier.version != header.version => {
            "it was written by another version of toolmend".to_owned()
        }
        Some(earlier) if earlier.inputs != header.inputs => {
            let changed = earlier.inputs.iter().zip(&header.inputs).find(|(one, other)| one != other);
            let changed = changed.map(|(_, now)| now.path.display().to_string());
            format!("it had other inputs, or {} has changed", changed.as_deref().unwrap_or("one of them"))
        }
        Some(earlier) => {
            format!("it had other settings: {} then, {} now", earlier.settings, header.settings)
        }
        None => "it was written by another version of toolmend".to_owned(),
    };
    Err(Failure::Request(format!(
        "cannot resume the run that {} describes: {difference}. Run without --resume to start over",
        path.display()
    )))
}

impl FinishedWork {
    /// Accepts a line and returns `true`, or returns `false` if it is not true: then everything from this line on is done again.
    fn accept_line(
        &mut self,
        line: ManifestLine,
        outputs: &[PathBuf],
        rejects: Option<&Path>,
        synced: bool,
    ) -> bool {
        match line {
            ManifestLine::Synced => true,
            ManifestLine::Closed(file) => {
                let Some(path) = outputs.get(file).filter(|_| file == self.files) else { return false };
                // The file was complete when the line was written, but it may still have its temporary name.
                let part = part_path(path);
                let renamed = if part.exists() { fs::rename(&part, path).is_ok() } else { path.exists() };
                if renamed {
                    self.files += 1;
                    self.units.clear();
                }
                renamed
            }
            ManifestLine::Unit(unit) => {
                let Some(path) = outputs.get(unit.file).filter(|_| unit.file == self.files) else {
                    return false;
                };
                if !unit.is_written(path, rejects, self.rejects, synced) {
                    return false;
                }
                self.rejects = unit.rejects;
                self.counts.add(&unit.counts);
                let before = self.units.last().map_or(0, |unit| unit.position.bytes_read);
                self.bytes_read += unit.position.bytes_read.saturating_sub(before);
                self.units.push(*unit);
                true
            }
        }
    }
}

impl UnitRecord {
    /// Whether its bytes are in the output and its rejects in the rejects file. If they were synced, the length suffices;
    /// otherwise the checksums must match.
    fn is_written(&self, path: &Path, rejects: Option<&Path>, rejects_before: u64, synced: bool) -> bool {
        // A complete file may have lost its temporary name already.
        let part = part_path(path);
        let file = if part.exists() { part } else { path.to_owned() };
        let is_intact = |file: &Path, from: u64, to: u64, crc: u32| {
            let Ok(mut file) = File::open(file) else { return false };
            let long_enough = file.metadata().is_ok_and(|about| about.len() >= to);
            long_enough
                && (synced || range_checksum(&mut file, from, to).is_ok_and(|found| found == Some(crc)))
        };
        is_intact(&file, self.from, self.to, self.crc)
            && rejects.is_none_or(|rejects| {
                is_intact(&part_path(rejects), rejects_before, self.rejects, self.rejects_crc)
            })
    }
}
