//! `toolmend batch FILES --out PATH`: cleans files of logs and training data.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use toolmend_batch::{Fields, Job, Summary};

use super::BatchArgs;
use super::progress::{ProgressReporter, describe_rate};
use super::read_rules;
use crate::allocator::keep_freed_memory;
use crate::error::CommandError;

/// Runs the command.
pub(super) fn run(args: &BatchArgs, out: &Path) -> Result<ExitCode, CommandError> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        return Err(CommandError::Clean(
            "--out cleans files and does not read standard input; name the files".to_owned(),
        ));
    }
    keep_freed_memory();
    let clean = &args.clean;
    let (rules, rules_text) = read_rules(args)?;
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
    let mut reporter = ProgressReporter::new(clean.progress);
    let result = job.run(&mut |progress| {
        reporter.report(progress);
        ControlFlow::Continue(())
    });
    reporter.finish();
    let summary = result.map_err(|failure| CommandError::Clean(failure.to_string()))?;
    // If standard error is closed, the files have to do.
    let _ = writeln!(anstream::stderr(), "{}", describe_summary(&summary));
    Ok(ExitCode::SUCCESS)
}

/// Describes the run in one line.
fn describe_summary(summary: &Summary) -> String {
    let [clean, mended, truncated, rejected] = summary.counts.outcomes();
    let broken = match summary.counts.unreadable {
        0 => String::new(),
        count => format!(", {count} of them unreadable"),
    };
    let files = if summary.files == 1 { "1 file".to_owned() } else { format!("{} files", summary.files) };
    format!(
        "{files}, {} rows{broken}, {} calls: {clean} clean, {mended} mended, {truncated} truncated, {rejected} refused; {}",
        summary.counts.rows,
        summary.counts.calls(),
        describe_rate(summary.bytes - summary.resumed, summary.elapsed),
    )
}
