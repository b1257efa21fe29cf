//! Label values that clients choose, in bounded numbers.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// How many different models or tools are counted on their own.
pub(super) const MAX_NAMES: usize = 200;
/// How many pairs of a model and a tool are counted on their own.
pub(super) const MAX_PAIRS: usize = 1000;
/// The longest value, in bytes.
const MAX_LENGTH: usize = 100;
/// The value that everything else is counted under.
pub(super) const OTHER: &str = "other";

/// The values of one label. Clients choose the names of models and tools, so without a bound they could fill the memory.
#[derive(Debug)]
pub(crate) struct BoundedLabel {
    max_values: usize,
    known: RwLock<HashSet<Box<str>>>,
}

impl BoundedLabel {
    pub(crate) fn new(max_values: usize) -> Self {
        BoundedLabel { max_values, known: RwLock::default() }
    }

    /// Returns the value to count under.
    pub(crate) fn bound<'v>(&self, value: &'v str) -> &'v str {
        // Control characters would reach the terminals of people who look at the metrics.
        if value.len() > MAX_LENGTH || value.contains(char::is_control) {
            return OTHER;
        }
        if self.contains_or_add(value) { value } else { OTHER }
    }

    /// Whether a value is counted on its own. A new one is added if there is room for it.
    pub(crate) fn contains_or_add(&self, value: &str) -> bool {
        if self.known.read().unwrap_or_else(PoisonError::into_inner).contains(value) {
            return true;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < self.max_values {
            known.insert(value.into());
            return true;
        }
        known.contains(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_values_is_bounded() {
        let labels = BoundedLabel::new(MAX_NAMES);
        for number in 0..MAX_NAMES {
            let value = number.to_string();
            assert_eq!(labels.bound(&value), value);
        }
        assert_eq!(labels.bound("one more"), OTHER);
        assert_eq!(labels.bound("0"), "0");
        assert_eq!(BoundedLabel::new(MAX_NAMES).bound("a\u{1b}[2Jb"), OTHER);
        assert_eq!(BoundedLabel::new(MAX_NAMES).bound("a\nb"), OTHER);
        assert_eq!(labels.bound(&"x".repeat(MAX_LENGTH + 1)), OTHER);
    }
}
