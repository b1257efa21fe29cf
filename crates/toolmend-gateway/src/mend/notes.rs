//! Notes about mended calls, kept until the results of the calls arrive.
//!
//! An id alone does not recognise a call: some models count from 0 in every conversation (`functions.search:0`), and conversations
//! of many people go through one gateway. A note belongs to a call with this id, this name and these arguments.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::stub::{read_stub, without_stub_name};

/// How many calls are remembered. A client that never sends results must not fill the memory.
const MAX_CALLS: usize = 4096;
/// How many bytes of ids and notes are remembered.
const MAX_BYTES: usize = 8 << 20;

/// What a call was, as the client has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotedCall {
    pub(crate) id: String,
    /// A hash of its name and its arguments.
    content: u64,
}

impl NotedCall {
    pub(crate) fn new(id: &str, name: &str, arguments: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        without_stub_name(name).hash(&mut hasher);
        match (read_stub(arguments), serde_json::from_str::<Value>(arguments)) {
            (Some(written), _) => written.hash(&mut hasher),
            (None, Ok(value)) => hash_value(&value, &mut hasher),
            (None, Err(_)) => arguments.hash(&mut hasher),
        }
        NotedCall { id: id.to_owned(), content: hasher.finish() }
    }
}

/// Hashes what a value means. Clients write arguments again in their own way.
fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(hasher),
        Value::Number(number) => number.as_f64().map(f64::to_bits).hash(hasher),
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            members.len().hash(hasher);
            for (name, value) in members {
                name.hash(hasher);
                hash_value(value, hasher);
            }
        }
    }
}

/// A call, and the notes about it.
pub(crate) type Note = (NotedCall, Vec<String>);

/// Notes by the id of the call.
#[derive(Debug, Default)]
pub(crate) struct CallNotes {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<String, Kept>,
    order: VecDeque<String>,
    bytes: usize,
}

/// The latest notes about a call with an id.
#[derive(Debug)]
struct Kept {
    content: u64,
    lines: Vec<String>,
}

/// Returns how many bytes a note takes. Its id is stored twice.
fn bytes_of(id: &str, lines: &[String]) -> usize {
    2 * id.len() + lines.iter().map(String::len).sum::<usize>()
}

impl CallNotes {
    /// Remembers the notes of these calls.
    pub(crate) fn remember(&self, notes: &[Note]) {
        if notes.is_empty() {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (NotedCall { id, content }, lines) in notes {
            entries.bytes += bytes_of(id, lines);
            match entries.by_id.insert(id.clone(), Kept { content: *content, lines: lines.clone() }) {
                Some(before) => entries.bytes -= bytes_of(id, &before.lines),
                None => entries.order.push_back(id.clone()),
            }
            while (entries.order.len() > MAX_CALLS || entries.bytes > MAX_BYTES)
                && let Some(oldest) = entries.order.pop_front()
            {
                if let Some(kept) = entries.by_id.remove(&oldest) {
                    entries.bytes -= bytes_of(&oldest, &kept.lines);
                }
            }
        }
    }

    /// Whether there are notes about a call with this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).by_id.contains_key(id)
    }

    /// Returns the notes about a call. They stay, because every request of the conversation repeats the history.
    pub(crate) fn get(&self, id: &str, name: &str, arguments: &str) -> Option<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = entries.by_id.get(id)?;
        let call = NotedCall::new(id, name, arguments);
        (kept.content == call.content).then(|| kept.lines.join("\n"))
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
        let note = |id: &str, lines: &[&str]| {
            (NotedCall::new(id, "t", "{}"), lines.iter().map(ToString::to_string).collect())
        };
        for number in 0..=MAX_CALLS {
            notes.remember(&[note(&number.to_string(), &["a", "b"])]);
        }
        assert_eq!(notes.get("0", "t", "{}"), None);
        assert_eq!(notes.get("1", "t", "{}").as_deref(), Some("a\nb"));
        assert_eq!(notes.entries.lock().unwrap().order.len(), MAX_CALLS);
        notes.remember(&[note("long", &[&"x".repeat(MAX_BYTES)])]);
        let left = notes.entries.lock().unwrap().bytes;
        assert_eq!((notes.get("long", "t", "{}"), notes.is_empty(), left), (None, true, 0));
    }

    #[test]
    fn notes_belong_to_one_call_and_not_to_every_call_with_its_id() {
        let notes = CallNotes::default();
        let id = "functions.search:0";
        let remember = |name: &str, arguments: &str| {
            notes.remember(&[(NotedCall::new(id, name, arguments), vec!["note".to_owned()])]);
        };
        remember("search", r#"{"q": "a", "n": 1.0}"#);
        let has = |name: &str, arguments: &str| notes.get(id, name, arguments).is_some();
        assert!(has("search", r#"{"n":1,"q":"\u0061"}"#), "written again by the client");
        assert!(!has("search", r#"{"q": "b", "n": 1}"#), "another conversation");
        assert!(!has("find", r#"{"q": "a", "n": 1}"#));
        // A stub is shown to the model as what it wrote, and under the name of the tool.
        remember("search_unreadable", r#"{"__unparsedToolInput":{"raw":"{x","len":2}}"#);
        assert!(has("search", r#"{"unreadable_arguments":"{x"}"#));
        assert!(!has("search", r#"{"unreadable_arguments":"{y"}"#));
    }
}
