//! Tables on standard output, and the number of targets that were met.

use std::io::Write;

/// How many targets were met and missed.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    pub(crate) met: u32,
    pub(crate) missed: u32,
}

impl Scores {
    /// Counts whether `found` is at most `target`. Returns the word for the table.
    pub(crate) fn score_at_most(&mut self, found: f64, target: f64) -> &'static str {
        self.score(found <= target)
    }

    /// Counts whether a target is met. Returns the word for the table.
    pub(crate) fn score(&mut self, met: bool) -> &'static str {
        if met {
            self.met += 1;
            "PASS"
        } else {
            self.missed += 1;
            "MISS"
        }
    }
}

/// Returns the row of a comparison: a name, both times, their ratio, the target, and further cells.
pub(crate) fn comparison_row<const N: usize>(
    name: &str,
    first: f64,
    second: f64,
    target: f64,
    more: [String; N],
) -> Vec<String> {
    let mut row = vec![name.to_owned(), format_time(first), format_time(second)];
    row.extend([format_ratio(second / first), format_ratio(target)]);
    row.extend(more);
    row
}

/// Prints a table with a title, the names of the columns and the rows.
pub(crate) fn print_table(title: &str, head: &[&str], rows: &[Vec<String>]) {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    print_line(&format!("\n{title}"));
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    for row in std::iter::once(&head).chain(rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (cell, &width))| {
                    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        print_line(&format!("  {}", cells.join("  ")));
    }
}

/// Prints a line to standard output. Errors are ignored: if the pipe is closed, no reader is left.
pub(crate) fn print_line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Formats a time for people.
pub(crate) fn format_time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// Formats a ratio for people.
fn format_ratio(number: f64) -> String {
    format!("{number:.2}")
}
