//! Time, measured so that a busy machine does not decide who is faster: the processor's time that this thread
//! used, not the time that went by.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long one sample should take: long enough for the clock, short enough for many.
const SAMPLE: Duration = Duration::from_millis(2);
const ROUNDS: usize = 41;

/// Something to measure.
pub(crate) type Work<'a> = Box<dyn FnMut() + 'a>;

/// The shortest time of one run of each, in nanoseconds: what it takes where nothing disturbs. Samples are interleaved:
/// what disturbs one, disturbs all.
pub(crate) fn compare(works: &mut [Work<'_>]) -> Vec<f64> {
    shortest(works, ROUNDS)
}

/// The same with that many rounds.
pub(crate) fn shortest(works: &mut [Work<'_>], rounds: usize) -> Vec<f64> {
    let least = |samples: Vec<f64>| samples.into_iter().fold(f64::MAX, f64::min);
    samples(works, rounds).into_iter().map(least).collect()
}

fn samples(works: &mut [Work<'_>], rounds: usize) -> Vec<Vec<f64>> {
    let runs: Vec<u32> = works.iter_mut().map(calibrated).collect();
    let mut samples = vec![Vec::with_capacity(rounds); works.len()];
    for _ in 0..rounds {
        for ((work, &runs), samples) in works.iter_mut().zip(&runs).zip(&mut samples) {
            samples.push(time(work, runs).as_secs_f64() * 1e9 / f64::from(runs));
        }
    }
    samples
}

/// How many runs fill a sample. Warms up on the way.
fn calibrated(work: &mut Work<'_>) -> u32 {
    let mut runs = 1u32;
    loop {
        let taken = time(work, runs);
        if taken >= SAMPLE || runs >= 1 << 24 {
            return runs;
        }
        runs *= 2;
    }
}

fn time(work: &mut Work<'_>, runs: u32) -> Duration {
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

/// The middle of some numbers; zero of none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
