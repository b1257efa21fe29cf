//! Notes about mended calls, kept until the results of the calls arrive.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many calls are remembered. A client that never sends results must not fill the memory.
const MAX_CALLS: usize = 4096;
/// How many bytes of ids and notes are remembered.
const MAX_BYTES: usize = 8 << 20;

/// Notes by the id of the call.
#[derive(Debug, Default)]
pub(crate) struct CallNotes {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<String, Vec<String>>,
    order: VecDeque<String>,
    bytes: usize,
}

/// Returns how many bytes a note takes. Its id is stored twice.
fn bytes_of(id: &str, lines: &[String]) -> usize {
    2 * id.len() + lines.iter().map(String::len).sum::<usize>()
}

impl CallNotes {
    /// Remembers the notes of these calls.
    pub(crate) fn remember(&self, notes: &[(String, Vec<String>)]) {
        if notes.is_empty() {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, lines) in notes {
            entries.bytes += bytes_of(id, lines);
            match entries.by_id.insert(id.clone(), lines.clone()) {
                Some(before) => entries.bytes -= bytes_of(id, &before),
                None => entries.order.push_back(id.clone()),
            }
            while (entries.order.len() > MAX_CALLS || entries.bytes > MAX_BYTES)
                && let Some(oldest) = entries.order.pop_front()
            {
                if let Some(lines) = entries.by_id.remove(&oldest) {
                    entries.bytes -= bytes_of(&oldest, &lines);
                }
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
        notes.remember(&[("long".into(), vec!["x".repeat(MAX_BYTES)])]);
        assert_eq!(
            (notes.get("long"), notes.is_empty(), notes.entries.lock().unwrap().bytes),
            (None, true, 0)
        );
    }
}
