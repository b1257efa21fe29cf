//! Helpers that the readers of requests share.

use std::borrow::Cow;

use crate::json::ValueRef;
use crate::protocol::Protocol;
use crate::request::{Block, Request, Untranslatable};

/// Returns the text of a member, unless it is missing or empty.
pub(crate) fn read_text(of: ValueRef<'_>, name: &str) -> Option<String> {
    of.get_lossy_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned)
}

/// Returns the value of a member that is a boolean.
pub(crate) fn read_flag(of: ValueRef<'_>, name: &str) -> Option<bool> {
    of.get_non_null(name).map(ValueRef::is_true)
}

/// Returns the elements of a member that is an array.
pub(crate) fn read_list<'v>(of: ValueRef<'v>, name: &str) -> impl Iterator<Item = ValueRef<'v>> {
    of.get_non_null(name).filter(|list| list.is_array()).into_iter().flat_map(ValueRef::items)
}

/// Keeps members that no other protocol knows, unless they are empty.
pub(crate) fn read_extra_members(
    root: ValueRef<'_>,
    protocol: Protocol,
    known: &[&str],
    request: &mut Request,
) {
    for item in root.items() {
        let key = item.key();
        let is_empty = item.is_null() || matches!(item.raw(), "[]" | "{}");
        if !is_empty && !known.contains(&&*key) {
            request.extra.push((protocol, key.into_owned(), item.raw().to_owned()));
        }
    }
}

/// Reads the sampling parameters, in the order in which they were written.
pub(crate) fn read_sampling(of: ValueRef<'_>, known: &[&str], request: &mut Request) {
    for item in of.items().filter(|item| !item.is_null()) {
        let key = item.key();
        if known.contains(&&*key) {
            request.sampling.push((key.into_owned(), item.raw().to_owned()));
        }
    }
}

/// Reads content that is either text or a list of parts.
pub(crate) fn read_content(
    view: Option<ValueRef<'_>>,
    mut read_part: impl FnMut(ValueRef<'_>) -> Result<Option<Block>, Untranslatable>,
) -> Result<Vec<Block>, Untranslatable> {
    let Some(view) = view.filter(|view| !view.is_null()) else { return Ok(Vec::new()) };
    if let Some(text) = view.lossy_text() {
        return Ok(if text.is_empty() { Vec::new() } else { vec![Block::Text(text.into_owned())] });
    }
    let mut out = Vec::new();
    for item in view.items() {
        match item.lossy_text() {
            Some(text) => out.push(Block::Text(text.into_owned())),
            None => out.extend(read_part(item)?),
        }
    }
    Ok(out)
}

/// The error for content that no other protocol has.
pub(crate) fn unknown_part(kind: &str) -> Untranslatable {
    Untranslatable::new(format!(
        "content of type {kind:?} cannot be translated for a server that speaks another protocol"
    ))
}

/// The error for files that only one vendor's servers hold.
pub(crate) fn file_by_id() -> Untranslatable {
    Untranslatable::new("a file id is known to one vendor only: send the file's data")
}

/// Returns the schema of a tool. A tool without parameters takes none.
pub(crate) fn read_schema(view: Option<ValueRef<'_>>) -> String {
    let given = view.filter(|view| view.is_object()).map(ValueRef::raw);
    given.unwrap_or(r#"{"type":"object","properties":{}}"#).to_owned()
}
