//! Notes about mended calls, kept until the results of the calls arrive.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many calls are remembered. A client that never sends results must not fill the memory.
const MAX_CALLS: usize = 4096;

/// Notes by the id of the call.
#[derive(Debug, Default)]
pub(crate) struct CallNotes {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<String, Vec<String>>,
    order: VecDeque<String>,
}

impl CallNotes {
    /// Remembers the notes of these calls.
    pub(crate) fn remember(&self, notes: &[(String, Vec<String>)]) {
        if notes.is_empty() {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, lines) in notes {
            if entries.by_id.insert(id.clone(), lines.clone()).is_none() {
                entries.order.push_back(id.clone());
            }
            if entries.order.len() > MAX_CALLS
                && let Some(oldest) = entries.order.pop_front()
            {
                entries.by_id.remove(&oldest);
            }
        }
    }

    /// Returns the notes about a call. They stay, because every request of the conversation repeats the history.
    pub(crate) fn get(&self, id: &str) -> Option<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_id.get(id).map(|lines| lines.join("\n"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).by_id.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_notes_are_forgotten() {
        let notes = CallNotes::default();
        for number in 0..=MAX_CALLS {
            notes.remember(&[(number.to_string(), vec!["a".into(), "b".into()])]);
        }
        assert_eq!(notes.get("0"), None);
        assert_eq!(notes.get("1").as_deref(), Some("a\nb"));
        assert_eq!(notes.entries.lock().unwrap().order.len(), MAX_CALLS);
    }
}
