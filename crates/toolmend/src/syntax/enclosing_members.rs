//! Members around a value in a text that no reader understood, if no schema says which words are keys.
//!
//! A schema names the keys, so `enclosing_structure` knows what the words beside a value are. Without one, only what prose
//! never has counts: a brace that is still open, a list of members on the same line, an assignment, a flag or an element
//! with more text in it. Taking the value out of such a text would drop everything else that was written.

use std::ops::Range;

use super::enclosing_structure::{is_member_word, member_on_line};
use crate::text_parts::{first_part, last_part};

/// More text than this on either side of a value is not searched.
const NEARBY: usize = 4096;

/// What the text around the value says that makes it one of several members.
pub(super) fn find_members(text: &str, value: &Range<usize>) -> Option<&'static str> {
    let before = last_part(&text[..value.start], NEARBY);
    let after = first_part(&text[value.end..], NEARBY);
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let line_after = after.split('\n').next().unwrap_or_default();
    if is_in_list_of_members(line_before, line_after) {
        return Some("other members are on the same line");
    }
    if is_in_assigned_text(line_before) || is_in_element(line_before, after) {
        return Some("it is in the value of a member");
    }
    follows_flag(line_before).then_some("it is in the arguments of a command")
}

/// `{:eta => true, :zeta => {"eps": 15}}`: what is inside an object that cannot be read is never the answer. Braces with
/// nothing between them are written twice.
// Case: syntax/object-in-an-unreadable-object
pub(super) fn is_in_open_brace(text: &str, value: &Range<usize>) -> bool {
    let before = last_part(&text[..value.start], NEARBY);
    let after = first_part(&text[value.end..], NEARBY);
    let mut open = Vec::new();
    for (at, byte) in before.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => drop(open.pop()),
            _ => {}
        }
    }
    let has_words = |at: &usize| before[at + 1..].contains(char::is_alphabetic);
    after.contains('}') && open.last().is_some_and(has_words)
}

/// `vars: {"A": "1"}, counts: {}`: a key before the value, and another member before or after both.
// Case: syntax/object-among-members-of-a-line
fn is_in_list_of_members(line_before: &str, line_after: &str) -> bool {
    let own = line_before.rsplit([',', ';']).next().unwrap_or_default();
    if !is_member(own, |value| value.trim_matches(['\'', '"']).is_empty()) {
        return false;
    }
    let earlier = line_before.get(..line_before.len() - own.len()).unwrap_or_default();
    let first = earlier.split([',', ';']).next().unwrap_or_default();
    let rest = line_after.trim_start_matches(['\'', '"', ' ']);
    let later = rest.strip_prefix([',', ';']).unwrap_or_default();
    is_member(first, |value| !value.is_empty()) || is_member(later, |value| !value.is_empty())
}

fn is_member(text: &str, has_value: fn(&str) -> bool) -> bool {
    member_on_line(text).is_some_and(|member| is_member_word(member.key) && has_value(member.value))
}

/// `sql = UPDATE t SET a = '{…}'`: an assignment of more than the value. A call is the value's own frame.
// Case: syntax/object-in-an-assigned-text
fn is_in_assigned_text(line_before: &str) -> bool {
    let Some(member) = member_on_line(line_before).filter(|member| is_member_word(member.key)) else {
        return false;
    };
    let separator = line_before.find(['=', ':']).map(|at| line_before.as_bytes()[at]);
    let text = member.value.trim_matches(['\'', '"']);
    separator == Some(b'=') && text.contains(char::is_alphabetic) && !text.contains('(')
}

/// `<sql>UPDATE t SET a = '{…}'</sql>`: an element that holds more than the value.
// Case: syntax/object-in-the-text-of-an-element
fn is_in_element(line_before: &str, after: &str) -> bool {
    let Some((name, text)) = line_before.trim_start().strip_prefix('<').and_then(|tag| tag.split_once('>'))
    else {
        return false;
    };
    let is_name = name.chars().all(|ch| ch.is_alphanumeric() || ch == '_');
    let is_frame =
        ["tool", "function", "think", "call", "invoke"].iter().any(|frame| name.starts_with(frame));
    let has_words = text.contains(char::is_alphabetic) && !text.contains('<');
    let closes = after.find("</").is_some_and(|at| after[at + 2..].starts_with(name));
    is_name && !is_frame && is_member_word(name) && has_words && closes
}

/// `--vars {"A": "1"}`: the value of a flag that is no word for arguments.
// Case: syntax/object-after-a-flag
fn follows_flag(line_before: &str) -> bool {
    let word = line_before.trim_end_matches([' ', '\'', '"', '=']).rsplit(' ').next().unwrap_or_default();
    let name = word.trim_start_matches(['\'', '"']).strip_prefix("--").unwrap_or_default();
    !matches!(name, "data" | "body" | "payload") && is_member_word(name)
}
