//! Readings that explain a text and that nobody meant.
//!
//! Each rule names a trace of something that is not JSON's: an encoding that reached the keys, escapes of a language that is
//! read in part, a note of a log where text is missing. What such a text means cannot be told from the rest of it, so the
//! reading is refused. The rules look at the text and at the edits, never at the schema, apart from respelled keys. More rules of
//! this kind are in `other_meaning`.

use super::{MendedText, ReadContext};
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::SchemaPosition;
use crate::text_parts::last_part;

/// What a rule looks at.
pub(super) struct Evidence<'a> {
    /// The text without its outer encodings.
    pub(super) text: &'a str,
    pub(super) mended: &'a MendedText,
    pub(super) edits: &'a [Edit],
    /// One bit for each kind of these edits, because rules ask for kinds at every key.
    kinds: u128,
    /// Whether an encoding was removed from the text.
    encoded: bool,
    /// Whether the keys at the top are declared.
    pub(super) declares: bool,
    pub(super) context: &'a ReadContext<'a>,
}

/// One rule, and what a refusal says.
pub(super) struct Rule {
    pub(super) objects: fn(&Evidence<'_>) -> bool,
    pub(super) message: &'static str,
}

/// A quote in a spelling that is not JSON's.
struct QuoteSpelling {
    open: &'static str,
    /// Empty if the string is closed by a plain quote.
    close: &'static str,
    /// Whether it is the quote of an encoding, which no key holds.
    is_encoded: bool,
}

const fn quotes(open: &'static str, close: &'static str, is_encoded: bool) -> QuoteSpelling {
    QuoteSpelling { open, close, is_encoded }
}

const QUOTES: &[QuoteSpelling] = &[
    quotes("&quot;", "&quot;", true),
    quotes("&#34;", "&#34;", true),
    quotes("%22", "%22", true),
    quotes("\u{ff02}", "\u{ff02}", true),
    quotes("「", "」", false),
    quotes("『", "』", false),
    quotes("''", "''", false),
    quotes("L\"", "", false),
    quotes("$\"", "", false),
];

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
    Rule { objects: has_transport_marks, message: "marks of a transport are between the pieces of the text" },
    Rule { objects: mixes_depths, message: "one string is escaped twice, and another may be" },
    Rule {
        objects: splits_number,
        message: "a blank between two numbers may be a lost comma or part of a number",
    },
    Rule { objects: lacks_its_start, message: "the start of the text may be lost" },
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
    let evidence = Evidence::new(text, mended, encoded, context)?;
    find_rule(RULES, &evidence)
}

/// The message of the first rule that objects.
pub(super) fn find_rule(rules: &[Rule], evidence: &Evidence<'_>) -> Option<&'static str> {
    rules.iter().find(|rule| (rule.objects)(evidence)).map(|rule| rule.message)
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        text: &'a str,
        mended: &'a MendedText,
        encoded: bool,
        context: &'a ReadContext<'a>,
    ) -> Option<Self> {
        let edits = mended.layers.first()?.edits();
        let declares = context.guide.declares(context.guide.root());
        let kinds = edits.iter().fold(0, |kinds, edit| kinds | 1 << edit.kind as u32);
        Some(Evidence { text, mended, edits, kinds, encoded, declares, context })
    }

    /// The edits that only white space comes before.
    fn first_edits(&self) -> impl Iterator<Item = &'a Edit> {
        let start = self.text.len() - self.text.trim_start().len();
        self.edits.iter().filter(move |edit| edit.start <= start)
    }

    pub(super) fn has(&self, kind: RepairKind) -> bool {
        self.kinds >> kind as u32 & 1 == 1
    }

    pub(super) fn of(&self, kind: RepairKind) -> impl Iterator<Item = &'a Edit> {
        self.edits.iter().filter(move |edit| edit.kind == kind)
    }

    /// Where the values begin and end that were written without quotes and were quoted.
    pub(super) fn bare_values(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut marks = self.of(RepairKind::ValueQuoted).filter(|edit| edit.start == edit.end);
        std::iter::from_fn(move || Some((marks.next()?.start, marks.next()?.start)))
    }

    /// Where the replacement of an edit of the first patch is in the mended text.
    pub(super) fn final_position(&self, index: usize) -> usize {
        let Some((first, later)) = self.mended.layers.split_first() else { return 0 };
        later.iter().fold(first.start(index), |at, patch: &Patch| patch.target(at))
    }

    /// The position in the schema of a value in the mended text.
    pub(super) fn position_of(&self, tree: &Tree<'_>, id: usize) -> SchemaPosition {
        let mut path = Vec::new();
        let mut at = id;
        while let Some(parent) = tree.nodes[at].parent {
            path.push(at);
            at = parent;
        }
        let guide = self.context.guide;
        path.into_iter().rev().fold(guide.root(), |position, node| match tree.key(node) {
            Some(key) => guide.member(position, &key),
            None => guide.element(position, tree.nodes[node].index),
        })
    }

    /// What follows each backslash that was taken for text.
    fn kept_backslashes(&self) -> impl Iterator<Item = u8> {
        let kept = self.edits.iter().filter(|edit| edit.kind == RepairKind::InvalidEscapeFixed);
        kept.filter_map(|edit| self.text.as_bytes().get(edit.start + 1).copied())
    }
}

