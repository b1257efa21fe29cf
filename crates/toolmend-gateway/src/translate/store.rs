//! Conversations that later requests may continue by the id of their last answer, within bounds.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use toolmend_protocol::Message;

/// The most bytes of text that all conversations together may take.
const MAX_BYTES: usize = 64 << 20;

/// Conversations by their owner and the id of their last answer.
#[derive(Debug, Default)]
pub(crate) struct ConversationStore {
    hashes: RandomState,
    entries: Mutex<Entries>,
}

/// Who may continue a conversation: everyone who has the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner(u64);

type Key = (Owner, String);

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Key, (Arc<[Message]>, usize)>,
    order: VecDeque<Key>,
    bytes: usize,
}

/// The store, as one request may use it.
#[derive(Debug, Clone)]
pub(crate) struct OwnConversations {
    pub(crate) store: Arc<ConversationStore>,
    pub(crate) max_entries: usize,
    pub(crate) owner: Owner,
}

impl OwnConversations {
    /// Keeps a conversation.
    pub(crate) fn keep(&self, id: &str, messages: Vec<Message>) {
        self.store.keep(self.owner, id, messages, self.max_entries);
    }

    /// Returns the conversation that ended with this answer.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<[Message]>> {
        self.store.get(self.owner, id)
    }
}

impl ConversationStore {
    /// Returns who sent a request with these headers.
    pub(crate) fn owner_of(&self, headers: &HeaderMap) -> Owner {
        Owner(self.hashes.hash_one((headers.get(AUTHORIZATION), headers.get("x-api-key"))))
    }

    /// Keeps a conversation; with more than `max_entries`, the oldest are forgotten.
    fn keep(&self, owner: Owner, id: &str, messages: Vec<Message>, max_entries: usize) {
        let bytes = format!("{messages:?}").len();
        if max_entries == 0 || bytes > MAX_BYTES {
            return;
        }
        let key = (owner, id.to_owned());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.bytes += bytes;
        match entries.by_key.insert(key.clone(), (messages.into(), bytes)) {
            Some((_, before)) => entries.bytes -= before,
            None => entries.order.push_back(key),
        }
        while entries.order.len() > max_entries || entries.bytes > MAX_BYTES {
            let Some(oldest) = entries.order.pop_front() else { break };
            if let Some((_, bytes)) = entries.by_key.remove(&oldest) {
                entries.bytes -= bytes;
            }
        }
    }

    fn get(&self, owner: Owner, id: &str) -> Option<Arc<[Message]>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_key.get(&(owner, id.to_owned())).map(|(messages, _)| Arc::clone(messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmend_protocol::Role;

    fn conversation(text: &str) -> Vec<Message> {
        vec![Message::from_text(Role::User, text.to_owned())]
    }

    #[test]
    fn the_oldest_conversations_are_forgotten() {
        let store = ConversationStore::default();
        let owner = store.owner_of(&HeaderMap::new());
        for number in 0..4 {
            store.keep(owner, &number.to_string(), conversation("a"), 2);
        }
        let has = |id: &str| store.get(owner, id).is_some();
        assert!(!has("1") && has("2") && has("3"));
        store.keep(owner, "none", Vec::new(), 0);
        assert!(!has("none"));
        // Some servers give every answer the same id.
        store.keep(owner, "3", conversation("a"), 2);
        assert!(has("2") && has("3"));
        assert_eq!(store.entries.lock().unwrap().order.len(), 2);
    }

    #[test]
    fn a_conversation_is_continued_only_with_its_key() {
        let store = ConversationStore::default();
        let owner = |name: &'static str, key: &'static str| {
            store.owner_of(&HeaderMap::from_iter([(name.parse().unwrap(), key.parse().unwrap())]))
        };
        let first = owner("authorization", "Bearer a");
        store.keep(first, "resp_1", conversation("secret"), 9);
        assert!(store.get(first, "resp_1").is_some());
        for other in [owner("authorization", "Bearer b"), owner("x-api-key", "a")] {
            assert!(store.get(other, "resp_1").is_none());
        }
    }
}
