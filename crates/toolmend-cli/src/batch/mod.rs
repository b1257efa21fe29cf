//! `toolmend batch`: one JSON object a line in, one a line out, in order, on all cores, in constant memory; or whole
//! files with `--out`.

mod files;
mod lines;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use toolmend::{Mender, MenderBuilder};
use toolmend_batch::protocol::{self, Rules, Tools};

use self::lines::{Chunk, Line, LineChunks};
use crate::args::BatchArgs;
use crate::failure::Failure;
use crate::source::Source;

/// Runs the command.
pub(crate) fn run(args: &BatchArgs) -> Result<ExitCode, Failure> {
    match (&args.clean.out, args.files.as_slice()) {
        (Some(out), _) => files::run(args, out),
        (None, [file]) => answer(args, file),
        (None, files) => Err(Failure::Clean(format!(
            "expected one file of records, found {}; say with --out where the cleaned files go",
            files.len()
        ))),
    }
}

/// Answers the records of one file.
fn answer(args: &BatchArgs, file: &Path) -> Result<ExitCode, Failure> {
    let (rules, _) = rules(args)?;
    let source = Source::new(file);
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

/// What everything is mended under, and a text that is another one where anything of it is.
fn rules(args: &BatchArgs) -> Result<(Rules, String), Failure> {
    let policy = args.policy.policy();
    let own = args.own.read()?;
    let mut text = format!("{policy:?} {own:?}");
    let base = Mender::builder().policy(policy.clone()).dialects(own);
    let shared = match args.tools.as_deref().map(Source::new) {
        None => None,
        Some(source) => {
            let tools = source.read()?;
            text.push_str(&tools);
            Some(read_tools(&source, &tools, &base)?)
        }
    };
    Ok((Rules::new(policy, base, shared), text))
}

fn read_tools(source: &Source, text: &str, base: &MenderBuilder) -> Result<Tools, Failure> {
    let tools = Tools::new(text, base);
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
                Line::Text(bytes) => protocol::answer_line(number, bytes, rules, &mut |_| ()).into_line(),
                Line::Overlong => protocol::answer_long_line(number, longest).into_line(),
            }
        })
        .collect()
}
