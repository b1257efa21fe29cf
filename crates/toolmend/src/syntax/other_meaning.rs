//! Texts whose parts mean something else than what they were read as: a list that goes on, a variable, source text whose
//! escapes are its own, a boundary between two values.
//!
//! As in `implausible_reading`, each rule names a trace in the text and in the edits. The strings of the reading are looked at as
//! well, because what they would do (a command that waits for the rest of a string) shows whether they were meant.
//!
//! Such a reading is not the answer, but it may have been meant, so it stays a rival of other readings.

use super::implausible_reading::{self, Evidence, Rule};
use super::literal::source_escapes;
use super::notation;
use super::number;
use super::value_form::{self, ValueForm};
use super::{MendedText, ReadContext};
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::{SchemaPosition, Types};
use crate::text_parts::{first_part, last_part};

/// More text than this on either side of an edit is not searched.
const NEARBY: usize = 1024;
/// What is beside an edit is at most so far away. Many edits may be close together.
const BESIDE: usize = 64;

const RULES: &[Rule] = &[
    Rule { objects: announces_more, message: "a comment says that something was left out" },
    Rule {
        objects: comments_out_structure,
        message: "a comment may be text of a string that ended too early",
    },
    Rule { objects: completes_number, message: "a number may be cut off" },
    Rule { objects: ends_in_elision, message: "the last item of a list may say that there are more" },
    Rule { objects: has_expression, message: "a value without quotes is an expression or a variable" },
    Rule { objects: swallows_member, message: "a value without quotes holds another member" },
    Rule { objects: breaks_command, message: "a backslash before an apostrophe may be the shell's" },
    Rule { objects: keeps_foreign_escape, message: "an escape of another language may be a character" },
    Rule { objects: has_source_escapes, message: "escapes may be those of the source text" },
    Rule { objects: splits_apostrophe, message: "two apostrophes in a row may be one in the text" },
    Rule { objects: keeps_backticks, message: "two backticks in a row may be one delimiter" },
    Rule { objects: joins_lines, message: "two strings without an operator between them may be two values" },
    Rule { objects: loses_boundary, message: "a quote in an item may be the boundary of two" },
    Rule { objects: swallows_elision, message: "the text after a quote says that something was left out" },
    Rule { objects: invents_value, message: "nothing is written where a value belongs" },
    Rule { objects: merges_rows, message: "rows of a list may be separate lists" },
    Rule { objects: begins_list_early, message: "where the list begins is not written" },
    Rule { objects: has_hard_wraps, message: "line breaks may come from wrapped lines" },
    Rule {
        objects: moves_members_out,
        message: "the closing bracket that is too many may be an earlier one",
    },
    Rule { objects: splits_range, message: "two numbers with a colon between them are a range" },
];

/// Why this reading of the text is not the answer.
pub(super) fn find_objection(
    text: &str,
    mended: &MendedText,
    context: &ReadContext<'_>,
) -> Option<&'static str> {
    implausible_reading::find_rule(RULES, &Evidence::new(text, mended, false, context)?)
}

/// What says that something is left out, in lower case.
const ELISIONS: &[&str] = &[
    "...",
    "…",
    "etc",
    "omitted",
    "omit",
    "existing code",
    "rest of",
    "the rest",
    "rest unchanged",
    "unchanged",
    "remaining",
    "same as",
    "stays the same",
    "truncated",
    "snip",
    "and so on",
    "to be continued",
    "fill in",
    "see above",
    "and others",
    "usw",
    "и т.д",
    "и др",
    "等",
    "以下省略",
    "省略",
    "y más",
    "u.s.w",
    "ecc",
    "другие",
];
/// Words that say so in a list if they are the whole last item, or follow `and` or a number.
const MORE: &[&str] = &["more", "others", "other", "rest", "above", "similar", "items", "entries"];

/// Whether a text says that something was left out.
pub(super) fn is_elision(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let counts = words.windows(2).any(|pair| {
        (pair[0].bytes().all(|byte| byte.is_ascii_digit()) || matches!(pair[0], "and" | "some" | "many"))
            && pair[1] == "more"
    });
    let is_word = |phrase: &str| {
        lower.match_indices(phrase).any(|(at, _)| {
            let is_letter = |ch: Option<char>| ch.is_some_and(|ch| ch.is_ascii_alphanumeric());
            let ascii = phrase.is_ascii();
            !ascii
                || !is_letter(lower[..at].chars().next_back())
                    && !is_letter(lower[at + phrase.len()..].chars().next())
        })
    };
    counts || ELISIONS.iter().any(|phrase| is_word(phrase))
}

