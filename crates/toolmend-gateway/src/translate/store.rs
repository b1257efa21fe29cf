//! Conversations that later requests may continue by the id of their last answer, within bounds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use toolmend_protocol::Message;

/// The most bytes of text that all conversations together may take.
const MAX_BYTES: usize = 64 << 20;

/// Conversations by the id of their last answer.
#[derive(Debug, Default)]
pub(crate) struct ConversationStore {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<String, (Arc<[Message]>, usize)>,
    order: VecDeque<String>,
    bytes: usize,
}

impl ConversationStore {
    /// Keeps a conversation; with more than `max_entries`, the oldest are forgotten.
    pub(crate) fn keep(&self, id: &str, messages: Vec<Message>, max_entries: usize) {
        let bytes = format!("{messages:?}").len();
        if max_entries == 0 || bytes > MAX_BYTES {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.bytes += bytes;
        entries.order.push_back(id.to_owned());
        entries.by_id.insert(id.to_owned(), (messages.into(), bytes));
        while entries.order.len() > max_entries || entries.bytes > MAX_BYTES {
            let Some(oldest) = entries.order.pop_front() else { break };
            if let Some((_, bytes)) = entries.by_id.remove(&oldest) {
                entries.bytes -= bytes;
            }
        }
    }

    /// Returns the conversation that ended with this answer.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<[Message]>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_id.get(id).map(|(messages, _)| Arc::clone(messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend_protocol::Role;

    #[test]
    fn the_oldest_conversations_are_forgotten() {
        let store = ConversationStore::default();
        for number in 0..4 {
            store.keep(&number.to_string(), vec![Message::from_text(Role::User, number.to_string())], 2);
        }
        assert!(store.get("1").is_none() && store.get("2").is_some() && store.get("3").is_some());
        store.keep("none", Vec::new(), 0);
        assert!(store.get("none").is_none());
    }
}
