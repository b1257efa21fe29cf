//! What was compiled, by the text that it was compiled from.
//!
//! Logs repeat the same tools on line after line, and compiling a schema costs far more than mending a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many compiled things are kept.
const ENTRIES: usize = 256;
/// Longer texts are compiled each time: the cache must stay small whatever comes.
const LONGEST_KEY: usize = 1 << 20;

/// A small cache shared by all threads; the entry that was not used for longest goes first.
#[derive(Debug)]
pub(crate) struct Cache<T> {
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

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache { entries: Mutex::new(Entries { by_text: HashMap::default(), clock: 0 }) }
    }
}

impl<T> Cache<T> {
    /// What `text` compiles to. Two threads may compile the same text at once: no thread waits for another.
    pub(crate) fn get(&self, text: &str, compile: impl FnOnce() -> T) -> Arc<T> {
        if let Some(found) = self.find(text) {
            return found;
        }
        let value = Arc::new(compile());
        if text.len() <= LONGEST_KEY {
            self.keep(text, &value);
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

    fn keep(&self, text: &str, value: &Arc<T>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_text.len() >= ENTRIES {
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
    fn the_least_used_goes_first_and_nothing_is_compiled_twice() {
        let cache = Cache::default();
        cache.get("kept", || 0);
        for number in 0..ENTRIES * 2 {
            cache.get(&number.to_string(), || number);
            assert_eq!(*cache.get("kept", || unreachable!("still there")), 0);
        }
        assert_eq!(*cache.get("0", || 7), 7, "long gone");
        assert!(cache.entries.lock().unwrap().by_text.len() <= ENTRIES);
    }
}
