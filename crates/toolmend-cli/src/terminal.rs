//! Messages and styles for people at a terminal.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use toolmend::Repair;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = AnsiColor::BrightBlack.on_default();

/// Writes a message to standard error. If that fails, the exit code has to do.
pub(crate) fn print_message(message: &str) {
    let _ = writeln!(anstream::stderr(), "toolmend: {message}");
}

/// Lists the kinds of these repairs. A kind that repeats directly is listed once.
pub(crate) fn list_repair_kinds(repairs: &[Repair]) -> String {
    let mut kinds: Vec<_> = repairs.iter().map(|repair| repair.kind.name()).collect();
    kinds.dedup();
    kinds.join(", ")
}
