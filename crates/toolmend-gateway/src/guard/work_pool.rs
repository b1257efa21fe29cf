//! Threads for work that may take long: compiling schemas, and mending what is long or has patterns.
//!
//! A connection never waits longer than its budget. Work that takes longer cannot be stopped, so it runs on unnoticed, and while
//! too much of it does, no more is accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::observe::{Limit, Observer};

/// Runs work on other threads than those that serve connections.
#[derive(Debug)]
pub(crate) struct WorkPool {
    observer: Arc<Observer>,
    places: Arc<Semaphore>,
    /// How much work runs, whether or not a request still waits for it.
    running: Arc<AtomicUsize>,
    max_running: usize,
}

impl WorkPool {
    /// Returns a pool for a gateway with this many threads.
    pub(crate) fn new(threads: usize, observer: Arc<Observer>) -> Self {
        let threads = threads.max(2);
        WorkPool {
            observer,
            places: Arc::new(Semaphore::new(threads * 2)),
            running: Arc::default(),
            max_running: threads * 6,
        }
    }

    /// Returns the result of `work`. `None` if it takes longer than the budget, or panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let result = self.run_within(budget, work).await;
        if result.is_none() {
            self.observer.metrics.count_limit(Limit::Work);
        }
        result
    }

    async fn run_within<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // Quick work could otherwise finish before the first look at the clock.
        if budget.is_zero() {
            return None;
        }
        let deadline = tokio::time::Instant::now() + budget;
        let place = tokio::time::timeout_at(deadline, Arc::clone(&self.places).acquire_owned()).await;
        let _place = place.ok()?.ok()?;
        // Whoever waits may leave, by its budget or because its client does, so the work itself is counted.
        let counted = Counted::new(&self.running);
        if self.running.load(Ordering::Relaxed) > self.max_running {
            return None;
        }
        let running = tokio::task::spawn_blocking(move || {
            let _counted = counted;
            work()
        });
        tokio::time::timeout_at(deadline, running).await.ok()?.ok()
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
        assert_eq!(pool.run(Duration::from_mins(1), || 1).await, Some(1));
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        for _ in 0..pool.max_running {
            let wait = Arc::clone(&wait);
            let stuck = move || drop(wait.lock().map(|wait| wait.recv()));
            assert_eq!(pool.run(budget, stuck).await, None);
        }
        assert_eq!(pool.run(Duration::from_mins(1), || 2).await, None, "too much is still running");
        drop(release);
        while pool.running.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(Duration::from_mins(1), || 3).await, Some(3));
    }
}
