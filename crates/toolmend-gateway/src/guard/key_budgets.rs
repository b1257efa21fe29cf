//! How much the clients of each key have asked for.
//!
//! The counts belong to the name of a key, so they survive a reload and a new key of the same client. They are kept in memory: a
//! gateway that starts begins a new minute and a new day, and several gateways count on their own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 3600;
const MINUTE: Duration = Duration::from_mins(1);

/// What a key may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct KeyLimits {
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) tokens_per_day: Option<u64>,
}

/// A limit of a key that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted {
    /// The name of the setting.
    pub(crate) limit: &'static str,
    /// When it is worth trying again.
    pub(crate) retry_after: Duration,
}

/// What the clients of all keys have asked for.
#[derive(Debug, Default)]
pub(crate) struct KeyBudgets {
    accounts: Mutex<HashMap<Arc<str>, Account>>,
}

#[derive(Debug)]
struct Account {
    /// Until when the requests so far would take if they were spread evenly. It may be at most a minute ahead.
    busy_until: Instant,
    /// The tokens of this day.
    tokens: u64,
    day: u64,
}

impl KeyBudgets {
    /// Counts a request, unless a limit of its key is reached.
    pub(crate) fn admit(&self, key: &Arc<str>, limits: KeyLimits) -> Result<(), Exhausted> {
        if limits == KeyLimits::default() {
            return Ok(());
        }
        self.admit_at(key, limits, Instant::now(), unix_seconds())
    }

    fn admit_at(
        &self,
        key: &Arc<str>,
        limits: KeyLimits,
        now: Instant,
        unix_seconds: u64,
    ) -> Result<(), Exhausted> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account =
            accounts.entry(Arc::clone(key)).or_insert_with(|| Account { busy_until: now, tokens: 0, day: 0 });
        account.begin_day(unix_seconds / DAY);
        if limits.tokens_per_day.is_some_and(|most| account.tokens >= most) {
            let retry_after = Duration::from_secs(DAY - unix_seconds % DAY);
            return Err(Exhausted { limit: "tokens_per_day", retry_after });
        }
        let Some(most) = limits.requests_per_minute else { return Ok(()) };
        let limit = "requests_per_minute";
        let Some(interval) = MINUTE.checked_div(most) else {
            return Err(Exhausted { limit, retry_after: MINUTE });
        };
        let busy_until = account.busy_until.max(now) + interval;
        let excess = busy_until.saturating_duration_since(now + MINUTE);
        if !excess.is_zero() {
            let retry_after = Duration::from_secs(excess.as_secs() + u64::from(excess.subsec_nanos() > 0));
            return Err(Exhausted { limit, retry_after });
        }
        account.busy_until = busy_until;
        Ok(())
    }

    /// Counts the tokens of an answer.
    pub(crate) fn spend_tokens(&self, key: &Arc<str>, tokens: u64) {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get_mut(key) {
            account.begin_day(unix_seconds() / DAY);
            account.tokens = account.tokens.saturating_add(tokens);
        }
    }
}

impl Account {
    fn begin_day(&mut self, day: u64) {
        if day != self.day {
            (self.day, self.tokens) = (day, 0);
        }
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_grow_back_with_time() {
        let (budgets, key): (_, Arc<str>) = (KeyBudgets::default(), "a".into());
        let limits = KeyLimits { requests_per_minute: Some(2), tokens_per_day: None };
        let start = Instant::now();
        let admit = |seconds: u64| {
            let answer = budgets.admit_at(&key, limits, start + Duration::from_secs(seconds), 0);
            answer.map_err(|error| (error.limit, error.retry_after.as_secs()))
        };
        assert_eq!((admit(0), admit(0)), (Ok(()), Ok(())));
        assert_eq!(admit(0), Err(("requests_per_minute", 30)));
        assert_eq!(admit(20), Err(("requests_per_minute", 10)));
        assert_eq!((admit(31), admit(31).is_err()), (Ok(()), true));
        assert_eq!(
            (admit(600), admit(600), admit(600).is_err()),
            (Ok(()), Ok(()), true),
            "no more than a minute"
        );
        let other: Arc<str> = "b".into();
        assert_eq!(budgets.admit_at(&other, limits, start, 0), Ok(()), "keys do not share");
        let none = KeyLimits { requests_per_minute: Some(0), tokens_per_day: None };
        assert!(budgets.admit_at(&"c".into(), none, start, 0).is_err());
    }

    #[test]
    fn tokens_are_counted_for_a_day() {
        let (budgets, key): (_, Arc<str>) = (KeyBudgets::default(), "a".into());
        let limits = KeyLimits { requests_per_minute: None, tokens_per_day: Some(10) };
        let now = unix_seconds();
        assert_eq!(budgets.admit_at(&key, limits, Instant::now(), now), Ok(()));
        budgets.spend_tokens(&key, 9);
        assert_eq!(budgets.admit_at(&key, limits, Instant::now(), now), Ok(()));
        budgets.spend_tokens(&key, 9);
        let error = budgets.admit_at(&key, limits, Instant::now(), now).unwrap_err();
        assert_eq!(error.limit, "tokens_per_day");
        assert!(error.retry_after.as_secs() <= DAY);
        assert_eq!(budgets.admit_at(&key, limits, Instant::now(), now + DAY), Ok(()), "a new day");
    }
}
