//! A cache of compiled tools and schemas, by their source text. All threads share it.
//!
//! Logs repeat the same tools line after line, and compiling a schema costs far more than mending a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many compiled values are kept.
const MAX_ENTRIES: usize = 256;
/// Longer texts are compiled each time, so that memory stays bounded for any input.
const MAX_KEY_BYTES: usize = 1 << 20;

/// A cache that removes the least recently used entry when it is full.
#[derive(Debug)]
pub(crate) struct SharedCache<T> {
    entries: Mutex<Entries<T>>,
}

#[derive(Debug)]
struct Entries<T> {
    by_text: HashMap<Box<str>, Entry<T>, foldhash::fast::RandomState>,
    clock: u64,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    used: u64,
}

impl<T> Default for SharedCache<T> {
    fn default() -> Self {
        SharedCache { entries: Mutex::new(Entries { by_text: HashMap::default(), clock: 0 }) }
    }
}

impl<T> SharedCache<T> {
    /// Returns the compiled value of `text`. No thread waits while another one compiles, so two threads may compile the same
    /// text.
    pub(crate) fn get_or_compile(&self, text: &str, compile: impl FnOnce() -> T) -> Arc<T> {
        if let Some(found) = self.find(text) {
            return found;
        }
        let value = Arc::new(compile());
        if text.len() <= MAX_KEY_BYTES {
            self.insert(text, &value);
        }
        value
    }

    fn find(&self, text: &str) -> Option<Arc<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clock += 1;
        let now = entries.clock;
        let entry = entries.by_text.get_mut(text)?;
        entry.used = now;
        Some(Arc::clone(&entry.value))
    }

    fn insert(&self, text: &str, value: &Arc<T>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_text.len() >= MAX_ENTRIES {
            let oldest = entries.by_text.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                entries.by_text.remove(&oldest);
            }
        }
        let used = entries.clock;
        entries.by_text.insert(text.into(), Entry { value: Arc::clone(value), used });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_removed_and_used_ones_are_not_compiled_again() {
        let cache = SharedCache::default();
        cache.get_or_compile("kept", || 0);
        for number in 0..MAX_ENTRIES * 2 {
            cache.get_or_compile(&number.to_string(), || number);
            assert_eq!(*cache.get_or_compile("kept", || unreachable!("still there")), 0);
        }
        assert_eq!(*cache.get_or_compile("0", || 7), 7, "it was removed long ago");
        assert!(cache.entries.lock().unwrap().by_text.len() <= MAX_ENTRIES);
    }
}
