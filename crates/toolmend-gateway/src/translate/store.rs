//! Answers that later requests may go on from, within bounds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::request::Message;

/// The most that all conversations together may take, in bytes of text.
const MOST_BYTES: usize = 64 << 20;

/// Conversations by the id of their last answer.
#[derive(Debug, Default)]
pub(crate) struct Store {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<String, (Arc<[Message]>, usize)>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Store {
    /// Keeps a conversation; the oldest are forgotten.
    pub(crate) fn keep(&self, id: &str, messages: Vec<Message>, most: usize) {
        let bytes = format!("{messages:?}").len();
        if most == 0 || bytes > MOST_BYTES {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += bytes;
        kept.order.push_back(id.to_owned());
        kept.by_id.insert(id.to_owned(), (messages.into(), bytes));
        while kept.order.len() > most || kept.bytes > MOST_BYTES {
            let Some(oldest) = kept.order.pop_front() else { break };
            if let Some((_, bytes)) = kept.by_id.remove(&oldest) {
                kept.bytes -= bytes;
            }
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<[Message]>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_id.get(id).map(|(messages, _)| Arc::clone(messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::request::Role;

    #[test]
    fn the_oldest_are_forgotten() {
        let store = Store::default();
        for number in 0..4 {
            store.keep(&number.to_string(), vec![Message::text(Role::User, number.to_string())], 2);
        }
        assert!(store.get("1").is_none() && store.get("2").is_some() && store.get("3").is_some());
        store.keep("none", Vec::new(), 0);
        assert!(store.get("none").is_none());
    }
}
