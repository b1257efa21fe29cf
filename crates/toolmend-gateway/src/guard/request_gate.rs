//! How many requests are served at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::RequestLimits;
use crate::observe::{Limit, Observer};

/// Lets a number of requests in. A few more wait for a short time; all others are turned away.
#[derive(Debug)]
pub(crate) struct RequestGate {
    observer: Arc<Observer>,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The place of one request. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct RequestPermit {
    observer: Arc<Observer>,
    _place: OwnedSemaphorePermit,
}

impl RequestGate {
    /// Returns a gate for this many requests, at least one.
    pub(crate) fn new(requests: usize, observer: Arc<Observer>) -> Self {
        let places = requests.clamp(1, Semaphore::MAX_PERMITS);
        RequestGate { observer, places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0) }
    }

    /// Returns a place, if there is one soon enough.
    pub(crate) async fn enter(&self, limits: &RequestLimits) -> Option<RequestPermit> {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Some(place),
            Err(_) => self.wait(limits).await,
        };
        let Some(place) = place else {
            self.observer.metrics.count_limit(Limit::Requests);
            return None;
        };
        self.observer.metrics.add_open_requests(1);
        Some(RequestPermit { observer: Arc::clone(&self.observer), _place: place })
    }

    async fn wait(&self, limits: &RequestLimits) -> Option<OwnedSemaphorePermit> {
        let waiting = Waiting::new(self);
        if waiting.before >= limits.queue {
            return None;
        }
        let patience = Duration::from_secs(limits.queue_seconds);
        let place = tokio::time::timeout(patience, Arc::clone(&self.places).acquire_owned()).await;
        place.ok().and_then(Result::ok)
    }
}

/// Counts a waiting request, also if its client leaves.
struct Waiting<'g> {
    gate: &'g RequestGate,
    before: usize,
}

impl<'g> Waiting<'g> {
    fn new(gate: &'g RequestGate) -> Self {
        gate.observer.metrics.add_waiting_requests(1);
        Waiting { gate, before: gate.waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gate.waiting.fetch_sub(1, Ordering::Relaxed);
        self.gate.observer.metrics.add_waiting_requests(-1);
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.observer.metrics.add_open_requests(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_wait_for_a_short_time_and_in_small_numbers() {
        let gate = Arc::new(RequestGate::new(1, Arc::default()));
        let limits = RequestLimits { queue: 1, queue_seconds: 60, ..RequestLimits::default() };
        let first = gate.enter(&limits).await.unwrap();
        let waiting = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { gate.enter(&limits).await }
        });
        tokio::task::yield_now().await;
        assert!(gate.enter(&limits).await.is_none(), "the queue is full");
        drop(first);
        let second = waiting.await.unwrap();
        assert!(second.is_some());
        let limits = RequestLimits { queue_seconds: 0, ..limits };
        assert!(gate.enter(&limits).await.is_none(), "nobody leaves in time");
        drop(second);
        assert!(gate.enter(&limits).await.is_some());
    }
}
