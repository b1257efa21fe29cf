//! `toolmend batch`: answers records line by line, in order, on all cores and in constant memory, or cleans whole files with
//! `--out`.

mod args;
#[cfg(feature = "files")]
mod clean;
#[cfg(feature = "files")]
mod clean_args;
mod line_chunks;
#[cfg(feature = "files")]
mod progress;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use toolmend::{Mender, MenderBuilder};
use toolmend_batch::protocol::{self, Rules, Tools};

pub(crate) use self::args::BatchArgs;
use self::line_chunks::{Chunk, Line, LineChunks};
use crate::error::CommandError;
use crate::input::Input;

/// Runs the command.
pub(crate) fn run(args: &BatchArgs) -> Result<ExitCode, CommandError> {
    match (&args.clean.out, args.files.as_slice()) {
        #[cfg(feature = "files")]
        (Some(out), _) => clean::run(args, out),
        #[cfg(not(feature = "files"))]
        (Some(_), _) => Err(crate::missing::error("what cleans whole files", "files")),
        (None, [file]) => answer_records(args, file),
        (None, files) => Err(CommandError::Clean(format!(
            "expected one file of records, found {}; use --out to clean several files",
            files.len()
        ))),
    }
}

/// Answers the records of one file.
fn answer_records(args: &BatchArgs, file: &Path) -> Result<ExitCode, CommandError> {
    let (rules, _) = read_rules(args)?;
    let input = Input::new(file);
    let (reader, length) = input.open()?;
    let progress = start_progress_bar(length);
    let mut chunks = LineChunks::new(reader, args.max_line_bytes);
    let mut out = io::stdout().lock();
    while let Some(chunk) = chunks.next_chunk().map_err(|error| input.read_error(error))? {
        for line in answer_chunk(&chunk, &rules, args.max_line_bytes) {
            out.write_all(&line).map_err(CommandError::Write)?;
        }
        out.flush().map_err(CommandError::Write)?;
        progress.inc(chunk.bytes());
    }
    progress.finish_and_clear();
    Ok(ExitCode::SUCCESS)
}

/// Reads the rules for the run, and returns a text that differs whenever the rules do.
fn read_rules(args: &BatchArgs) -> Result<(Rules, String), CommandError> {
    let policy = args.policy.policy().calls(args.calls.calls);
    let dialects = args.dialects.read()?;
    let mut text = format!("{policy:?} {dialects:?}");
    let base = Mender::builder().policy(policy.clone()).dialects(dialects);
    let shared = match args.tools.as_deref().map(Input::new) {
        None => None,
        Some(input) => {
            let tools = input.read_text()?;
            text.push_str(&tools);
            Some(read_tools(&input, &tools, &base)?)
        }
    };
    Ok((Rules::new(policy, base, shared), text))
}

fn read_tools(input: &Input, text: &str, base: &MenderBuilder) -> Result<Tools, CommandError> {
    let tools = Tools::new(text, base);
    match tools.notes().first() {
        None => Ok(tools),
        Some(note) => Err(input.invalid("a JSON array of tools", note)),
    }
}

/// Starts a bar if the length of the input is known and messages go to a terminal.
fn start_progress_bar(length: Option<u64>) -> ProgressBar {
    match length {
        Some(length) if io::stderr().is_terminal() => {
            let style = ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
            ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }
        _ => ProgressBar::hidden(),
    }
}

/// Answers the lines of a chunk, in their order.
fn answer_chunk(chunk: &Chunk, rules: &Rules, longest: usize) -> Vec<Vec<u8>> {
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
