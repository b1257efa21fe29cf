//! The tools of requests, compiled once for each different list.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use toolmend::{CustomDialects, Mender, MenderBuilder, Policy, Tool};

use crate::config::PolicyName;

/// The tools of one request.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) mender: Mender,
    /// Whether there are any.
    pub(crate) any: bool,
    /// Whether there are tools that only the server knows.
    pub(crate) open: bool,
}

/// How many lists are kept.
const ENTRIES: usize = 256;
/// Longer lists are compiled each time: the cache must stay small whatever comes.
const LONGEST: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    dialects: CustomDialects,
    hasher: foldhash::fast::RandomState,
    entries: Mutex<HashMap<u64, Entry>>,
    clock: std::sync::atomic::AtomicU64,
}

#[derive(Debug)]
struct Entry {
    text: Bytes,
    policy: PolicyName,
    compiled: Arc<Compiled>,
    used: u64,
}

impl ToolCache {
    /// A cache for menders that know these dialects beside the built-in ones.
    pub(crate) fn new(dialects: CustomDialects) -> Self {
        ToolCache { dialects, ..ToolCache::default() }
    }

    /// What a list compiles to; the empty text is no list. Two threads may compile the same list at once: no
    /// thread waits for another.
    pub(crate) fn get(&self, text: &Bytes, policy: PolicyName) -> Arc<Compiled> {
        let key = self.hasher.hash_one((&text[..], policy as u8));
        let now = self.clock.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let lock = || self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = lock().get_mut(&key)
            && entry.text == *text
            && entry.policy == policy
        {
            entry.used = now;
            return Arc::clone(&entry.compiled);
        }
        let base = Mender::builder().policy(Policy::preset(policy.preset())).dialects(self.dialects.clone());
        let compiled = Arc::new(compile(text, base));
        if text.len() <= LONGEST {
            let mut entries = lock();
            if entries.len() >= ENTRIES
                && let Some(oldest) = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key)
            {
                entries.remove(&oldest);
            }
            // A copy, so that the entry does not keep the rest of its request.
            let text = Bytes::copy_from_slice(text);
            entries.insert(key, Entry { text, policy, compiled: Arc::clone(&compiled), used: now });
        }
        compiled
    }
}

fn compile(text: &[u8], base: MenderBuilder) -> Compiled {
    let list = serde_json::from_slice(text).unwrap_or(Value::Null);
    let mut declared = Vec::new();
    let mut open = false;
    sort(list, &mut declared, &mut open);
    let any = !declared.is_empty() || open;
    if declared.is_empty() {
        // Nothing is known about the tools; their arguments are objects all the same.
        let (mender, _) = base.tool(Tool::unconstrained("")).build_lenient();
        return Compiled { mender, any, open };
    }
    let (mender, notes) = base.tools(&Value::Array(declared)).build_lenient();
    for note in notes {
        tracing::debug!(note, "a declared tool is not understood");
    }
    Compiled { mender, any, open }
}

/// Sorts the tools that clients run from those that only servers know.
fn sort(list: Value, declared: &mut Vec<Value>, open: &mut bool) {
    let Value::Array(list) = list else { return };
    for mut tool in list {
        let kind = tool.get("type").and_then(Value::as_str);
        match kind {
            Some("namespace") => {
                sort(tool.get_mut("tools").map(Value::take).unwrap_or_default(), declared, open);
            }
            None | Some("function") => declared.push(tool),
            // Anthropic's own name for tools of the client, and lists that put a schema beside another type.
            Some(_) if tool.get("input_schema").is_some() || tool.get("parameters").is_some() => {
                if let Value::Object(tool) = &mut tool {
                    tool.remove("type");
                }
                declared.push(tool);
            }
            Some(_) => *open = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &ToolCache, text: &str) -> Arc<Compiled> {
        cache.get(&Bytes::copy_from_slice(text.as_bytes()), PolicyName::Balanced)
    }

    #[test]
    fn a_list_is_compiled_once() {
        let cache = ToolCache::default();
        let first = get(&cache, r#"[{"type":"function","function":{"name":"a"}}]"#);
        let again = get(&cache, r#"[{"type":"function","function":{"name":"a"}}]"#);
        assert!(Arc::ptr_eq(&first, &again));
        assert!(!Arc::ptr_eq(&first, &get(&cache, r#"[{"type":"function","function":{"name":"b"}}]"#)));
        let text = Bytes::from_static(br#"[{"type":"function","function":{"name":"a"}}]"#);
        assert!(!Arc::ptr_eq(&first, &cache.get(&text, PolicyName::Strict)), "another policy");
        for number in 0..ENTRIES * 2 {
            get(&cache, &format!(r#"[{{"name":"t{number}","input_schema":{{}}}}]"#));
        }
        assert!(cache.entries.lock().unwrap().len() <= ENTRIES);
    }

    #[test]
    fn tools_of_all_surfaces_are_known() {
        let cache = ToolCache::default();
        let names = |text: &str| {
            let compiled = get(&cache, text);
            let names: Vec<String> =
                compiled.mender.tools().iter().map(|tool| tool.name().to_owned()).collect();
            (names.join(" "), compiled.any, compiled.open)
        };
        let cases = [
            (r#"[{"type":"function","function":{"name":"a","parameters":{}}}]"#, ("a", true, false)),
            (r#"[{"type":"function","name":"a","parameters":{}},{"type":"web_search"}]"#, ("a", true, true)),
            (
                r#"[{"type":"namespace","name":"n","tools":[{"type":"function","name":"b"}]}]"#,
                ("b", true, false),
            ),
            (
                r#"[{"name":"a","input_schema":{}},{"type":"custom","name":"c","input_schema":{}}]"#,
                ("a c", true, false),
            ),
            (r#"[{"type":"bash_20250124","name":"bash"}]"#, ("", true, true)),
            ("", ("", false, false)),
        ];
        for (text, (list, any, open)) in cases {
            assert_eq!(names(text), (list.to_owned(), any, open), "{text}");
        }
    }
}
