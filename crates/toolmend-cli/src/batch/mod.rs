//! `toolmend batch`: one JSON object a line in, one a line out, in order, on all cores, in constant memory.

mod cache;
mod lines;
mod record;
mod rules;

use std::io::{self, IsTerminal, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use toolmend::{Finish, Mender, MenderBuilder};

use self::lines::{Chunk, Line, LineChunks};
use self::record::{BadRecord, Record, Task};
use self::rules::{Rules, Tools};
use crate::answer::{Answer, Asked};
use crate::args::BatchArgs;
use crate::failure::Failure;
use crate::source::Source;

/// Runs the command.
pub(crate) fn run(args: &BatchArgs) -> Result<ExitCode, Failure> {
    let policy = args.policy.policy();
    let base = Mender::builder().policy(policy.clone()).dialects(args.own.read()?);
    let shared = args.tools.as_deref().map(|path| read_tools(&Source::new(path), &base)).transpose()?;
    let rules = Rules::new(policy, base, shared);
    let source = Source::new(&args.file);
    let (reader, length) = source.open()?;
    let progress = progress_bar(length);
    let mut chunks = LineChunks::new(reader, args.max_line_bytes);
    let mut out = io::stdout().lock();
    while let Some(chunk) = chunks.next_chunk().map_err(|error| source.unreadable(error))? {
        for line in answers(&chunk, &rules, args.max_line_bytes) {
            out.write_all(&line).map_err(Failure::Write)?;
        }
        out.flush().map_err(Failure::Write)?;
        progress.inc(chunk.bytes());
    }
    progress.finish_and_clear();
    Ok(ExitCode::SUCCESS)
}

fn read_tools(source: &Source, base: &MenderBuilder) -> Result<Tools, Failure> {
    let tools = Tools::new(&source.read()?, base);
    match tools.notes().first() {
        None => Ok(tools),
        Some(note) => Err(Failure::Broken {
            name: source.name(),
            expected: "a JSON array of tools",
            found: note.clone(),
        }),
    }
}

/// A bar where somebody watches and the end is known: a file in, a terminal for messages.
fn progress_bar(length: Option<u64>) -> ProgressBar {
    match length {
        Some(length) if io::stderr().is_terminal() => {
            let style = ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
            ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }
        _ => ProgressBar::hidden(),
    }
}

/// The answers to a chunk, in its order.
fn answers(chunk: &Chunk, rules: &Rules, longest: usize) -> Vec<Vec<u8>> {
    (0..chunk.len())
        .into_par_iter()
        .map(|index| {
            let (number, line) = chunk.line(index);
            match line {
                Line::Text(bytes) => answer(number, bytes, rules).into_line(),
                Line::Overlong => {
                    let message = format!(
                        "line {number}: longer than {longest} bytes; raise --max-line-bytes to read it"
                    );
                    Answer::error(None, &message).into_line()
                }
            }
        })
        .collect()
}

fn answer(number: u64, line: &[u8], rules: &Rules) -> Answer {
    let record = match Record::read(line) {
        Ok(record) => record,
        Err(BadRecord { id, message }) => return Answer::error(id, &format!("line {number}: {message}")),
    };
    // One record must not end the run for all others, whatever it hits.
    panic::catch_unwind(AssertUnwindSafe(|| mended(&record, rules))).unwrap_or_else(|_| {
        Answer::error(record.id, &format!("line {number}: an internal error; please report this record"))
    })
}

fn mended(record: &Record<'_>, rules: &Rules) -> Answer {
    let answer = Answer::to_record(record.id);
    let finish = record.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason);
    let (judged, asked) = match &record.task {
        Task::Json(text) => (
            rules.judge_json(text, record.schema, finish),
            Asked { field: "value", tool: None, input: text, is_text: true },
        ),
        Task::Arguments { tool, text, from_value } => (
            rules.judge_arguments(
                tool.as_deref().unwrap_or_default(),
                text,
                record.tools,
                record.schema,
                finish,
            ),
            Asked { field: "arguments", tool: tool.as_deref(), input: text, is_text: !from_value },
        ),
        Task::Text(pieces) => {
            let (turn, notes) = rules.take_apart(pieces, record, finish);
            return answer.turn(&turn, &notes);
        }
    };
    answer.verdict(&judged.verdict, &judged.notes, &asked)
}
