//! What one thread used last.
//!
//! Rows of a log repeat their tools. Comparing a text with the one before costs a fraction of hashing it, and no thread
//! waits for another.

use std::sync::Arc;

/// How many are kept; a log has a few agents, each with its tools.
const MOST: usize = 8;
/// Longer texts are not kept here: memory is bounded whatever comes.
const LONGEST: usize = 1 << 20;

/// A handful of texts with what they stand for, the last used first.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    entries: Vec<(Box<str>, Arc<T>)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { entries: Vec::new() }
    }
}

impl<T> Recent<T> {
    /// What the text stands for; `make` is asked where that is not remembered.
    pub(crate) fn get(&mut self, text: &str, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        if let Some(place) = self.entries.iter().position(|(known, _)| **known == *text) {
            self.entries.swap(0, place);
            return Arc::clone(&self.entries[0].1);
        }
        let value = make();
        if text.len() <= LONGEST {
            self.entries.truncate(MOST - 1);
            self.entries.insert(0, (text.into(), Arc::clone(&value)));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_kept() {
        let mut recent = Recent::default();
        for number in 0..100 {
            assert_eq!(*recent.get(&number.to_string(), || Arc::new(number)), number);
            assert_eq!(*recent.get("kept", || Arc::new(-1)), -1);
            assert!(number == 0 || recent.entries.len() > 1);
        }
        assert!(recent.entries.len() <= MOST);
    }
}
