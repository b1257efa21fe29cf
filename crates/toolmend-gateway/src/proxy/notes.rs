//! Notes about mended calls, kept until the results of the calls come by.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many calls are remembered. A client that never answers must not fill the memory.
const MOST: usize = 4096;

/// Notes by the id of the call.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<String, Vec<String>>,
    order: VecDeque<String>,
}

impl Notes {
    pub(crate) fn keep(&self, notes: &[(String, Vec<String>)]) {
        if notes.is_empty() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, lines) in notes {
            if kept.by_id.insert(id.clone(), lines.clone()).is_none() {
                kept.order.push_back(id.clone());
            }
            if kept.order.len() > MOST
                && let Some(oldest) = kept.order.pop_front()
            {
                kept.by_id.remove(&oldest);
            }
        }
    }

    /// The notes on a call. They stay: the same history comes again with every request of the conversation.
    pub(crate) fn of(&self, id: &str) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_id.get(id).map(|lines| lines.join("\n"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).by_id.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let notes = Notes::default();
        for number in 0..=MOST {
            notes.keep(&[(number.to_string(), vec!["a".into(), "b".into()])]);
        }
        assert_eq!(notes.of("0"), None);
        assert_eq!(notes.of("1").as_deref(), Some("a\nb"));
        assert_eq!(notes.kept.lock().unwrap().order.len(), MOST);
    }
}
