//! Nothing is lost: text that is dropped as prose must not read as a value.
//!
//! Every word of the input is in the value, or a named repair dropped it. Prose may be dropped. A member, an object or an
//! array beside the value is not prose but a second reading, and then nothing may be dropped at all.

use crate::patch::Patch;
use crate::repair::RepairKind;

/// The first piece of text that this patch drops as prose and that reads as a member, an object or an array.
// Case: syntax/member-beside-the-value
pub(super) fn dropped_value<'t>(text: &'t str, patch: &Patch) -> Option<&'t str> {
    if let Some(comment) = closing_comment(text, patch) {
        return Some(clip(comment));
    }
    let prose = patch.edits().iter().filter(|edit| edit.kind == RepairKind::ProseRemoved);
    prose.map(|edit| &text[edit.start..edit.end]).find_map(value_in_prose).map(clip)
}

/// A comment after the value that ends in a quote and closers. They may be those of the value, and the comment text of its last
/// string: `"content": "d = {"k": "v"}  # note"}`.
// Case: syntax/comment-or-end-of-a-string
fn closing_comment<'t>(text: &'t str, patch: &Patch) -> Option<&'t str> {
    let last = patch.edits().last().filter(|edit| edit.kind == RepairKind::CommentRemoved)?;
    let comment = &text[last.start..last.end];
    let body = comment.trim_end();
    let open = body.trim_end_matches(['}', ']', ')', ' ', '\n', '\r', '\t']);
    (open.len() < body.len() && open.ends_with(['"', '\'', '`'])).then_some(comment)
}

/// Where prose holds a quoted key with its colon and a value. The value may not be left out: `{"a": ...}` shows a form.
fn value_in_prose(prose: &str) -> Option<&str> {
    let bytes = prose.as_bytes();
    // Case: syntax/assignments-beside-the-value
    let assigns = memchr::memchr_iter(b'=', bytes).find(|&at| {
        let named = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        named && matches!(bytes.get(at + 1), Some(b'"' | b'\'' | b'0'..=b'9'))
    });
    if let Some(at) = assigns {
        return Some(&prose[at..]);
    }
    for at in memchr::memchr_iter(b'"', bytes) {
        let colon = crate::json::strict::skip_whitespace(bytes, at + 1);
        let is_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let closes_key = bytes.get(colon) == Some(&b':') && is_word;
        let value = crate::json::strict::skip_whitespace(bytes, colon + 1);
        let has_value =
            matches!(bytes.get(value), Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'));
        if closes_key && has_value {
            return Some(&prose[at..]);
        }
    }
    None
}

/// The start of a text, for a message.
fn clip(text: &str) -> &str {
    let end = text.char_indices().nth(24).map_or(text.len(), |(end, _)| end);
    &text[..end]
}
