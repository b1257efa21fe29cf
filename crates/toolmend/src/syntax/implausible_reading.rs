//! Readings that explain a text and that nobody meant.
//!
//! Each rule names a trace of something that is not JSON's: an encoding that reached the keys, escapes of a language that is
//! read in part, a note of a log where text is missing. What such a text means cannot be told from the rest of it, so the
//! reading is refused. The rules look at the text and at the edits, never at the schema, apart from respelled keys.

use super::{MendedText, ReadContext};
use crate::json::tree::{Kind, Tree};
use crate::patch::Edit;
use crate::repair::RepairKind;

/// What a rule looks at.
struct Evidence<'a> {
    /// The text without its outer encodings.
    text: &'a str,
    mended: &'a MendedText,
    edits: &'a [Edit],
    /// Whether an encoding was removed from the text.
    encoded: bool,
    /// Whether the keys at the top are declared.
    declares: bool,
    context: &'a ReadContext<'a>,
}

/// One rule, and what a refusal says.
struct Rule {
    objects: fn(&Evidence<'_>) -> bool,
    message: &'static str,
}

const RULES: &[Rule] = &[
    Rule { objects: has_odd_key, message: "a key holds remains of an encoding" },
    Rule { objects: has_markdown_escapes, message: "Markdown escapes may be text or not" },
    Rule { objects: has_foreign_escapes, message: "escapes of another language may be text or not" },
    Rule { objects: has_shell_escapes, message: "backslashes of a shell may be text or not" },
    Rule { objects: has_gap, message: "a part of the text was left out" },
    Rule { objects: has_drive_escape, message: "a backslash after a drive may be text" },
    Rule { objects: has_fourth_quote, message: "four quotes in a row may end or start in two ways" },
    Rule { objects: moves_sign_into_string, message: "a sign beside a quote may be an operator" },
    Rule { objects: has_foreign_quote, message: "a quote in another spelling may delimit the string" },
    Rule { objects: joins_alternatives, message: "two strings with an operator between them are no string" },
    Rule { objects: quotes_residue, message: "a number or a word of JSON has something after it" },
    Rule { objects: wraps_arguments, message: "the name before the object may be its label" },
];

/// Why this reading of the text is not the answer.
// Case: syntax/nul-in-a-key
// Case: syntax/markdown-escapes
// Case: syntax/ruby-escapes
// Case: syntax/flags-with-backslashes
// Case: syntax/ellipsis-before-a-lost-quote
pub(super) fn find_objection(
    text: &str,
    mended: &MendedText,
    encoded: bool,
    context: &ReadContext<'_>,
) -> Option<&'static str> {
    let edits = mended.layers.first()?.edits();
    let declares = context.guide.declares(context.guide.root());
    let evidence = Evidence { text, mended, edits, encoded, declares, context };
    RULES.iter().find(|rule| (rule.objects)(&evidence)).map(|rule| rule.message)
}

impl Evidence<'_> {
    fn has(&self, kind: RepairKind) -> bool {
        self.edits.iter().any(|edit| edit.kind == kind)
    }

    /// What follows each backslash that was taken for text.
    fn kept_backslashes(&self) -> impl Iterator<Item = u8> {
        let kept = self.edits.iter().filter(|edit| edit.kind == RepairKind::InvalidEscapeFixed);
        kept.filter_map(|edit| self.text.as_bytes().get(edit.start + 1).copied())
    }
}

/// Keys with control characters, entities or letters of a wrong decoding are no names.
fn has_odd_key(evidence: &Evidence<'_>) -> bool {
    const REMAINS: &[&str] = &["&quot;", "&#34;", "&amp;", "%22", "\u{ff02}", "â€", "\u{fffd}"];
    let may_be_odd = |edit: &Edit| {
        matches!(
            edit.kind,
            RepairKind::ControlCharacterEscaped
                | RepairKind::MissingQuoteAdded
                | RepairKind::KeyQuoted
                | RepairKind::InvalidEscapeFixed
                | RepairKind::MissingCommaAdded
                | RepairKind::MarkCorrected
                | RepairKind::QuotesReplaced
        )
    };
    if !evidence.edits.iter().any(may_be_odd) {
        return false;
    }
    let is_odd = |key: &str| {
        key.contains(|ch: char| ch.is_control() && !matches!(ch, '\n' | '\r' | '\t'))
            || REMAINS.iter().any(|remains| key.contains(remains))
            || !evidence.declares && key.contains("\\_")
            || is_timestamp(key)
            // A quote of another kind that belongs to the delimiter.
            // Case: syntax/key-with-half-a-quote
            || key.starts_with('\'') != key.ends_with('\'')
            // The mark was swapped with the quote before it.
            || key.starts_with([',', ':', '}', ']'])
    };
    let tree = Tree::of_strict(&evidence.mended.text);
    (0..tree.nodes.len()).filter_map(|id| tree.key(id)).any(|key| is_odd(&key))
}

