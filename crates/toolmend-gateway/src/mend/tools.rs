//! The tools of requests, compiled once for each different list.
//!
//! A list is found by its length or by a hash of its bytes, and then compared in full.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use toolmend::{CustomDialects, Mender, MenderBuilder, Preset, Tool};

use crate::config::RepairSettings;
use crate::guard::{HeldMemory, Reservation};

/// The tools of one request.
#[derive(Debug)]
pub(crate) struct CompiledTools {
    pub(crate) mender: Mender,
    /// Whether the list has any tools.
    pub(crate) has_tools: bool,
    /// The names of tools that only the server knows, as far as the list has any.
    pub(crate) hosted_tools: Arc<HashSet<String>>,
    /// Whether judging a short call takes no noticeable time, so that it need not happen on another thread.
    pub(crate) is_light: bool,
    /// The memory that it takes, however many requests use it.
    memory: Reservation,
}

/// Longer lists, in bytes, are not light.
const MAX_LIGHT_LENGTH: usize = 256 << 10;

/// How many lists are kept.
const MAX_ENTRIES: usize = 256;
/// How much memory the lists take that are kept, in bytes.
const MAX_KEPT_MEMORY: usize = 32 << 20;

/// Longer lists, in bytes, do not compile quickly.
const MAX_QUICK_LENGTH: usize = 8 << 10;

/// Whether compiling a list takes no noticeable time: it is short, and nothing in it multiplies.
pub(crate) fn compiles_quickly(text: &[u8]) -> bool {
    const COSTLY: [&str; 5] = ["\"pattern", "\"$", "Of\"", "\"if\"", "\\u"];
    text.len() <= MAX_QUICK_LENGTH
        && COSTLY.iter().all(|word| memchr::memmem::find(text, word.as_bytes()).is_none())
}

/// Compiled lists of tools.
#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    dialects: CustomDialects,
    repairs: RepairSettings,
    hasher: foldhash::fast::RandomState,
    entries: Mutex<Entries>,
    clock: std::sync::atomic::AtomicU64,
}

/// What a compiled list takes for each object and each byte of its text, as measured with objects of few members.
const COMPILED_BYTES_PER_OBJECT: usize = 2 << 10;
const COMPILED_BYTES_PER_BYTE: usize = 4;
/// What the values of a list take while it is compiled.
const BYTES_PER_VALUE: usize = 100;

/// Returns how much memory compiling a list takes, and the result. Both are estimates that no list exceeds by much.
fn estimate_memory(text: &[u8]) -> (usize, usize) {
    let (mut objects, mut values) = (0, 0);
    for byte in text {
        match byte {
            b'{' => objects += 1,
            b',' | b'[' => values += 1,
            _ => {}
        }
    }
    let compiled = objects * COMPILED_BYTES_PER_OBJECT + text.len() * COMPILED_BYTES_PER_BYTE;
    (2 * compiled + values * BYTES_PER_VALUE, compiled)
}

#[derive(Debug, Default)]
struct Entries {
    /// The entries by the hash of their text.
    by_hash: HashMap<u64, Entry>,
    /// For each length of a text, the hash of the one that was used last. An agent sends the same list with every request, and
    /// hashing a long list takes longer than comparing it.
    last_of_length: HashMap<usize, u64>,
    /// How much memory all of them take.
    memory: usize,
}

#[derive(Debug)]
struct Entry {
    text: Bytes,
    policy: Preset,
    compiled: Arc<CompiledTools>,
    used: u64,
}

impl Entries {
    /// Returns the list that is stored under a hash, if it is the same list.
    fn find(&mut self, hash: u64, text: &Bytes, policy: Preset, now: u64) -> Option<Arc<CompiledTools>> {
        let entry = self.by_hash.get_mut(&hash)?;
        if entry.text != *text || entry.policy != policy {
            return None;
        }
        entry.used = now;
        self.last_of_length.insert(text.len(), hash);
        Some(Arc::clone(&entry.compiled))
    }

    /// Adds a list. Those that were not used for the longest time make room for it.
    fn insert(&mut self, hash: u64, entry: Entry) {
        self.remove(hash);
        let needed = entry.memory();
        while (self.by_hash.len() >= MAX_ENTRIES || self.memory + needed > MAX_KEPT_MEMORY)
            && let Some(oldest) =
                self.by_hash.iter().min_by_key(|(_, entry)| entry.used).map(|(hash, _)| *hash)
        {
            self.remove(oldest);
            self.last_of_length.retain(|_, last| *last != oldest);
        }
        self.memory += needed;
        self.last_of_length.insert(entry.text.len(), hash);
        self.by_hash.insert(hash, entry);
    }

