//! A run from its first file to its last: one thread reads, all cores mend, one thread writes in order.

mod clean;
mod manifest;
mod queue;

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use self::clean::Done;
use self::manifest::{Finished, Head, Line, Manifest, UnitLine};
use self::queue::Queue;
use crate::buffers::Pool;
use crate::failure::Failure;
use crate::job::{Job, Progress, Summary};
use crate::judge::Desk;
use crate::plan::files::{self, Pair};
use crate::plan::{Plan, Wanted};
use crate::read::{Cut, Mark};
use crate::report;
use crate::write::{Output, part_of};

/// How much is in memory at a time for each worker, and once more for what waits; units of lines are far smaller.
const ROOM: usize = 56 << 20;
/// How much memory is kept for the next units, for each worker.
const IDLE: usize = 32 << 20;
/// How much is written before the disk is waited for.
const SYNC_BYTES: u64 = 1 << 30;

/// Whoever watches.
type Watch<'w> = dyn FnMut(&Progress) -> ControlFlow<()> + 'w;

/// What comes to the writer, in the order of its numbers.
enum Event {
    Unit { plan: Arc<Plan>, end: Mark, weight: usize, done: Box<Done> },
    End(Arc<Plan>),
    Failed(Failure),
}

/// A piece of a certain file.
#[derive(Debug)]
struct Unit {
    plan: Arc<Plan>,
    /// Counts the units of the file.
    number: u64,
    cut: Cut,
}

impl Job {
    /// Cleans all files. `watch` is told after every unit how far it is, and may stop the run there.
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
    /// assert_eq!(summary.tally.outcomes(), [0, 1, 0, 0]);
    /// assert!(std::fs::read_to_string(out)?.contains(r#""arguments":"{\"a\": 1}""#));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where a file cannot be read or written, or is not what its format asks for. What was finished until then is kept,
    /// and the same job with `resume` goes on behind it.
    pub fn run(&self, watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Summary, Failure> {
        run(self, watch)
    }
}

/// Runs a job.
fn run(job: &Job, watch: &mut Watch<'_>) -> Result<Summary, Failure> {
    let started = Instant::now();
    let pairs = files::pairs(&job.inputs, &job.out, job.format)?;
    let threads =
        job.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
    let head = Head::new(job.asked(), pairs.iter().map(|pair| pair.from.as_path()))?;
    let total: u64 = head.inputs.iter().map(|input| input.bytes).sum();
    let outputs: Vec<PathBuf> = pairs.iter().map(|pair| pair.to.clone()).collect();
    let place = manifest_place(&job.out, &outputs)?;
    let known =
        if job.resume { Manifest::resume(&place, &head, &outputs, job.rejects.as_deref())? } else { None };
    let (manifest, finished) = match known {
        Some(known) => known,
        None => (Manifest::create(&place, &head)?, Finished::default()),
    };
    let rejects = job.rejects.as_deref().map(|path| Rejects::open(path, finished.rejects)).transpose()?;
    let start = Start {
        file: finished.files,
        mark: finished.units.last().map_or_else(Mark::default, |unit| unit.mark),
        units: finished.units.len() as u64,
    };
    let progress = Progress {
        total,
        read: finished.read,
        resumed: finished.read,
        tally: finished.tally.clone(),
        elapsed: Duration::ZERO,
    };
    let queue = Queue::new(3 * threads + 2, ROOM * (threads + 1));
    let pool = Arc::new(Pool::new(IDLE * threads));
    let (sender, receiver) = channel();
    let mut writer = Writer {
        manifest,
        rejects,
        finished,
        progress,
        started,
        pool: Arc::clone(&pool),
        current: None,
        waiting: VecDeque::new(),
        unsynced: 0,
    };
    let result = thread::scope(|scope| {
        let wanted = Wanted {
            layout: job.layout,
            fields: &job.fields,
            longest: job.longest_line,
            unit: job.unit_bytes,
        };
        {
            let (hands, sender, pairs) = (Hands { queue: &queue, pool: &pool }, sender.clone(), &pairs);
            scope.spawn(move || read(pairs, wanted, start, hands, &sender));
        }
        for _ in 0..threads {
            let (hands, sender) = (Hands { queue: &queue, pool: &pool }, sender.clone());
            scope.spawn(move || mend(job, hands, &sender));
        }
        drop(sender);
        let result = writer.write(&receiver, &queue, watch);
        // Whoever still waits for room or for work has nobody to do it for.
        queue.stop();
        result
    });
    result?;
    let progress = writer.finish()?;
    let summary = Summary {
        files: pairs.len(),
        bytes: total,
        resumed: progress.resumed,
        tally: progress.tally,
        elapsed: started.elapsed(),
    };
    if let Some(path) = &job.report {
        report::write(path, &summary, &names(&pairs)).map_err(Failure::write(path))?;
    }
    Ok(summary)
}

fn names(pairs: &[Pair]) -> Vec<String> {
    pairs.iter().map(|pair| pair.from.display().to_string()).collect()
}

/// The manifest stands beside a file, and in a folder.
fn manifest_place(out: &Path, outputs: &[PathBuf]) -> Result<PathBuf, Failure> {
    if let [only] = outputs
        && only == out
    {
        if let Some(folder) = out.parent() {
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        let mut name = out.as_os_str().to_owned();
        name.push(".resume");
        return Ok(name.into());
    }
    fs::create_dir_all(out).map_err(Failure::write(out))?;
    Ok(out.join(".toolmend.resume"))
}

/// What the threads of a run share.
#[derive(Debug, Clone, Copy)]
struct Hands<'a> {
    queue: &'a Queue<(u64, Unit)>,
    pool: &'a Arc<Pool>,
}

/// Where a run begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    file: usize,
    mark: Mark,
    units: u64,
}

