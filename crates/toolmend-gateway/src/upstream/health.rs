//! Whether a server works, judged by its last answers.
//!
//! A server that fails several times in a row rests: requests go to the others first. It is still asked if no other is left, so
//! resting never makes a request fail that would have succeeded.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When a server rests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CircuitRules {
    /// How many failures in a row it takes.
    pub(crate) failures: u32,
    /// How long it rests until one request tries it again.
    pub(crate) rest: Duration,
}

/// A change that people want to know about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthChange {
    /// The server rests from now on.
    Failed,
    /// The server works again.
    Recovered,
}

/// What is known about one server.
#[derive(Debug, Default)]
pub(crate) struct UpstreamHealth {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// While the server rests: when the next request may try it.
    next_try: Option<Instant>,
}

impl UpstreamHealth {
    /// Records that the server answered or failed.
    pub(crate) fn record(&self, works: bool, rules: CircuitRules) -> Option<HealthChange> {
        self.record_at(works, rules, Instant::now())
    }

    fn record_at(&self, works: bool, rules: CircuitRules, now: Instant) -> Option<HealthChange> {
        let mut state = self.lock();
        if works {
            state.failures = 0;
            return state.next_try.take().map(|_| HealthChange::Recovered);
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures < rules.failures.max(1) {
            return None;
        }
        let is_new = state.next_try.is_none();
        state.next_try = Some(now + rules.rest);
        is_new.then_some(HealthChange::Failed)
    }

    /// Whether a request may go to this server before others. While it rests, one request at a time may, after a while.
    pub(crate) fn may_go_first(&self, rules: CircuitRules) -> bool {
        self.may_go_first_at(rules, Instant::now())
    }

    fn may_go_first_at(&self, rules: CircuitRules, now: Instant) -> bool {
        let mut state = self.lock();
        match state.next_try {
            None => true,
            Some(at) if now < at => false,
            Some(_) => {
                state.next_try = Some(now + rules.rest);
                true
            }
        }
    }

    /// Whether the server rests.
    pub(crate) fn rests(&self) -> bool {
        self.lock().next_try.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[test]
fn a_server_rests_after_several_failures_and_is_tried_by_one_request() {
    let rules = CircuitRules { failures: 2, rest: Duration::from_secs(10) };
    let health = UpstreamHealth::default();
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    assert_eq!(health.record_at(false, rules, at(0)), None);
    assert_eq!(health.record_at(true, rules, at(0)), None, "failures count only in a row");
    assert_eq!(health.record_at(false, rules, at(0)), None);
    assert!(health.may_go_first_at(rules, at(0)) && !health.rests());
    assert_eq!(health.record_at(false, rules, at(0)), Some(HealthChange::Failed));
    assert!(health.rests() && !health.may_go_first_at(rules, at(9)));
    assert!(health.may_go_first_at(rules, at(10)), "one request tries it");
    assert!(!health.may_go_first_at(rules, at(10)), "and only one");
    assert_eq!(health.record_at(false, rules, at(11)), None, "this is not news");
    assert!(!health.may_go_first_at(rules, at(20)) && health.may_go_first_at(rules, at(21)));
    assert_eq!(health.record_at(true, rules, at(22)), Some(HealthChange::Recovered));
    assert!(health.may_go_first_at(rules, at(22)));
}