/// `{"file\_path": "a\_b"}`: if the keys are escaped for Markdown, the values are, too.
fn has_markdown_escapes(evidence: &Evidence<'_>) -> bool {
    let bytes = evidence.text.as_bytes();
    let (mut keys, mut values) = (false, false);
    for edit in evidence.edits.iter().filter(|edit| edit.kind == RepairKind::InvalidEscapeFixed) {
        let rest = bytes.get(edit.start + 1..).unwrap_or_default();
        if !rest.first().is_some_and(|byte| b"_*[]#`".contains(byte)) {
            continue;
        }
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_\\".contains(byte);
        let name = rest.iter().take(64).take_while(is_name).count();
        let is_key = rest.get(name) == Some(&b'"') && rest[name + 1..].trim_ascii_start().starts_with(b":");
        keys |= is_key;
        values |= !is_key;
    }
    keys && values
}

/// Ruby, Lua and others have escapes that JSON has not, and their members are written in another way.
fn has_foreign_escapes(evidence: &Evidence<'_>) -> bool {
    evidence.has(RepairKind::ColonReplaced) && evidence.kept_backslashes().next().is_some()
}

/// In a shell a backslash between quotes stays before most letters, and goes before `$` and a back-tick.
fn has_shell_escapes(evidence: &Evidence<'_>) -> bool {
    let bytes = evidence.text.as_bytes();
    let escapes = || {
        memchr::memchr_iter(b'\\', bytes)
            .any(|at| matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'b' | b'f' | b'u' | b'/')))
    };
    let assigns = evidence.has(RepairKind::KeyValueTextRead);
    let is_flag = assigns && evidence.text.trim_start().starts_with("--") && escapes();
    // TOML drops the line break after three quotes.
    let is_block = assigns
        && evidence.edits.iter().any(|edit| {
            edit.kind == RepairKind::TripleQuotesReplaced
                && evidence.text[edit.end..].starts_with(['\n', '\r'])
        });
    is_flag
        || is_block
        || evidence.encoded && evidence.kept_backslashes().any(|byte| matches!(byte, b'`' | b'$'))
}

/// `"src/mai…10, "limit": 5`: a string that lost its quote with the rest of its text. An ellipsis of people has a blank after it.
fn has_gap(evidence: &Evidence<'_>) -> bool {
    const GAPS: &[&str] = &["[truncated", "<snip>", "[snip", "<truncated", "[...", "more characters"];
    const NEARBY: usize = 64;
    let is_cut = |before: &str| {
        let dots = ["…", "..."].iter().filter_map(|dots| Some(&before[before.rfind(dots)? + dots.len()..]));
        let goes_on = |rest: &str| !rest.starts_with(|ch: char| ch.is_whitespace() || ch == '.');
        dots.into_iter().any(goes_on) || GAPS.iter().any(|gap| before.contains(gap))
    };
    let lost = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::MissingQuoteAdded);
    lost.map(|edit| super::withdrawn_call::last_part(&evidence.text[..edit.start], NEARBY)).any(is_cut)
}

/// Whether a key starts like the time of a line in a log.
// Case: syntax/log-line-in-an-object
fn is_timestamp(key: &str) -> bool {
    let bytes = key.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (0..4).all(is_digit)
        && bytes.get(4) == Some(&b'-')
        && is_digit(5)
        && is_digit(6)
        && bytes.get(7) == Some(&b'-')
}

