//! Ids of entries.
//!
//! An id is a time: 51 bits of microseconds, then 12 random bits of the process. So entries of several gateways sort by
//! time without any coordination, a time is a position in the list, and the age of an entry is a comparison of numbers.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

/// 2020-01-01. Microseconds since then fit into 51 bits until 2091.
const EPOCH_MICROS: i64 = 1_577_836_800_000_000;
/// Bits that distinguish processes which create an id in the same microsecond.
const PROCESS_BITS: u32 = 12;
/// Digits and letters, without the letters that are easily mistaken for others.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The length of an id as text: 13 digits of 5 bits hold 63 bits.
const LENGTH: u32 = 13;

/// The id of an entry. Later entries have greater ids, also if different gateways wrote them.
///
/// ```
/// use toolmend_journal::Id;
/// let id = Id::now();
/// assert_eq!(id.to_string().parse(), Ok(id));
/// assert!(id >= Id::at_millis(id.millis()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) i64);

impl Id {
    /// Creates an id for the current time. No two calls in one process return the same id.
    pub fn now() -> Self {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = micros_now() - EPOCH_MICROS;
        // Two entries of the same microsecond get different ids, and ids keep growing if the clock is set back.
        let next = |last: i64| Some(now.max(last + 1));
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(0);
        Id((now.max(last + 1) << PROCESS_BITS) | process_bits())
    }

    /// Returns the smallest id of a time, given in milliseconds of Unix time.
    pub fn at_millis(millis: i64) -> Self {
        let micros =
            millis.saturating_mul(1000).saturating_sub(EPOCH_MICROS).clamp(0, i64::MAX >> PROCESS_BITS);
        Id(micros << PROCESS_BITS)
    }

    /// Returns the time of the entry, in milliseconds of Unix time.
    pub fn millis(self) -> i64 {
        ((self.0 >> PROCESS_BITS) + EPOCH_MICROS) / 1000
    }
}

/// Returns the current time in microseconds of Unix time.
fn micros_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Returns the current time in milliseconds of Unix time.
pub(crate) fn millis_now() -> i64 {
    micros_now() / 1000
}

/// Returns the random bits of this process.
fn process_bits() -> i64 {
    static BITS: OnceLock<i64> = OnceLock::new();
    *BITS.get_or_init(|| {
        let random = RandomState::new().hash_one(std::process::id());
        i64::try_from(random & ((1 << PROCESS_BITS) - 1)).unwrap_or(0)
    })
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in (0..LENGTH).rev() {
            let digit = usize::try_from((self.0 >> (place * 5)) & 31).unwrap_or(0);
            write!(f, "{}", char::from(DIGITS[digit]))?;
        }
        Ok(())
    }
}

/// The error for text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId(String);

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an id of {LENGTH} letters and digits, found {:?}", self.0)
    }
}

impl std::error::Error for InvalidId {}

impl FromStr for Id {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let wrong = || InvalidId(text.chars().take(40).collect());
        if text.len() != LENGTH as usize {
            return Err(wrong());
        }
        let mut value: i64 = 0;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|digit| *digit == byte.to_ascii_lowercase());
            let digit = digit.and_then(|digit| i64::try_from(digit).ok()).ok_or_else(wrong)?;
            value = value.checked_mul(32).and_then(|value| value.checked_add(digit)).ok_or_else(wrong)?;
        }
        Ok(Id(value))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_and_can_be_written_and_read() {
        let mut last = Id(0);
        for _ in 0..10_000 {
            let id = Id::now();
            assert!(id > last);
            last = id;
        }
        assert_eq!(last.to_string().parse(), Ok(last));
        assert_eq!(last.to_string().to_uppercase().parse(), Ok(last));
        let moment = last.millis();
        assert!(Id::at_millis(moment) <= last && last < Id::at_millis(moment + 1));
        for wrong in ["", "0", "0000000000000u", "zzzzzzzzzzzzz", "00000000000-0"] {
            assert!(wrong.parse::<Id>().is_err(), "{wrong}");
        }
    }
}
