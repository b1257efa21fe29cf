//! What is finished, so that a run that was stopped can go on: one line for each unit, written behind its bytes.
//!
//! A line that is there means that its bytes were written before. After a crash of the machine that may not hold for the
//! last ones, so that every line has a checksum, and what was not known to be on the disk is checked before it is believed.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::counts::Tally;
use crate::failure::Failure;
use crate::read::Mark;
use crate::write::{Note, checksum, part_of};

/// Another number means another way to write the file.
const VERSION: u32 = 1;

/// The first line: what the run was asked for. Only the same run can go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) version: u32,
    /// Everything that the output depends on.
    pub(crate) asked: String,
    pub(crate) inputs: Vec<Input>,
}

/// A file that is read, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: u128,
}

impl Head {
    /// What the run is asked for now.
    pub(crate) fn new<'p>(asked: String, paths: impl Iterator<Item = &'p Path>) -> Result<Head, Failure> {
        let inputs = paths.map(|path| {
            let about = fs::metadata(path).map_err(Failure::read(path))?;
            let modified = about.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let modified = modified.map_or(0, |since| since.as_nanos());
            Ok(Input { path: path.to_owned(), bytes: about.len(), modified })
        });
        Ok(Head { version: VERSION, asked, inputs: inputs.collect::<Result<_, Failure>>()? })
    }
}

/// Any other line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// A unit was written.
    Unit(Box<UnitLine>),
    /// Everything before it is on the disk.
    Synced,
    /// A file is complete and about to be moved into its place.
    Closed(usize),
}

/// A unit that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnitLine {
    pub(crate) file: usize,
    /// Where reading goes on.
    pub(crate) mark: Mark,
    /// Where its bytes begin and end.
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) crc: u32,
    /// Where its rejects end, and their checksum.
    pub(crate) rejects: u64,
    pub(crate) rejects_crc: u32,
    pub(crate) tally: Tally,
    pub(crate) note: Note,
}

/// What an earlier run has finished.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Files that are complete and in their place.
    pub(crate) files: usize,
    /// The units of the file behind them.
    pub(crate) units: Vec<UnitLine>,
    /// How long the rejects are.
    pub(crate) rejects: u64,
    pub(crate) tally: Tally,
    /// How much of all files was read.
    pub(crate) read: u64,
}

/// The file, open for the next line.
#[derive(Debug)]
pub(crate) struct Manifest {
    path: PathBuf,
    file: File,
}

impl Manifest {
    /// Begins a run.
    pub(crate) fn create(path: &Path, head: &Head) -> Result<Manifest, Failure> {
        let file = File::create(path).map_err(Failure::write(path))?;
        let mut manifest = Manifest { path: path.to_owned(), file };
        manifest.write(head)?;
        Ok(manifest)
    }

    /// Goes on with a run. Nothing where there is none to go on with.
    pub(crate) fn resume(
        path: &Path,
        head: &Head,
        outputs: &[PathBuf],
        rejects: Option<&Path>,
    ) -> Result<Option<(Manifest, Finished)>, Failure> {
        let Ok(text) = fs::read(path) else { return Ok(None) };
        // The last line may have been cut off by what ended the run.
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        let mut lines = text[..whole].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else { return Ok(None) };
        let known: Option<Head> = serde_json::from_slice(first).ok();
        same(path, known.as_ref(), head)?;
        let mut found = Finished::default();
        let mut valid = first.len() as u64;
        let synced =
            text[..whole].windows(9).rposition(|part| part == b"\"synced\"\n").map_or(0, |at| at as u64);
        for line in lines {
            let Ok(parsed) = serde_json::from_slice::<Line>(line) else { break };
            if !found.take(parsed, outputs, rejects, valid < synced) {
                break;
            }
            valid += line.len() as u64;
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(Failure::write(path))?;
        file.set_len(valid).map_err(Failure::write(path))?;
        file.seek(SeekFrom::End(0)).map_err(Failure::write(path))?;
        Ok(Some((Manifest { path: path.to_owned(), file }, found)))
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, line: &Line) -> Result<(), Failure> {
        self.write(line)
    }

    /// Says that everything is on the disk.
    pub(crate) fn synced(&mut self) -> Result<(), Failure> {
        self.file.sync_data().map_err(Failure::write(&self.path))?;
        self.write(&Line::Synced)
    }

    /// The run is complete.
    pub(crate) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(Failure::write(&self.path))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(Failure::broken(&self.path))?;
        text.push(b'\n');
        // One write, so that what ends the run ends it before or behind the line, or leaves half of it.
        self.file.write_all(&text).map_err(Failure::write(&self.path))
    }
}

/// Whether the run is the same one.
fn same(path: &Path, known: Option<&Head>, head: &Head) -> Result<(), Failure> {
    let other = match known {
        Some(known) if known == head => return Ok(()),
        Some(known) if known.inputs != head.inputs => {
            let changed = known.inputs.iter().zip(&head.inputs).find(|(one, other)| one != other);
            let changed = changed.map(|(_, now)| now.path.display().to_string());
            format!("other files, or {} has changed", changed.as_deref().unwrap_or("one of them"))
        }
        Some(known) => format!("other settings: {} then, {} now", known.asked, head.asked),
        None => "another version of toolmend".to_owned(),
    };
    Err(Failure::Asked(format!(
        "cannot go on with the run that {} tells of: it was made with {other}. Run without --resume to start over",
        path.display()
    )))
}

impl Finished {
    /// Believes a line, or not: then everything from here on is done again.
    fn take(&mut self, line: Line, outputs: &[PathBuf], rejects: Option<&Path>, synced: bool) -> bool {
        match line {
            Line::Synced => true,
            Line::Closed(file) => {
                let Some(path) = outputs.get(file).filter(|_| file == self.files) else { return false };
                // The file was complete when the line was written; only its name may be the old one.
                let part = part_of(path);
                let placed = if part.exists() { fs::rename(&part, path).is_ok() } else { path.exists() };
                if placed {
                    self.files += 1;
                    self.units.clear();
                }
                placed
            }
            Line::Unit(unit) => {
                let Some(path) = outputs.get(unit.file).filter(|_| unit.file == self.files) else {
                    return false;
                };
                if !unit.is_there(path, rejects, self.rejects, synced) {
                    return false;
                }
                self.rejects = unit.rejects;
                self.tally.add(&unit.tally);
                let before = self.units.last().map_or(0, |unit| unit.mark.read);
                self.read += unit.mark.read.saturating_sub(before);
                self.units.push(*unit);
                true
            }
        }
    }
}

impl UnitLine {
    /// Whether its bytes are there: that many where they are known to be on the disk, else those that were meant.
    fn is_there(&self, path: &Path, rejects: Option<&Path>, rejects_before: u64, synced: bool) -> bool {
        // A file that is complete already has lost its other name.
        let part = part_of(path);
        let file = if part.exists() { part } else { path.to_owned() };
        let fits = |file: &Path, from: u64, to: u64, crc: u32| {
            let Ok(mut file) = File::open(file) else { return false };
            let long_enough = file.metadata().is_ok_and(|about| about.len() >= to);
            long_enough && (synced || checksum(&mut file, from, to).is_ok_and(|found| found == Some(crc)))
        };
        fits(&file, self.from, self.to, self.crc)
            && rejects
                .is_none_or(|rejects| fits(&part_of(rejects), rejects_before, self.rejects, self.rejects_crc))
    }
}
