//! Values of a list, written with other case, spacing, separators or quotes.
//!
//! A value is only matched if exactly one entry of the list is spelled like it. The closest entry is never guessed.

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
    let options: &[Value] = match &mismatch.fault.wants {
        Wants::OneOf(options) => options.as_array()?,
        Wants::Exactly(value) => std::slice::from_ref(&**value),
        _ => return None,
    };
    let text = match mismatch.kind() {
        Kind::String => mismatch.string()?,
        Kind::Number | Kind::Bool => mismatch.source().into(),
        _ => return None,
    };
    let with = find_option(options, &text)?.to_string();
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

/// Longer texts, in bytes, are no entry of a list in another spelling.
const MAX_LENGTH: usize = 256;

/// The one option that the text spells.
fn find_option<'v>(options: &'v [Value], text: &str) -> Option<&'v Value> {
    let text = Some(unquoted(text)).filter(|text| text.len() <= MAX_LENGTH)?;
    for is_alike in ALIKE {
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
    use serde_json::json;

    #[test]
    fn exactly_one_member_must_fit() {
        let check = |options: Value, text: &str, expected: Option<Value>| {
            let options = options.as_array().unwrap();
            assert_eq!(find_option(options, text).cloned(), expected, "{text:?} among {options:?}");
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
