//! What the readers of requests share.

use std::borrow::Cow;

use super::request::{Block, Refused, Request, Wire};
use crate::wire::doc::View;

/// The text of a member, unless it is missing or empty.
pub(crate) fn text(of: View<'_>, name: &str) -> Option<String> {
    of.get_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned)
}

pub(crate) fn flag(of: View<'_>, name: &str) -> Option<bool> {
    of.some(name).map(View::is_true)
}

pub(crate) fn list<'v>(of: View<'v>, name: &str) -> impl Iterator<Item = View<'v>> {
    of.some(name).filter(|list| list.is_array()).into_iter().flat_map(View::items)
}

/// Members that nobody else knows stay with their surface. Those that say nothing are left out.
pub(crate) fn extras(root: View<'_>, wire: Wire, known: &[&str], request: &mut Request) {
    for item in root.items() {
        let key = item.key();
        let says = !item.is_null() && !matches!(item.raw(), "[]" | "{}");
        if says && !known.contains(&&*key) {
            request.extra.push((wire, key.into_owned(), item.raw().to_owned()));
        }
    }
}

/// The numbers that sampling is set by, in the order in which they stand.
pub(crate) fn knobs(of: View<'_>, known: &[&str], request: &mut Request) {
    for item in of.items().filter(|item| !item.is_null()) {
        let key = item.key();
        if known.contains(&&*key) {
            request.knobs.push((key.into_owned(), item.raw().to_owned()));
        }
    }
}

/// Content that is a text or a list of parts.
pub(crate) fn content(
    view: Option<View<'_>>,
    mut part: impl FnMut(View<'_>) -> Result<Option<Block>, Refused>,
) -> Result<Vec<Block>, Refused> {
    let Some(view) = view.filter(|view| !view.is_null()) else { return Ok(Vec::new()) };
    if let Some(text) = view.text() {
        return Ok(if text.is_empty() { Vec::new() } else { vec![Block::Text(text.into_owned())] });
    }
    let mut out = Vec::new();
    for item in view.items() {
        match item.text() {
            Some(text) => out.push(Block::Text(text.into_owned())),
            None => out.extend(part(item)?),
        }
    }
    Ok(out)
}

/// A part that no other surface has.
pub(crate) fn unknown_part(kind: &str) -> Refused {
    Refused::new(format!(
        "content of the type {kind:?} cannot be carried over to a server of another surface"
    ))
}

/// Something that lives on one vendor's servers.
pub(crate) fn file_id() -> Refused {
    Refused::new("a file by its id is known to one vendor only: send its data")
}

/// The schema of a tool; one without parameters takes none.
pub(crate) fn schema(view: Option<View<'_>>) -> String {
    let given = view.filter(|view| view.is_object()).map(View::raw);
    given.unwrap_or(r#"{"type":"object","properties":{}}"#).to_owned()
}
