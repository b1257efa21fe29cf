//! Measures processor time of the thread instead of elapsed time, so that a busy machine does not distort comparisons.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long one sample should take: long enough for the clock, short enough to take many.
const SAMPLE_TIME: Duration = Duration::from_millis(2);
const ROUNDS: usize = 41;

/// Work to measure.
pub(crate) type Work<'a> = Box<dyn FnMut() + 'a>;

/// Returns the shortest time of one run of each work, in nanoseconds, which is the time without disturbance. Samples are
/// interleaved, so that a disturbance affects all works.
pub(crate) fn compare_times(works: &mut [Work<'_>]) -> Vec<f64> {
    measure_shortest(works, ROUNDS)
}

/// Does the same with this many rounds.
pub(crate) fn measure_shortest(works: &mut [Work<'_>], rounds: usize) -> Vec<f64> {
    let least = |samples: Vec<f64>| samples.into_iter().fold(f64::MAX, f64::min);
    take_samples(works, rounds).into_iter().map(least).collect()
}

fn take_samples(works: &mut [Work<'_>], rounds: usize) -> Vec<Vec<f64>> {
    let runs: Vec<u32> = works.iter_mut().map(calibrate).collect();
    let mut samples = vec![Vec::with_capacity(rounds); works.len()];
    for _ in 0..rounds {
        for ((work, &runs), samples) in works.iter_mut().zip(&runs).zip(&mut samples) {
            samples.push(measure_runs(work, runs).as_secs_f64() * 1e9 / f64::from(runs));
        }
    }
    samples
}

/// Returns how many runs fill a sample. Also warms up the caches.
fn calibrate(work: &mut Work<'_>) -> u32 {
    let mut runs = 1u32;
    loop {
        let elapsed = measure_runs(work, runs);
        if elapsed >= SAMPLE_TIME || runs >= 1 << 24 {
            return runs;
        }
        runs *= 2;
    }
}

fn measure_runs(work: &mut Work<'_>, runs: u32) -> Duration {
    let start = processor_time();
    for _ in 0..runs {
        work();
    }
    processor_time().saturating_sub(start)
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

/// Returns the median, or zero if there are no numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
