//! Earlier turns in requests, repaired for servers that parse them again.
//!
//! One bad call must not end a conversation: many servers parse the calls of earlier turns and reject the whole request for
//! one that is broken, or for a call without a result. Each protocol walks through its own list of messages; what happens
//! to a call or a result is decided by a [`HistoryMender`].

use std::borrow::Cow;

use crate::json::{Kind, ValueRef, array, quote};

/// Replaces the result of a call that has none.
pub(crate) const NO_RESULT: &str = "There is no result: the call was not run.";
/// Introduces a result whose call is missing.
const LOST_CALL: &str = "The result of an earlier tool call:\n";

/// Decides about the calls and results of earlier turns. `None` always means: it stays as it is.
pub trait HistoryMender {
    /// Returns arguments that a server can parse.
    fn mend_arguments(&self, tool: &str, text: &str) -> Option<String>;
    /// Returns an id that the server accepts.
    fn replace_id(&self, id: &str) -> Option<String>;
    /// Returns an assistant's text without the calls that leaked into it.
    fn strip_leaked_calls(&self, text: &str) -> Option<String>;
    /// Returns notes about how the call with this id was mended.
    fn notes_for(&self, id: &str) -> Option<String>;
}

/// What a protocol calls the members of a result.
pub(crate) struct ResultMembers {
    pub(crate) id: &'static str,
    pub(crate) content: &'static str,
    /// The type of a text part in the content.
    pub(crate) text_part: &'static str,
}

impl dyn HistoryMender + '_ {
    /// Mends arguments that travel as text.
    pub(crate) fn mend_text_arguments(&self, tool: &str, arguments: Option<ValueRef<'_>>) -> Option<String> {
        let Some(view) = arguments else { return Some("{}".to_owned()) };
        match view.kind() {
            Kind::String => view.text().and_then(|text| self.mend_arguments(tool, &text)),
            Kind::Object => Some(view.raw().to_owned()),
            _ => self.mend_arguments(tool, view.raw()),
        }
    }

    /// Mends arguments that travel as an object.
    pub(crate) fn mend_object_arguments(
        &self,
        tool: &str,
        arguments: Option<ValueRef<'_>>,
    ) -> Option<String> {
        let Some(view) = arguments else { return Some("{}".to_owned()) };
        let text = match view.kind() {
            Kind::Object => return None,
            _ => view.text().unwrap_or_else(|| view.raw().into()),
        };
        Some(self.mend_arguments(tool, &text).unwrap_or_else(|| text.into_owned()))
    }

    /// Mends the result of a call: its id, and notes in front of its content.
    pub(crate) fn mend_result(
        &self,
        item: ValueRef<'_>,
        id: &str,
        members: &ResultMembers,
    ) -> Option<String> {
        let mut changes = Vec::new();
        if let Some(new) = self.replace_id(id) {
            changes.push((members.id, Some(quote(&new))));
        }
        if let (Some(notes), Some(content)) = (self.notes_for(id), item.get(members.content))
            && let Some(content) = prepend_notes(content, &notes, members.text_part)
        {
            changes.push((members.content, Some(content)));
        }
        (!changes.is_empty()).then(|| item.with(&changes))
    }

    /// Mends a text of the assistant. Returns it as JSON.
    pub(crate) fn mend_text_member(&self, holder: ValueRef<'_>, name: &str) -> Option<String> {
        let text = self.strip_leaked_calls(&holder.get_text(name)?)?;
        Some(quote(if text.is_empty() { NO_RESULT } else { &text }))
    }
}

/// Mends every item. Returns all of them, and whether any changed.
pub(crate) fn mend_each<'d>(
    items: impl Iterator<Item = ValueRef<'d>>,
    mut mend: impl FnMut(ValueRef<'d>) -> Option<String>,
) -> (Vec<Cow<'d, str>>, bool) {
    let mut changed = false;
    let all = items.map(|item| {
        let mended = mend(item);
        changed |= mended.is_some();
        mended_or_raw(mended, item)
    });
    (all.collect(), changed)
}

/// Returns a mended item, or the item as it arrived. Histories are long and mostly unchanged, so unchanged items are
/// borrowed.
pub(crate) fn mended_or_raw(mended: Option<String>, item: ValueRef<'_>) -> Cow<'_, str> {
    mended.map_or_else(|| Cow::Borrowed(item.raw()), Cow::Owned)
}

/// Returns the text of a result whose call is missing, as JSON.
pub(crate) fn orphan_result_text(content: Option<ValueRef<'_>>) -> String {
    let text = content.and_then(ValueRef::text);
    let text = text.unwrap_or_else(|| content.map(ValueRef::raw).unwrap_or_default().into());
    quote(&format!("{LOST_CALL}{text}"))
}

/// Puts notes in front of a result that is text or a list of parts.
fn prepend_notes(content: ValueRef<'_>, notes: &str, text_part: &str) -> Option<String> {
    if let Some(text) = content.text() {
        // The client may send back what it received.
        return (!text.starts_with(notes)).then(|| quote(&format!("{notes}\n{text}")));
    }
    let first = format!(r#"{{"type":"{text_part}","text":{}}}"#, quote(notes));
    content
        .is_array()
        .then(|| array([first].into_iter().chain(content.items().map(|item| item.raw().to_owned()))))
}

/// Appends two turns to a list of messages: the model's answer, and the user's reply to it. Both are plain text, because a
/// server that parses the history would fail on the broken call itself.
pub(crate) fn append_turns(root: ValueRef<'_>, member: &str, answer: &str, reply: &str) -> Option<String> {
    let list = root.get(member)?;
    let mut all: Vec<String> = match list.text() {
        Some(text) => vec![format!(r#"{{"role":"user","content":{}}}"#, quote(&text))],
        None => list.items().map(|item| item.raw().to_owned()).collect(),
    };
    for (role, text) in [("assistant", answer), ("user", reply)] {
        all.push(format!(r#"{{"role":"{role}","content":{}}}"#, quote(text)));
    }
    Some(root.with(&[(member, Some(array(all)))]))
}