    fn remove(&mut self, hash: u64) {
        if let Some(entry) = self.by_hash.remove(&hash) {
            self.memory -= entry.memory();
        }
    }
}

impl Entry {
    fn memory(&self) -> usize {
        self.text.len() + self.compiled.memory.bytes()
    }
}

impl ToolCache {
    /// Returns a cache for menders that know these dialects in addition to the built-in ones.
    pub(crate) fn new(dialects: CustomDialects, repairs: RepairSettings) -> Self {
        ToolCache { dialects, repairs, ..ToolCache::default() }
    }

    /// Returns the compiled form of a list; an empty text means no tools. `None` if there is not enough memory for it. Two threads may
    /// compile the same list at the same time: no thread waits for another.
    pub(crate) fn get(
        &self,
        text: &Bytes,
        policy: Preset,
        memory: &Arc<HeldMemory>,
    ) -> Option<Arc<CompiledTools>> {
        if let Some(found) = self.find(text, policy) {
            return Some(found);
        }
        let (while_compiling, compiled) = estimate_memory(text);
        let mut reservation = Reservation::new(memory);
        if !reservation.grow(while_compiling) {
            return None;
        }
        let base = Mender::builder().policy(self.repairs.policy(policy)).dialects(self.dialects.clone());
        let mut tools = compile_tools(text, base, reservation);
        tools.memory.set(compiled);
        let compiled = Arc::new(tools);
        // A long list is compiled every time, so that it does not push out all others.
        if compiled.memory.bytes() <= MAX_KEPT_MEMORY / 2 {
            let hash = self.hasher.hash_one((&text[..], policy));
            let used = self.clock.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // A copy, so that the entry does not keep the whole request in memory.
            let entry =
                Entry { text: Bytes::copy_from_slice(text), policy, compiled: Arc::clone(&compiled), used };
            self.entries.lock().unwrap_or_else(PoisonError::into_inner).insert(hash, entry);
        }
        Some(compiled)
    }

    /// Returns the compiled form of a list that was compiled before.
    pub(crate) fn find(&self, text: &Bytes, policy: Preset) -> Option<Arc<CompiledTools>> {
        let now = self.clock.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let lock = || self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let last = lock().last_of_length.get(&text.len()).copied();
        if let Some(found) = last.and_then(|hash| lock().find(hash, text, policy, now)) {
            return Some(found);
        }
        let hash = self.hasher.hash_one((&text[..], policy));
        lock().find(hash, text, policy, now)
    }
}

fn compile_tools(text: &[u8], base: MenderBuilder, memory: Reservation) -> CompiledTools {
    let list = serde_json::from_slice(text).unwrap_or(Value::Null);
    let mut declared = Vec::new();
    let mut hosted_tools = HashSet::new();
    sort_tools(list, &mut declared, &mut hosted_tools);
    let has_tools = !declared.is_empty() || !hosted_tools.is_empty();
    let hosted_tools = Arc::new(hosted_tools);
    // Patterns can take long on short texts, too.
    let is_light = text.len() <= MAX_LIGHT_LENGTH && memchr::memmem::find(text, b"\"pattern").is_none();
    if declared.is_empty() {
        // Nothing is known about the tools, but their arguments are objects.
        let (mender, _) = base.tool(Tool::unconstrained("")).build_lenient();
        return CompiledTools { mender, has_tools, hosted_tools, is_light, memory };
    }
    let (mender, notes) = base.tools(&Value::Array(declared)).build_lenient();
    for note in notes {
        tracing::debug!(note, "a declared tool is not understood");
    }
    CompiledTools { mender, has_tools, hosted_tools, is_light, memory }
}

