//! The open connections, and which of them may be closed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::config::RequestLimits;
use crate::guard::{HeldMemory, StreamHold};
use crate::http::connection_claim::Claimed;
use crate::observe::{Limit, Observer};

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    observer: Arc<Observer>,
    memory: Arc<HeldMemory>,
    open: Mutex<HashMap<u64, Arc<Activity>>>,
    next_number: AtomicU64,
}

impl Connections {
    pub(super) fn new(observer: Arc<Observer>, memory: Arc<HeldMemory>) -> Arc<Self> {
        Arc::new(Connections { observer, memory, open: Mutex::default(), next_number: AtomicU64::new(0) })
    }

    /// Adds a connection. If there are too many, the one that has waited longest without a request is closed; if all of them
    /// have requests, there is no room.
    pub(super) fn add(self: &Arc<Self>, max_connections: usize) -> Option<OpenConnection> {
        if self.lock().len() >= max_connections.max(1) && !self.close_longest_waiting() {
            return None;
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let activity = Arc::new(Activity::new(&self.memory));
        self.lock().insert(number, Arc::clone(&activity));
        self.observer.metrics.add_connections(1);
        Some(OpenConnection { connections: Arc::clone(self), activity, number })
    }

    /// Closes the connection that has waited longest without a request. Returns whether there was one.
    pub(super) fn close_longest_waiting(&self) -> bool {
        self.observer.metrics.count_limit(Limit::Connections);
        let mut open = self.lock();
        let waiting = open.iter().filter_map(|(number, activity)| Some((activity.waiting_since()?, *number)));
        let Some((_, number)) = waiting.min() else { return false };
        // It no longer counts, although it takes a moment until it is closed.
        if let Some(activity) = open.remove(&number) {
            activity.close.notify_one();
        }
        true
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection. It is removed from the list when this is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    pub(super) activity: Arc<Activity>,
    number: u64,
}

impl OpenConnection {
    /// Waits until the connection has to be closed.
    pub(super) async fn must_close(&self, limits: &RequestLimits) {
        loop {
            let next = self.activity.next_deadline(limits);
            // A deadline may move while it is waited for, but never by less than this.
            let wait =
                next.map_or(Duration::from_secs(1), |(at, _)| at.saturating_duration_since(Instant::now()));
            tokio::select! {
                () = self.activity.close.notified() => return,
                () = tokio::time::sleep(wait.max(Duration::from_millis(10)).min(Duration::from_secs(1))) => {}
            }
            if let Some((_, limit)) =
                self.activity.next_deadline(limits).filter(|(at, _)| *at <= Instant::now())
            {
                self.connections.observer.metrics.count_limit(limit);
                return;
            }
            // All heads and bodies together take too much, and this head is the largest of them.
            if self.activity.head.is_released() {
                return;
            }
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.number);
        self.connections.observer.metrics.add_connections(-1);
    }
}

/// What happens on a connection.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<ActivityState>,
    /// The memory of a head that is not complete.
    head: StreamHold,
    close: Notify,
}

/// Shorter heads, in bytes, are not counted.
const MAX_UNCOUNTED_HEAD: usize = 8 << 10;

#[derive(Debug, Clone, Copy)]
struct ActivityState {
    open_requests: usize,
    /// When the last request ended, or the connection was opened.
    waiting_since: Instant,
    /// When the first byte of the next request arrived.
    head_since: Option<Instant>,
    /// How many bytes arrived since then.
    head_bytes: usize,
}

impl Activity {
    fn new(memory: &Arc<HeldMemory>) -> Self {
        let state = ActivityState {
            open_requests: 0,
            waiting_since: Instant::now(),
            head_since: None,
            head_bytes: 0,
        };
        Activity { state: Mutex::new(state), head: StreamHold::new(memory), close: Notify::new() }
    }

    /// Records that bytes arrived.
    pub(super) fn record_read(&self, bytes: usize) {
        let mut state = self.lock();
        if state.open_requests > 0 {
            return;
        }
        state.head_since.get_or_insert_with(Instant::now);
        state.head_bytes += bytes;
        if state.head_bytes > MAX_UNCOUNTED_HEAD {
            self.head.set(state.head_bytes);
        }
    }

