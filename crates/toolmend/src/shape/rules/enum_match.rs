//! Values of a list, written with other case, spacing, separators or quotes.
//!
//! A value is only matched if exactly one entry of the list is spelled like it. The closest entry is never guessed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Expectation, SchemaMismatch, TypeMismatch};

use super::scalar::unquoted;

/// The one listed value that the given one spells.
pub(super) fn match_option(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let text = match mismatch.kind() {
        Kind::String => mismatch.string()?,
        Kind::Number | Kind::Bool => mismatch.source().into(),
        _ => return None,
    };
    let with = match &mismatch.fault.wants {
        Wants::OneOf(options) => mismatch.context.options.find(options, &text)?,
        Wants::Exactly(value) => find_option(std::slice::from_ref(&**value), &text)?.to_string(),
        _ => return None,
    };
    (with != mismatch.source()).then(|| mismatch.replace(with, RepairKind::EnumMatched))
}

/// The one variant that a string spells, or the key of an object with one member.
pub(super) fn match_variant(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let Expectation::Variant(variants) = mismatch.expected else { return None };
    let (word, span) = if let Some(word) = mismatch.string() {
        (word, mismatch.node().span.clone())
    } else {
        let member = mismatch.only_child()?;
        (mismatch.tree.key(member)?, mismatch.tree.nodes[member].key.clone()?)
    };
    let options: Vec<Value> = variants.iter().map(|&variant| variant.into()).collect();
    let variant = find_option(&options, &word)?.as_str().filter(|variant| *variant != word)?;
    Some(Change::new(vec![Edit::new(span, quote(variant), RepairKind::EnumMatched)]))
}

/// How a text and an option are compared, strictest first. A match of a later one never competes with a match of an
/// earlier one.
const ALIKE: [fn(&str, &str) -> bool; 3] = [
    |text, option| text == option,
    |text, option| lower_case(text).eq(lower_case(option)),
    |text, option| joined(text).eq(joined(option)),
];

/// How the text is written for a comparison of each kind, so that equal texts are alike.
const KEYS: [fn(&str) -> String; 3] =
    [str::to_owned, |text| lower_case(text).collect(), |text| joined(text).collect()];

/// The lists of a schema, by the spelling of their entries. A document may have thousands of values that are looked up in a
/// list of thousands.
#[derive(Default)]
pub(in crate::shape) struct OptionIndexes(RefCell<Vec<OptionIndex>>);

/// Shorter lists are searched.
const LONG_LIST: usize = 16;
/// So many lists are indexed.
const MAX_INDEXES: usize = 64;

impl OptionIndexes {
    /// The one option of a list that the text spells, as JSON.
    fn find(&self, options: &Arc<Value>, text: &str) -> Option<String> {
        let list = options.as_array()?;
        let mut indexes = self.0.borrow_mut();
        let known = indexes.iter().position(|index| Arc::ptr_eq(&index.options, options));
        let found = match known {
            Some(known) => indexes[known].find(text),
            None if list.len() > LONG_LIST && indexes.len() < MAX_INDEXES => {
                indexes.push(OptionIndex::of(options));
                indexes.last()?.find(text)
            }
            None => find_option(list, text),
        };
        found.map(Value::to_string)
    }
}

/// An index of one list. The list is kept, so that its address stays its own.
struct OptionIndex {
    options: Arc<Value>,
    /// The places of strings and booleans, for each way to compare them.
    words: [HashMap<String, Places>; 3],
    /// The places of numbers.
    numbers: HashMap<String, Places>,
}

/// Where an entry is, and whether there are others like it.
#[derive(Clone, Copy)]
struct Places {
    first: usize,
    count: usize,
}

impl OptionIndex {
    fn of(options: &Arc<Value>) -> Self {
        let mut words: [HashMap<String, Places>; 3] = Default::default();
        let mut numbers = HashMap::new();
        let note = |index: &mut HashMap<String, Places>, key: String, place: usize| {
            index.entry(key).or_insert(Places { first: place, count: 0 }).count += 1;
        };
        for (place, option) in options.as_array().into_iter().flatten().enumerate() {
            #[cfg(test)]
            crate::syntax::meter::add(1);
            let word = match option {
                Value::String(word) => unquoted(word),
                Value::Bool(flag) => {
                    if *flag {
                        "true"
                    } else {
                        "false"
                    }
                }
                Value::Number(number) => {
                    note(&mut numbers, number.to_string(), place);
                    continue;
                }
                _ => continue,
            };
            for (index, key) in words.iter_mut().zip(KEYS) {
                note(index, key(word), place);
            }
        }
        OptionIndex { options: Arc::clone(options), words, numbers }
    }

