//! JSON inside a JSON string.

use crate::json::strict;
use crate::patch::Patch;
use crate::policy::Policy;
use crate::repair::{RepairKind, Tier};
use crate::schema::guide::Guide;
use crate::syntax::{self, Ask, Finish, Reading};

/// An array or object found in a string: the text as it stood there, and the patches that make it strict.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) text: String,
    pub(crate) layers: Vec<Patch>,
}

/// Whether a string sets out to be an array or object.
pub(crate) fn looks_like_container(content: &str) -> bool {
    content.trim_start().starts_with(['[', '{'])
}

/// Reads the content of a string as an array or object. Slightly broken content is mended, but never by
/// guessing: a string has the reading of being text, so bare words in it prove nothing.
pub(crate) fn read(content: &str, policy: &Policy) -> Option<Embedded> {
    let content = content.trim();
    if !looks_like_container(content) {
        return None;
    }
    if strict::check(content, policy.limits.depth).is_ok() {
        return Some(Embedded { text: content.to_owned(), layers: Vec::new() });
    }
    let careful = policy.clone().max_tier(Tier::Guided).without(RepairKind::ValueQuoted);
    let guide = Guide::default();
    let ask = Ask { guide: &guide, policy: &careful, finish: Finish::Stop, tool: None, main_field: None };
    let Reading::One(mended) = syntax::read(content, &ask) else { return None };
    let sure = mended
        .layers
        .iter()
        .flat_map(Patch::edits)
        .all(|edit| careful.allows(edit.kind) && edit.kind.tier() <= Tier::Guided);
    (sure && looks_like_container(&mended.text))
        .then(|| Embedded { text: content.to_owned(), layers: mended.layers })
}
