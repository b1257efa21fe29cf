//! Reports the progress of a run: a bar on a terminal, lines in a log.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressStyle};
use toolmend_batch::Progress;

use super::clean_args::ProgressMode;

/// The time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
const BAR_TEMPLATE: &str = "{bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, {eta} left";

/// Where progress is reported.
#[derive(Debug)]
pub(super) enum ProgressReporter {
    Nowhere,
    Bar(Option<ProgressBar>),
    Lines(Option<Instant>),
}

impl ProgressReporter {
    pub(super) fn new(mode: ProgressMode) -> Self {
        match mode {
            ProgressMode::Auto if io::stderr().is_terminal() => ProgressReporter::Bar(None),
            ProgressMode::Lines => ProgressReporter::Lines(None),
            ProgressMode::Auto | ProgressMode::Off => ProgressReporter::Nowhere,
        }
    }

    /// Reports how far the run is.
    pub(super) fn report(&mut self, progress: &Progress) {
        match self {
            ProgressReporter::Nowhere => {}
            ProgressReporter::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| start_bar(progress));
                bar.set_position(progress.read);
                bar.set_message(describe_calls(progress));
            }
            ProgressReporter::Lines(last) => {
                if last.is_none_or(|last| last.elapsed() >= LINE_INTERVAL) {
                    *last = Some(Instant::now());
                    // A closed standard error is not a reason to stop.
                    let _ = writeln!(anstream::stderr(), "{}", describe_progress(progress));
                }
            }
        }
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        if let ProgressReporter::Bar(Some(bar)) = self {
            bar.finish_and_clear();
        }
    }
}

/// Starts a bar at the work that an earlier run has finished, so that the rate counts only this run.
fn start_bar(progress: &Progress) -> ProgressBar {
    let style = ProgressStyle::with_template(BAR_TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(progress.total).with_style(style).with_position(progress.resumed);
    bar.reset_eta();
    bar
}

fn describe_calls(progress: &Progress) -> String {
    let [_, mended, truncated, rejected] = progress.counts.outcomes();
    format!("{} calls, {mended} mended, {} not mended", progress.counts.calls(), truncated + rejected)
}

fn describe_progress(progress: &Progress) -> String {
    let (done, left) = (progress.read - progress.resumed, progress.total.saturating_sub(progress.read));
    let part = (100 * progress.read).checked_div(progress.total).unwrap_or(100);
    let left = match done {
        0 => "unknown".to_owned(),
        done => HumanDuration(progress.elapsed.mul_f64(ratio(left, done))).to_string(),
    };
    format!("{part} %, {}, {}, {left} left", describe_rate(done, progress.elapsed), describe_calls(progress))
}

/// Describes an amount, the time it took, and the rate.
pub(super) fn describe_rate(bytes: u64, elapsed: Duration) -> String {
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
    fn the_time_left_is_estimated_from_this_run_alone() {
        let progress = Progress {
            total: 1000,
            read: 600,
            resumed: 500,
            counts: CallCounts::default(),
            elapsed: Duration::from_secs(10),
        };
        let line = describe_progress(&progress);
        assert!(line.starts_with("60 %, 100 B in 10.0 s, 10 B/s, "), "{line}");
        assert!(line.ends_with("40 seconds left"), "{line}");
    }
}
