//! Wrong keys, counted and answered late.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::connection_claim::ConnectionClaim;

/// The pause after a wrong key.
const PAUSE: Duration = Duration::from_millis(400);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Makes guessing slow: the more guesses are made at the same time, the longer each of them takes.
#[derive(Debug, Default)]
pub(crate) struct KeyGuesses {
    waiting: AtomicU32,
}

/// A guess that is being answered, also if its client leaves.
struct Guess<'g>(&'g KeyGuesses);

impl Drop for Guess<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl KeyGuesses {
    /// Waits before a wrong key is answered. Guesses that wait make room for other connections: otherwise some thousands of them
    /// would take every place.
    pub(crate) async fn slow_down(&self, claim: Option<&ConnectionClaim>) {
        let _given_up = claim.map(ConnectionClaim::give_up);
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _guess = Guess(self);
        tokio::time::sleep(pause_after(before)).await;
    }
}

fn pause_after(others: u32) -> Duration {
    PAUSE.saturating_mul(others.saturating_add(1)).min(MAX_PAUSE)
}

#[test]
fn guesses_at_the_same_time_take_longer() {
    assert_eq!(pause_after(0), PAUSE);
    assert_eq!(pause_after(4), PAUSE * 5);
    assert_eq!(pause_after(u32::MAX), MAX_PAUSE);
}
