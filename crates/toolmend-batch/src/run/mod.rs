//! Runs a job: one thread reads, all cores clean, and one thread writes in order.
//!
//! ```text
//! files -> reader thread -> units -> worker threads -> finished units -> writer thread -> .part files -> files
//!          read in pieces            judge, edit, encode                  in order, with a manifest
//! ```
//!
//! A unit can be cleaned on its own, so workers share nothing but compiled tools. Units get numbers when they are read, and the writer
//! puts them back in this order. The manifest says which units are written, so a run that was stopped can be resumed.

mod clean;
mod manifest;
mod queue;
mod rejects_file;
mod writer;

use std::fs;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use self::clean::FinishedUnit;
use self::manifest::{FinishedWork, Manifest, RunHeader};
use self::queue::BoundedQueue;
use self::rejects_file::RejectsFile;
use self::writer::{PendingWork, RunWriter};
use crate::buffers::BufferPool;
use crate::failure::Failure;
use crate::job::{Job, Progress, Summary};
use crate::judge::WorkerState;
use crate::plan::files::{FilePair, pair_files};
use crate::plan::{FilePlan, RowOptions};
use crate::read::{LineLimits, Piece, ReadPosition};
use crate::report;
use crate::write::create_parent_folder;

/// How much memory the units of a run take up for each worker, and once more for those that wait. Units of lines are far
/// smaller; this bounds row groups.
const UNIT_MEMORY_PER_WORKER: usize = 56 << 20;
/// How much memory is kept for reuse, for each worker.
const IDLE_MEMORY_PER_WORKER: usize = 32 << 20;

/// The callback for progress.
type ProgressCallback<'w> = dyn FnMut(&Progress) -> ControlFlow<()> + 'w;

/// A piece of a file, on its way to a worker.
#[derive(Debug)]
struct Unit {
    plan: Arc<FilePlan>,
    /// The number of the unit in its file.
    number: u64,
    piece: Piece,
}

/// What the writer gets, with a number that gives the order.
enum WriterEvent {
    /// A unit is clean.
    Unit { plan: Arc<FilePlan>, end: ReadPosition, weight: usize, finished: Box<FinishedUnit> },
    /// All units of a file have been sent.
    EndOfFile(Arc<FilePlan>),
    /// The run cannot continue.
    Failed(Failure),
}

impl Job {
    /// Cleans all files.
    ///
    /// `watch` is called after every unit and may stop the run there.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use toolmend_batch::{Job, protocol::Rules};
    /// let folder = std::env::temp_dir().join(format!("toolmend-batch-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// let (log, out) = (folder.join("log.jsonl"), folder.join("clean.jsonl"));
    /// std::fs::write(&log, r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{a: 1}"}}]}]}"#)?;
    /// let rules = Rules::new(toolmend::Policy::default(), toolmend::Mender::builder(), None);
    /// let summary = Job::new(vec![log], out.clone(), rules).run(&mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(summary.counts.outcomes(), [0, 1, 0, 0]);
    /// assert!(std::fs::read_to_string(out)?.contains(r#""arguments":"{\"a\": 1}""#));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written, or does not follow its format. The work that is finished by then is kept, and the
    /// same job with `resume` continues after it.
    pub fn run(&self, watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Summary, Failure> {
        let started = Instant::now();
        let pairs = pair_files(&self.inputs, &self.out, self.format)?;
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(cores).max(1);
        let header = RunHeader::new(self.describe_settings(), pairs.iter().map(|pair| pair.input.as_path()))?;
        let total: u64 = header.inputs.iter().map(|input| input.bytes).sum();
        let (manifest, finished) = self.open_manifest(&header, &pairs)?;
        let rejects =
            self.rejects.as_deref().map(|path| RejectsFile::open(path, finished.rejects)).transpose()?;
        let start = StartPoint {
            file: finished.files,
            position: finished.units.last().map_or_else(ReadPosition::default, |unit| unit.position),
            units: finished.units.len() as u64,
        };
        let progress = Progress {
            total,
            read: finished.bytes_read,
            resumed: finished.bytes_read,
            counts: finished.counts.clone(),
            elapsed: Duration::ZERO,
        };
        let queue = BoundedQueue::new(3 * threads + 2, UNIT_MEMORY_PER_WORKER * (threads + 1));
        let buffers = Arc::new(BufferPool::new(IDLE_MEMORY_PER_WORKER * threads));
        let pending = PendingWork::default();
        let mut writer = RunWriter {
            manifest,
            rejects,
            finished,
            progress,
            started,
            buffers: Arc::clone(&buffers),
            pending,
        };
        self.run_threads(&pairs, start, threads, (&queue, &buffers), &mut writer, watch)?;
        let progress = writer.finish()?;
        let summary = Summary {
            files: pairs.len(),
            bytes: total,
            resumed: progress.resumed,
            counts: progress.counts,
            elapsed: started.elapsed(),
        };
        if let Some(path) = &self.report {
            let names: Vec<String> = pairs.iter().map(|pair| pair.input.display().to_string()).collect();
            report::write_report(path, &summary, &names).map_err(Failure::write(path))?;
        }
        Ok(summary)
    }

    /// Opens the manifest of an earlier run if this run resumes it, or creates one.
    fn open_manifest(
        &self,
        header: &RunHeader,
        pairs: &[FilePair],
    ) -> Result<(Manifest, FinishedWork), Failure> {
        let outputs: Vec<PathBuf> = pairs.iter().map(|pair| pair.output.clone()).collect();
        let path = manifest_path(&self.out, &outputs)?;
        if self.resume
            && let Some(resumed) = Manifest::resume(&path, header, &outputs, self.rejects.as_deref())?
        {
            return Ok(resumed);
        }
        Ok((Manifest::create(&path, header)?, FinishedWork::default()))
    }

    /// Starts the reader and the workers, and writes on this thread until all of them end.
    fn run_threads(
        &self,
        pairs: &[FilePair],
        start: StartPoint,
        threads: usize,
        (queue, buffers): (&BoundedQueue<(u64, Unit)>, &Arc<BufferPool>),
        writer: &mut RunWriter,
        watch: &mut ProgressCallback<'_>,
    ) -> Result<(), Failure> {
        let (sender, receiver) = channel();
        let limits = LineLimits { longest_line: self.longest_line, unit: self.unit_bytes };
        let options = RowOptions { layout: self.layout, fields: &self.fields, limits };
        thread::scope(|scope| {
            let reader = UnitReader { options, queue, buffers, events: sender.clone(), order: 0 };
            scope.spawn(move || reader.run(pairs, start));
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(move || run_worker(self, queue, buffers, &sender));
            }
            drop(sender);
            let result = writer.run(&receiver, queue, watch);
            // After a failure, threads may still wait for room or for units.
            queue.stop();
            result
        })
    }
}

