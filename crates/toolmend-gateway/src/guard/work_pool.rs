//! Threads for work that may take long: compiling schemas, and mending what is long or has patterns.
//!
//! A connection never waits longer than its budget. Work that takes longer cannot be stopped, so it runs on unnoticed, and while
//! too much of it does, no more is accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::observe::{Limit, Observer};

/// Which threads work goes to. What is known to be quick never waits for what is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Short texts, judged by tools that were compiled before and have no patterns.
    Quick,
    /// Everything else.
    Slow,
}

/// Runs work on other threads than those that serve connections.
#[derive(Debug)]
pub(crate) struct WorkPool {
    observer: Arc<Observer>,
    quick: LanePlaces,
    slow: LanePlaces,
    threads: WorkThreads,
}

/// The threads of all work. A thread keeps memory for what it does next, so there should be few of them.
#[derive(Debug)]
struct WorkThreads(Option<Runtime>);

impl WorkThreads {
    fn new(most: usize) -> Self {
        let runtime =
            Builder::new_current_thread().max_blocking_threads(most).thread_name("toolmend-work").build();
        WorkThreads(runtime.ok())
    }

    fn spawn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        match &self.0 {
            Some(runtime) => runtime.spawn_blocking(work),
            None => tokio::task::spawn_blocking(work),
        }
    }
}

impl Drop for WorkThreads {
    fn drop(&mut self) {
        // Work that is stuck must not keep anybody waiting.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct LanePlaces {
    places: Arc<Semaphore>,
    /// How much work runs, whether or not a request still waits for it.
    running: Arc<AtomicUsize>,
    max_running: usize,
}

impl LanePlaces {
    fn new(threads: usize) -> Self {
        LanePlaces {
            places: Arc::new(Semaphore::new(threads)),
            running: Arc::default(),
            max_running: threads * 3,
        }
    }
}

impl WorkPool {
    /// Returns a pool for a gateway with this many threads.
    pub(crate) fn new(threads: usize, observer: Arc<Observer>) -> Self {
        let threads = threads.max(2);
        let (quick, slow) = (LanePlaces::new(threads), LanePlaces::new(threads));
        let threads = WorkThreads::new(quick.max_running + slow.max_running);
        WorkPool { observer, quick, slow, threads }
    }

    /// Returns the result of `work`. `None` if it takes longer than the budget, waits that long for its turn, or panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        budget: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let lane = match lane {
            Lane::Quick => &self.quick,
            Lane::Slow => &self.slow,
        };
        let result = lane.run_within(&self.threads, budget, work).await;
        if result.is_none() {
            self.observer.metrics.count_limit(Limit::Work);
        }
        result
    }
}

impl LanePlaces {
    async fn run_within<T: Send + 'static>(
        &self,
        threads: &WorkThreads,
        budget: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // Quick work could otherwise finish before the first look at the clock.
        if budget.is_zero() {
            return None;
        }
        // Waiting is not the fault of what waits, so it has a budget of its own.
        let place = tokio::time::timeout(budget, Arc::clone(&self.places).acquire_owned()).await;
        let _place = place.ok()?.ok()?;
        // Whoever waits may leave, by its budget or because its client does, so the work itself is counted.
        let counted = Counted::new(&self.running);
        if self.running.load(Ordering::Relaxed) > self.max_running {
            return None;
        }
        let running = threads.spawn(move || {
            let _counted = counted;
            work()
        });
        tokio::time::timeout(budget, running).await.ok()?.ok()
    }
}

/// One piece of running work.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(running: &Arc<AtomicUsize>) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_takes_too_long_is_left_alone_and_bounded() {
        let pool = WorkPool::new(1, Arc::default());
        let budget = Duration::from_millis(20);
        let minute = Duration::from_mins(1);
        assert_eq!(pool.run(Lane::Slow, minute, || 1).await, Some(1));
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        for _ in 0..pool.slow.max_running {
            let wait = Arc::clone(&wait);
            let stuck = move || drop(wait.lock().map(|wait| wait.recv()));
            assert_eq!(pool.run(Lane::Slow, budget, stuck).await, None);
        }
        assert_eq!(pool.run(Lane::Slow, minute, || 2).await, None, "too much is still running");
        assert_eq!(pool.run(Lane::Quick, minute, || 2).await, Some(2), "what is quick goes on");
        drop(release);
        while pool.slow.running.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(Lane::Slow, minute, || 3).await, Some(3));
    }
}
