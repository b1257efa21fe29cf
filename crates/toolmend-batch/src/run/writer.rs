//! Writes finished units in order, and records them in the manifest.
//!
//! The manifest gets the line of a unit when the system has all of its bytes, not before. So a line in the manifest means that
//! the unit survives if the process is killed. From time to time, and at the end of each file, everything is synced to the disk.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::clean::FinishedUnit;
use super::manifest::{FinishedWork, Manifest, ManifestLine, UnitRecord};
use super::queue::BoundedQueue;
use super::rejects_file::RejectsFile;
use super::{ProgressCallback, Unit, WriterEvent};
use crate::buffers::BufferPool;
use crate::failure::Failure;
use crate::job::Progress;
use crate::plan::FilePlan;
use crate::read::ReadPosition;
use crate::write::OutputFile;

/// How many bytes are written between two syncs.
const SYNC_BYTES: u64 = 1 << 30;

/// Writes the files of a run.
pub(super) struct RunWriter {
    pub(super) manifest: Manifest,
    pub(super) rejects: Option<RejectsFile>,
    /// What an earlier run has finished.
    pub(super) finished: FinishedWork,
    pub(super) progress: Progress,
    pub(super) started: Instant,
    pub(super) buffers: Arc<BufferPool>,
    pub(super) pending: PendingWork,
}

/// What was begun and is not recorded or synced yet. A run begins with none of it.
#[derive(Default)]
pub(super) struct PendingWork {
    current: Option<CurrentFile>,
    /// Units whose bytes the system does not have yet. Their lines are added to the manifest later.
    unrecorded: VecDeque<Box<UnitRecord>>,
    unsynced_bytes: u64,
}

/// The file that is being written.
struct CurrentFile {
    output: OutputFile,
    units: u64,
    bytes_read: u64,
}

impl CurrentFile {
    /// Creates the output of a file, or continues it if an earlier run has finished units of it.
    fn open(plan: &FilePlan, finished: Vec<UnitRecord>) -> Result<CurrentFile, Failure> {
        let known: Vec<_> = finished.into_iter().filter(|unit| unit.file == plan.index).collect();
        let path = &plan.pair.output;
        let output = if known.is_empty() {
            OutputFile::create(path, &plan.output)?
        } else {
            OutputFile::reopen(path, &plan.output, known.iter().map(|unit| (unit.to, &unit.note)))?
        };
        let bytes_read = known.last().map_or(0, |unit| unit.position.bytes_read);
        Ok(CurrentFile { output, units: known.len() as u64, bytes_read })
    }
}

impl RunWriter {
    /// Writes units in order until all threads have ended. Keeps what was finished before a failure.
    pub(super) fn run(
        &mut self,
        events: &Receiver<(u64, WriterEvent)>,
        queue: &BoundedQueue<(u64, Unit)>,
        watch: &mut ProgressCallback<'_>,
    ) -> Result<(), Failure> {
        let result = self.handle_events(events, queue, watch);
        if result.is_err()
            && let Some(current) = &mut self.pending.current
            && current.output.flush().is_ok()
        {
            // The first failure is the one to report. A unit without a line is cleaned again by the next run.
            let _ = self.record_written_units();
        }
        result
    }

    fn handle_events(
        &mut self,
        events: &Receiver<(u64, WriterEvent)>,
        queue: &BoundedQueue<(u64, Unit)>,
        watch: &mut ProgressCallback<'_>,
    ) -> Result<(), Failure> {
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (order, event) in events {
            early.insert(order, event);
            while let Some(event) = early.remove(&next) {
                next += 1;
                match event {
                    WriterEvent::Failed(failure) => return Err(failure),
                    WriterEvent::EndOfFile(plan) => self.complete_file(&plan)?,
                    WriterEvent::Unit { plan, end, weight, finished } => {
                        self.write_unit(&plan, end, *finished)?;
                        queue.release(weight);
                        self.progress.elapsed = self.started.elapsed();
                        if watch(&self.progress).is_break() {
                            return Err(Failure::Stopped);
                        }
                    }
                }
            }
        }
        // A failure is left if the events before it never arrived.
        early
            .into_values()
            .find_map(|event| if let WriterEvent::Failed(failure) = event { Some(failure) } else { None })
            .map_or(Ok(()), Err)
    }

    fn write_unit(
        &mut self,
        plan: &FilePlan,
        position: ReadPosition,
        finished: FinishedUnit,
    ) -> Result<(), Failure> {
        let current = self.open_output(plan)?;
        let from = current.output.length();
        let appended = current.output.append_unit(finished.encoded, &plan.output)?;
        let to = current.output.length();
        let bytes_read = position.bytes_read.saturating_sub(current.bytes_read);
        current.units += 1;
        current.bytes_read = position.bytes_read;
        let (rejects, rejects_crc) = match &mut self.rejects {
            Some(rejects) => (rejects.append(&finished.rejects)?, crc32fast::hash(&finished.rejects)),
            None => (0, 0),
        };
        self.progress.counts.add(&finished.counts);
        self.pending.unrecorded.push_back(Box::new(UnitRecord {
            file: plan.index,
            position,
            from,
            to,
            crc: appended.checksum,
            rejects,
            rejects_crc,
            counts: finished.counts,
            note: appended.note,
        }));
        self.record_written_units()?;
        self.progress.read += bytes_read;
        let reusable = appended.buffers.into_iter().chain([finished.rejects]);
        reusable.for_each(|buffer| self.buffers.give_back(buffer));
        self.pending.unsynced_bytes += to - from;
        if self.pending.unsynced_bytes >= SYNC_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    /// Adds the lines of units whose bytes the system has by now.
    fn record_written_units(&mut self) -> Result<(), Failure> {
        let written = self.pending.current.as_ref().map_or(u64::MAX, |current| current.output.written());
        while let Some(unit) = self.pending.unrecorded.pop_front_if(|unit| unit.to <= written) {
            self.manifest.append(&ManifestLine::Unit(unit))?;
        }
        Ok(())
    }

    /// Waits until everything is on the disk, and says so in the manifest.
    fn sync(&mut self) -> Result<(), Failure> {
        if let Some(current) = &mut self.pending.current {
            current.output.sync()?;
        }
        self.record_written_units()?;
        if let Some(rejects) = &self.rejects {
            rejects.sync()?;
        }
        self.pending.unsynced_bytes = 0;
        self.manifest.append_synced()
    }

    /// Returns the file that is being written, or opens the output of this plan.
    fn open_output(&mut self, plan: &FilePlan) -> Result<&mut CurrentFile, Failure> {
        let current = match self.pending.current.take() {
            Some(current) => current,
            None => CurrentFile::open(plan, std::mem::take(&mut self.finished.units))?,
        };
        Ok(self.pending.current.insert(current))
    }

    /// Completes a file after its last unit.
    fn complete_file(&mut self, plan: &FilePlan) -> Result<(), Failure> {
        self.open_output(plan)?;
        let Some(current) = self.pending.current.take() else { return Ok(()) };
        let complete = current.output.complete(&plan.output, current.units > 0)?;
        self.sync()?;
        self.manifest.append(&ManifestLine::Closed(plan.index))?;
        complete.rename()
    }

    /// Ends the run after the last file.
    pub(super) fn finish(self) -> Result<Progress, Failure> {
        if let Some(rejects) = self.rejects {
            rejects.complete()?;
        }
        self.manifest.remove()?;
        Ok(self.progress)
    }
}