/// Returns where the manifest is: next to a single output file, or in the output folder. Creates the folder.
fn manifest_path(out: &Path, outputs: &[PathBuf]) -> Result<PathBuf, Failure> {
    if let [only] = outputs
        && only == out
    {
        create_parent_folder(out)?;
        let mut name = out.as_os_str().to_owned();
        name.push(".resume");
        return Ok(name.into());
    }
    fs::create_dir_all(out).map_err(Failure::write(out))?;
    Ok(out.join(".toolmend.resume"))
}

/// Where a run begins.
#[derive(Debug, Clone, Copy)]
struct StartPoint {
    /// The number of the first file.
    file: usize,
    /// The position in that file.
    position: ReadPosition,
    /// How many units of that file are finished.
    units: u64,
}

/// Reads all files and hands out their units.
struct UnitReader<'a> {
    options: RowOptions<'a>,
    queue: &'a BoundedQueue<(u64, Unit)>,
    buffers: &'a Arc<BufferPool>,
    events: Sender<(u64, WriterEvent)>,
    /// The number of the next event.
    order: u64,
}

impl UnitReader<'_> {
    fn run(mut self, pairs: &[FilePair], start: StartPoint) {
        if let Err(failure) = self.read_files(pairs, start) {
            let _ = self.events.send((self.order, WriterEvent::Failed(failure)));
        }
        self.queue.close();
    }

    fn read_files(&mut self, pairs: &[FilePair], start: StartPoint) -> Result<(), Failure> {
        let (mut position, mut number) = (start.position, start.units);
        for (index, pair) in pairs.iter().enumerate().skip(start.file) {
            let plan = Arc::new(FilePlan::new(index, pair.clone(), self.options)?);
            let mut input = plan.open_input(position, self.buffers)?;
            while let Some(piece) = input.next_piece()? {
                let weight = piece.weight;
                let unit = Unit { plan: Arc::clone(&plan), number, piece };
                if !self.queue.put((self.order, unit), weight) {
                    return Ok(());
                }
                self.order += 1;
                number += 1;
            }
            let _ = self.events.send((self.order, WriterEvent::EndOfFile(plan)));
            self.order += 1;
            (position, number) = (ReadPosition::default(), 0);
        }
        Ok(())
    }
}

/// Cleans units until no more come.
fn run_worker(
    job: &Job,
    queue: &BoundedQueue<(u64, Unit)>,
    buffers: &BufferPool,
    events: &Sender<(u64, WriterEvent)>,
) {
    let mut worker = WorkerState::new(&job.rules, job.fields.column());
    while let Some((order, unit)) = queue.take() {
        let (plan, end, weight) = (Arc::clone(&unit.plan), unit.piece.end, unit.piece.weight);
        let finished =
            panic::catch_unwind(AssertUnwindSafe(|| clean::clean_unit(unit, &mut worker, buffers)));
        let event = match finished {
            Ok(Ok(finished)) => WriterEvent::Unit { plan, end, weight, finished: Box::new(finished) },
            Ok(Err(failure)) => WriterEvent::Failed(failure),
            Err(_) => {
                let message = "an internal error; please report this file".to_owned();
                WriterEvent::Failed(Failure::Invalid(plan.pair.input.clone(), message))
            }
        };
        if events.send((order, event)).is_err() {
            return;
        }
    }
}
