//! Unified diffs.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();

/// Writes the difference to standard output. Writes nothing if the texts are equal.
pub(crate) fn print_diff(name: &str, before: &str, after: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if before == after {
        return Ok(());
    }
    let diff = TextDiff::from_lines(before, after);
    writeln!(out, "--- {name}\n+++ {name} (mended)")?;
    for hunk in diff.unified_diff().iter_hunks() {
        writeln!(out, "{HUNK}{}{HUNK:#}", hunk.header())?;
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', REMOVED),
                ChangeTag::Insert => ('+', ADDED),
                ChangeTag::Equal => (' ', Style::new()),
            };
            writeln!(out, "{style}{sign}{}{style:#}", change.value().trim_end_matches('\n'))?;
            if change.missing_newline() {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    out.flush()
}