/// Keys with control characters, entities or letters of a wrong decoding are no names.
fn has_odd_key(evidence: &Evidence<'_>) -> bool {
    const REMAINS: &[&str] = &["&amp;", "â€", "\u{fffd}"];
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
                | RepairKind::MissingOpenerAdded
        )
    };
    if !evidence.edits.iter().any(may_be_odd) {
        return false;
    }
    let opens_object = evidence.has(RepairKind::MissingOpenerAdded);
    let corrects_mark = evidence.has(RepairKind::MarkCorrected);
    let is_odd = |key: &str| {
        key.contains(|ch: char| ch.is_control() && !matches!(ch, '\n' | '\t'))
            // Case: syntax/key-without-letters
            || key.is_empty()
            // Case: syntax/member-in-the-quotes-of-a-key
            || key.contains("\":") || key.len() > 1 && key.starts_with('"') && key.ends_with('"')
            || corrects_mark && key.contains(':')
            || opens_object && key.ends_with(' ')
            || REMAINS.iter().any(|remains| key.contains(remains))
            || QUOTES.iter().any(|quote| quote.is_encoded && key.contains(quote.open.trim_end_matches(';')))
            // Case: syntax/key-with-a-closing-mark
            || key.ends_with(['»', '”', '’', '」', '』']) || key.starts_with(['«', '“', '‘', '「', '『'])
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
    lost.map(|edit| last_part(&evidence.text[..edit.start], NEARBY)).any(is_cut)
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

/// `@"x"` and `"key"?: 1`: a sign of another language that was swapped with the quote beside it. A path may have lost its
/// first mark to the other side of the quote.
// Case: syntax/sign-before-a-quote
fn moves_sign_into_string(evidence: &Evidence<'_>) -> bool {
    // `L"x"`, `R"x"`, `N"x"` and `q"x"` are strings of C, SQL and Perl; the last three are blanks and line ends of tokenizers and logs.
    const SIGNS: &str = "?@$#!%&~^*=<>|`LRNEUq\u{120}\u{2581}\u{21a9}";
    let is_sign = |ch: char| ch.is_control() && !ch.is_whitespace() || SIGNS.contains(ch);
    let swapped = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::MarksSwapped);
    swapped.map(|edit| &evidence.text[edit.start..edit.end]).any(|marks| marks.contains(is_sign))
}

/// `&quot;Oslo"` and `"Oslo＂`: beside a quote that was added there is one in another spelling.
// Case: syntax/entity-for-a-quote
// Case: syntax/wide-quote-for-a-quote
fn has_foreign_quote(evidence: &Evidence<'_>) -> bool {
    let is_beside = |edit: &Edit| {
        // Half of it may have been taken for the quote.
        let (before, after) = (&evidence.text[..edit.end], &evidence.text[edit.start..]);
        QUOTES.iter().any(|quote| {
            !quote.close.is_empty() && before.ends_with(quote.close) || after.starts_with(quote.open)
        })
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
    let mut quotes = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::InnerQuoteEscaped);
    let (Some(first), Some(second), None) = (quotes.next(), quotes.next(), quotes.next()) else {
        return false;
    };
    let Some(between) = evidence.text.get(first.end..second.start) else { return false };
    let between = between.trim_start_matches('"');
    let is_spaced = between.starts_with(char::is_whitespace) && between.ends_with(char::is_whitespace);
    let words = between.trim();
    let is_ternary = words.starts_with("if ") && words.ends_with(" else");
    is_spaced && (OPERATORS.contains(&words) || is_ternary || words.starts_with("/*"))
}

/// Lengths of pieces between raw line breaks, as HTTP sends them, or lines that mail divided with `=`. They are in a string, and no
/// other line break is.
// Case: syntax/length-of-a-piece-in-a-string
fn has_transport_marks(evidence: &Evidence<'_>) -> bool {
    let mut edits = evidence.mended.layers.iter().flat_map(Patch::edits);
    if !edits.any(|edit| edit.kind == RepairKind::ControlCharacterEscaped) {
        return false;
    }
    let is_digit = |byte: u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    let is_length = |line: &str| (1..=6).contains(&line.len()) && line.bytes().all(is_digit);
    let (mut pieces, mut lengths) = (0, 0);
    for piece in evidence.text.split("\r\n") {
        pieces += 1;
        lengths += usize::from(is_length(piece));
    }
    let breaks = evidence.text.matches('\n').count();
    let is_divided = breaks > 0 && breaks == evidence.text.matches("=\n").count();
    lengths > 0 && pieces <= 2 * lengths + 3 || is_divided
}

