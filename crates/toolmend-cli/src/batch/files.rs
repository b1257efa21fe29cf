//! `toolmend batch FILES --out PATH`: cleans files of logs and training data.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use toolmend_batch::{Fields, Job, Summary};

use super::rules;
use super::watch::Watcher;
use crate::args::BatchArgs;
use crate::failure::Failure;

/// Runs the command.
pub(super) fn run(args: &BatchArgs, out: &Path) -> Result<ExitCode, Failure> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        return Err(Failure::Clean(
            "name the files to clean; standard input has no place with --out".to_owned(),
        ));
    }
    crate::memory::keep();
    let clean = &args.clean;
    let (rules, rules_text) = rules(args)?;
    let job = Job {
        format: clean.format,
        layout: clean.layout,
        fields: Fields {
            column: clean.column.clone(),
            tool: clean.tool.clone(),
            tool_column: clean.tool_column.clone(),
        },
        rules_text,
        rejects: clean.rejects.clone(),
        report: clean.report.clone(),
        resume: clean.resume,
        threads: clean.threads,
        longest_line: args.max_line_bytes,
        ..Job::new(args.files.clone(), out.to_owned(), rules)
    };
    let mut watcher = Watcher::new(clean.progress);
    let result = job.run(&mut |progress| {
        watcher.show(progress);
        ControlFlow::Continue(())
    });
    watcher.finish();
    let summary = result.map_err(|failure| Failure::Clean(failure.to_string()))?;
    // With nowhere to tell it, the files have to do.
    let _ = writeln!(anstream::stderr(), "{}", told(&summary));
    Ok(ExitCode::SUCCESS)
}

/// One line about the run.
fn told(summary: &Summary) -> String {
    let [clean, mended, truncated, rejected] = summary.counts.outcomes();
    let broken = match summary.counts.unreadable {
        0 => String::new(),
        count => format!(", {count} of them unreadable"),
    };
    let files = if summary.files == 1 { "1 file".to_owned() } else { format!("{} files", summary.files) };
    format!(
        "{files}, {} rows{broken}, {} calls: {clean} clean, {mended} mended, {truncated} cut off, {rejected} refused; {}",
        summary.counts.rows,
        summary.counts.calls(),
        super::watch::pace(summary.bytes - summary.resumed, summary.elapsed),
    )
}