/// `/* ... existing code ... */`, `// 3 more`: what the comment stands for is missing.
// Case: syntax/comment-for-what-is-left-out
fn announces_more(evidence: &Evidence<'_>) -> bool {
    let mut comments =
        evidence.of(RepairKind::CommentRemoved).map(|edit| &evidence.text[edit.start..edit.end]);
    comments.any(|comment| is_elision(first_part(comment, NEARBY)))
}

/// `"x = {"a": "b"}  # note\ny = 1", "n": 3}`: a comment that ends strings and begins members is no comment. The text is
/// that of a string, and one of its quotes was taken for its end.
// Case: syntax/comment-that-holds-members
fn comments_out_structure(evidence: &Evidence<'_>) -> bool {
    let mut comments =
        evidence.of(RepairKind::CommentRemoved).map(|edit| &evidence.text[edit.start..edit.end]);
    comments.any(|comment| {
        let is_line = comment.trim_start().starts_with(['#', '/']) && !comment.trim_start().starts_with("/*");
        let ends_string = |at: usize| {
            let rest = first_part(&comment[at + 1..], BESIDE).trim_start();
            rest.is_empty() || rest.starts_with([',', '}', ']', ':'])
        };
        // What the comment itself quotes has two quotes.
        let is_odd = comment.matches('"').count() % 2 == 1;
        is_line && is_odd && comment.match_indices('"').any(|(at, _)| ends_string(at))
    })
}

/// `"n": 0.` before a fence: the digits after the point are missing, and so is the bracket.
// Case: syntax/number-cut-before-a-fence
fn completes_number(evidence: &Evidence<'_>) -> bool {
    let mut closers = evidence.of(RepairKind::MissingCloserAdded);
    let mut edits = evidence.mended.layers.iter().flat_map(Patch::edits);
    closers.any(|closer| {
        evidence.text[..closer.start].ends_with('.')
            && edits.any(|edit| edit.kind == RepairKind::NumberSpelled && edit.end == closer.start)
    })
}

/// `["a", and 3 more]`: an item that people write at the end of a list that they did not finish.
// Case: syntax/elision-as-the-last-item
fn ends_in_elision(evidence: &Evidence<'_>) -> bool {
    evidence.bare_values().any(|(start, end)| {
        let in_list = last_part(&evidence.text[..start], BESIDE).trim_end().ends_with(',');
        let is_last = first_part(&evidence.text[end..], BESIDE).trim_start().starts_with(']');
        let item = evidence.text[start..end].trim().to_lowercase();
        let words: Vec<&str> = item.split_whitespace().collect();
        let is_more = words.last().is_some_and(|word| MORE.contains(word));
        let led = words.first().is_some_and(|word| {
            matches!(*word, "and" | "+" | "plus" | "see" | "some")
                || word.bytes().all(|byte| byte.is_ascii_digit())
        });
        in_list
            && is_last
            && (is_elision(&item) || is_more && (words.len() == 1 || led) || item.starts_with("and "))
    })
}

/// Words that stand for a value that is still to be filled in.
const UNFILLED: &[&str] = &["tbd", "todo", "fixme", "same", "above", "ditto", "unchanged", "not_set", "xxx"];
/// What the first part of a name with points is in programs.
const ROOTS: &[&str] = &[
    "self", "this", "args", "os", "process", "sys", "env", "request", "ctx", "context", "window", "document",
];

/// `t(path=path)`, `{"path": $x}`, `{"date": new Date()}`: code that was never run. A plain word in a call is a name if another
/// argument has quotes, or if it is written like a variable.
// Case: syntax/variable-as-an-argument
// Case: syntax/expression-of-a-program
fn has_expression(evidence: &Evidence<'_>) -> bool {
    let in_call =
        evidence.has(RepairKind::CallSyntaxRead) && !evidence.text.trim_start().starts_with(['{', '[']);
    let others = evidence.text.contains(['"', '\'']);
    evidence.bare_values().any(|(start, end)| {
        let value = evidence.text[start..end].trim();
        let is_word = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
        let is_name = value.chars().all(is_word) && !value.starts_with(|ch: char| ch.is_ascii_digit());
        let is_lower = !value.contains(|ch: char| ch.is_ascii_uppercase());
        // A value that nobody filled in, and a word on two lines.
        let is_open =
            UNFILLED.contains(&&*value.to_ascii_lowercase()) || value.contains('\n') && !value.contains(' ');
        let is_code = is_open
            || is_source_of_a_value(value)
            || value.starts_with(['$', '%'])
            || value.starts_with("new ") && value.contains('(')
            || value.split_once('.').is_some_and(|(root, rest)| {
                ROOTS.contains(&root) && rest.chars().all(|ch| is_word(ch) || ch == '.')
            });
        is_code || in_call && is_name && (others || is_lower) && !number::is_scalar(value)
    })
}

