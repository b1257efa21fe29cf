//! JSON members without the braces around them: `"path": "a.txt", "limit": 5`, on one line or on several.
//!
//! Only members that are strict are read here, whatever the schema; damaged ones are left to the reader.

use std::ops::Range;

use crate::json::strict;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::syntax::{Finish, ReadContext};

/// The edits that add the braces, if the body is strict with them.
// Case: syntax/members-without-braces
pub(super) fn find_edits(text: &str, body: &Range<usize>, context: &ReadContext<'_>) -> Option<Vec<Edit>> {
    let inner = text[body.clone()].trim();
    let start = body.start + text[body.clone()].len() - text[body.clone()].trim_start().len();
    // A number or a literal at the end may go on, unless something says that the text ended.
    let ended = context.finish == Finish::Stop || body.end < text.len();
    let open_end = inner.ends_with(|ch: char| ch.is_ascii_alphanumeric()) && !ended;
    if !inner.starts_with('"') || open_end || context.finish == Finish::Length {
        return None;
    }
    strict::check(&format!("{{{inner}}}"), context.policy.limits.depth).ok()?;
    let end = start + inner.len();
    Some(vec![
        Edit::new(start..start, "{", RepairKind::MissingOpenerAdded),
        Edit::new(end..end, "}", RepairKind::MissingCloserAdded),
    ])
}
