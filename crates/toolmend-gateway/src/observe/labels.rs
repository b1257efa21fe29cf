//! Label values that come from outside, in bounded numbers.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// How many different values a label may have.
const MOST: usize = 200;
/// The longest value.
const LONGEST: usize = 100;
/// What everything beyond is counted under.
const OTHER: &str = "other";

/// The values of one label. Clients choose models and tools, so without a bound they could fill the memory.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: RwLock<HashSet<Box<str>>>,
}

impl Labels {
    /// The value to count under.
    pub(crate) fn bounded<'v>(&self, value: &'v str) -> &'v str {
        if value.len() > LONGEST {
            return OTHER;
        }
        if self.known.read().unwrap_or_else(PoisonError::into_inner).contains(value) {
            return value;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains(value) {
            return OTHER;
        }
        known.insert(value.into());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_values_is_bounded() {
        let labels = Labels::default();
        for number in 0..MOST {
            let value = number.to_string();
            assert_eq!(labels.bounded(&value), value);
        }
        assert_eq!(labels.bounded("one more"), OTHER);
        assert_eq!(labels.bounded("0"), "0");
        assert_eq!(labels.bounded(&"x".repeat(LONGEST + 1)), OTHER);
    }
}