    /// See [`find_option`].
    fn find(&self, text: &str) -> Option<&Value> {
        let text = Some(unquoted(text)).filter(|text| text.len() <= MAX_LENGTH)?;
        let number = self.numbers.get(text);
        for (index, key) in self.words.iter().zip(KEYS) {
            match (index.get(&key(text)), number) {
                (None, None) => {}
                (Some(Places { first, count: 1 }), None) | (None, Some(Places { first, count: 1 })) => {
                    return self.options.get(*first);
                }
                _ => return None,
            }
        }
        None
    }
}

/// Longer texts, in bytes, are no entry of a list in another spelling.
const MAX_LENGTH: usize = 256;

/// The one option that the text spells.
fn find_option<'v>(options: &'v [Value], text: &str) -> Option<&'v Value> {
    let text = Some(unquoted(text)).filter(|text| text.len() <= MAX_LENGTH)?;
    for is_alike in ALIKE {
        #[cfg(test)]
        crate::syntax::meter::add(options.len());
        let mut found = options.iter().filter(|option| match option {
            Value::String(word) => is_alike(text, unquoted(word)),
            Value::Number(number) => number.to_string() == text,
            Value::Bool(flag) => is_alike(text, if *flag { "true" } else { "false" }),
            _ => false,
        });
        match (found.next(), found.next()) {
            (Some(option), None) => return Some(option),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
    }
    None
}

fn lower_case(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(char::to_lowercase)
}

/// Lower case, without separators between letters and digits. A sign or symbol at either end stays: `-1` is not `1`,
/// and `C+` is not `C`. So does a separator between digits: `1.0` is not `10`, and `1.5m` is not `15m`.
// Case: shape/version-is-not-another
fn joined(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut before: Option<char> = None;
    text.char_indices()
        .filter(move |&(at, ch)| {
            if !is_separator(ch) {
                before = Some(ch);
                return true;
            }
            let after = text[at..].chars().find(|&ch| !is_separator(ch));
            let (Some(before), Some(after)) = (before, after) else { return true };
            let joins_words = before.is_alphanumeric() && after.is_alphanumeric();
            !joins_words || before.is_numeric() && after.is_numeric()
        })
        .flat_map(|(_, ch)| ch.to_lowercase())
}

fn is_separator(ch: char) -> bool {
    ch.is_whitespace() || "_-./".contains(ch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::meter;
    use crate::{FixOptions, Outcome, Schema, fix_with};
    use serde_json::json;

    /// Thousands of values may be looked up in a list of thousands.
    #[test]
    fn promise_7_long_lists_are_looked_at_once() {
        const ENTRIES: usize = 400;
        let options: Vec<String> = (0..ENTRIES).map(|number| format!("value_{number}")).collect();
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"enum": options}}}});
        let schema = Schema::new(&schema).unwrap();
        for count in [10, ENTRIES, 4 * ENTRIES] {
            let items: Vec<String> = (0..count).map(|number| format!("Value {}", number % ENTRIES)).collect();
            let text = json!({"a": items}).to_string();
            let options = FixOptions::new().schema(schema.clone());
            let (verdict, work) = meter::measure(|| fix_with(&text, &options).into_owned());
            assert_eq!(verdict.outcome(), Outcome::Mended, "{count}");
            assert!(work <= 2 * ENTRIES, "{work} comparisons for {count} values");
        }
    }

    #[test]
    fn exactly_one_member_must_fit() {
        let check = |options: Value, text: &str, expected: Option<Value>| {
            let options = options.as_array().unwrap();
            assert_eq!(find_option(options, text).cloned(), expected, "{text:?} among {options:?}");
            let index = OptionIndex::of(&Arc::new(options.clone().into()));
            assert_eq!(index.find(text).cloned(), expected, "{text:?} in an index of {options:?}");
        };
        check(json!(["red", "green"]), "Red", Some(json!("red")));
        check(json!(["in_progress", "done"]), "In Progress", Some(json!("in_progress")));
        check(json!(["inProgress", "done"]), "in-progress", Some(json!("inProgress")));
        check(json!(["C", "C++", "C#"]), "c++", Some(json!("C++")));
        check(json!(["C++", "C#"]), "c", None);
        check(json!(["-1", "2"]), "1", None);
        check(json!(["<", ">"]), "<=", None);
        check(json!([1, 2]), "2", Some(json!(2)));
        check(json!(["a", "A"]), " a ", Some(json!("a")));
        check(json!(["ab", "a_b"]), "A-B", None);
        check(json!(["red"]), "\"red\"", Some(json!("red")));
        check(json!(["pending", "done"]), "in_progress", None);
        check(json!([true, "no"]), "True", Some(json!(true)));
        check(json!(["1", "2", "10"]), "1.0", None);
        check(json!(["1m", "5m", "15m"]), "1.5m", None);
        check(json!(["v1", "v11"]), "v1.1", None);
        check(json!(["gpt4", "gpt5"]), "GPT-4", Some(json!("gpt4")));
    }
}
