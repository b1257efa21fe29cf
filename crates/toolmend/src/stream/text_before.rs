//! The text before a position: its line, and the lines before that.
//!
//! It shows whether what follows is in a quotation, in inline code or in the middle of a sentence. Only the last few
//! hundred bytes count, and whether they were reported or wait in the buffer does not matter.

use super::recent_text;
use super::{Mode, Stream};
use crate::dialect::input::Step;
use crate::text_parts::last_part;

impl Stream {
    /// The text before a position in its line, as far as it matters.
    pub(super) fn line_before(&self, at: usize) -> String {
        let here = last_part(&self.buffer[..at], recent_text::ENOUGH);
        if let Some((_, line)) = here.rsplit_once('\n') {
            return line.to_owned();
        }
        // After something that is not text, the line begins anew.
        if self.skip_space || here.len() >= recent_text::ENOUGH || !matches!(self.mode, Mode::Text) {
            return here.to_owned();
        }
        let joined = format!("{}{}{here}", self.recent.uninterrupted(), self.space);
        let joined = last_part(&joined, recent_text::ENOUGH);
        joined.rsplit_once('\n').map_or(joined, |(_, line)| line).to_owned()
    }

    /// The end of the content before a position. After something that is not text, it begins anew.
    pub(super) fn text_before(&self, at: usize) -> String {
        let here = last_part(&self.buffer[..at], recent_text::ENOUGH);
        if self.skip_space || here.len() >= recent_text::ENOUGH || !matches!(self.mode, Mode::Text) {
            return here.to_owned();
        }
        let joined = format!("{}{}{here}", self.recent.uninterrupted(), self.space);
        last_part(&joined, recent_text::ENOUGH).to_owned()
    }

    /// Whether the lines before a position show what it begins: it is in indented code, or in a literal or a comment of
    /// several lines.
    pub(super) fn is_shown_by_lines(&self, at: usize) -> bool {
        self.is_indented_code(at) || is_in_open_span(&self.text_before(at))
    }

    /// Whether a position is in a block of indented code: four blanks after an empty line, with text before it.
    // Case: dialects/hostile/indented-code
    fn is_indented_code(&self, at: usize) -> bool {
        // Most markup is not indented, and the text before it is not needed.
        let line = self.line_before(at);
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if !(indent >= 4 || line.starts_with('\t')) {
            return false;
        }
        let text = self.text_before(at);
        let Some((before, _)) = text.rsplit_once('\n') else { return false };
        let previous = before.rsplit('\n').next().unwrap_or_default();
        !before.trim().is_empty() && (previous.trim().is_empty() || previous.starts_with(['\t', ' ']))
    }
}

/// What comes before markup in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// The mark of a list item.
    Item,
    /// Words that go on, or an opening quote.
    Sentence,
    /// Words that go on directly before the markup: a script without blanks, a colon, an equals sign.
    Glued,
    /// A sentence that ended, or text without a blank before the markup.
    Other,
}

pub(super) fn is_before_markup(line: &str) -> Before {
    let words = line.trim_end();
    let Some(last) = words.chars().next_back() else { return Before::Nothing };
    if is_item_mark(words.trim_start()) && words.len() < line.len() {
        return Before::Item;
    }
    if matches!(last, '"' | '\'' | '“' | '‘' | '«' | '(' | '`') {
        return Before::Sentence;
    }
    if words.len() == line.len() && (is_unspaced(last) || ":：=，、".contains(last)) {
        return Before::Glued;
    }
    if words.len() == line.len() || ".!?。！？…".contains(last) {
        return Before::Other;
    }
    if words.contains(char::is_alphabetic) { Before::Sentence } else { Before::Other }
}

/// Whether this is a letter of a script that puts no blanks between words, or none between a word and its ending.
pub(super) fn is_unspaced(ch: char) -> bool {
    matches!(ch, '\u{E00}'..='\u{E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}')
}