/// Separates the tools that clients run from those that only servers know.
fn sort_tools(list: Value, declared: &mut Vec<Value>, hosted: &mut HashSet<String>) {
    let Value::Array(list) = list else { return };
    for mut tool in list {
        let kind = tool.get("type").and_then(Value::as_str);
        match kind {
            Some("namespace") => {
                let inner = tool.get_mut("tools").map(Value::take).unwrap_or_default();
                sort_tools(inner, declared, hosted);
            }
            None | Some("function") => declared.push(tool),
            // Some protocols name the client's own tools by other types; their schema identifies them.
            Some(_) if tool.get("input_schema").is_some() || tool.get("parameters").is_some() => {
                if let Value::Object(tool) = &mut tool {
                    tool.remove("type");
                }
                declared.push(tool);
            }
            // It is called by its name or, without one, by its type.
            Some(kind) => {
                let name = tool.get("name").or_else(|| tool.get("function")?.get("name"));
                hosted.insert(name.and_then(Value::as_str).unwrap_or(kind).to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &ToolCache, text: &str) -> Arc<CompiledTools> {
        cache.get(&Bytes::copy_from_slice(text.as_bytes()), Preset::Balanced, &memory()).unwrap()
    }

    fn memory() -> Arc<HeldMemory> {
        HeldMemory::new(256 << 20, Arc::default())
    }

    #[test]
    fn lists_take_a_bounded_amount_of_memory() {
        let (cache, memory) = (ToolCache::default(), memory());
        let list = |number: usize, length: usize| {
            let schema = serde_json::json!({"description": "x".repeat(length)});
            Bytes::from(
                serde_json::json!([{"name": format!("t{number}"), "input_schema": schema}]).to_string(),
            )
        };
        for number in 0..40 {
            assert!(cache.get(&list(number, 300 << 10), Preset::Balanced, &memory).is_some());
        }
        let entries = cache.entries.lock().unwrap();
        let sum: usize = entries.by_hash.values().map(Entry::memory).sum();
        assert!(entries.memory == sum && sum <= MAX_KEPT_MEMORY && entries.by_hash.len() < 40, "{sum}");
        drop(entries);
        assert!(cache.get(&list(99, 5 << 20), Preset::Balanced, &memory).is_some());
        assert!(cache.find(&list(99, 5 << 20), Preset::Balanced).is_none(), "it is too long to be kept");
        // A few bytes of text can take a lot of memory while they are read.
        let bomb = Bytes::from(format!("[{}{{}}]", "{\"\":{}},".repeat(1 << 18)));
        assert!(cache.get(&bomb, Preset::Balanced, &memory).is_none());
    }

    #[test]
    fn a_list_is_compiled_once() {
        let cache = ToolCache::default();
        let first = get(&cache, r#"[{"type":"function","function":{"name":"a"}}]"#);
        let again = get(&cache, r#"[{"type":"function","function":{"name":"a"}}]"#);
        assert!(Arc::ptr_eq(&first, &again));
        assert!(!Arc::ptr_eq(&first, &get(&cache, r#"[{"type":"function","function":{"name":"b"}}]"#)));
        let text = Bytes::from_static(br#"[{"type":"function","function":{"name":"a"}}]"#);
        let strict = cache.get(&text, Preset::Strict, &memory()).unwrap();
        assert!(!Arc::ptr_eq(&first, &strict), "another policy");
        for number in 0..MAX_ENTRIES * 2 {
            get(&cache, &format!(r#"[{{"name":"t{number}","input_schema":{{}}}}]"#));
        }
        let entries = cache.entries.lock().unwrap();
        assert!(entries.by_hash.len() <= MAX_ENTRIES);
        assert!(entries.last_of_length.values().all(|hash| entries.by_hash.contains_key(hash)));
    }

    #[test]
    fn lists_of_one_length_are_told_apart() {
        let cache = ToolCache::default();
        let [first, second] = [r#"[{"name":"a"}]"#, r#"[{"name":"b"}]"#];
        let compiled = [get(&cache, first), get(&cache, second)];
        for (text, known) in [(first, &compiled[0]), (second, &compiled[1]), (second, &compiled[1])] {
            assert!(Arc::ptr_eq(&get(&cache, text), known), "{text}");
        }
    }

    #[test]
    fn tools_of_all_protocols_are_known() {
        let cache = ToolCache::default();
        let names = |text: &str| {
            let compiled = get(&cache, text);
            let names: Vec<String> =
                compiled.mender.tools().iter().map(|tool| tool.name().to_owned()).collect();
            (names.join(" "), compiled.has_tools, !compiled.hosted_tools.is_empty())
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
        for (text, (list, has_tools, has_hosted)) in cases {
            assert_eq!(names(text), (list.to_owned(), has_tools, has_hosted), "{text}");
        }
    }
}