/// Cuts all files and hands out the pieces.
fn read(pairs: &[Pair], wanted: Wanted<'_>, start: Start, hands: Hands<'_>, sender: &Sender<(u64, Event)>) {
    let mut order = 0;
    if let Err(failure) = read_all(pairs, wanted, start, hands, sender, &mut order) {
        let _ = sender.send((order, Event::Failed(failure)));
    }
    hands.queue.close();
}

fn read_all(
    pairs: &[Pair],
    wanted: Wanted<'_>,
    start: Start,
    hands: Hands<'_>,
    sender: &Sender<(u64, Event)>,
    order: &mut u64,
) -> Result<(), Failure> {
    for (index, pair) in pairs.iter().enumerate().skip(start.file) {
        let plan = Arc::new(Plan::new(index, pair.clone(), wanted)?);
        let begun = index == start.file;
        let mut source = plan.open(if begun { start.mark } else { Mark::default() }, hands.pool)?;
        let mut number = if begun { start.units } else { 0 };
        while let Some(cut) = source.next()? {
            let weight = cut.weight;
            if !hands.queue.put((*order, Unit { plan: Arc::clone(&plan), number, cut }), weight) {
                return Ok(());
            }
            *order += 1;
            number += 1;
        }
        let _ = sender.send((*order, Event::End(plan)));
        *order += 1;
    }
    Ok(())
}

/// Mends what comes until nothing does.
fn mend(job: &Job, hands: Hands<'_>, sender: &Sender<(u64, Event)>) {
    let mut desk = Desk::new(&job.rules, job.fields.column());
    while let Some((order, mut unit)) = hands.queue.take() {
        let (plan, end, weight) = (Arc::clone(&unit.plan), unit.cut.end, unit.cut.weight);
        let done = panic::catch_unwind(AssertUnwindSafe(|| clean::work(&mut unit, &mut desk, hands.pool)));
        let event = match done {
            Ok(Ok(done)) => Event::Unit { plan, end, weight, done: Box::new(done) },
            Ok(Err(failure)) => Event::Failed(failure),
            Err(_) => {
                let message = "an internal error; please report this file".to_owned();
                Event::Failed(Failure::Broken(plan.pair.from.clone(), message))
            }
        };
        if sender.send((order, event)).is_err() {
            return;
        }
    }
}

/// Everything that is written.
struct Writer {
    manifest: Manifest,
    rejects: Option<Rejects>,
    finished: Finished,
    progress: Progress,
    started: Instant,
    pool: Arc<Pool>,
    current: Option<Current>,
    /// Units whose bytes the system does not have yet. Their lines are written behind them.
    waiting: VecDeque<Box<UnitLine>>,
    unsynced: u64,
}

/// The file that is being written.
struct Current {
    plan: Arc<Plan>,
    output: Output,
    units: u64,
    read: u64,
}