/// `"C:\temp"` in a text that is not strict: the path, not a tab.
// Case: syntax/drive-in-a-damaged-document
fn has_drive_escape(evidence: &Evidence<'_>) -> bool {
    let bytes = evidence.mended.text.as_bytes();
    memchr::memmem::find_iter(bytes, b":\\").any(|at| {
        let starts = at > 1 && bytes[at - 2] == b'"' && matches!(bytes[at - 1], b'C'..=b'E' | b'c'..=b'd');
        let is_escape = matches!(bytes.get(at + 2), Some(b'n' | b'r' | b't' | b'b' | b'f'));
        starts && is_escape && bytes.get(at + 3).is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// `"""say "hi""""`: the text ends in a quote, or one is too many. Python stops at the first three.
// Case: syntax/four-quotes
// Case: syntax/triple-quotes-with-quote
fn has_fourth_quote(evidence: &Evidence<'_>) -> bool {
    let text = evidence.text;
    let closes = |run: &str| {
        text.match_indices(run).any(|(at, _)| {
            let rest = &text[at + run.len()..];
            let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
            let opens = text[..at].trim_end().ends_with([':', ',', '[', '=']);
            !opens && rest.starts_with([',', '}', ']'])
        })
    };
    evidence.has(RepairKind::TripleQuotesReplaced) && ["\"\"\"\"", "''''"].iter().any(|run| closes(run))
}

/// `@"x"` and `"key"?: 1`: a sign of another language that was swapped with the quote beside it.
// Case: syntax/sign-before-a-quote
fn moves_sign_into_string(evidence: &Evidence<'_>) -> bool {
    let swapped = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::MarksSwapped);
    swapped
        .map(|edit| &evidence.text[edit.start..edit.end])
        .any(|marks| marks.contains(['?', '@', '$', '#', '!', '%', '&']))
}

/// `&quot;Oslo"` and `"Oslo＂`: beside a quote that was added there is one in another spelling.
// Case: syntax/entity-for-a-quote
// Case: syntax/wide-quote-for-a-quote
fn has_foreign_quote(evidence: &Evidence<'_>) -> bool {
    const OPENERS: &[&str] = &["&quot;", "&#34;", "%22", "\u{ff02}", "「", "『", "''", "L\"", "$\""];
    const CLOSERS: &[&str] = &["&quot;", "&#34;", "%22", "\u{ff02}", "」", "』", "''"];
    let is_beside = |edit: &Edit| {
        let (before, after) = (&evidence.text[..edit.start], &evidence.text[edit.start..]);
        CLOSERS.iter().any(|quote| before.ends_with(quote))
            || OPENERS.iter().any(|quote| after.starts_with(quote))
    };
    let added = |edit: &&Edit| {
        edit.kind == RepairKind::MissingQuoteAdded
            || edit.kind == RepairKind::MarkCorrected && edit.with.contains('"')
    };
    evidence.edits.iter().filter(added).any(is_beside)
}

/// `"a" | "b"` and `"a" if x else "b"`: the only two quotes that were escaped have an operator between them.
// Case: syntax/alternatives-in-a-value
fn joins_alternatives(evidence: &Evidence<'_>) -> bool {
    const OPERATORS: &[&str] = &["|", "or", "and", "->", "=>", "/", "-", "→", "?:", "??"];
    let quotes: Vec<&Edit> =
        evidence.edits.iter().filter(|edit| edit.kind == RepairKind::InnerQuoteEscaped).collect();
    let [first, second] = quotes.as_slice() else { return false };
    let Some(between) = evidence.text.get(first.end..second.start) else { return false };
    let between = between.trim_start_matches('"');
    let is_spaced = between.starts_with(char::is_whitespace) && between.ends_with(char::is_whitespace);
    let words = between.trim();
    let is_ternary = words.starts_with("if ") && words.ends_with(" else");
    is_spaced && (OPERATORS.contains(&words) || is_ternary || words.starts_with("/*"))
}

/// `true<|eot_id|>` and `3 <!-- note -->`: a literal that is quoted together with what was written after it.
// Case: syntax/token-after-a-literal
fn quotes_residue(evidence: &Evidence<'_>) -> bool {
    const RESIDUES: &[&str] = &["<|", "<!--", "\u{feff}", "\0", "[EOT]", "</s>", "--", "..."];
    let is_residue = |text: &str| {
        let word = ["true", "false", "null", "True", "False", "None"]
            .iter()
            .find_map(|word| text.strip_prefix(word))
            .or_else(|| {
                let rest =
                    text.trim_start_matches(['-', '+']).trim_start_matches(|ch: char| ch.is_ascii_digit());
                (rest.len() < text.trim_start_matches(['-', '+']).len()).then_some(rest)
            });
        word.is_some_and(|rest| RESIDUES.iter().any(|residue| rest.trim_start().starts_with(residue)))
    };
    let quoted = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::ValueQuoted);
    quoted.map(|edit| &evidence.text[edit.start..]).any(is_residue)
}

/// `"arguments": {…}` without braces around it: a label that the schema does not declare.
// Case: syntax/label-before-an-object
fn wraps_arguments(evidence: &Evidence<'_>) -> bool {
    const LABELS: &[&str] = &["arguments", "args", "parameters", "params", "input", "tool_input", "kwargs"];
    let opens = evidence.edits.iter().any(|edit| {
        edit.kind == RepairKind::MissingOpenerAdded && evidence.text[..edit.start].trim().is_empty()
    });
    if !opens {
        return false;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    let mut members = tree.children(0);
    let (Some(only), None) = (members.next(), members.next()) else { return false };
    let guide = evidence.context.guide;
    let is_label =
        tree.key(only).is_some_and(|key| LABELS.contains(&&*key) && !guide.declares_key(guide.root(), &key));
    is_label && tree.nodes[only].kind == Kind::Object
}
