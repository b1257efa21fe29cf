//! Edits that the text beside them speaks against.
//!
//! An edit is right if nothing else explains the same bytes. Each rule here names bytes that have another explanation which
//! is as good: a value that was taken for white space, a separator that was written twice, a backslash that may be text, a
//! bracket that has nothing between itself and its partner. Then no edit is the answer. The rules look at the text and at the
//! edits, never at the schema, apart from objects that it does not declare.

use super::value_form::{self, ValueForm};
use super::{MendedText, ReadContext};
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::SchemaPosition;
use crate::text_parts::{part_after, part_before};

/// More text than this on either side of an edit is not searched.
const NEARBY: usize = 1024;

/// One patch of a reading, and the text that it changes.
struct Edited<'a> {
    text: &'a str,
    edits: &'a [Edit],
    context: &'a ReadContext<'a>,
}

/// One rule, and what a refusal says.
struct Rule {
    disputes: fn(&Edited<'_>) -> bool,
    message: &'static str,
}

const RULES: &[Rule] = &[
    Rule { disputes: erases_value, message: "what was taken for white space may be the value" },
    Rule { disputes: moves_stray_character, message: "a character beside a quote may be text or not" },
    Rule { disputes: repeats_separator, message: "a quote and a mark after it may be written twice" },
    Rule { disputes: repeats_piece, message: "a piece of the text may be written twice" },
    Rule { disputes: closes_after_escaped_quote, message: "an escaped quote may be the end of the string" },
    Rule { disputes: drops_text_backslash, message: "a backslash before a quote may be text" },
    Rule { disputes: drops_text_quote, message: "a quote beside another may be text" },
    Rule { disputes: quotes_structure, message: "a value without quotes holds structure" },
    Rule { disputes: invents_container, message: "nothing is written where a value belongs" },
    Rule { disputes: opens_by_closer, message: "a closing bracket may be one too many" },
    Rule { disputes: pairs_elements, message: "two elements in braces may be a list in the wrong brackets" },
    Rule { disputes: splits_member, message: "a member in an array may be a lost bracket" },
];

/// Why an edit of this reading is not the answer.
pub(super) fn find_dispute(
    text: &str,
    mended: &MendedText,
    context: &ReadContext<'_>,
) -> Option<&'static str> {
    let mut current = std::borrow::Cow::Borrowed(text);
    for (index, patch) in mended.layers.iter().enumerate() {
        let edited = Edited { text: &current, edits: patch.edits(), context };
        if let Some(rule) = RULES.iter().find(|rule| (rule.disputes)(&edited)) {
            return Some(rule.message);
        }
        if index + 1 < mended.layers.len() {
            current = std::borrow::Cow::Owned(patch.apply(&current));
        }
    }
    if opens_object_late(mended, context) {
        return Some("the object before a member may have been closed too early");
    }
    closes_undeclared_object(mended, context).then_some("an object that nobody declared may end elsewhere")
}

impl<'a> Edited<'a> {
    fn of(&self, kind: RepairKind) -> impl Iterator<Item = &'a Edit> {
        self.edits.iter().filter(move |edit| edit.kind == kind)
    }

    /// What is before a position. One that a rule computed may be inside a character.
    // Case: syntax/quote-beside-a-wide-character
    fn before(&self, at: usize) -> &'a str {
        part_before(self.text, at, NEARBY)
    }

    fn after(&self, at: usize) -> &'a str {
        part_after(self.text, at, NEARBY)
    }
}

/// `"pattern": \n"`: where a value has to come, the escape is the value, and its opening quote is lost.
// Case: syntax/line-break-or-value
// Case: syntax/comment-or-value
fn erases_value(edited: &Edited<'_>) -> bool {
    let is_quote = |edit: &Edit| {
        matches!(edit.kind, RepairKind::MissingQuoteAdded | RepairKind::MarkCorrected) && edit.with == "\""
    };
    let is_trivia =
        |edit: &Edit| matches!(edit.kind, RepairKind::LiteralWhitespaceRemoved | RepairKind::CommentRemoved);
    let owes_value = |text: &str| text.ends_with([':', '[', '=']);
    // The text between the quotes is removed, and nothing is left.
    let empties = |pair: &[Edit]| {
        is_quote(&pair[0])
            && is_trivia(&pair[1])
            && edited.text[pair[0].end..pair[1].start].trim().is_empty()
            && owes_value(strip_trivia(edited.before(pair[0].start)))
    };
    let leads = |edit: &Edit| {
        // The lone quote may be taken for the opening one.
        let before = edited.before(edit.start);
        let before = before.strip_suffix('"').unwrap_or(before);
        let left = strip_trivia(before);
        left.len() < before.trim_end().len() && owes_value(left)
    };
    edited.edits.windows(2).any(empties) || edited.edits.iter().any(|edit| is_quote(edit) && leads(edit))
}

