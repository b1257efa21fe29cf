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

/// Returns a text in which control characters are escaped, so that it stays on its line and cannot change the terminal.
#[cfg(feature = "serve")]
pub(crate) fn escape_controls(text: &str) -> std::borrow::Cow<'_, str> {
    let is_unsafe =
        |char: char| char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(is_unsafe) {
        return text.into();
    }
    let escape = |char: char| {
        if is_unsafe(char) { char.escape_default().to_string() } else { char.to_string() }
    };
    text.chars().map(escape).collect::<String>().into()
}

#[cfg(feature = "serve")]
#[test]
fn control_characters_are_escaped() {
    assert_eq!(escape_controls("a b ü"), "a b ü");
    assert_eq!(escape_controls("a\u{1b}[2J\nb\u{202e}"), "a\\u{1b}[2J\\nb\\u{202e}");
}

/// Lists the kinds of these repairs. A kind that repeats directly is listed once.
pub(crate) fn list_repair_kinds(repairs: &[Repair]) -> String {
    let mut kinds: Vec<_> = repairs.iter().map(|repair| repair.kind.name()).collect();
    kinds.dedup();
    kinds.join(", ")
}
