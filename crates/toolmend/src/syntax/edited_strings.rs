//! What the edits inside one string say about it.
//!
//! A string is written in one notation, and its quotes pair up. Edits that leave some of its quotes escaped and others raw,
//! that count an odd number of them, or that find separators between two quotes explain only a part of it. Such a reading is
//! not the answer, but it is as good a rival of other readings as it was.

use std::borrow::Cow;

use super::implausible_reading::Evidence;
use super::number;
use super::other_meaning::is_elision;
use super::value_form::{self, ValueForm};
use super::{MendedText, ReadContext};
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::SchemaPosition;

/// A string of the reading, as it was written and as it was read.
struct EditedString<'a> {
    text: Cow<'a, str>,
    /// What the string was made from, with its delimiters.
    source: &'a str,
    /// Where the source starts.
    start: usize,
    edits: Vec<&'a Edit>,
    form: ValueForm,
}

/// One rule, and what a refusal says.
struct Rule {
    objects: fn(&EditedString<'_>) -> bool,
    message: &'static str,
}

const RULES: &[Rule] = &[
    Rule { objects: keeps_half_an_escape, message: "a quote may be missing after a backslash" },
    Rule {
        objects: decodes_half_a_path,
        message: "a backslash of a path may be text, and the one before it is",
    },
    Rule {
        objects: mixes_quotes,
        message: "some quotes of a string are escaped in another way than the others",
    },
    Rule {
        objects: quotes_separators,
        message: "a string may hold the end of one string and the start of another",
    },
    Rule { objects: ends_in_separator, message: "a quote and a mark after it may be written twice" },
    Rule { objects: closes_what_is_no_text, message: "a quote may be too many instead of missing" },
    Rule {
        objects: holds_noise,
        message: "a control character in a value may come from a terminal or from a wrapped line",
    },
    Rule { objects: holds_restart, message: "the text may have stopped and started again inside a string" },
];

/// The edits that say something about a string.
const KINDS: [RepairKind; 5] = [
    RepairKind::InvalidEscapeFixed,
    RepairKind::InnerQuoteEscaped,
    RepairKind::MissingQuoteAdded,
    RepairKind::ControlCharacterEscaped,
    RepairKind::TripleQuotesReplaced,
];

/// Why the edits inside one of the strings are not the answer.
pub(super) fn find_objection(
    text: &str,
    mended: &MendedText,
    context: &ReadContext<'_>,
) -> Option<&'static str> {
    let evidence = &Evidence::new(text, mended, false, context)?;
    if !KINDS.into_iter().any(|kind| evidence.has(kind)) {
        return None;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    let mut cursor = 0;
    let mut string: Option<(usize, EditedString<'_>)> = None;
    for (index, edit) in evidence.edits.iter().enumerate() {
        if !KINDS.contains(&edit.kind) || tree.nodes.is_empty() {
            continue;
        }
        let at = evidence.final_position(index);
        let id = tree.at(at, &mut cursor);
        match &mut string {
            Some((known, string)) if *known == id => string.edits.push(edit),
            _ => {
                if let Some(message) = string.and_then(|(_, string)| string.find_objection()) {
                    return Some(message);
                }
                let is_value = tree.nodes[id].kind == Kind::String && tree.nodes[id].span.contains(&at);
                string = is_value
                    .then(|| EditedString::new(evidence, &tree, id, edit))
                    .flatten()
                    .map(|it| (id, it));
            }
        }
    }
    string.and_then(|(_, string)| string.find_objection())
}

impl<'a> EditedString<'a> {
    fn new(evidence: &Evidence<'a>, tree: &Tree<'a>, id: usize, edit: &'a Edit) -> Option<Self> {
        let span = tree.nodes[id].span.clone();
        let origin =
            evidence.mended.layers.iter().rev().fold(span, |range, patch: &Patch| patch.origin(&range));
        let named = if tree.key(id).is_some() { Some(id) } else { tree.nodes[id].parent };
        let key = named.and_then(|id| tree.key(id)).unwrap_or_default();
        Some(EditedString {
            text: tree.string(id)?,
            start: origin.start,
            source: evidence.text.get(origin)?,
            edits: vec![edit],
            form: value_form::of_field(&key, SchemaPosition::ANY, evidence.context),
        })
    }

    fn find_objection(&self) -> Option<&'static str> {
        RULES.iter().find(|rule| (rule.objects)(self)).map(|rule| rule.message)
    }

    fn of(&self, kind: RepairKind) -> impl Iterator<Item = &'a Edit> {
        self.edits.iter().copied().filter(move |edit| edit.kind == kind)
    }