/// Whether a sentence continues after markup: with a mark, or with a blank and a word that begins like this.
pub(super) fn continues_sentence(rest: &str, done: bool, begins_word: impl Fn(char) -> bool) -> Step<()> {
    let more = if done { Step::No } else { Step::More };
    let Some(next) = rest.chars().next() else { return more };
    if ".,;:!?)`'\"’”»，。、；：！？）」』".contains(next) {
        return Step::Got(());
    }
    if next != ' ' {
        return Step::No;
    }
    match rest.trim_start_matches(' ').chars().next() {
        None => more,
        Some(first) if begins_word(first) || "`'\"“(".contains(first) => Step::Got(()),
        Some(_) => Step::No,
    }
}

/// Whether a word is the mark of a list item: `-`, `*`, `+`, `•`, `1.`, `1)`.
fn is_item_mark(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    matches!(word, "-" | "*" | "+" | "•")
        || number.is_some_and(|digits| {
            !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Beginnings of lines that quote something, or comment on it.
const QUOTING: &[&str] = &["> ", ">> ", "| ", "// ", "# ", "## ", "### ", "/* ", "; ", "% ", "$ ", "<!--"];

/// Whether the end of this line is inside inline code, a quotation, a comment or the cell of a table.
pub(super) fn is_quoted(line: &str) -> bool {
    let start = line.trim_start();
    QUOTING.iter().any(|mark| start.starts_with(mark))
        || has_open_quotation(start)
        || has_open_code(start)
        || has_open_json_string(start)
        || has_open_literal(start)
        || is_listing(start)
}

/// Whether a string literal is open at the end of this line: its quote comes after a mark that a value follows.
// Case: dialects/hostile/call-in-a-string-literal
fn has_open_literal(line: &str) -> bool {
    let (mut open, mut before, mut escaped) = (None, None, false);
    let mut chars = line.chars().peekable();
    while let Some(ch) = chars.next() {
        match (ch, open) {
            _ if escaped => {}
            ('"' | '\'', None) if before.is_some_and(|mark| "(=:,[{+".contains(mark)) => open = Some(ch),
            (_, Some(quote)) if ch == quote => {
                let ends = chars.peek().is_none_or(|next| !next.is_alphanumeric());
                open = open.filter(|_| !ends);
            }
            _ => {}
        }
        escaped = ch == '\\' && !escaped;
        if !ch.is_whitespace() {
            before = Some(ch);
        }
    }
    open.is_some()
}

/// What is open from one line to the next in programs and their settings.
const SPANS: &[(&str, &str)] =
    &[("\"\"\"", "\"\"\""), ("'''", "'''"), ("/*", "*/"), ("<![CDATA[", "]]>"), ("<textarea", "</textarea>")];

/// Whether a literal or a comment of several lines is open at the end of this text.
// Case: dialects/hostile/call-in-a-program
pub(super) fn is_in_open_span(text: &str) -> bool {
    let is_open = |(open, close): &(&str, &str)| {
        if open == close { text.matches(open).count() % 2 == 1 } else { text.rfind(open) > text.rfind(close) }
    };
    SPANS.iter().any(is_open) || is_in_here_document(text) || is_in_block_scalar(text)
}

/// Whether a here document is open: its word was not repeated on a line of its own.
fn is_in_here_document(text: &str) -> bool {
    let Some((_, after)) = text.rsplit_once("<<") else { return false };
    let after = after.trim_start_matches(['-', '~', '\'', '"', ' ']);
    let word: String = after.chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_').collect();
    let mut lines = after.lines().skip(1);
    !word.is_empty() && after.contains('\n') && !lines.any(|line| line.trim() == word)
}

/// Whether the last line is indented under a key whose value is the text below it.
fn is_in_block_scalar(text: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.rsplit('\n');
    let last = lines.next().unwrap_or_default();
    let depth = indent(last);
    let parent = lines.find(|line| !line.trim().is_empty() && indent(line) < depth).unwrap_or_default();
    let parent = parent.trim_end();
    [": |", ": |-", ": |+", ": >", ": >-"].iter().any(|mark| parent.ends_with(mark))
}

/// Whether a string of JSON is open at the end of this line, which begins with a bracket or with a key.
// Case: dialects/hostile/call-in-a-json-string
fn has_open_json_string(start: &str) -> bool {
    let begins_with_key = || {
        let key = start.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        key.is_some_and(|(_, after)| after.trim_start().starts_with(':'))
    };
    if !(start.starts_with(['{', '[']) || begins_with_key()) {
        return false;
    }
    let (mut open, mut escaped) = (false, false);
    for byte in start.bytes() {
        open ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
    }
    open
}

/// Whether only what a tool writes before the lines of a file is in this line: `a.txt:12:`, `12:`, `12 |`, `+`.
// Case: dialects/hostile/call-in-a-listing
fn is_listing(start: &str) -> bool {
    let start = start.trim_end_matches(' ');
    let Some(prefix) = start.strip_suffix([':', '|', '\t']) else { return start == "+" };
    let number = prefix.rsplit(':').next().unwrap_or_default().trim();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !prefix.contains(' ')
        || prefix.trim().bytes().all(|byte| byte.is_ascii_digit()) && !prefix.trim().is_empty()
}

/// Whether a quotation is open at the end of this line. A straight quote opens one where a word begins.
// Case: dialects/hostile/call-in-a-quotation
fn has_open_quotation(line: &str) -> bool {
    let opened = |open: char, close: char| match (line.rfind(open), line.rfind(close)) {
        (Some(open), Some(close)) => open > close,
        (Some(_), None) => true,
        (None, _) => false,
    };
    if opened('„', '“')
        || !line.contains('„') && opened('“', '”')
        || opened('«', '»')
        || opened('「', '」')
        || opened('『', '』')
    {
        return true;
    }
    if line.contains("<code>") && opened_tag(line, "<code>", "</code>")
        || line.ends_with("~~")
        || line.ends_with('\\')
    {
        return true;
    }
    // Around a whole line, a quote is a habit. Only what begins with markup is quoted markup.
    let Some(first) =
        line.find("\"<").or_else(|| line.find("\"[")).or_else(|| line.strip_suffix('"').map(str::len))
    else {
        return false;
    };
    let before = line[..first].chars().next_back();
    let opens = before.is_some_and(|ch| ch.is_whitespace() || "(=:,[{".contains(ch));
    opens && line[first..].matches('"').count() % 2 == 1
}

fn opened_tag(line: &str, open: &str, close: &str) -> bool {
    line.rfind(open) > line.rfind(close)
}

/// Whether inline code is open at the end of this line.
fn has_open_code(start: &str) -> bool {
    // Inline code ends with as many backticks as it began with. Three at the start of a line are a fence.
    let mut open = None;
    let mut rest = start;
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        match open {
            None => open = Some(ticks),
            Some(opened) if opened == ticks => open = None,
            Some(_) => {}
        }
        rest = &rest[at + ticks..];
    }
    open.is_some_and(|ticks| ticks < 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_code_is_known_by_its_backticks() {
        for line in ["Use `", "a `b` and `c ", "``x` ", "> ", "| f | "] {
            assert!(is_quoted(line), "{line}");
        }
        for line in ["", "Use `a` ", "```xml ", "a > b ", "`` ` `` "] {
            assert!(!is_quoted(line), "{line}");
        }
    }

    #[test]
    fn quotations_are_known_by_their_marks() {
        for line in ["{\"a\": \"x ", "  \"note\": \"", "a.txt:12:", "12 |", "+", "Das „"] {
            assert!(is_quoted(line), "{line}");
        }
        for line in ["{\"a\": \"x\", ", "\"", "„a“ und ", "at 12: "] {
            assert!(!is_quoted(line), "{line}");
        }
        for line in ["He wrote “", "say \"", "say \"<a> b", "x(\"a\", \"", "// ", "use <code>", "a \\"] {
            assert!(is_quoted(line), "{line}");
        }
        for line in
            ["He wrote “x” and ", "a 5\" disk ", "say \"a\" ", "called \"id.", "\"", "C# ", "<code>a</code> "]
        {
            assert!(!is_quoted(line), "{line}");
        }
    }

    #[test]
    fn marks_of_list_items_are_no_words() {
        for (line, before) in [
            ("- ", Before::Item),
            ("  12. ", Before::Item),
            ("", Before::Nothing),
            ("Use ", Before::Sentence),
            ("Done. ", Before::Other),
            ("Done", Before::Other),
            ("格式为", Before::Glued),
            ("out=", Before::Glued),
            ("好的。", Before::Other),
        ] {
            assert_eq!(is_before_markup(line), before, "{line:?}");
        }
    }
}