/// The text without the comments and the escapes of white space at its end.
fn strip_trivia(text: &str) -> &str {
    let mut left = text.trim_end();
    loop {
        let comment = left.strip_suffix("*/").and_then(|body| Some(&body[..body.rfind("/*")?]));
        let escape = ["\\n", "\\r", "\\t"].iter().find_map(|escape| left.strip_suffix(escape));
        match comment.or(escape.map(|body| body.trim_end_matches('\\'))) {
            Some(shorter) => left = shorter.trim_end(),
            None => return left,
        }
    }
}

/// `"foo"/` and a control character outside the quotes may be stray. Only letters and digits must have been inside.
// Case: syntax/stray-character-beside-a-quote
fn moves_stray_character(edited: &Edited<'_>) -> bool {
    let is_stray =
        |ch: char| !ch.is_ascii_alphanumeric() && !ch.is_ascii_whitespace() && !"\"'\\_,:{}[]".contains(ch);
    let mut swapped = edited.of(RepairKind::MarksSwapped).map(|edit| &edited.text[edit.start..edit.end]);
    // A path may have lost its first mark to the other side of its opening quote.
    swapped.any(|marks| marks.contains('"') && marks.contains(is_stray) && !marks.starts_with(['/', '.']))
}

/// The strings that start with a raw quote or have one later, with the opening quote: `(open, first inner quote)`.
fn first_inner_quotes<'a>(edited: &'a Edited<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut last_end = 0;
    edited.of(RepairKind::InnerQuoteEscaped).filter_map(move |edit| {
        let text = edited.text.get(last_end..edit.start)?;
        let open = text.rfind('"').map(|open| last_end + open);
        last_end = edit.end.max(edit.start + 1).min(edited.text.len());
        open.filter(|&open| edited.before(open).trim_end().ends_with(':')).map(|open| (open, edit.start))
    })
}

/// `"pattern": "": "foo"`: the text between key and value twice.
// Case: syntax/separator-twice
fn repeats_separator(edited: &Edited<'_>) -> bool {
    first_inner_quotes(edited).any(|(open, inner)| {
        inner == open + 1 && edited.after(inner + 1).trim_start().starts_with([':', ','])
    })
}

/// `"path": "a"path": "a"`: what is before the quote follows it again, from the key or from the value on.
// Case: syntax/member-twice-in-a-string
fn repeats_piece(edited: &Edited<'_>) -> bool {
    let text = edited.text;
    first_inner_quotes(edited).filter(|&(open, inner)| inner > open + 1).any(|(open, inner)| {
        let lead = edited.before(open).trim_end().trim_end_matches(':').trim_end();
        let key = lead.strip_suffix('"').and_then(|lead| lead.rfind('"').map(|at| lead.len() + 1 - at));
        let lead_end = text[..open].trim_end().trim_end_matches(':').trim_end().len();
        let key = key.and_then(|length| lead_end.checked_sub(length));
        let starts = [Some(open), Some(open + 1), key, key.map(|key| key + 1)];
        let again = text.get(inner + 1..).unwrap_or_default();
        starts
            .into_iter()
            .flatten()
            .filter_map(|start| text.get(start..=inner))
            .any(|piece| piece.len() > 2 && again.starts_with(piece))
    })
}

/// Where a text has its last quote that no backslash escapes, and how many escaped ones are after it.
fn last_open_quote(before: &str, quote: char) -> Option<(usize, usize)> {
    let mut quotes = before.rmatch_indices(quote).enumerate();
    let is_open = |(_, (at, _)): &(usize, (usize, &str))| !ends_in_backslash(&before[..*at]);
    quotes.find(is_open).map(|(escaped, (at, _))| (at, escaped))
}