    /// The source from this position of the whole text on.
    fn after(&self, at: usize) -> &'a str {
        at.checked_sub(self.start).and_then(|at| self.source.get(at..)).unwrap_or_default()
    }

    /// The source before this position of the whole text.
    fn before(&self, at: usize) -> &'a str {
        at.checked_sub(self.start).and_then(|at| self.source.get(..at)).unwrap_or_default()
    }

    fn has_odd_quotes(&self) -> bool {
        self.text.matches('"').count() % 2 == 1
    }

    /// How many quotes were written with a backslash.
    fn count_escaped_quotes(&self) -> usize {
        let quotes = self.source.match_indices('"');
        quotes.filter(|(at, _)| count_backslashes(&self.source[..*at]) % 2 == 1).count()
    }
}

/// How many backslashes are at the end of a text.
fn count_backslashes(text: &str) -> usize {
    text.len() - text.trim_end_matches('\\').len()
}

/// `print(\"hi\)` and `class=\"a\ id='b'`: the quotes are odd, and the backslash that is left may be the one of the quote that is
/// missing. If another backslash belongs to a pattern, all of them may.
// Case: syntax/backslash-without-its-quote
// Case: syntax/backslash-before-a-bracket
fn keeps_half_an_escape(string: &EditedString<'_>) -> bool {
    let mut kept = string.of(RepairKind::InvalidEscapeFixed).map(|edit| string.after(edit.start)).peekable();
    let is_of_pattern = |rest: &str| {
        let mut letters = rest.chars().skip(1);
        letters.next().is_some_and(|letter| "dDsSwWbB".contains(letter))
            && !letters.next().is_some_and(char::is_alphanumeric)
    };
    kept.peek().is_some()
        && string.has_odd_quotes()
        && string.count_escaped_quotes() > 0
        && !kept.any(is_of_pattern)
}

/// `.\Desktop\test.txt`: one backslash of a word is text, so the writer did not escape, and `\t` is no tab.
// Case: syntax/relative-path-with-single-backslashes
fn decodes_half_a_path(string: &EditedString<'_>) -> bool {
    let has_blanks = string.form == ValueForm::Path;
    let is_word = |ch: char| ch.is_alphanumeric() || "_-.%~$:\\".contains(ch) || ch == ' ' && has_blanks;
    let is_kept =
        |at: usize| string.edits.binary_search_by_key(&(string.start + at), |edit| edit.start).is_ok();
    let mut searched = 0;
    string.of(RepairKind::InvalidEscapeFixed).any(|edit| {
        let at = edit.start.saturating_sub(string.start);
        let (before, after) = (string.before(edit.start), string.after(edit.start));
        let mut letters = after.chars().skip(1);
        let is_segment =
            letters.next().is_some_and(char::is_alphanumeric) && letters.next().is_some_and(is_word);
        if at < searched || !is_segment {
            return false;
        }
        let start = before.trim_end_matches(is_word).len();
        let end = at + after.find(|ch: char| !is_word(ch)).unwrap_or(after.len());
        searched = end;
        // Line breaks of a text are also after a path.
        let breaks = |text: &str| text.contains("\\n");
        let has_lines = !has_blanks && (breaks(&string.source[..start]) || breaks(&string.source[end..]));
        holds_control_escape(&string.source[..end], start, has_lines, is_kept)
    })
}

/// Whether a source has, from a position on, an escape of a control character that is kept as one, with a letter after it.
fn holds_control_escape(
    source: &str,
    start: usize,
    has_lines: bool,
    is_kept: impl Fn(usize) -> bool,
) -> bool {
    let bytes = source.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let is_control = match bytes.get(at + 1) {
            Some(b'n') => !has_lines,
            letter => matches!(letter, Some(b't' | b'r' | b'b' | b'f')),
        };
        if is_control && !is_kept(at) && bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric) {
            return true;
        }
        at += if is_kept(at) { 1 } else { 2 };
    }
    false
}

/// `print(\\"hi\\")` beside `\"x\"`, and `name = ""x\"`: quotes of one string that are escaped in two ways, or that are escaped in part
/// and do not pair up.
// Case: syntax/quotes-at-two-depths
// Case: syntax/doubled-quote-before-a-word
fn mixes_quotes(string: &EditedString<'_>) -> bool {
    let mut raw = string.of(RepairKind::InnerQuoteEscaped).peekable();
    if raw.peek().is_none() || string.count_escaped_quotes() == 0 {
        return false;
    }
    let is_half_of_two = |edit: &Edit| {
        let (before, after) = (string.before(edit.start), string.after(edit.start + 1));
        let quote = if before.ends_with("\\\"") { before.strip_suffix("\\\"") } else { Some(before) };
        let rest = after.strip_prefix("\\\"").unwrap_or(after);
        let is_pair = (quote.map_or(0, str::len) < before.len()) != (rest.len() < after.len());
        let in_word = quote.is_some_and(|text| text.ends_with(char::is_alphanumeric))
            || rest.starts_with(char::is_alphanumeric);
        is_pair && in_word && !rest.starts_with('"')
    };
    // Two raw quotes in a row at a word: one of them was written twice.
    let is_doubled = |edit: &Edit| {
        let (before, after) = (string.before(edit.start), string.after(edit.start + 1));
        let rest = after.trim_start_matches('"');
        rest.len() < after.len()
            && !before.ends_with(['"', '\\'])
            && before.ends_with(char::is_alphanumeric) != rest.starts_with(char::is_alphanumeric)
    };
    let runs = || string.text.split(|ch| ch != '"').filter(|run| run.len() == 3).count();
    let is_odd = string.has_odd_quotes() || runs() % 2 == 1;
    raw.any(|edit| {
        count_backslashes(string.before(edit.start)) > 1 || is_half_of_two(edit) || is_odd && is_doubled(edit)
    })
}

