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

/// The member of an object that stands for arguments that nobody could read. One client writes it, too.
pub const UNPARSED_INPUT: &str = "__unparsedToolInput";
/// The member under which a model is shown arguments that it wrote and nobody could read.
pub const UNREADABLE_ARGUMENTS: &str = "unreadable_arguments";
const STUB_MARKS: [&str; 2] = [UNPARSED_INPUT, UNREADABLE_ARGUMENTS];

/// Decides about the calls and results of earlier turns. `None` always means: it stays as it is.
pub trait HistoryMender {
    /// Returns arguments that a server can parse.
    fn mend_arguments(&self, tool: &str, text: &str) -> Option<String>;
    /// Returns the tool that a call means, if it was sent under a name that no tool has.
    fn restore_name(&self, _name: &str) -> Option<String> {
        None
    }
    /// Returns an id that the server accepts.
    fn replace_id(&self, id: &str) -> Option<String>;
    /// Returns an assistant's text without the calls that leaked into it.
    fn strip_leaked_calls(&self, text: &str) -> Option<String>;
    /// Takes note of a call as it arrived, before its result is asked about.
    fn see_call(&self, id: &str, name: &str, arguments: &dyn Fn() -> String);
    /// Returns notes about how the call was mended that was seen last with this id.
    fn notes_for(&self, id: &str) -> Option<String>;
}

/// What a protocol calls the members of a result.
pub(crate) struct ResultMembers {
    pub(crate) id: &'static str,
    pub(crate) content: &'static str,
    /// The type of a text part in the content.
    pub(crate) text_part: &'static str,
    /// Writes the text of a result whose call is missing.
    pub(crate) write_orphan: fn(&str) -> String,
}

impl dyn HistoryMender + '_ {
    /// Takes note of a call whose arguments are text or an object.
    pub(crate) fn see(&self, id: Option<&str>, name: &str, arguments: Option<ValueRef<'_>>) {
        let read = || {
            let text = arguments.and_then(ValueRef::text_with_escapes).map(Cow::into_owned);
            text.unwrap_or_else(|| arguments.map_or("", ValueRef::raw).to_owned())
        };
        if let Some(id) = id {
            self.see_call(id, name, &read);
        }
    }

    /// Mends arguments that travel as text.
    pub(crate) fn mend_text_arguments(&self, tool: &str, arguments: Option<ValueRef<'_>>) -> Option<String> {
        let Some(view) = arguments else { return Some("{}".to_owned()) };
        match view.kind() {
            Kind::String => view.text_with_escapes().and_then(|text| self.mend_arguments(tool, &text)),
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
            // Only calls that were refused earlier are looked at: parsing every object again would cost too much.
            Kind::Object if STUB_MARKS.iter().any(|mark| view.raw().contains(mark)) => {
                return self.mend_arguments(tool, view.raw());
            }
            Kind::Object => return None,
            _ => view.text_with_escapes().unwrap_or_else(|| view.raw().into()),
        };
        Some(self.mend_arguments(tool, &text).unwrap_or_else(|| text.into_owned()))
    }

    /// Mends a result: its id, and notes in front of its content. If its call is missing, it becomes text.
    pub(crate) fn mend_result(
        &self,
        item: ValueRef<'_>,
        id: &str,
        has_call: bool,
        members: &ResultMembers,
    ) -> Option<String> {
        if !has_call {
            return Some((members.write_orphan)(&orphan_result_text(item.get(members.content))));
        }
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
        let text = self.strip_leaked_calls(&holder.get_lossy_text(name)?)?;
        Some(quote(if text.is_empty() { NO_RESULT } else { &text }))
    }
}

/// A list whose items are mended one after the other. Histories are long and mostly unchanged, so unchanged items are
/// borrowed.
#[derive(Debug, Default)]
pub(crate) struct MendedList<'d> {
    items: Vec<Cow<'d, str>>,
    changed: bool,
}

impl<'d> MendedList<'d> {
    /// Mends every item of a list.
    pub(crate) fn of(
        items: impl Iterator<Item = ValueRef<'d>>,
        mut mend: impl FnMut(ValueRef<'d>) -> Option<String>,
    ) -> MendedList<'d> {
        let mut list = MendedList::default();
        for item in items {
            list.push(item, mend(item));
        }
        list
    }

    /// Adds a mended item; `None`: as it arrived.
    pub(crate) fn push(&mut self, item: ValueRef<'d>, mended: Option<String>) {
        self.changed |= mended.is_some();
        self.items.push(mended.map_or_else(|| Cow::Borrowed(item.raw()), Cow::Owned));
    }

    /// Adds an item that did not arrive.
    pub(crate) fn push_new(&mut self, item: String) {
        self.changed = true;
        self.items.push(Cow::Owned(item));
    }

    /// Adds items that did not arrive in front of all others.
    pub(crate) fn prepend_new(&mut self, items: Vec<String>) {
        self.changed |= !items.is_empty();
        self.items.splice(0..0, items.into_iter().map(Cow::Owned));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the list as JSON. `None`: it stays as it is.
    pub(crate) fn into_json(self) -> Option<String> {
        self.changed.then(|| array(self.items))
    }
}

/// Returns the text of a result whose call is missing.
fn orphan_result_text(content: Option<ValueRef<'_>>) -> String {
    let text = content.and_then(ValueRef::lossy_text);
    let text = text.unwrap_or_else(|| content.map(ValueRef::raw).unwrap_or_default().into());
    format!("{LOST_CALL}{text}")
}

/// Writes a message of the user.
pub(crate) fn user_message(text: &str) -> String {
    plain_message("user", text)
}

fn plain_message(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":{}}}"#, quote(text))
}

/// Puts notes in front of a result that is text or a list of parts.
fn prepend_notes(content: ValueRef<'_>, notes: &str, text_part: &str) -> Option<String> {
    if let Some(text) = content.lossy_text() {
        // The client may send back what it received.
        return (!text.starts_with(notes)).then(|| quote(&format!("{notes}\n{text}")));
    }
    let first = format!(r#"{{"type":"{text_part}","text":{}}}"#, quote(notes));
    content
        .is_array()
        .then(|| array([first].into_iter().chain(content.items().map(|item| item.raw().to_owned()))))
}

/// Appends two turns to a list of messages: the model's answer, and the user's reply to it. Both are plain text, for servers that
/// know no calls.
pub(crate) fn append_turns(root: ValueRef<'_>, member: &str, answer: &str, reply: &str) -> Option<String> {
    append_messages(root, member, vec![plain_message("assistant", answer), user_message(reply)])
}

/// Appends messages to a list of them.
pub(crate) fn append_messages(root: ValueRef<'_>, member: &str, more: Vec<String>) -> Option<String> {
    let list = root.get(member)?;
    let mut all: Vec<String> = match list.lossy_text() {
        Some(text) => vec![user_message(&text)],
        None => list.items().map(|item| item.raw().to_owned()).collect(),
    };
    all.extend(more);
    Some(root.with(&[(member, Some(array(all)))]))
}