    /// Records that the head of a request is complete. The request lasts until the returned value is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> OpenRequest {
        self.count_request();
        OpenRequest(Arc::clone(self))
    }

    fn count_request(&self) {
        let mut state = self.lock();
        state.open_requests += 1;
        state.head_since = None;
        if std::mem::take(&mut state.head_bytes) > MAX_UNCOUNTED_HEAD {
            self.head.set(0);
        }
    }

    fn end_request(&self) {
        let mut state = self.lock();
        state.open_requests = state.open_requests.saturating_sub(1);
        state.waiting_since = Instant::now();
    }

    fn waiting_since(&self) -> Option<Instant> {
        let state = self.lock();
        (state.open_requests == 0).then_some(state.waiting_since)
    }

    /// Returns when the connection has to be closed if nothing happens, and why.
    fn next_deadline(&self, limits: &RequestLimits) -> Option<(Instant, Limit)> {
        let state = *self.lock();
        if state.open_requests > 0 {
            return None;
        }
        let idle = state.waiting_since.checked_add(Duration::from_secs(limits.connection_seconds));
        let head = state.head_since.and_then(|at| at.checked_add(Duration::from_secs(limits.header_seconds)));
        let idle = idle.map(|at| (at, Limit::ConnectionIdle));
        let head = head.map(|at| (at, Limit::HeaderTime));
        head.or(idle)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ActivityState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct OpenRequest(Arc<Activity>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

impl Claimed for Activity {
    fn set_claim(&self, is_claimed: bool) {
        if is_claimed {
            self.count_request();
        } else {
            self.end_request();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Reservation;
    use crate::http::connection_claim::ConnectionClaim;

    #[test]
    fn the_connection_that_waited_longest_makes_room_and_requests_never_do() {
        let connections = Connections::new(Arc::default(), HeldMemory::new(1 << 20, Arc::default()));
        let first = connections.add(2).unwrap();
        let second = connections.add(2).unwrap();
        let request = first.activity.begin_request();
        let third = connections.add(2).unwrap();
        assert_eq!(connections.lock().len(), 2, "the second made room");
        let other = third.activity.begin_request();
        assert!(connections.add(2).is_none(), "both have requests");
        let claim = ConnectionClaim(first.activity.clone());
        let given_up = claim.give_up();
        assert!(connections.add(2).is_some(), "the first only waits for a refusal");
        drop((given_up, other, request, second));
        assert!(connections.add(2).is_some());
    }

    #[test]
    fn a_head_has_less_time_than_a_connection() {
        let limits = RequestLimits { header_seconds: 5, connection_seconds: 60, ..RequestLimits::default() };
        let activity = Arc::new(Activity::new(&HeldMemory::new(1 << 20, Arc::default())));
        assert_eq!(activity.next_deadline(&limits).unwrap().1, Limit::ConnectionIdle);
        activity.record_read(1);
        let (at, limit) = activity.next_deadline(&limits).unwrap();
        assert_eq!(limit, Limit::HeaderTime);
        activity.record_read(1);
        assert_eq!(activity.next_deadline(&limits).unwrap().0, at, "more bytes give no more time");
        let request = activity.begin_request();
        assert_eq!(activity.next_deadline(&limits), None);
        drop(request);
        assert_eq!(activity.next_deadline(&limits).unwrap().1, Limit::ConnectionIdle);
    }

    #[test]
    fn the_longest_unfinished_head_leaves_when_memory_is_short() {
        let memory = HeldMemory::new(100 << 10, Arc::default());
        let [short, long] = [10 << 10, 60 << 10].map(|bytes| {
            let activity = Arc::new(Activity::new(&memory));
            activity.record_read(bytes);
            activity
        });
        let mut body = Reservation::refusable(&memory);
        assert!(body.grow(50 << 10), "the long head makes room");
        assert!(long.head.is_released() && !short.head.is_released());
        let request = short.begin_request();
        assert!(body.grow(40 << 10), "a complete head takes nothing");
        drop(request);
    }
}
