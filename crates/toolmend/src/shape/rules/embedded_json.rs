//! An array or object inside a JSON string.
//!
//! Content is never repaired by guessing: the string always has the other reading, that of being text.

use std::borrow::Cow;

use crate::json::strict;
use crate::json::text::{compact_json, unquote};
use crate::patch::Patch;
use crate::policy::Policy;
use crate::repair::{RepairKind, Tier};
use crate::schema::guide::Guide;
use crate::syntax::{self, DoubtfulReading, Finish, Fuel, MendedText, ReadContext, Reading};

/// An array or object found in a string: its text as found, and the patches that make it strict.
#[derive(Debug)]
pub(super) struct EmbeddedJson {
    pub(super) text: String,
    pub(super) layers: Vec<Patch>,
}

/// Whether a string starts like an array or object.
pub(super) fn looks_like_container(content: &str) -> bool {
    content.trim_start().starts_with(['[', '{'])
}

/// Whether a text is one word that goes on after its first bracket, as patterns do: `[abc]*.go`, `{src,test}/**/*.ts`. No array
/// and no object does.
// Case: shape/pattern-for-list
pub(super) fn is_pattern(content: &str) -> bool {
    let content = content.trim();
    let (closer, other_marks) = match content.as_bytes().first() {
        Some(b'[') => (']', ['[', ',']),
        Some(b'{') => ('}', ['{', ':']),
        _ => return false,
    };
    let Some((inside, after)) = content[1..].split_once(closer) else { return false };
    let is_one_word = !content.contains(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`'));
    let goes_on = after.starts_with(|ch: char| !matches!(ch, ',' | ';' | ':' | ']' | '}'))
        && after.ends_with(|ch: char| ch.is_alphanumeric() || "*+?$/".contains(ch));
    is_one_word && goes_on && !inside.is_empty() && !inside.contains(other_marks)
}

/// Reads the content of a string as an array or object. Slightly broken content is mended, but bare words in it prove
/// nothing and are not quoted.
pub(super) fn read_container(content: &str, policy: &Policy) -> Option<EmbeddedJson> {
    let content = &*without_encodings(content.trim());
    if !looks_like_container(content) {
        return None;
    }
    if strict::check(content, policy.limits.depth).is_ok() {
        return Some(EmbeddedJson { text: content.to_owned(), layers: Vec::new() });
    }
    let careful = policy.clone().max_tier(Tier::Guided).without(RepairKind::ValueQuoted);
    let guide = Guide::default();
    let finish = Finish::Stop;
    let fuel = &Fuel::for_text(content);
    let reader = ReadContext {
        guide: &guide,
        policy: &careful,
        finish,
        tool: None,
        main_field: None,
        explains: false,
        fuel,
    };
    let mended = match syntax::read(content, &reader) {
        Reading::One(mended) => mended,
        Reading::Doubtful(doubtful) => close_brackets(content, *doubtful)?,
        Reading::Several(_) | Reading::Cut(_) | Reading::Refused(_) => return None,
    };
    let is_sure =
        mended.layers.iter().flat_map(Patch::edits).all(|edit| {
            careful.allows(edit.kind) && edit.kind.tier() <= Tier::Guided && !drops_text(edit.kind)
        });
    (is_sure && looks_like_container(&mended.text))
        .then(|| EmbeddedJson { text: content.to_owned(), layers: mended.layers })
}

/// The reading of a text that only lacks closing brackets, if no other text is as near. A text that ends in anything but a
/// bracket may have been cut inside a value.
// Case: shape/bracket-lost-in-a-string
// Case: shape/list-cut-in-a-string
fn close_brackets(content: &str, doubtful: DoubtfulReading) -> Option<MendedText> {
    let DoubtfulReading { own: Reading::One(own), corrected, incomplete: false, .. } = doubtful else {
        return None;
    };
    let lacks_closers = own
        .layers
        .iter()
        .flat_map(Patch::edits)
        .all(|edit| !edit.kind.info().is_guess || edit.kind == RepairKind::MissingCloserAdded);
    let value = compact_json(&own.text);
    let has_rival =
        corrected.iter().any(|other| !other.completes && compact_json(&other.mended.text) != value);
    (content.ends_with(['}', ']']) && lacks_closers && !has_rival).then_some(own)
}

/// The content of a string that holds nothing but another string, once or twice.
// Case: shape/list-encoded-twice
fn without_encodings(content: &str) -> Cow<'_, str> {
    const MAX_ENCODINGS: usize = 3;
    let mut content = Cow::Borrowed(content);
    for _ in 0..MAX_ENCODINGS {
        if !content.starts_with('"') || strict::check_string(content.as_bytes(), 0) != Ok(content.len()) {
            break;
        }
        content = Cow::Owned(unquote(&content).trim().to_owned());
    }
    content
}

/// Words beside an array in a string are content like the rest of it: `[1, 2] except 2`.
// Case: shape/words-beside-a-list-in-a-string
fn drops_text(kind: RepairKind) -> bool {
    matches!(kind, RepairKind::ProseRemoved | RepairKind::CommentRemoved)
}
