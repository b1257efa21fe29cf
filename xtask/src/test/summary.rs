//! What is printed at the end of `cargo xtask test`: how long every part took, and what did not run.

use std::time::Duration;

use crate::command::print_line;

#[derive(Debug)]
pub(super) enum Outcome {
    Ran {
        took: Duration,
        has_passed: bool,
    },
    /// Something is missing; each text names it, and says how to get it.
    CannotRun(Vec<String>),
    /// It was not begun, because a part before it failed.
    NotReached,
}

/// The outcome of every part, in order.
#[derive(Debug, Default)]
pub(super) struct Summary {
    rows: Vec<(&'static str, Outcome)>,
}

impl Summary {
    pub(super) fn add(&mut self, part: &'static str, outcome: Outcome) {
        self.rows.push((part, outcome));
    }

    /// Whether the part can run and has not.
    pub(super) fn is_open(&self, index: usize) -> bool {
        matches!(self.rows.get(index), Some((_, Outcome::NotReached)))
    }

    pub(super) fn set(&mut self, index: usize, outcome: Outcome) {
        if let Some((_, slot)) = self.rows.get_mut(index) {
            *slot = outcome;
        }
    }

    pub(super) fn print(&self) {
        for line in self.lines() {
            print_line(&line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new(), "Part            Time".to_owned()];
        let mut total = Duration::ZERO;
        for (part, outcome) in &self.rows {
            let text = match outcome {
                Outcome::Ran { took, has_passed } => {
                    total += *took;
                    format!("{}{}", clock(*took), if *has_passed { "" } else { "  failed" })
                }
                Outcome::CannotRun(_) => format!("{:>7}  did not run", "-"),
                Outcome::NotReached => format!("{:>7}  not reached", "-"),
            };
            lines.push(format!("{part:<12} {text}"));
        }
        lines.push(format!("{:<12} {}", "together", clock(total)));
        let missing: Vec<(&str, &str)> = self.missing().collect();
        if !missing.is_empty() {
            lines.extend([String::new(), "Did not run, because something is missing:".to_owned()]);
            lines.extend(missing.iter().map(|(part, reason)| format!("{part:<12} {reason}")));
        }
        lines
    }

    fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        let refused = self.rows.iter().filter_map(|(part, outcome)| match outcome {
            Outcome::CannotRun(reasons) => Some((*part, reasons)),
            _ => None,
        });
        refused.flat_map(|(part, reasons)| reasons.iter().map(move |reason| (part, reason.as_str())))
    }
}

/// Minutes and seconds, with tenths.
fn clock(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    format!("{:>2}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_what_is_missing_are_listed() {
        let mut summary = Summary::default();
        summary.add("tidy", Outcome::NotReached);
        summary.add("page", Outcome::CannotRun(vec!["Chromium is missing; install it".to_owned()]));
        summary.add("docs", Outcome::NotReached);
        assert!(summary.is_open(0) && !summary.is_open(1));
        summary.set(0, Outcome::Ran { took: Duration::from_millis(83_250), has_passed: false });
        assert_eq!(
            summary.lines().join("\n"),
            "\nPart            Time\n\
             tidy          1:23.2  failed\n\
             page               -  did not run\n\
             docs               -  not reached\n\
             together      1:23.2\n\n\
             Did not run, because something is missing:\n\
             page         Chromium is missing; install it"
        );
    }
}
