//! A small cache for one thread.
//!
//! Rows of a log repeat their tools. Comparing a text with the one of the previous row costs a fraction of hashing it, and no
//! thread waits for another.

use std::sync::Arc;

/// How many entries are kept. A log has a few agents, each with its own tools.
const MAX_ENTRIES: usize = 8;
/// Longer texts are not kept, so that memory stays bounded for any input.
const MAX_KEY_BYTES: usize = 1 << 20;

/// The most recently used texts and their values, the latest first.
#[derive(Debug)]
pub(crate) struct RecentCache<T> {
    entries: Vec<(Box<str>, Arc<T>)>,
}

impl<T> Default for RecentCache<T> {
    fn default() -> Self {
        RecentCache { entries: Vec::new() }
    }
}

impl<T> RecentCache<T> {
    /// Returns the value of a text, and calls `make` if it is not in the cache.
    pub(crate) fn get_or_insert(&mut self, text: &str, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        if let Some(index) = self.entries.iter().position(|(known, _)| **known == *text) {
            self.entries.swap(0, index);
            return Arc::clone(&self.entries[0].1);
        }
        let value = make();
        if text.len() <= MAX_KEY_BYTES {
            self.entries.truncate(MAX_ENTRIES - 1);
            self.entries.insert(0, (text.into(), Arc::clone(&value)));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_entries_are_kept() {
        let mut cache = RecentCache::default();
        for number in 0..100 {
            assert_eq!(*cache.get_or_insert(&number.to_string(), || Arc::new(number)), number);
            assert_eq!(*cache.get_or_insert("kept", || Arc::new(-1)), -1);
            assert!(number == 0 || cache.entries.len() > 1);
        }
        assert!(cache.entries.len() <= MAX_ENTRIES);
    }
}