/// Whether the text ends in a backslash that escapes what follows.
fn ends_in_backslash(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

/// `'C:\dir\', 'path'`: no reading wants the quote as text. It is the delimiter, and the backslash before it is text.
// Case: syntax/backslash-before-the-last-apostrophe
fn closes_after_escaped_quote(edited: &Edited<'_>) -> bool {
    edited.of(RepairKind::MissingQuoteAdded).any(|edit| {
        let before = edited.before(edit.start);
        let Some(quote) = before.chars().next_back().filter(|quote| matches!(quote, '"' | '\'')) else {
            return false;
        };
        let is_odd = || last_open_quote(before, quote).is_some_and(|(_, escaped)| escaped % 2 == 1);
        ends_in_backslash(&before[..before.len() - 1]) && is_odd()
    })
}

/// `"C:\dir\","path"`: in a text with backslashes the last one is text as well, and a lone one may be the whole text. A path, and
/// an item of a list, may end in one.
// Case: syntax/backslash-before-the-last-quote
// Case: syntax/lone-backslash
// Case: syntax/folder-with-its-last-backslash
fn drops_text_backslash(edited: &Edited<'_>) -> bool {
    edited.of(RepairKind::DelimiterUnescaped).any(|edit| {
        let closes = edited.after(edit.end + 1).trim_start().starts_with([',', ':', '}', ']']);
        let before = edited.before(edit.start);
        let Some((open, _)) = last_open_quote(before, '"').filter(|_| closes) else { return false };
        let content = &before[open + 1..];
        let is_key = edited.after(edit.end + 1).trim_start().starts_with(':');
        let may_end_so = || match before[..open].trim_end().strip_suffix(':') {
            Some(lead) => {
                let key = lead.trim_end().trim_end_matches(['"', '\'']);
                let key = key.rsplit(['"', '\'', '{', ',', ' ']).next().unwrap_or_default();
                // A file has its extension at the end.
                let name = content.rsplit(['/', '\\']).next().unwrap_or_default();
                let is_file = name.trim_start_matches('.').contains('.');
                !is_file && value_form::of_field(key, SchemaPosition::ANY, edited.context) == ValueForm::Path
            }
            None => true,
        };
        content.is_empty()
            || has_text_backslash(content)
            || !is_key && !content.contains('\n') && may_end_so()
    })
}

/// Whether a text has a backslash that is no escape, or one after a drive.
fn has_text_backslash(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let next = rest[at + 1..].chars().next();
        if !next.is_some_and(|next| "\"\\/bfnrtu".contains(next)) || rest[..at].ends_with(':') {
            return true;
        }
        rest = &rest[at + 1 + next.map_or(0, char::len_utf8)..];
    }
    false
}

/// `""[^\"]*\""`: the escaped quote at the other end shows that the text has a quote here. After a backslash, a quote is
/// text whose own backslash was lost.
// Case: syntax/quote-at-both-ends-of-a-pattern
// Case: syntax/quote-twice-after-a-backslash
// Case: syntax/third-quote-without-its-backslash
fn drops_text_quote(edited: &Edited<'_>) -> bool {
    edited.of(RepairKind::DoubledQuoteRemoved).any(|edit| {
        if stands_among_escaped_quotes(edited, edit) {
            return true;
        }
        let is_first = edited.text[edit.end..].starts_with('"');
        let start = if is_first { edit.start } else { edit.start.saturating_sub(1) };
        let (Some(pair), before) = (edited.text.get(start..start + 2), edited.before(start)) else {
            return false;
        };
        if pair != "\"\"" {
            return false;
        }
        if !before.trim_end().ends_with([':', ',', '[', '{', '=', '(']) {
            return before.ends_with('\\') && !ends_in_backslash(before);
        }
        let content = edited.after(start + 2);
        let mut quotes = content.match_indices('"').filter(|(at, _)| !ends_in_backslash(&content[..*at]));
        let content = quotes.next().map_or("", |(end, _)| &content[..end]);
        let Some(first) = content.find("\\\"") else { return false };
        // `say \"hi\"` has a pair of its own.
        let opens = content[..first].ends_with(|ch: char| ch.is_whitespace() || "=([{,:>".contains(ch));
        content.ends_with("\\\"") && !opens && first > 0
    })
}

