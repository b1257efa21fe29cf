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

/// Spellings to compare, strictest first. A match of a later one never competes with a match of an earlier one.
const ALIKE: [fn(&str) -> String; 3] =
    [|text| unquoted(text).to_owned(), |text| unquoted(text).to_lowercase(), |text| joined(unquoted(text))];

/// The one option that the text spells.
fn find_option<'v>(options: &'v [Value], text: &str) -> Option<&'v Value> {
    for spell in ALIKE {
        let text = spell(text);
        let mut found = options.iter().filter(|option| match option {
            Value::String(word) => spell(word) == text,
            Value::Number(number) => number.to_string() == text,
            Value::Bool(flag) => flag.to_string() == text,
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

/// Lower case, without separators between letters and digits. A sign or symbol at either end stays: `-1` is not `1`,
/// and `C+` is not `C`.
fn joined(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |at: Option<&char>| at.is_some_and(|ch| ch.is_alphanumeric());
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let mut end = at;
        while chars.get(end).is_some_and(|ch| ch.is_whitespace() || "_-./".contains(*ch)) {
            end += 1;
        }
        let between = at > 0 && is_word(chars.get(at - 1)) && is_word(chars.get(end));
        if end > at && between {
            at = end;
            continue;
        }
        out.extend(chars[at].to_lowercase());
        at += 1;
    }
    out
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
    }
}
