//! The token counts of several generations, added up where an answer reports them.
//!
//! If the server is asked again, the client pays for every generation, so its answer has to count all of them. Every protocol
//! has an object `usage` somewhere, or counts at the top; what they are called does not matter for a sum.

use serde_json::Number;

use crate::json::{Kind, ValueRef};

/// Where the object `usage` is.
const HOLDERS: [Option<&str>; 3] = [None, Some("message"), Some("response")];
/// Counts that are members of the answer itself.
const TOP_COUNTS: [&str; 2] = ["prompt_eval_count", "eval_count"];
/// How deep counts may be nested.
const MAX_DEPTH: usize = 4;

/// Token counts by their position in the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenCounts(Vec<(String, Number)>);

impl TokenCounts {
    /// Whether an answer or a frame may report counts. A quick check, so that most frames are not parsed for them.
    pub fn may_be_in(text: &[u8]) -> bool {
        ["\"usage\"", "_count\""].iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the counts of an answer or a frame. Later frames of a stream repeat the counts of earlier ones, and replace them.
    pub fn read(&mut self, root: ValueRef<'_>) {
        for usage in HOLDERS.iter().filter_map(|holder| find_usage(root, *holder)) {
            self.read_object(usage, "", 0);
        }
        for name in TOP_COUNTS {
            if let Some(count) = root.get(name).and_then(number) {
                self.set(format!("/{name}"), count);
            }
        }
    }

    fn read_object(&mut self, object: ValueRef<'_>, path: &str, depth: usize) {
        for item in object.items() {
            let path = format!("{path}/{}", item.key());
            match number(item) {
                Some(count) => self.set(path, count),
                None if item.is_object() && depth < MAX_DEPTH => self.read_object(item, &path, depth + 1),
                None => {}
            }
        }
    }

    fn set(&mut self, path: String, count: Number) {
        match self.0.iter_mut().find(|(known, _)| *known == path) {
            Some((_, before)) => *before = count,
            None => self.0.push((path, count)),
        }
    }

    /// Adds the counts of another generation.
    pub fn add(&mut self, other: &TokenCounts) {
        for (path, count) in &other.0 {
            match self.0.iter_mut().find(|(known, _)| known == path) {
                Some((_, before)) => *before = sum(before, count),
                None => self.0.push((path.clone(), count.clone())),
            }
        }
    }

    /// Writes an answer or a frame with these counts added to its own. `None` if it has none.
    pub fn add_to(&self, root: ValueRef<'_>) -> Option<String> {
        let mut changes: Vec<(&str, Option<String>)> = Vec::new();
        for holder in HOLDERS {
            let Some(added) = find_usage(root, holder).and_then(|usage| self.add_to_object(usage, "", 0))
            else {
                continue;
            };
            let holder = holder.and_then(|name| Some((name, root.get(name)?)));
            changes.push(match holder {
                Some((name, holder)) => (name, Some(holder.with(&[("usage", Some(added))]))),
                None => ("usage", Some(added)),
            });
        }
        for name in TOP_COUNTS {
            let more = self.get(&format!("/{name}"));
            if let (Some(own), Some(more)) = (root.get(name).and_then(number), more) {
                changes.push((name, Some(sum(&own, more).to_string())));
            }
        }
        (!changes.is_empty()).then(|| root.with(&changes))
    }

    fn add_to_object(&self, object: ValueRef<'_>, path: &str, depth: usize) -> Option<String> {
        let mut changes: Vec<(String, String)> = Vec::new();
        for item in object.items() {
            let path = format!("{path}/{}", item.key());
            let added = match (number(item), self.get(&path)) {
                (Some(own), Some(more)) => Some(sum(&own, more).to_string()),
                _ if item.is_object() && depth < MAX_DEPTH => self.add_to_object(item, &path, depth + 1),
                _ => None,
            };
            changes.extend(added.map(|added| (item.key().into_owned(), added)));
        }
        let changes: Vec<(&str, Option<String>)> =
            changes.iter().map(|(name, value)| (name.as_str(), Some(value.clone()))).collect();
        (!changes.is_empty()).then(|| object.with(&changes))
    }

    fn get(&self, path: &str) -> Option<&Number> {
        self.0.iter().find(|(known, _)| known == path).map(|(_, count)| count)
    }
}

fn find_usage<'d>(root: ValueRef<'d>, holder: Option<&str>) -> Option<ValueRef<'d>> {
    let holder = match holder {
        Some(name) => root.get(name)?,
        None => root,
    };
    holder.get("usage").filter(|usage| usage.is_object())
}

fn number(value: ValueRef<'_>) -> Option<Number> {
    (value.kind() == Kind::Number).then(|| value.raw().parse().ok()).flatten()
}

fn sum(one: &Number, other: &Number) -> Number {
    if let (Some(one), Some(other)) = (one.as_u64(), other.as_u64()) {
        return one.saturating_add(other).into();
    }
    // Some servers report what an answer costs.
    let sum = one.as_f64().unwrap_or(0.0) + other.as_f64().unwrap_or(0.0);
    Number::from_f64(sum).unwrap_or_else(|| one.clone())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Document;

    fn doc(text: &str) -> Document {
        Document::parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    #[track_caller]
    fn check(earlier: &str, last: &str, expected: &str) {
        let mut counts = TokenCounts::default();
        counts.read(doc(earlier).root());
        assert_eq!(counts.add_to(doc(last).root()).as_deref(), Some(expected));
    }

    #[test]
    fn the_counts_of_every_protocol_are_added() {
        check(
            r#"{"usage":{"prompt_tokens":10,"completion_tokens":5,"cost":0.5,"details":{"cached":3}}}"#,
            r#"{"id":"x","usage":{"prompt_tokens":20,"completion_tokens":7,"cost":0.25,"details":{"cached":1,"new":2}}}"#,
            r#"{"id":"x","usage":{"prompt_tokens":30,"completion_tokens":12,"cost":0.75,"details":{"cached":4,"new":2}}}"#,
        );
        check(
            r#"{"type":"message_start","message":{"usage":{"input_tokens":4,"output_tokens":1}}}"#,
            r#"{"type":"message_delta","usage":{"output_tokens":9}}"#,
            r#"{"type":"message_delta","usage":{"output_tokens":10}}"#,
        );
        check(
            r#"{"response":{"usage":{"input_tokens":4}}}"#,
            r#"{"response":{"usage":{"input_tokens":5}}}"#,
            r#"{"response":{"usage":{"input_tokens":9}}}"#,
        );
        check(r#"{"eval_count":4}"#, r#"{"done":true,"eval_count":5}"#, r#"{"done":true,"eval_count":9}"#);
    }

    #[test]
    fn frames_of_one_stream_replace_each_other_and_generations_add_up() {
        let mut first = TokenCounts::default();
        first.read(doc(r#"{"message":{"usage":{"input_tokens":4,"output_tokens":1}}}"#).root());
        first.read(doc(r#"{"usage":{"output_tokens":7}}"#).root());
        let mut all = first.clone();
        all.add(&first);
        let last = doc(r#"{"usage":{"input_tokens":1,"output_tokens":1}}"#);
        assert_eq!(
            all.add_to(last.root()).as_deref(),
            Some(r#"{"usage":{"input_tokens":9,"output_tokens":15}}"#)
        );
        assert_eq!(all.add_to(doc(r#"{"choices":[]}"#).root()), None);
    }
}