/// Whether a value is the source of a value: `datetime(2024, 1, 2)`, `Mode.READ`, `lambda: 1`, `60*60`, `true or false`.
// Case: syntax/source-of-a-value
fn is_source_of_a_value(value: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    };
    let is_call =
        value.strip_suffix(')').and_then(|call| call.split_once('(')).is_some_and(|(name, _)| is_name(name));
    let is_constant = value.split_once('.').is_some_and(|(class, constant)| {
        class.starts_with(|ch: char| ch.is_ascii_uppercase())
            && class.contains(|ch: char| ch.is_ascii_lowercase())
            && class.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && constant.len() > 1
            && constant.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    let is_product = value.contains('*')
        && value.starts_with(|ch: char| ch.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_digit() || b"*+-/(). ".contains(&byte));
    let is_choice = || {
        [" or ", " and "].iter().any(|word| value.contains(word) && value.split(word).all(number::is_scalar))
    };
    is_call
        || is_constant
        || is_product
        || is_choice()
        || value.starts_with("lambda:")
        || value.starts_with("lambda ")
}

/// `{path: /tmp/x dry_run: true}`: a declared key with its separator in a value without quotes.
// Case: syntax/member-in-a-value-without-quotes
fn swallows_member(evidence: &Evidence<'_>) -> bool {
    evidence.declares
        && evidence.bare_values().any(|(start, end)| {
            notation::holds_member(first_part(&evidence.text[start..end], NEARBY), evidence.context.guide)
        })
}

/// `touch Bob\'s`: without the backslash the command waits for the rest of a string.
// Case: syntax/apostrophe-escaped-for-the-shell
fn breaks_command(evidence: &Evidence<'_>) -> bool {
    if !evidence.has(RepairKind::EscapedApostropheFixed) {
        return false;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    (0..tree.nodes.len()).any(|id| {
        let is_command = || {
            let named = if tree.key(id).is_some() { Some(id) } else { tree.nodes[id].parent };
            let key = named.and_then(|id| tree.key(id)).unwrap_or_default();
            value_form::of_field(&key, SchemaPosition::ANY, evidence.context) == ValueForm::Command
        };
        let text = tree.string(id).filter(|text| text.contains('\'') && value_form::leaves_quote_open(text));
        text.is_some() && is_command()
    })
}

/// `\u{e9}`, `\U0001F600`, `\N{BULLET}`, `caf\xe9` and the cut `\u00e`: a character, or text with a backslash.
// Case: syntax/escape-of-another-language
fn keeps_foreign_escape(evidence: &Evidence<'_>) -> bool {
    let text = evidence.text;
    evidence.of(RepairKind::InvalidEscapeFixed).filter(|edit| edit.start == edit.end).any(|edit| {
        let Some(escape) = text[edit.start..].strip_prefix('\\') else { return false };
        let hex = |from: usize| escape[from..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let after_letter = text[..edit.start].ends_with(char::is_alphabetic);
        match escape.as_bytes() {
            [b'u' | b'N', b'{', ..] => true,
            [b'U', b'0', ..] => hex(1) >= 8,
            [b'u', b'0'..=b'9', ..] => {
                let digits = hex(1);
                digits < 4 && !escape[1 + digits..].starts_with(|ch: char| ch.is_alphanumeric() || ch == '.')
            }
            [b'x', b'c'..=b'f', ..] => after_letter && hex(1) >= 2,
            _ => false,
        }
    })
}

/// A string with raw quotes or raw line breaks is written without escapes, so `\n` inside its literals is source text.
// Case: syntax/line-break-in-a-literal-of-source-text
// Case: syntax/escapes-beside-raw-line-breaks
fn has_source_escapes(evidence: &Evidence<'_>) -> bool {
    let quotes = evidence.has(RepairKind::InnerQuoteEscaped);
    let breaks = evidence.has(RepairKind::ControlCharacterEscaped);
    if !quotes && !breaks {
        return false;
    }
    if breaks && source_escapes::mixes_with_raw_breaks(evidence.text.as_bytes()) {
        return true;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    quotes
        && (0..tree.nodes.len())
            .filter_map(|id| tree.string(id))
            .any(|text| text.contains('"') && source_escapes::breaks_a_literal(text.as_bytes()))
}

/// `'O''Brien'` in a list.
// Case: syntax/doubled-apostrophe-in-a-list
fn splits_apostrophe(evidence: &Evidence<'_>) -> bool {
    let bytes = evidence.text.as_bytes();
    evidence.of(RepairKind::MissingCommaAdded).any(|edit| {
        edit.start > 0 && bytes.get(edit.start - 1) == Some(&b'\'') && bytes.get(edit.start) == Some(&b'\'')
    })
}

/// ```{"path": ``a``}```
// Case: syntax/two-backticks-around-a-value
fn keeps_backticks(evidence: &Evidence<'_>) -> bool {
    evidence.of(RepairKind::QuotesReplaced).any(|edit| {
        let text = &evidence.text[edit.start..];
        text.starts_with("``") && edit.end == edit.start + 1
    })
}

/// `"ls"⏎"pwd"`: pieces of one text end or begin with a blank or a line break.
// Case: syntax/two-strings-on-two-lines
// Case: syntax/escape-between-two-quotes
fn joins_lines(evidence: &Evidence<'_>) -> bool {
    evidence.of(RepairKind::LiteralsJoined).any(|edit| {
        let gap = &evidence.text[edit.start..edit.end];
        let inside = gap.trim_matches(|ch| matches!(ch, '"' | '\''));
        if inside.contains('+') {
            return false;
        }
        let (before, after) =
            (last_part(&evidence.text[..edit.start], 4), first_part(&evidence.text[edit.end..], 4));
        let is_blank = |text: &str, ends: bool| {
            if ends {
                text.ends_with([' ', '\t']) || text.ends_with("\\n")
            } else {
                text.starts_with([' ', '\t']) || text.starts_with("\\n")
            }
        };
        // An escape between two strings is text of one string.
        let is_text = inside.contains('\\');
        let on_line = !inside.contains('\n');
        is_text || on_line || !(is_blank(before, true) || is_blank(after, false))
    })
}

/// `["a.py"b.py", "c"]`: one quote in an item of a list of strings.
// Case: syntax/quote-between-two-items
fn loses_boundary(evidence: &Evidence<'_>) -> bool {
    let mut quotes = evidence.mended.layers[0].edits().iter().enumerate();
    let mut inner = quotes.by_ref().filter(|(_, edit)| edit.kind == RepairKind::InnerQuoteEscaped);
    let (Some((index, edit)), None) = (inner.next(), inner.next()) else { return false };
    let tree = Tree::of_strict(&evidence.mended.text);
    let at = evidence.final_position(index);
    let Some(id) = (0..tree.nodes.len()).rev().find(|&id| tree.nodes[id].span.contains(&at)) else {
        return false;
    };
    let is_list = |parent: usize| tree.nodes[parent].kind == Kind::Array;
    let siblings =
        |parent: usize| tree.children(parent).filter(|&child| tree.nodes[child].kind == Kind::String).count();
    let text = tree.string(id).unwrap_or_default();
    let is_edge = text.starts_with('"') || text.ends_with('"');
    let is_inch = evidence.text[..edit.start].ends_with(|ch: char| ch.is_ascii_digit());
    let parent = tree.nodes[id].parent.filter(|&parent| is_list(parent) && siblings(parent) > 1);
    parent.is_some() && !is_edge && !is_inch && text.matches('"').count() == 1
}

/// `"x", …"` and `"x"[...]"`: the quote ended the text, and a note follows that something is missing.
// Case: syntax/note-after-the-quote
fn swallows_elision(evidence: &Evidence<'_>) -> bool {
    /// The longest note in words: `etc.`.
    const SHORT: usize = 24;
    const NOTES: &[&str] = &["…", "...", "[...", "[…", "<snip", "[snip", "[trunc", "<trunc"];
    let quotes: Vec<&Edit> = evidence.of(RepairKind::InnerQuoteEscaped).collect();
    let precedes_note = |edit: &Edit| {
        let rest = first_part(&evidence.text[edit.start..], BESIDE).trim_start_matches(['"', ' ', ',']);
        let words = rest.split('"').next().unwrap_or_default().trim();
        NOTES.iter().any(|note| rest.starts_with(note)) || words.len() <= SHORT && is_elision(words)
    };
    // Quotes of text come in pairs, and the first one opens.
    let closes = |edit: &Edit| evidence.text[..edit.start].ends_with(char::is_alphanumeric);
    quotes.len() % 2 == 1 && quotes.last().is_some_and(|last| precedes_note(last))
        || quotes.first().is_some_and(|first| closes(first) && precedes_note(first))
}

/// `"path":", "content"` and `[, "force": true`: an empty value that nobody wrote.
// Case: syntax/quote-for-a-lost-value
// Case: syntax/bracket-for-a-lost-list
fn invents_value(evidence: &Evidence<'_>) -> bool {
    let leads = |edit: &Edit, ends: &[char]| {
        last_part(&evidence.text[..edit.start], BESIDE).trim_end().ends_with(ends)
    };
    evidence.edits.iter().any(|edit| match edit.kind {
        RepairKind::MissingQuoteAdded if edit.start == edit.end => {
            let before = last_part(&evidence.text[..edit.start], BESIDE);
            let body = before.strip_suffix('"').filter(|body| body.trim_end().ends_with([':', '=']));
            body.is_some()
                && first_part(&evidence.text[edit.end..], BESIDE).trim_start().starts_with([',', '}', ']'])
        }
        RepairKind::MissingCloserAdded => {
            leads(edit, &['[', '{'])
                && first_part(&evidence.text[edit.end..], BESIDE).trim_start().starts_with(',')
        }
        RepairKind::ExtraCommaRemoved => lacks_item(evidence.text, edit),
        RepairKind::RepeatedTokenRemoved => {
            let token =
                evidence.text[edit.start..edit.end].trim_start_matches(['\\', 'n', 'r', 't', ' ', '\n']);
            matches!(token, "\"\"" | "''")
        }
        _ => false,
    })
}

/// Whether the item before a superfluous comma is missing: in a list of numbers, where places count, at the start of a row, or
/// in a list that would be empty.
fn lacks_item(text: &str, edit: &Edit) -> bool {
    let before = last_part(&text[..edit.start], BESIDE).trim_end();
    let after = first_part(&text[edit.end..], BESIDE).trim_start();
    if let Some(outer) = before.strip_suffix('[') {
        return after.starts_with(']') || outer.trim_end().ends_with(['[', ',']);
    }
    before.trim_end_matches([',', ' ']).ends_with(|ch: char| ch.is_ascii_digit())
        && after.starts_with(|ch: char| ch.is_ascii_digit() || ch == '-')
}

/// `[[1,2;3,4]]` and `[1,2[3,4]`: the mark that was replaced ends a row.
// Case: syntax/rows-with-a-semicolon
// Case: syntax/bracket-between-two-rows
fn merges_rows(evidence: &Evidence<'_>) -> bool {
    evidence.of(RepairKind::MarkCorrected).filter(|edit| edit.with == ",").any(|edit| {
        match &evidence.text[edit.start..edit.end] {
            "[" => true,
            ";" => innermost_bracket(last_part(&evidence.text[..edit.start], NEARBY)) == Some(b'['),
            _ => false,
        }
    })
}

/// The last bracket that is opened in this text and not closed.
fn innermost_bracket(text: &str) -> Option<u8> {
    let mut depth = 0usize;
    for byte in text.bytes().rev() {
        match byte {
            b']' | b'}' => depth += 1,
            b'[' | b'{' if depth == 0 => return Some(byte),
            b'[' | b'{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `{"path": "a.py", 1, 20]}`: a bracket closes a list, and nothing says that the member before it is its first item.
// Case: syntax/list-without-its-beginning
fn begins_list_early(evidence: &Evidence<'_>) -> bool {
    let edits = evidence.mended.layers[0].edits().iter().enumerate();
    let mut opened = edits.filter(|(_, edit)| {
        edit.kind == RepairKind::MissingOpenerAdded
            && edit.with == "["
            && evidence.text[..edit.start].trim_end().ends_with([':', '='])
            && !evidence.text[edit.start..].trim_start().starts_with(['{', '[', ']'])
    });
    let Some((index, _)) = opened.next() else { return false };
    let tree = Tree::of_strict(&evidence.mended.text);
    let at = evidence.final_position(index);
    let list = (0..tree.nodes.len())
        .find(|&id| tree.nodes[id].span.start == at && tree.nodes[id].kind == Kind::Array);
    list.is_none_or(|id| {
        let types = evidence.context.guide.types(evidence.position_of(&tree, id));
        !types.has(Types::ARRAY) || types == Types::ALL
    })
}

/// All lines but the last have the same length: the text was wrapped at a column, and so were its values.
// Case: syntax/text-wrapped-at-a-column
fn has_hard_wraps(evidence: &Evidence<'_>) -> bool {
    if !evidence.has(RepairKind::ControlCharacterEscaped) {
        return false;
    }
    let mut lines = evidence.text.trim_end().lines().map(|line| line.chars().count());
    let first = lines.next().unwrap_or_default();
    let mut lengths: Vec<usize> = lines.collect();
    let last = lengths.pop();
    let is_wrapped = !lengths.is_empty()
        && lengths.iter().all(|length| *length == first)
        && last.is_some_and(|last| last <= first);
    let guide = evidence.context.guide;
    let tree = Tree::of_strict(&evidence.mended.text);
    let mut broken_strings = 0;
    let has_broken_name = (0..tree.nodes.len()).any(|id| {
        let key = tree.key(id).unwrap_or_default();
        let text = tree.string(id).unwrap_or_default();
        broken_strings += usize::from(text.contains('\n')) + usize::from(key.contains('\n'));
        // The key as it was declared, and other strings that are broken, show that it was the text that was wrapped.
        key.contains('\n') && (guide.declares_key(guide.root(), &key.replace('\n', "")) || broken_strings > 1)
    });
    is_wrapped || has_broken_name
}

/// `{"value": {"a": 1}, "b": 2}}` where no schema declares `b`: the bracket that is too many may be the one before `b`.
// Case: syntax/closer-too-many-in-the-middle-or-at-the-end
fn moves_members_out(evidence: &Evidence<'_>) -> bool {
    let guide = evidence.context.guide;
    let closes = |edit: &Edit| evidence.text[edit.start..edit.end].contains('}');
    if !evidence.of(RepairKind::ExtraCloserRemoved).any(closes) {
        return false;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    if tree.nodes.first().is_none_or(|root| root.kind != Kind::Object) {
        return false;
    }
    // Without a schema, closers that follow other closers at the end are the ones too many.
    // Case: syntax/closer-too-many-without-a-schema
    let ends_in_scalar = || {
        tree.children(0)
            .last()
            .is_some_and(|last| !matches!(tree.nodes[last].kind, Kind::Object | Kind::Array))
    };
    if !evidence.declares && !ends_in_scalar() {
        return false;
    }
    let mut after_object = false;
    tree.children(0).any(|child| {
        let is_declared = || tree.key(child).is_some_and(|key| guide.declares_key(guide.root(), &key));
        let is_moved = after_object && !(evidence.declares && is_declared());
        after_object |=
            tree.nodes[child].kind == Kind::Object && !guide.is_closed(evidence.position_of(&tree, child));
        is_moved
    })
}

/// `[1:5]`
// Case: syntax/range-in-a-list
fn splits_range(evidence: &Evidence<'_>) -> bool {
    evidence.of(RepairKind::MarkCorrected).filter(|edit| edit.with == ",").any(|edit| {
        let digits = |ch: char| ch.is_ascii_digit();
        evidence.text[edit.start..edit.end] == *":"
            && evidence.text[..edit.start].trim_end().ends_with(digits)
            && evidence.text[edit.end..].trim_start().starts_with(digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_that_something_is_missing() {
        for text in [
            "... existing code ...",
            "3 more",
            "etc.",
            "rest of file",
            "(120 lines omitted)",
            "и т.д.",
            "等",
            "and 3 more",
            "<snip>",
        ] {
            assert!(is_elision(text), "{text}");
        }
        for text in [
            "TODO: check",
            "in metres, not feet",
            "e.g. \"x\"",
            "required",
            "more",
            "the restaurant",
            "sketch",
            "unchangeable",
        ] {
            assert!(!is_elision(text), "{text}");
        }
    }
}
