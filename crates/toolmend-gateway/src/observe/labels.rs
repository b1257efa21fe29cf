//! Label values that clients choose, in bounded numbers.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// How many different values a label may have.
const MAX_VALUES: usize = 200;
/// The longest value, in bytes.
const MAX_LENGTH: usize = 100;
/// The value that everything else is counted under.
const OTHER: &str = "other";

/// The values of one label. Clients choose the names of models and tools, so without a bound they could fill the memory.
#[derive(Debug, Default)]
pub(crate) struct BoundedLabel {
    known: RwLock<HashSet<Box<str>>>,
}

impl BoundedLabel {
    /// Returns the value to count under.
    pub(crate) fn bound<'v>(&self, value: &'v str) -> &'v str {
        // Control characters would reach the terminals of people who look at the metrics.
        if value.len() > MAX_LENGTH || value.contains(char::is_control) {
            return OTHER;
        }
        if self.known.read().unwrap_or_else(PoisonError::into_inner).contains(value) {
            return value;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_VALUES && !known.contains(value) {
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
        let labels = BoundedLabel::default();
        for number in 0..MAX_VALUES {
            let value = number.to_string();
            assert_eq!(labels.bound(&value), value);
        }
        assert_eq!(labels.bound("one more"), OTHER);
        assert_eq!(labels.bound("0"), "0");
        assert_eq!(BoundedLabel::default().bound("a\u{1b}[2Jb"), OTHER);
        assert_eq!(BoundedLabel::default().bound("a\nb"), OTHER);
        assert_eq!(labels.bound(&"x".repeat(MAX_LENGTH + 1)), OTHER);
    }
}