/// `src/","case_` and `a", "b": "c`: between two quotes of which the first should open there is nothing but separators, and a
/// word follows at once.
// Case: syntax/separator-between-quotes
// Case: syntax/members-between-three-quotes
fn quotes_separators(string: &EditedString<'_>) -> bool {
    let mut took_quotes =
        string.of(RepairKind::InnerQuoteEscaped).chain(string.of(RepairKind::TripleQuotesReplaced));
    if took_quotes.next().is_none() {
        return false;
    }
    string.text.lines().any(|line| {
        let mut pieces = line.split('"').skip(1);
        std::iter::from_fn(|| Some((pieces.next()?, pieces.next()?))).any(|(inside, after)| {
            let marks = inside.trim_matches([' ', '\t']);
            matches!(marks, "," | ":") && after.starts_with(|ch: char| ch.is_alphanumeric() || ch == '_')
        })
    })
}

/// `3",`: the last quote is the end of the string, and what follows it was written twice.
// Case: syntax/separator-twice-after-a-value
fn ends_in_separator(string: &EditedString<'_>) -> bool {
    let ends =
        |text: &str| text.trim_end_matches([',', ':', ' ']).ends_with('"') && text.ends_with([',', ':']);
    string.of(RepairKind::InnerQuoteEscaped).next().is_some()
        && string.has_odd_quotes()
        && ends(string.text.trim_end())
}

/// `["a", ", "b"]`, `"days": ": 3`, `"n": " -2}`, `"content": …"`: what the quote was added to is a separator, a number or a
/// placeholder, and the quote that is there may be too many. A text of several lines, and one that ends in another kind of quote, may
/// have had no quotes at all.
// Case: syntax/separator-as-a-string
// Case: syntax/placeholder-with-a-quote
fn closes_what_is_no_text(string: &EditedString<'_>) -> bool {
    let mut added = string.of(RepairKind::MissingQuoteAdded).peekable();
    if added.peek().is_none() {
        return false;
    }
    let text = string.text.trim();
    let is_elision = || text.chars().count() <= 16 && is_elision(text);
    let lost_first = added.any(|edit| edit.start <= string.start);
    text.is_empty()
        || text.starts_with([',', ':'])
        || string.text.starts_with(' ') && number::is_scalar(text)
        || !text.contains(char::is_alphanumeric) && text.contains(['…', '.'])
        || is_elision()
        || lost_first && (string.source.contains('\n') || !string.source.ends_with('"'))
}

/// `"src/a.py⏎"`, a path with a colour of a terminal: a name has one line and no control characters.
// Case: syntax/line-break-after-a-path
// Case: syntax/colour-of-a-terminal
fn holds_noise(string: &EditedString<'_>) -> bool {
    let mut raw = string.of(RepairKind::ControlCharacterEscaped);
    let is_name = matches!(string.form, ValueForm::Path | ValueForm::Url);
    raw.any(|edit| is_name || string.after(edit.start).starts_with("\u{1b}["))
}

/// `ret<|im_end|>⏎<|im_start|>assistant⏎urn 1\n`: a raw line break with the mark of a turn, a fence or an event beside it, in a
/// string that escapes its own line breaks.
// Case: syntax/restart-with-a-fence-in-a-string
fn holds_restart(string: &EditedString<'_>) -> bool {
    const STARTS: [&str; 4] = ["```", "data:", "event:", "<|"];
    let raw = string.of(RepairKind::ControlCharacterEscaped);
    let mut breaks = raw.filter(|edit| string.after(edit.start).starts_with(['\r', '\n'])).peekable();
    if breaks.peek().is_none() || !escapes_line_breaks(string.source) {
        return false;
    }
    breaks.any(|edit| {
        let rest = string.after(edit.start).trim_start();
        string.before(edit.start).ends_with("|>") || STARTS.iter().any(|start| rest.starts_with(start))
    })
}

/// Whether a source has `\n` with a backslash that is not escaped itself.
fn escapes_line_breaks(source: &str) -> bool {
    source.match_indices("\\n").any(|(at, _)| count_backslashes(&source[..at]).is_multiple_of(2))
}