impl Writer {
    /// Writes what comes, in order, until everybody is done. What was finished before a failure is kept.
    fn write(
        &mut self,
        events: &Receiver<(u64, Event)>,
        queue: &Queue<(u64, Unit)>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Failure> {
        let result = self.write_all(events, queue, watch);
        if result.is_err()
            && let Some(current) = &mut self.current
            && current.output.settle().is_ok()
        {
            // The failure is what is told; whoever goes on does again what has no line.
            let _ = self.note_written();
        }
        result
    }

    fn write_all(
        &mut self,
        events: &Receiver<(u64, Event)>,
        queue: &Queue<(u64, Unit)>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Failure> {
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (order, event) in events {
            early.insert(order, event);
            while let Some(event) = early.remove(&next) {
                next += 1;
                match event {
                    Event::Failed(failure) => return Err(failure),
                    Event::End(plan) => self.close(&plan)?,
                    Event::Unit { plan, end, weight, done } => {
                        self.unit(&plan, end, *done)?;
                        queue.release(weight);
                        self.progress.elapsed = self.started.elapsed();
                        if watch(&self.progress).is_break() {
                            return Err(Failure::Stopped);
                        }
                    }
                }
            }
        }
        // A failure that came out of turn.
        early
            .into_values()
            .find_map(|event| if let Event::Failed(failure) = event { Some(failure) } else { None })
            .map_or(Ok(()), Err)
    }

    fn unit(&mut self, plan: &Arc<Plan>, mark: Mark, done: Done) -> Result<(), Failure> {
        let current = self.open(plan)?;
        let from = current.output.length();
        let added = current.output.append(done.encoded, &plan.target)?;
        let (to, read) = (current.output.length(), mark.read.saturating_sub(current.read));
        current.units += 1;
        current.read = mark.read;
        let file = plan.index;
        let rejects = match &mut self.rejects {
            Some(rejects) => rejects.append(&done.rejects)?,
            None => 0,
        };
        self.waiting.push_back(Box::new(UnitLine {
            file,
            mark,
            from,
            to,
            crc: added.checksum,
            rejects,
            rejects_crc: crc32fast::hash(if self.rejects.is_some() { &done.rejects } else { &[] }),
            tally: done.tally.clone(),
            note: added.note,
        }));
        self.note_written()?;
        self.progress.read += read;
        self.progress.tally.add(&done.tally);
        added.rooms.into_iter().chain([done.rejects]).for_each(|room| self.pool.give(room));
        self.unsynced += to - from;
        if self.unsynced >= SYNC_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    /// Adds the lines of units whose bytes are written by now.
    fn note_written(&mut self) -> Result<(), Failure> {
        let written = self.current.as_ref().map_or(u64::MAX, |current| current.output.written());
        while let Some(line) = self.waiting.pop_front_if(|line| line.to <= written) {
            self.manifest.add(&Line::Unit(line))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Failure> {
        if let Some(current) = &mut self.current {
            current.output.sync()?;
        }
        self.note_written()?;
        if let Some(rejects) = &self.rejects {
            rejects.sync()?;
        }
        self.unsynced = 0;
        self.manifest.synced()
    }

    /// The output of a file, begun or gone on with.
    fn open(&mut self, plan: &Arc<Plan>) -> Result<&mut Current, Failure> {
        if self.current.is_none() {
            let path = &plan.pair.to;
            let known = std::mem::take(&mut self.finished.units);
            let known: Vec<_> = known.into_iter().filter(|unit| unit.file == plan.index).collect();
            let output = if known.is_empty() {
                Output::create(path, &plan.target)?
            } else {
                Output::reopen(path, &plan.target, known.iter().map(|unit| (unit.to, &unit.note)))?
            };
            let (units, read) = (known.len() as u64, known.last().map_or(0, |unit| unit.mark.read));
            self.current = Some(Current { plan: Arc::clone(plan), output, units, read });
        }
        match &mut self.current {
            Some(current) => Ok(current),
            None => unreachable!("it was just made"),
        }
    }

    /// The last unit of a file was written.
    fn close(&mut self, plan: &Arc<Plan>) -> Result<(), Failure> {
        self.open(plan)?;
        let Some(current) = self.current.take() else { return Ok(()) };
        let closed = current.output.close(&current.plan.target, current.units == 0)?;
        self.note_written()?;
        if let Some(rejects) = &self.rejects {
            rejects.sync()?;
        }
        self.manifest.synced()?;
        self.unsynced = 0;
        self.manifest.add(&Line::Closed(plan.index))?;
        closed.place()
    }

    /// All files are in their places.
    fn finish(self) -> Result<Progress, Failure> {
        if let Some(rejects) = self.rejects {
            rejects.place()?;
        }
        self.manifest.remove()?;
        Ok(self.progress)
    }
}

/// The file of what was left as it was.
struct Rejects {
    path: PathBuf,
    part: PathBuf,
    file: File,
    length: u64,
}

impl Rejects {
    fn open(path: &Path, length: u64) -> Result<Rejects, Failure> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        let part = part_of(path);
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(length == 0)
            .open(&part)
            .map_err(Failure::write(&part))?;
        file.set_len(length).map_err(Failure::write(&part))?;
        file.seek(SeekFrom::End(0)).map_err(Failure::write(&part))?;
        Ok(Rejects { path: path.to_owned(), part, file, length })
    }

    /// Adds lines, and tells where they end.
    fn append(&mut self, lines: &[u8]) -> Result<u64, Failure> {
        self.file.write_all(lines).map_err(Failure::write(&self.part))?;
        self.length += lines.len() as u64;
        Ok(self.length)
    }

    fn sync(&self) -> Result<(), Failure> {
        self.file.sync_data().map_err(Failure::write(&self.part))
    }

    fn place(self) -> Result<(), Failure> {
        self.sync()?;
        fs::rename(&self.part, &self.path).map_err(Failure::write(&self.path))
    }
}
