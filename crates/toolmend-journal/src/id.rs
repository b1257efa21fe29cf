//! The name of an entry, which is also its time.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

/// 2020-01-01: microseconds since then fit into 51 bits until 2091.
const EPOCH_MICROS: i64 = 1_577_836_800_000_000;
/// What tells gateways apart that write at the same microsecond.
const NODE_BITS: u32 = 12;
/// Digits without those that people mistake for each other.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 13 digits of 5 bits hold 63 bits.
const LENGTH: u32 = 13;

/// The id of an entry. Ids grow with time, so that a time is a place in the list, whoever wrote the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) i64);

impl Id {
    /// A new id for this moment.
    pub fn now() -> Self {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = micros_now() - EPOCH_MICROS;
        // Two entries of one microsecond get ids of their own, and a clock that goes back changes no order.
        let next = |last: i64| Some(now.max(last + 1));
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(0);
        Id((now.max(last + 1) << NODE_BITS) | node())
    }

    /// The first id of a moment, in milliseconds of Unix time.
    pub fn at_millis(millis: i64) -> Self {
        let micros = millis.saturating_mul(1000).saturating_sub(EPOCH_MICROS).clamp(0, i64::MAX >> NODE_BITS);
        Id(micros << NODE_BITS)
    }

    /// When the entry was made, in milliseconds of Unix time.
    pub fn millis(self) -> i64 {
        ((self.0 >> NODE_BITS) + EPOCH_MICROS) / 1000
    }
}

/// Microseconds of Unix time.
fn micros_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Milliseconds of Unix time.
pub(crate) fn millis_now() -> i64 {
    micros_now() / 1000
}

fn node() -> i64 {
    static NODE: OnceLock<i64> = OnceLock::new();
    *NODE.get_or_init(|| {
        let random = RandomState::new().hash_one(std::process::id());
        i64::try_from(random & ((1 << NODE_BITS) - 1)).unwrap_or(0)
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

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoId(String);

impl fmt::Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an id of {LENGTH} letters and digits, found {:?}", self.0)
    }
}

impl std::error::Error for NoId {}

impl FromStr for Id {
    type Err = NoId;

    fn from_str(text: &str) -> Result<Self, NoId> {
        let wrong = || NoId(text.chars().take(40).collect());
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
