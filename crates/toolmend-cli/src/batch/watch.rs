//! How far a run is: a bar where somebody watches, lines for a log.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressStyle};
use toolmend_batch::Progress;

use crate::args::Watching;

/// How often a line is written.
const EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, {eta} left";

/// Whoever is told.
#[derive(Debug)]
pub(super) enum Watcher {
    Nobody,
    Bar(Option<ProgressBar>),
    Lines(Option<Instant>),
}

impl Watcher {
    pub(super) fn new(how: Watching) -> Self {
        match how {
            Watching::Auto if io::stderr().is_terminal() => Watcher::Bar(None),
            Watching::Lines => Watcher::Lines(None),
            Watching::Auto | Watching::Off => Watcher::Nobody,
        }
    }

    /// Tells how far it is.
    pub(super) fn show(&mut self, progress: &Progress) {
        match self {
            Watcher::Nobody => {}
            Watcher::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| begun(progress));
                bar.set_position(progress.read);
                bar.set_message(calls(progress));
            }
            Watcher::Lines(last) => {
                if last.is_none_or(|last| last.elapsed() >= EVERY) {
                    *last = Some(Instant::now());
                    // With nowhere to tell it, nobody needs to know.
                    let _ = writeln!(anstream::stderr(), "{}", line(progress));
                }
            }
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(self) {
        if let Watcher::Bar(Some(bar)) = self {
            bar.finish_and_clear();
        }
    }
}

/// What an earlier run has done is no work of this one.
fn begun(progress: &Progress) -> ProgressBar {
    let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(progress.total).with_style(style).with_position(progress.resumed);
    bar.reset_eta();
    bar
}

fn calls(progress: &Progress) -> String {
    let [_, mended, truncated, rejected] = progress.counts.outcomes();
    format!("{} calls, {mended} mended, {} left as they were", progress.counts.calls(), truncated + rejected)
}

fn line(progress: &Progress) -> String {
    let (done, left) = (progress.read - progress.resumed, progress.total.saturating_sub(progress.read));
    let part = (100 * progress.read).checked_div(progress.total).unwrap_or(100);
    let left = match done {
        0 => "unknown".to_owned(),
        done => HumanDuration(progress.elapsed.mul_f64(ratio(left, done))).to_string(),
    };
    format!("{part} %, {}, {}, {left} left", pace(done, progress.elapsed), calls(progress))
}

/// How much in how long, and how fast that is.
pub(super) fn pace(bytes: u64, elapsed: Duration) -> String {
    let rate = match u64::try_from(elapsed.as_millis()) {
        Ok(0) | Err(_) => bytes,
        Ok(millis) => bytes.saturating_mul(1000) / millis,
    };
    format!("{} in {:.1} s, {}/s", HumanBytes(bytes), elapsed.as_secs_f64(), HumanBytes(rate))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend_batch::CallCounts;

    #[test]
    fn what_is_left_is_told_from_what_this_run_did() {
        let progress = Progress {
            total: 1000,
            read: 600,
            resumed: 500,
            counts: CallCounts::default(),
            elapsed: Duration::from_secs(10),
        };
        let line = line(&progress);
        assert!(line.starts_with("60 %, 100 B in 10.0 s, 10 B/s, "), "{line}");
        assert!(line.ends_with("40 seconds left"), "{line}");
    }
}