/// `{"a": "\\"x\\"", "b": "1\\n2"}`: if the quotes of one string are escaped once too often, so are the line breaks of another.
// Case: syntax/one-string-escaped-twice
fn mixes_depths(evidence: &Evidence<'_>) -> bool {
    let bytes = evidence.text.as_bytes();
    if !evidence.has(RepairKind::OverEscapedQuoteFixed) {
        return false;
    }
    // `C:\\new` is a path.
    let ends_line = |at: usize| !bytes.get(at + 2).is_some_and(u8::is_ascii_lowercase);
    let mut breaks = memchr::memmem::find_iter(bytes, b"\\n").filter(|&at| ends_line(at)).peekable();
    breaks.peek().is_some() && breaks.all(|at| bytes[..at].ends_with(b"\\"))
}

/// `[64 0, 480]` and `[3 3, 4]`: a number that a blank divides, or one that is written twice. Between other numbers the blank
/// is a lost comma.
// Case: syntax/blank-between-two-numbers
fn splits_number(evidence: &Evidence<'_>) -> bool {
    let added = evidence.edits.iter().filter(|edit| edit.kind == RepairKind::MissingCommaAdded);
    added.map(|edit| evidence.text.split_at(edit.start)).any(|(before, after)| {
        let is_digit = |ch: char| ch.is_ascii_digit();
        let next = after.trim_start_matches([' ', '\t', '\n', '\r']);
        let next = &next[..next.len() - next.trim_start_matches(is_digit).len()];
        let last = &before[before.trim_end_matches(is_digit).len()..];
        let uses_commas = before.trim_end_matches(is_digit).trim_end().ends_with(',')
            || after.trim_start().trim_start_matches(is_digit).trim_start().starts_with(',');
        // A line that was wrapped inside a number, and a mark of hyphenation.
        // Case: syntax/number-on-two-lines
        let gap = &after
            [..after.len() - after.trim_start_matches(|ch: char| !ch.is_ascii_digit() && ch != '-').len()];
        let row = before.trim_end_matches(is_digit).trim_end_matches([' ', '\t']);
        let is_wrapped =
            row.ends_with(',') && gap.contains('\n') || gap.contains(|ch: char| !ch.is_whitespace());
        let is_divided = next.starts_with('0') || next == last || is_wrapped;
        uses_commas && !last.is_empty() && !next.is_empty() && is_divided
    })
}

/// `xt": "a"}` and `, "n": 1}`: the opening bracket is missing, and so is the quote of the first key or what came before a comma.
/// More may be missing with them.
// Case: syntax/start-of-the-text-lost
fn lacks_its_start(evidence: &Evidence<'_>) -> bool {
    let (mut opens, mut lacks) = (false, false);
    evidence.first_edits().for_each(|edit| match edit.kind {
        RepairKind::MissingOpenerAdded => opens = true,
        RepairKind::MissingQuoteAdded | RepairKind::ExtraCommaRemoved => lacks = true,
        _ => {}
    });
    let guide = evidence.context.guide;
    // `{ty": "Oslo"}`: a first key without its quote that nobody declares may lack letters.
    // Case: syntax/first-key-without-its-start
    let bytes = evidence.text.as_bytes();
    let opened = evidence.edits.iter().find(|edit| edit.kind == RepairKind::MissingQuoteAdded);
    let is_first = opened.is_some_and(|edit| {
        evidence.declares
            && bytes[..edit.start].trim_ascii() == b"{"
            && bytes.get(edit.start).is_some_and(u8::is_ascii_alphanumeric)
    });
    let (opens, lacks) = (opens || is_first, lacks || is_first);
    let is_declared = || {
        let tree = Tree::of_strict(&evidence.mended.text);
        if tree.nodes.is_empty() {
            return false;
        }
        let first = tree.children(0).next().and_then(|first| tree.key(first));
        first.is_some_and(|key| guide.declares_key(guide.root(), &key))
            && !evidence.text.trim_start().starts_with(',')
    };
    opens && lacks && !is_declared()
}

/// `"arguments": {…}` without braces around it: a label that the schema does not declare.
// Case: syntax/label-before-an-object
fn wraps_arguments(evidence: &Evidence<'_>) -> bool {
    const LABELS: &[&str] = &["arguments", "args", "parameters", "params", "input", "tool_input", "kwargs"];
    let opens = evidence.first_edits().any(|edit| edit.kind == RepairKind::MissingOpenerAdded);
    let guide = evidence.context.guide;
    // A schema that takes anything takes the label as well.
    let takes_label =
        evidence.declares && !guide.is_closed(guide.root()) && guide.required(guide.root()) == 0;
    if !opens && !takes_label {
        return false;
    }
    let tree = Tree::of_strict(&evidence.mended.text);
    // Half a surrogate is not strict, and has no tree.
    if tree.nodes.is_empty() {
        return false;
    }
    let mut members = tree.children(0);
    let (Some(only), None) = (members.next(), members.next()) else { return false };
    let is_label =
        tree.key(only).is_some_and(|key| LABELS.contains(&&*key) && !guide.declares_key(guide.root(), &key));
    let holds_text =
        || takes_label && tree.string(only).is_some_and(|text| text.trim_start().starts_with('{'));
    is_label && (tree.nodes[only].kind == Kind::Object || holds_text())
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_a_bit_for_each_kind() {
        assert!(crate::repair::REPAIRS.len() <= u128::BITS as usize);
    }
}
