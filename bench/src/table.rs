//! Tables on standard output, and the score of the targets.

use std::io::Write;

/// How many targets were met.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    pub(crate) met: u32,
    pub(crate) missed: u32,
}

impl Scores {
    /// Whether `found` is within `target`, as a word.
    pub(crate) fn at_most(&mut self, found: f64, target: f64) -> &'static str {
        self.holds(found <= target)
    }

    /// Whether a target is met, as a word.
    pub(crate) fn holds(&mut self, met: bool) -> &'static str {
        if met {
            self.met += 1;
            "PASS"
        } else {
            self.missed += 1;
            "MISS"
        }
    }
}

/// One table: a title, the names of its columns, its rows.
pub(crate) fn print(title: &str, head: &[&str], rows: &[Vec<String>]) {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    line(&format!("\n{title}"));
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
        line(&format!("  {}", cells.join("  ")));
    }
}

/// A line on standard output. Somebody who stops reading has seen enough.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A time for people.
pub(crate) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// A ratio for people.
pub(crate) fn ratio(number: f64) -> String {
    format!("{number:.2}")
}