/// `\""\"Return`: beside escaped quotes, and inside the string, a quote is one of theirs that lost its backslash.
fn stands_among_escaped_quotes(edited: &Edited<'_>, edit: &Edit) -> bool {
    let (before, after) = (edited.before(edit.start), edited.after(edit.end));
    let is_quote = |ch: char| matches!(ch, '"' | '\\');
    let run = after.trim_start_matches(is_quote);
    let is_inside = !run.trim_start().is_empty() && !run.trim_start().starts_with([',', ':', '}', ']']);
    let quotes = |text: &str| text.chars().filter(|ch| *ch == '"').count();
    let text_before = before.trim_end_matches(is_quote);
    // Two quotes are one that was written twice.
    let is_third = quotes(&before[text_before.len()..]) + quotes(&after[..after.len() - run.len()]) > 1;
    let is_beside = before.ends_with("\\\"") || after.starts_with("\\\"");
    is_third && is_beside && is_inside && !text_before.trim_end().ends_with([',', ':', '[', '{'])
}

/// `1500\, "price"` and `true٬"context":4`: the mark that ends the value was damaged, and what follows is no text.
// Case: syntax/backslash-after-a-bare-value
// Case: syntax/member-in-a-bare-value
fn quotes_structure(edited: &Edited<'_>) -> bool {
    let mut marks = edited.of(RepairKind::ValueQuoted).filter(|edit| edit.start == edit.end);
    while let (Some(open), Some(close)) = (marks.next(), marks.next()) {
        let Some(value) = edited.text.get(open.start..close.start) else { continue };
        let has_key = value
            .match_indices('"')
            .any(|(at, _)| at > 0 && value[at + 1..].trim_start_matches(' ').starts_with(':'));
        if has_key || value.ends_with('\\') {
            return true;
        }
    }
    false
}

/// `"eta": }` and `[1], ],` have no value, and `["x"], 4007]` may have a closer too many.
// Case: syntax/closer-without-a-value
// Case: syntax/closer-in-the-middle-of-a-list
fn invents_container(edited: &Edited<'_>) -> bool {
    edited.of(RepairKind::MissingOpenerAdded).any(|edit| {
        let (before, after) = (edited.before(edit.start), edited.after(edit.start));
        let is_doubled = after.trim_start().starts_with('[') || before.trim_end().ends_with('[');
        // `[[1], 2], [3]]`: the bracket before it may be too many.
        // Case: syntax/bracket-too-many-in-a-row
        let is_doubled = is_doubled
            || before.trim_end().strip_suffix(',').is_some_and(|list| list.trim_end().ends_with(']'));
        let is_empty = after.trim_start().starts_with(']') && before.trim_end().ends_with([',', '[']);
        edit.with == "{" && after.trim_start().starts_with('}')
            || edit.with == "[" && (is_doubled || is_empty)
    })
}

/// `"tags": []},{"id": 2}`: a closing bracket that was taken for an opening one.
// Case: syntax/closer-taken-for-an-opener
fn opens_by_closer(edited: &Edited<'_>) -> bool {
    edited.of(RepairKind::MarkCorrected).any(|edit| {
        edited.text[edit.start..edit.end].starts_with([']', '}']) && edit.with.starts_with(['[', '{'])
    })
}

/// `{"a", "b"}`: a set, or a list in the wrong brackets. A declared key shows that the comma is the mistyped mark.
// Case: syntax/two-strings-in-braces
fn pairs_elements(edited: &Edited<'_>) -> bool {
    let is_pair = |edit: &&Edit| edit.with == ":" && edited.text[edit.start..edit.end] == *",";
    edited.of(RepairKind::MarkCorrected).filter(is_pair).any(|edit| {
        let before = edited.before(edit.start).trim_end();
        let Some(key) = before.strip_suffix('"') else { return false };
        let Some((open, _)) = last_open_quote(key, '"') else { return false };
        let after = edited.after(edit.end).trim_start();
        let value_end = after.strip_prefix('"').and_then(|value| value.find('"').map(|end| end + 2));
        let is_last =
            value_end.and_then(|end| after.get(end..)).is_some_and(|rest| rest.trim_start().starts_with('}'));
        let guide = edited.context.guide;
        let is_declared = guide.declares_key(guide.root(), &key[open + 1..]);
        key[..open].trim_end().ends_with('{') && is_last && !is_declared
    })
}

/// `[1, 2, "labels": ["a"]]`: a key with its value after numbers, or with a list for its value, is no pair of elements.
// Case: syntax/member-after-numbers
fn splits_member(edited: &Edited<'_>) -> bool {
    let is_split = |edit: &&Edit| edit.with == "," && edited.text[edit.start..edit.end] == *":";
    edited.of(RepairKind::MarkCorrected).filter(is_split).any(|edit| {
        let key = edited.before(edit.start).trim_end();
        let Some((open, _)) = key.strip_suffix('"').and_then(|key| last_open_quote(key, '"')) else {
            return false;
        };
        let before = key[..open].trim_end();
        let after_other =
            before.strip_suffix(',').is_some_and(|list| !list.trim_end().ends_with(['"', '\'']));
        after_other || !edited.after(edit.end).trim_start().starts_with(['"', '\''])
    })
}

/// `[{"id": 1}, "name": "a"}]`: an object was opened for members that the object before it does not have. They may be its own.
// Case: syntax/object-closed-before-its-last-member
fn opens_object_late(mended: &MendedText, context: &ReadContext<'_>) -> bool {
    if context.guide.declares(context.guide.root()) {
        return false;
    }
    let mut starts = Vec::new();
    for (layer, patch) in mended.layers.iter().enumerate() {
        for (index, edit) in patch.edits().iter().enumerate() {
            if edit.kind == RepairKind::MissingOpenerAdded && edit.with == "{" {
                let later = &mended.layers[layer + 1..];
                starts.push(later.iter().fold(patch.start(index), |at, patch: &Patch| patch.target(at)));
            }
        }
    }
    if starts.is_empty() {
        return false;
    }
    let tree = Tree::of_strict(&mended.text);
    (1..tree.nodes.len()).filter(|&id| starts.contains(&tree.nodes[id].span.start)).any(|id| {
        let Some(parent) = tree.nodes[id].parent.filter(|&parent| tree.nodes[parent].kind == Kind::Array)
        else {
            return false;
        };
        let before = tree.children(parent).take_while(|&child| child != id).last();
        before.filter(|&before| tree.nodes[before].kind == Kind::Object).is_some_and(|before| {
            let keys: Vec<_> = tree.children(before).filter_map(|child| tree.key(child)).collect();
            !tree.children(id).filter_map(|child| tree.key(child)).any(|key| keys.contains(&key))
        })
    })
}

/// `{"arguments": {"title": "a"}, "body": …`: a closer was put where the keys of the schema begin, but the object around them
/// may go on.
// Case: syntax/closer-of-an-undeclared-object
fn closes_undeclared_object(mended: &MendedText, context: &ReadContext<'_>) -> bool {
    let guide = context.guide;
    if !guide.declares(guide.root()) {
        return false;
    }
    let mut ends = Vec::new();
    for (layer, patch) in mended.layers.iter().enumerate() {
        for (index, edit) in patch.edits().iter().enumerate() {
            if edit.kind == RepairKind::MissingCloserAdded && edit.with.starts_with('}') {
                let later = &mended.layers[layer + 1..];
                ends.push(later.iter().fold(patch.start(index), |at, patch: &Patch| patch.target(at)) + 1);
            }
        }
    }
    if ends.is_empty() {
        return false;
    }
    let tree = Tree::of_strict(&mended.text);
    (1..tree.nodes.len()).any(|id| {
        let node = &tree.nodes[id];
        let is_followed = || mended.text[node.span.end..].trim_start().starts_with(',');
        node.kind == Kind::Object
            && node.parent == Some(0)
            && ends.contains(&node.span.end)
            && is_followed()
            && tree.key(id).is_some_and(|key| !guide.declares_key(guide.root(), &key))
    })
}

/// Whether strict text has an escape that models write only by accident: `\\b`, `\\f` or `\\r` before a letter is a piece of a
/// path or of a pattern.
// Case: syntax/path-in-an-over-escaped-text
pub(super) fn has_rare_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        at += offset;
        let is_rare = matches!(bytes.get(at + 1), Some(b'b' | b'f' | b'r'));
        if is_rare && bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric) {
            return true;
        }
        at = (at + 2).min(bytes.len());
    }
    false
}
